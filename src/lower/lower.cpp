#include "stowage/lower.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "graph/interface/relations.hpp"
#include "lower/pieces.hpp"

namespace stowage {
namespace {

constexpr std::array kKinds{ArenaKind::session, ArenaKind::fixed, ArenaKind::shared, ArenaKind::persistent};

std::string suffix_of(ArenaKind kind) { return kind == ArenaKind::shared ? std::string() : " " + std::string(to_string(kind)); }

/// Builds the Problems of one graph, an item at a time.
class Builder {
 public:
  Builder(const Graph& graph, const Liveness& liveness) : graph_(graph), liveness_(liveness) {
    for (const RingRange& range : graph.relations().ring_ranges)
      range_of_.emplace(liveness.places[range.tensor.index()].id, &range);
    for (std::size_t p = 0; p < graph.rings().size(); ++p) {
      const Ring& ring = graph.rings()[p];
      pools_.push_back({.name = ring.name, .memory = ring.memory, .kind = ArenaKind::pool, .problem = {}, .occupants = {}});
      pools_.back().size = ring.size;
    }
    for (std::size_t m = 0; m < graph.memories().size(); ++m) {
      for (const ArenaKind kind : kKinds) {
        arenas_.push_back({.name = graph.memories()[m].name + suffix_of(kind),
                           .memory = MemoryId(m),
                           .kind = kind,
                           .problem = {},
                           .occupants = {}});
      }
    }
  }

  void add_storage(StorageId id);
  void add_workspace(OpId op, std::uint32_t index);
  Lowering finish(const LowerOptions& options);

 private:
  ArenaProblem& arena(MemoryId memory, ArenaKind kind) {
    const auto at = std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin();
    return arenas_[memory.index() * kKinds.size() + static_cast<std::size_t>(at)];
  }
  [[nodiscard]] Item item_of(const Storage& storage) const;
  [[nodiscard]] ArenaKind kind_of(const Storage& storage) const;
  void add_ring_range(StorageId id);
  [[nodiscard]] bool no_reuse(WorkspaceId ref) const;
  [[nodiscard]] bool is_filled(WorkspaceId ref) const;
  [[nodiscard]] std::vector<Interval> lives_of(WorkspaceId ref) const;
  void add_order(ArenaProblem& arena) const;
  void order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const;
  void order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const;
  void order_workspace(WorkspaceId ref, std::span<Step> threshold, std::span<Step> first) const;
  void order_step(Step step, std::span<Step> threshold, std::span<Step> first) const;
  void order_span(Interval span, std::span<Step> threshold, std::span<Step> first) const;
  void finish(ArenaProblem& arena, const LowerOptions& options, Lowering& result);
  static void split_at(ArenaProblem& arena, Bytes max_size);
  void add_hosts(ArenaProblem& arena) const;
  [[nodiscard]] bool may_be_guest(const Occupant& occupant) const;

  const Graph& graph_;
  const Liveness& liveness_;
  std::map<ClassId, const RingRange*> range_of_;
  std::vector<ArenaProblem> pools_;
  std::vector<ArenaProblem> arenas_;  ///< By memory and kind.
  Bytes naive_;
};

Item Builder::item_of(const Storage& storage) const {
  Item item{.pieces = {}, .size = {}, .alignment = storage.alignment, .pinned = {}, .allowed = {}};
  for (const ClassId id : storage.classes) {
    const AliasClass& klass = liveness_.classes[id.index()];
    const ByteRange bytes{klass.offset, klass.offset + klass.footprint()};
    for (const Interval& life : klass.needed()) item.pieces.push_back({life, bytes});
    item.size = std::max(item.size, bytes.upper);
  }
  for (const CopySlot& slot : storage.slots) {
    for (const Interval& life : slot.lives) item.pieces.push_back({life, slot.bytes});
    item.size = std::max(item.size, slot.bytes.upper);
  }
  item.pieces = disjoint_pieces(std::move(item.pieces));
  return item;
}

ArenaKind Builder::kind_of(const Storage& storage) const {
  bool fixed = false;
  for (const ClassId id : storage.classes) {
    const AliasClass& klass = liveness_.classes[id.index()];
    if (klass.residence == Residence::persistent) return ArenaKind::persistent;
    if (klass.residence == Residence::pool) return ArenaKind::pool;
    fixed = fixed || klass.fixed;
  }
  if (storage.classes.empty()) fixed = storage.fixed;
  return fixed && liveness_.base == AddressBase::refreshable ? ArenaKind::fixed : ArenaKind::shared;
}

/// A prefetched tensor lies where the ring has put it.
void Builder::add_ring_range(StorageId id) {
  const Storage& storage = liveness_.storages[id.index()];
  const auto range = range_of_.find(storage.classes.front());
  STOWAGE_CHECK(range != range_of_.end(), "a prefetched tensor has no range in its ring");
  const RingRange& at = *range->second;
  ArenaProblem& target = pools_[at.ring.index()];
  Item item = item_of(storage);
  item.pinned = at.offset;
  // The ring counts unrounded sizes, so that the last one may end at the pool's very end.
  for (Piece& piece : item.pieces) piece.bytes.upper = graph_.tensor(at.tensor).size;
  item.size = graph_.tensor(at.tensor).size;
  target.problem.items.push_back(std::move(item));
  target.occupants.emplace_back(id);
}

void Builder::add_storage(StorageId id) {
  const Storage& storage = liveness_.storages[id.index()];
  const ArenaKind kind = kind_of(storage);
  if (kind == ArenaKind::pool) return add_ring_range(id);
  const MemoryId memory = storage.classes.empty() ? storage.memory : liveness_.classes[storage.classes.front().index()].memory;
  ArenaProblem& target = arena(memory, kind);
  target.problem.items.push_back(item_of(storage));
  target.occupants.emplace_back(id);
  if (kind == ArenaKind::persistent) return;
  for (const ClassId each : storage.classes) {
    const AliasClass& klass = liveness_.classes[each.index()];
    if (!klass.packed) naive_ += klass.footprint();  // a part is in its whole
  }
  for (const CopySlot& slot : storage.slots) naive_ += slot.bytes.length();
}

bool Builder::no_reuse(WorkspaceId ref) const {
  const bool named = !liveness_.no_reuse_ops.empty() && liveness_.no_reuse_ops[ref.op.index()] != 0;
  return liveness_.no_reuse || named || graph_.op(ref.op).no_reuse || graph_.op(ref.op).workspaces[ref.index].no_reuse;
}

bool Builder::is_filled(WorkspaceId ref) const {
  const std::vector<std::uint32_t>& filled = graph_.op(ref.op).zero_fill.workspaces;
  return std::find(filled.begin(), filled.end(), ref.index) != filled.end();
}

std::vector<Interval> Builder::lives_of(WorkspaceId ref) const {
  if (no_reuse(ref)) return {{Step(0), liveness_.horizon}};
  const std::span<const Interval> spans = liveness_.timeline.spans(ref.op);
  std::vector<Interval> lives(spans.begin(), spans.end());
  if (!is_filled(ref) || liveness_.central_fills[ref.op.index()] == 0 || lives.empty()) return lives;
  if (!liveness_.timeline.branches()) return {{Step(0), lives.back().upper}};
  // Filled before everything: its own in whatever comes before, but for the other parts of what it is a part of.
  return lives_between(liveness_.timeline, lives, {.before = true, .after = false});
}

void Builder::add_workspace(OpId op, std::uint32_t index) {
  const Workspace& workspace = graph_.op(op).workspaces[index];
  if (workspace.size == Bytes(0)) return;
  const Bytes alignment = graph_.alignment(workspace);
  const Bytes size = align_up(workspace.size, alignment);
  const bool session = workspace.scope == WorkspaceScope::session;
  const bool fixed = graph_.op(op).fixed_address && liveness_.base == AddressBase::refreshable;
  ArenaProblem& target = arena(workspace.memory, session ? ArenaKind::session : fixed ? ArenaKind::fixed : ArenaKind::shared);
  Item item{.pieces = {}, .size = size, .alignment = alignment, .pinned = {}, .allowed = {}};
  const std::vector<Interval> lives = session ? std::vector<Interval>{{Step(0), liveness_.horizon}} : lives_of({op, index});
  for (const Interval& life : lives) item.pieces.push_back({life, {Bytes(0), size}});
  item.pieces = disjoint_pieces(std::move(item.pieces));
  target.problem.items.push_back(std::move(item));
  target.occupants.emplace_back(WorkspaceId{op, index});
  naive_ += size;
}

/// Takes one access into a row: the item is over no earlier than what comes after `step`, and begins no later than `step`.
void Builder::order_step(Step step, std::span<Step> threshold, std::span<Step> first) const {
  for (std::size_t stream = 0; stream < threshold.size(); ++stream) {
    threshold[stream] = std::max(threshold[stream], liveness_.order.next(step, stream));
  }
  Step& begins = first[liveness_.order.stream(step)];
  begins = std::min(begins, step);
}

/// An op with bodies has a first and a last step.
void Builder::order_span(Interval span, std::span<Step> threshold, std::span<Step> first) const {
  order_step(span.lower, threshold, first);
  order_step(span.upper - Step(1), threshold, first);
}

void Builder::order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const {
  const AliasClass& klass = liveness_.classes[id.index()];
  for (const Step step : liveness_.accesses(id)) order_step(step, threshold, first);
  // The caller wrote it before anything ran, and nothing can be over before that.
  if (klass.life.lower == Step(0)) std::fill(first.begin(), first.end(), Step(0));
  if (klass.never_over) std::fill(threshold.begin(), threshold.end(), kNever);
  if (!klass.never_over && liveness_.accesses(id).empty()) {
    const auto task = std::find_if(graph_.ops().begin(), graph_.ops().end(), [](const Op& op) { return !op.no_task; });
    if (task == graph_.ops().end()) return;
    for (const Interval& span : liveness_.timeline.spans(OpId(static_cast<std::size_t>(task - graph_.ops().begin()))))
      order_span(span, threshold, first);
  }
}

void Builder::order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const {
  for (const ClassId id : storage.classes) {
    // What has no bytes meets nobody, as long as somebody else in the storage has some.
    if (liveness_.classes[id.index()].size > Bytes(0) || storage.size == Bytes(0)) order_class(id, threshold, first);
  }
  for (const CopySlot& slot : storage.slots) {
    if (slot.bytes.empty() && storage.size > Bytes(0)) continue;
    for (const Interval& life : slot.lives) order_span(life, threshold, first);
  }
}

void Builder::order_workspace(WorkspaceId ref, std::span<Step> threshold, std::span<Step> first) const {
  for (const Interval& span : liveness_.timeline.spans(ref.op)) order_span(span, threshold, first);
  const bool session = graph_.op(ref.op).workspaces[ref.index].scope == WorkspaceScope::session;
  const bool central = is_filled(ref) && liveness_.central_fills[ref.op.index()] != 0;
  if (no_reuse(ref) || session || central) std::fill(first.begin(), first.end(), Step(0));
  if (no_reuse(ref) || session) std::fill(threshold.begin(), threshold.end(), kNever);
}

void Builder::add_order(ArenaProblem& target) const {
  const std::size_t streams = liveness_.order.streams();
  StreamOrder& order = target.problem.order;
  order.streams = streams;
  order.threshold.assign(target.occupants.size() * streams, Step(0));
  order.first.assign(target.occupants.size() * streams, kNever);
  for (std::size_t i = 0; i < target.occupants.size(); ++i) {
    const std::span<Step> threshold = std::span(order.threshold).subspan(i * streams, streams);
    const std::span<Step> first = std::span(order.first).subspan(i * streams, streams);
    const Occupant& occupant = target.occupants[i];
    if (const auto* storage = std::get_if<StorageId>(&occupant)) {
      order_storage(liveness_.storages[storage->index()], threshold, first);
    } else if (const auto* ref = std::get_if<WorkspaceId>(&occupant)) {
      order_workspace(*ref, threshold, first);
    } else {
      order_class(liveness_.places[std::get<HostTensor>(occupant).tensor.index()].id, threshold, first);
    }
  }
}

/// Regions of at most `max_size` for all items together, and one of its own for each larger item. Twice as many as the items
/// would fill without any sharing: filling one region after the other then always finds room, because two neighbours hold more
/// than one region's worth.
void Builder::split_at(ArenaProblem& target, Bytes max_size) {
  Bytes total;  // with room for every alignment
  std::vector<std::size_t> oversize;
  for (std::size_t i = 0; i < target.problem.items.size(); ++i) {
    const Item& item = target.problem.items[i];
    if (item.size > max_size) {
      oversize.push_back(i);
    } else {
      total += item.size + item.alignment;
    }
  }
  if (oversize.empty() && total <= max_size) return;
  const auto usual = static_cast<std::size_t>(2 * (total.value() / max_size.value()) + 2);
  const std::size_t count = std::clamp<std::size_t>(target.problem.items.size() - oversize.size(), 1, usual);
  target.problem.regions.assign(count, Region{max_size, true});
  RegionSet ordinary;
  for (std::uint32_t r = 0; r < count; ++r) ordinary.only.push_back(r);
  for (Item& item : target.problem.items) item.allowed = ordinary;
  for (const std::size_t i : oversize) {
    target.problem.items[i].allowed.only = {static_cast<std::uint32_t>(target.problem.regions.size())};
    target.problem.regions.push_back({target.problem.items[i].size, true});
  }
}

/// Guests of a caller's buffer come and go within a run, at an address that may change.
bool Builder::may_be_guest(const Occupant& occupant) const {
  if (const auto* ref = std::get_if<WorkspaceId>(&occupant))
    return !no_reuse(*ref) && !is_filled(*ref) && !graph_.op(ref->op).fixed_address;
  const auto* id = std::get_if<StorageId>(&occupant);
  if (!id) return false;
  const Storage& storage = liveness_.storages[id->index()];
  return !storage.rigid && std::none_of(storage.classes.begin(), storage.classes.end(), [&](ClassId each) {
    const AliasClass& klass = liveness_.classes[each.index()];
    return klass.from_start || klass.never_over || klass.fixed || klass.grouped || klass.filled ||
           klass.flags.has(TensorFlag::input);
  });
}

/// The caller's reusable buffers as regions that cost nothing, each with its own tensor at the bottom while that is in use.
void Builder::add_hosts(ArenaProblem& target) const {
  struct {
    Bytes alignment = kMaxBytes;
    Bytes size = kMaxBytes;
  } least;  // of all hosts
  for (const TensorId tensor : liveness_.bound) {
    const AliasClass& klass = liveness_.classes[liveness_.places[tensor.index()].id.index()];
    const bool reusable = klass.flags.has(TensorFlag::reusable) && klass.memory == target.memory && !klass.whole_run;
    if (!reusable || klass.size == Bytes(0)) continue;
    target.hosts.push_back(tensor);
    least.alignment = std::min(least.alignment, klass.alignment);
    least.size = std::min(least.size, klass.size);
  }
  if (target.hosts.empty()) return;
  const auto paid = static_cast<std::uint32_t>(target.problem.regions.size());
  RegionSet ours;
  for (std::uint32_t r = 0; r < paid; ++r) ours.only.push_back(r);
  for (std::size_t i = 0; i < target.occupants.size(); ++i) {
    RegionSet& allowed = target.problem.items[i].allowed;
    const Item& item = target.problem.items[i];
    const bool guest = may_be_guest(target.occupants[i]);
    // Most may go anywhere, which needs no list.
    if (guest && allowed.only.empty() && item.alignment <= least.alignment && item.size <= least.size) continue;
    if (allowed.only.empty()) allowed = ours;
    for (std::uint32_t h = 0; h < target.hosts.size() && guest; ++h) {
      const AliasClass& klass = liveness_.classes[liveness_.places[target.hosts[h].index()].id.index()];
      if (item.alignment <= klass.alignment && item.size <= klass.size) allowed.only.push_back(paid + h);
    }
  }
  for (std::uint32_t h = 0; h < target.hosts.size(); ++h) {
    const AliasClass& klass = liveness_.classes[liveness_.places[target.hosts[h].index()].id.index()];
    target.problem.regions.push_back({klass.size, false});
    Item self{.pieces = {}, .size = klass.size, .alignment = Bytes(1), .pinned = Bytes(0), .allowed = {{paid + h}}};
    for (const Interval& life : klass.needed()) self.pieces.push_back({life, {Bytes(0), klass.size}});
    target.problem.items.push_back(std::move(self));
    target.occupants.emplace_back(HostTensor{target.hosts[h]});
  }
}

void Builder::finish(ArenaProblem& each, const LowerOptions& options, Lowering& result) {
  if (each.occupants.empty() && each.kind != ArenaKind::pool) return;
  std::optional<Bytes> limit = graph_.memory(each.memory).max_size;
  if (options.region_limit) limit = std::min(limit.value_or(*options.region_limit), *options.region_limit);
  each.limit = each.kind == ArenaKind::pool ? std::nullopt : limit;
  if (each.limit) split_at(each, *each.limit);
  if (each.kind == ArenaKind::shared) add_hosts(each);
  if (each.kind != ArenaKind::persistent) {
    each.problem.capacity = options.capacity;
    if (liveness_.order.streams() > 1 && !each.occupants.empty()) add_order(each);
  }
  naive_ += each.size.value_or(Bytes(0));
  result.arenas.push_back(std::move(each));
}

Lowering Builder::finish(const LowerOptions& options) {
  Lowering result;
  for (std::size_t m = 0; m < graph_.memories().size(); ++m) {
    for (ArenaProblem& pool : pools_) {
      if (pool.memory.index() == m) finish(pool, options, result);
    }
    for (const ArenaKind kind : kKinds) finish(arena(MemoryId(m), kind), options, result);
  }
  result.naive = naive_;
  return result;
}

}  // namespace

Lowering lower(const Graph& graph, const Liveness& liveness, const LowerOptions& options) {
  Builder builder(graph, liveness);
  for (std::size_t s = 0; s < liveness.storages.size(); ++s) builder.add_storage(StorageId(s));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    for (std::uint32_t w = 0; w < op.workspaces.size(); ++w) builder.add_workspace(OpId(k), w);
  }
  return builder.finish(options);
}

}  // namespace stowage
