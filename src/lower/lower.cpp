#include "lower/interface/lower.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "graph/interface/relations.hpp"
#include "lower/apart.hpp"
#include "lower/regions.hpp"
#include "plan/interface/pieces.hpp"

namespace stowage {
namespace {

constexpr std::array kKinds{ArenaKind::session, ArenaKind::fixed, ArenaKind::shared, ArenaKind::persistent};

std::string suffix_of(ArenaKind kind) {
  return kind == ArenaKind::shared ? std::string() : " " + std::string(to_string(kind));
}

/// Builds the Problems of one graph, item by item.
class ProblemBuilder {
 public:
  ProblemBuilder(const Graph& graph, const Analysis& analysis)
      : graph_(graph), liveness_(analysis.liveness), layout_(analysis.layout) {
    for (const RingRange& range : graph.relations().ring_ranges)
      ring_ranges_.emplace(layout_.class_of(range.tensor), &range);
    for (std::size_t p = 0; p < graph.rings().size(); ++p) {
      const Ring& ring = graph.rings()[p];
      rings_.push_back(
          {.name = ring.name, .memory = ring.memory, .kind = ArenaKind::ring, .problem = {}, .occupants = {}});
      rings_.back().size = ring.size;
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
  /// Bytes of a storage that share nothing with its other bytes, and what occupies them.
  struct Cluster {
    ByteRange bytes;
    std::vector<ClassId> classes;
    std::vector<const CopyTarget*> targets;
    Interval life;
  };
  [[nodiscard]] std::vector<Cluster> clusters_of(const Storage& storage) const;
  [[nodiscard]] Item item_of(const Storage& storage) const;
  [[nodiscard]] bool is_ordered() const { return liveness_.order.steps.streams() > 1; }
  [[nodiscard]] ArenaKind kind_of(const Storage& storage) const;
  void add_ring_range(StorageId id);
  [[nodiscard]] bool no_reuse(WorkspaceId ref) const;
  [[nodiscard]] bool is_filled(WorkspaceId ref) const;
  [[nodiscard]] std::vector<Interval> lives_of(WorkspaceId ref) const;
  void add_order(ArenaProblem& arena) const;
  void add_rows(ArenaProblem& arena) const;
  void add_joins(ArenaProblem& arena) const;
  void order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const;
  void order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const;
  void order_workspace(WorkspaceId ref, std::span<Step> threshold, std::span<Step> first) const;
  void order_step(Step step, std::span<Step> threshold, std::span<Step> first) const;
  void order_span(Interval span, std::span<Step> threshold, std::span<Step> first) const;
  void finish(ArenaProblem& arena, const LowerOptions& options, Lowering& result);
  void relate(ArenaProblem& arena) const;
  void split(ArenaProblem& arena, Bytes max_size) const;
  [[nodiscard]] bool fills_before_padding() const;
  void add_hosts(ArenaProblem& arena) const;
  [[nodiscard]] bool may_be_guest(const Occupant& occupant) const;

  const Graph& graph_;
  const Liveness& liveness_;
  const Layout& layout_;
  std::map<ClassId, const RingRange*> ring_ranges_;
  std::vector<ArenaProblem> rings_;
  std::vector<ArenaProblem> arenas_;  ///< By memory and kind.
  Bytes naive_;
};

std::vector<ProblemBuilder::Cluster> ProblemBuilder::clusters_of(const Storage& storage) const {
  std::vector<Cluster> parts;
  for (const ClassId id : storage.classes) {
    const Bytes offset = layout_.positions[id].offset;
    parts.push_back({{offset, offset + layout_.footprint(id)}, {id}, {}, liveness_.lives[id].span});
  }
  for (const CopyTarget& target : storage.copy_targets)
    parts.push_back({target.bytes, {}, {&target}, {target.lives.front().lower, target.lives.back().upper}});
  std::erase_if(parts, [](const Cluster& each) { return each.bytes.empty(); });
  std::sort(parts.begin(), parts.end(), [](const Cluster& a, const Cluster& b) { return a.bytes < b.bytes; });
  std::vector<Cluster> clusters;
  for (Cluster& part : parts) {
    if (clusters.empty() || clusters.back().bytes.upper <= part.bytes.lower) {
      clusters.push_back(std::move(part));
      continue;
    }
    Cluster& last = clusters.back();
    last.bytes.upper = std::max(last.bytes.upper, part.bytes.upper);
    last.classes.insert(last.classes.end(), part.classes.begin(), part.classes.end());
    last.targets.insert(last.targets.end(), part.targets.begin(), part.targets.end());
    last.life = {std::min(last.life.lower, part.life.lower), std::max(last.life.upper, part.life.upper)};
  }
  return clusters;
}

Item ProblemBuilder::item_of(const Storage& storage) const {
  Item item{.pieces = {}, .size = {}, .alignment = storage.alignment, .pinned = {}, .allowed = {}};
  for (const ClassId id : storage.classes) {
    const Bytes offset = layout_.positions[id].offset;
    const ByteRange bytes{offset, offset + layout_.footprint(id)};
    for (const Interval& life : liveness_.lives[id].needed()) item.pieces.push_back({life, bytes});
    item.size = std::max(item.size, bytes.upper);
  }
  for (const CopyTarget& target : storage.copy_targets) {
    for (const Interval& life : target.lives) item.pieces.push_back({life, target.bytes});
    item.size = std::max(item.size, target.bytes.upper);
  }
  const bool several = is_ordered() && storage.classes.size() + storage.copy_targets.size() > 1;
  const std::vector<Cluster> clusters = several ? clusters_of(storage) : std::vector<Cluster>();
  if (clusters.size() < 2) {
    item.pieces = disjoint_pieces(std::move(item.pieces));
    return item;
  }
  // Each cluster has an order of its own (`add_rows`), which says more than steps can.
  item.pieces.clear();
  for (const Cluster& each : clusters) item.pieces.push_back({each.life, each.bytes});
  return item;
}

ArenaKind ProblemBuilder::kind_of(const Storage& storage) const {
  bool fixed = storage.home && storage.home->fixed;
  for (const ClassId id : storage.classes) {
    if (layout_.residences[id] == Residence::persistent) return ArenaKind::persistent;
    if (layout_.residences[id] == Residence::ring) return ArenaKind::ring;
    fixed = fixed || layout_.demands[id].has(Demand::fixed);
  }
  return fixed && layout_.base == AddressBase::refreshable ? ArenaKind::fixed : ArenaKind::shared;
}

/// A prefetched tensor is pinned to its ring range.
void ProblemBuilder::add_ring_range(StorageId id) {
  const Storage& storage = layout_.storage(id);
  const auto found = ring_ranges_.find(storage.classes.front());
  STOWAGE_CHECK(found != ring_ranges_.end(), "a prefetched tensor has no range in its ring");
  const RingRange& range = *found->second;
  ArenaProblem& target = rings_[range.ring.index()];
  Item item = item_of(storage);
  item.pinned = range.offset;
  // Rings use unrounded sizes, so that the last tensor may end exactly at the end of the ring.
  for (Piece& piece : item.pieces) piece.bytes.upper = graph_.tensor(range.tensor).size;
  item.size = graph_.tensor(range.tensor).size;
  target.problem.items.push_back(std::move(item));
  target.occupants.emplace_back(id);
}

void ProblemBuilder::add_storage(StorageId id) {
  const Storage& storage = layout_.storage(id);
  const ArenaKind kind = kind_of(storage);
  if (kind == ArenaKind::ring) return add_ring_range(id);
  const MemoryId memory = storage.home ? storage.home->memory : layout_.classes[storage.classes.front()].memory;
  ArenaProblem& target = arena(memory, kind);
  target.problem.items.push_back(item_of(storage));
  target.occupants.emplace_back(id);
  if (kind == ArenaKind::persistent) return;
  for (const ClassId each : storage.classes) {
    if (!layout_.positions[each].packing.is_part) naive_ += layout_.footprint(each);  // a part is in its whole
  }
  for (const CopyTarget& copy : storage.copy_targets) naive_ += copy.in_whole ? Bytes(0) : copy.bytes.length();
}

bool ProblemBuilder::no_reuse(WorkspaceId ref) const {
  const NoReuse& no_reuse = layout_.no_reuse;
  const bool named = !no_reuse.ops.empty() && no_reuse.ops[ref.op.index()] != 0;
  return no_reuse.everything || named || graph_.op(ref.op).no_reuse || graph_.op(ref.op).workspaces[ref.index].no_reuse;
}

bool ProblemBuilder::is_filled(WorkspaceId ref) const {
  const std::vector<std::uint32_t>& filled = graph_.op(ref.op).zero_fill.workspaces;
  return std::find(filled.begin(), filled.end(), ref.index) != filled.end();
}

std::vector<Interval> ProblemBuilder::lives_of(WorkspaceId ref) const {
  if (no_reuse(ref)) return {{Step(0), liveness_.timeline.horizon()}};
  const std::span<const Interval> spans = liveness_.timeline.spans(ref.op);
  std::vector<Interval> lives(spans.begin(), spans.end());
  if (is_filled(ref)) {  // before the op's inputs are copied
    for (Interval& each : lives) each = liveness_.timeline.with_copies(each);
  }
  if (!is_filled(ref) || layout_.central_fills[ref.op.index()] == 0 || lives.empty()) return lives;
  if (!liveness_.timeline.branches()) return {{Step(0), lives.back().upper}};
  // Filled at the start, so it is needed from step 0 on, except in parts that exclude the op.
  return lives_between(liveness_.timeline, lives, {.before = true, .after = false});
}

void ProblemBuilder::add_workspace(OpId op, std::uint32_t index) {
  const Workspace& workspace = graph_.op(op).workspaces[index];
  if (workspace.size == Bytes(0)) return;
  const Bytes alignment = graph_.alignment(workspace);
  const Bytes size = layout_.padded(workspace.size, alignment);
  const bool session = workspace.scope == WorkspaceScope::session;
  const bool fixed = graph_.op(op).fixed_address && layout_.base == AddressBase::refreshable;
  ArenaProblem& target = arena(workspace.memory, session ? ArenaKind::session
                                                 : fixed ? ArenaKind::fixed
                                                         : ArenaKind::shared);
  Item item{.pieces = {}, .size = size, .alignment = alignment, .pinned = {}, .allowed = {}};
  const std::vector<Interval> lives =
      session ? std::vector<Interval>{{Step(0), liveness_.timeline.horizon()}} : lives_of({op, index});
  for (const Interval& life : lives) item.pieces.push_back({life, {Bytes(0), size}});
  item.pieces = disjoint_pieces(std::move(item.pieces));
  target.problem.items.push_back(std::move(item));
  target.occupants.emplace_back(WorkspaceId{op, index});
  naive_ += size;
}

/// Adds one access at `step` to an item's row: raises its thresholds to the first steps after `step`, and lowers its
/// first step on the stream of `step`.
void ProblemBuilder::order_step(Step step, std::span<Step> threshold, std::span<Step> first) const {
  for (std::size_t stream = 0; stream < threshold.size(); ++stream) {
    threshold[stream] = std::max(threshold[stream], liveness_.order.steps.next(step, stream));
  }
  Step& begins = first[liveness_.order.steps.stream(step)];
  begins = std::min(begins, step);
}

/// Adds the first and the last step of an op; they differ for an op with bodies.
void ProblemBuilder::order_span(Interval span, std::span<Step> threshold, std::span<Step> first) const {
  order_step(span.lower, threshold, first);
  order_step(span.upper - Step(1), threshold, first);
}

void ProblemBuilder::order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const {
  const Life& life = liveness_.lives[id];
  for (const Step step : liveness_.accesses[id]) order_step(step, threshold, first);
  // The caller wrote it before anything ran, so nothing can come before it.
  if (life.span.lower == Step(0)) std::fill(first.begin(), first.end(), Step(0));
  if (life.sides.after) std::fill(threshold.begin(), threshold.end(), kNever);
  if (!life.sides.after && liveness_.accesses[id].empty()) {
    const auto task = std::find_if(graph_.ops().begin(), graph_.ops().end(), [](const Op& op) { return !op.no_task; });
    if (task == graph_.ops().end()) return;
    for (const Interval& span : liveness_.timeline.spans(OpId(static_cast<std::size_t>(task - graph_.ops().begin()))))
      order_span(span, threshold, first);
  }
}

void ProblemBuilder::order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const {
  for (const ClassId id : storage.classes) {
    // A class without bytes conflicts with nothing; it only counts if the whole storage has no bytes.
    if (layout_.classes[id].size > Bytes(0) || storage.size == Bytes(0)) order_class(id, threshold, first);
  }
  for (const CopyTarget& target : storage.copy_targets) {
    if (target.bytes.empty() && storage.size > Bytes(0)) continue;
    for (const Interval& life : target.lives) order_span(life, threshold, first);
  }
}

void ProblemBuilder::order_workspace(WorkspaceId ref, std::span<Step> threshold, std::span<Step> first) const {
  for (const Interval& span : liveness_.timeline.spans(ref.op))
    order_span(is_filled(ref) ? liveness_.timeline.with_copies(span) : span, threshold, first);
  const bool session = graph_.op(ref.op).workspaces[ref.index].scope == WorkspaceScope::session;
  const bool central = is_filled(ref) && layout_.central_fills[ref.op.index()] != 0;
  if (no_reuse(ref) || session || central) std::fill(first.begin(), first.end(), Step(0));
  if (no_reuse(ref) || session) std::fill(threshold.begin(), threshold.end(), kNever);
}

void ProblemBuilder::add_order(ArenaProblem& target) const {
  const std::size_t streams = liveness_.order.steps.streams();
  StreamOrder& order = target.problem.order;
  order.streams = streams;
  order.threshold.assign(target.occupants.size() * streams, Step(0));
  order.first.assign(target.occupants.size() * streams, kNever);
  for (std::size_t i = 0; i < target.occupants.size(); ++i) {
    const std::span<Step> threshold = std::span(order.threshold).subspan(i * streams, streams);
    const std::span<Step> first = std::span(order.first).subspan(i * streams, streams);
    const Occupant& occupant = target.occupants[i];
    if (const auto* storage = std::get_if<StorageId>(&occupant)) {
      order_storage(layout_.storage(*storage), threshold, first);
    } else if (const auto* ref = std::get_if<WorkspaceId>(&occupant)) {
      order_workspace(*ref, threshold, first);
    } else {
      order_class(layout_.class_of(std::get<HostTensor>(occupant).tensor), threshold, first);
    }
  }
  add_rows(target);
}

/// Gives the pieces of a storage rows of their own if it consists of several clusters.
void ProblemBuilder::add_rows(ArenaProblem& target) const {
  StreamOrder& order = target.problem.order;
  for (std::size_t i = 0; i < target.occupants.size(); ++i) {
    const auto* const id = std::get_if<StorageId>(&target.occupants[i]);
    if (!id || layout_.storage(*id).classes.size() + layout_.storage(*id).copy_targets.size() < 2) continue;
    const std::vector<Cluster> clusters = clusters_of(layout_.storage(*id));
    for (std::size_t c = 0; c < clusters.size() && clusters.size() > 1; ++c) {
      target.problem.items[i].pieces[c].row = static_cast<std::uint32_t>(order.rows());
      const std::size_t begin = order.threshold.size();
      order.threshold.resize(begin + order.streams, Step(0));
      order.first.resize(begin + order.streams, kNever);
      const std::span<Step> threshold = std::span(order.threshold).subspan(begin);
      const std::span<Step> first = std::span(order.first).subspan(begin);
      for (const ClassId each : clusters[c].classes) {
        if (layout_.classes[each].size > Bytes(0)) order_class(each, threshold, first);
      }
      for (const CopyTarget* const each : clusters[c].targets) {
        for (const Interval& life : each->lives) order_span(life, threshold, first);
      }
    }
  }
}

/// The joins between items of the arena.
void ProblemBuilder::add_joins(ArenaProblem& target) const {
  if (layout_.joins.empty()) return;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> item_of(layout_.storages.size(), kNone);
  for (std::uint32_t i = 0; i < target.occupants.size(); ++i) {
    if (const auto* const id = std::get_if<StorageId>(&target.occupants[i])) item_of[id->index()] = i;
  }
  std::vector<Join>& joins = target.problem.joins;
  for (const StorageJoin& each : layout_.joins) {
    const std::uint32_t a = item_of[each.a.index()];
    const std::uint32_t b = item_of[each.b.index()];
    if (a == kNone || b == kNone) continue;
    const Join join = a < b ? Join{a, b, each.distance} : Join{b, a, Bytes(0) - each.distance};
    const bool apart = are_too_close(target.problem, join.a, join.b, join.distance);
    if (!apart && is_possible(target.problem, join)) joins.push_back(join);
  }
  std::sort(joins.begin(), joins.end());
}

/// Adds what holds between items.
void ProblemBuilder::relate(ArenaProblem& target) const {
  if (is_ordered() && !target.occupants.empty()) add_order(target);
  target.problem.apart = find_apart(graph_, layout_, target);
  add_joins(target);
}

/// Splits the arena into regions with a limit.
void ProblemBuilder::split(ArenaProblem& target, Bytes max_size) const {
  const std::vector<std::size_t> oversize = find_oversize(target.problem, max_size);
  ArenaProblem larger{.name = {}, .memory = target.memory, .kind = target.kind, .problem = {}, .occupants = {}};
  for (const std::size_t i : oversize) {
    larger.problem.items.push_back(target.problem.items[i]);
    larger.occupants.push_back(target.occupants[i]);
  }
  if (!oversize.empty()) relate(larger);
  const RegionChoice choice = split_at(target.problem, max_size, oversize, larger.problem);
  target.covers_graph = choice == RegionChoice::complete;
}

/// Whether an occupant may be placed in a caller's buffer: only if it lives within a run and needs no fixed address,
/// fill or group.
bool ProblemBuilder::may_be_guest(const Occupant& occupant) const {
  if (const auto* ref = std::get_if<WorkspaceId>(&occupant))
    return !no_reuse(*ref) && !is_filled(*ref) && !graph_.op(ref->op).fixed_address;
  const auto* id = std::get_if<StorageId>(&occupant);
  if (!id) return false;
  const Storage& storage = layout_.storage(*id);
  return !storage.rigid && std::none_of(storage.classes.begin(), storage.classes.end(), [&](ClassId each) {
    const Sides sides = liveness_.lives[each].sides;
    return sides.before || sides.after ||
           layout_.demands[each].any_of({Demand::fixed, Demand::grouped, Demand::filled}) ||
           layout_.sharing.flags[each].has(TensorFlag::input);
  });
}

/// Adds the caller's reusable buffers as unpaid regions, each with its own tensor pinned at offset 0 during its life.
void ProblemBuilder::add_hosts(ArenaProblem& target) const {
  struct {
    Bytes alignment = kMaxBytes;
    Bytes size = kMaxBytes;
  } least;  // of all hosts
  for (const TensorId tensor : layout_.bound) {
    const ClassId id = layout_.class_of(tensor);
    const AliasClass& host = layout_.classes[id];
    const bool reusable = layout_.sharing.flags[id].has(TensorFlag::reusable) && host.memory == target.memory &&
                          !layout_.demands[id].has(Demand::whole_run);
    if (!reusable || host.size == Bytes(0)) continue;
    target.hosts.push_back(tensor);
    least.alignment = std::min(least.alignment, host.alignment);
    least.size = std::min(least.size, host.size);
  }
  if (target.hosts.empty()) return;
  const auto paid = static_cast<std::uint32_t>(target.problem.regions.size());
  std::vector<std::uint32_t> ours;
  for (std::uint32_t r = 0; r < paid; ++r) ours.push_back(r);
  for (std::size_t i = 0; i < target.occupants.size(); ++i) {
    std::vector<std::uint32_t>& allowed = target.problem.items[i].allowed;
    const Item& item = target.problem.items[i];
    const bool guest = may_be_guest(target.occupants[i]);
    // An empty list allows all regions, which is the common case.
    if (guest && allowed.empty() && item.alignment <= least.alignment && item.size <= least.size) continue;
    if (allowed.empty()) allowed = ours;
    for (std::uint32_t h = 0; h < target.hosts.size() && guest; ++h) {
      const AliasClass& host = layout_.classes[layout_.class_of(target.hosts[h])];
      if (item.alignment <= host.alignment && item.size <= host.size) allowed.push_back(paid + h);
    }
  }
  for (std::uint32_t h = 0; h < target.hosts.size(); ++h) {
    const ClassId id = layout_.class_of(target.hosts[h]);
    const Bytes size = layout_.classes[id].size;
    target.problem.regions.push_back({size, false});
    Item self{.pieces = {}, .size = size, .alignment = Bytes(1), .pinned = Bytes(0), .allowed = {paid + h}};
    for (const Interval& life : liveness_.lives[id].needed()) self.pieces.push_back({life, {Bytes(0), size}});
    target.problem.items.push_back(std::move(self));
    target.occupants.emplace_back(HostTensor{target.hosts[h]});
  }
}

/// Whether something that is filled at the start has padding. A Problem keeps that free from the start on, though
/// something else may use it until the op.
bool ProblemBuilder::fills_before_padding() const {
  if (layout_.padding == Padding::none) return false;
  for (std::size_t k = 0; k < layout_.central_fills.size(); ++k) {
    if (layout_.central_fills[k] == 0) continue;
    const Op& op = graph_.ops()[k];
    for (const std::uint32_t output : op.zero_fill.outputs) {
      const TensorId tensor = op.outputs[output];
      if (!is_aligned(graph_.tensor(tensor).size, graph_.alignment(tensor))) return true;
    }
    for (const std::uint32_t w : op.zero_fill.workspaces) {
      if (!is_aligned(op.workspaces[w].size, graph_.alignment(op.workspaces[w]))) return true;
    }
  }
  return false;
}

void ProblemBuilder::finish(ArenaProblem& each, const LowerOptions& options, Lowering& result) {
  if (each.occupants.empty() && each.kind != ArenaKind::ring) return;
  std::optional<Bytes> limit = graph_.memory(each.memory).max_size;
  if (options.region_limit) limit = std::min(limit.value_or(*options.region_limit), *options.region_limit);
  each.limit = each.kind == ArenaKind::ring ? std::nullopt : limit;
  if (each.limit) split(each, *each.limit);
  if (each.kind == ArenaKind::shared) add_hosts(each);
  if (each.kind != ArenaKind::persistent) {
    each.problem.capacity = options.capacity;
    relate(each);
  }
  const bool searched = each.kind == ArenaKind::shared || each.kind == ArenaKind::fixed;
  const bool is_one_layout =
      !layout_.has_alternatives && !liveness_.timeline.branches() && each.covers_graph && !fills_before_padding();
  each.covers_graph = !searched || is_one_layout;
  naive_ += each.size.value_or(Bytes(0));
  result.arenas.push_back(std::move(each));
}

Lowering ProblemBuilder::finish(const LowerOptions& options) {
  Lowering result;
  for (std::size_t m = 0; m < graph_.memories().size(); ++m) {
    for (ArenaProblem& ring : rings_) {
      if (ring.memory.index() == m) finish(ring, options, result);
    }
    for (const ArenaKind kind : kKinds) finish(arena(MemoryId(m), kind), options, result);
  }
  result.naive = naive_;
  return result;
}

}  // namespace

Lowering lower(const Graph& graph, const Analysis& analysis, const LowerOptions& options) {
  ProblemBuilder builder(graph, analysis);
  for (std::size_t s = 0; s < analysis.layout.storages.size(); ++s) builder.add_storage(StorageId(s));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    for (std::uint32_t w = 0; w < op.workspaces.size(); ++w) builder.add_workspace(OpId(k), w);
  }
  return builder.finish(options);
}

}  // namespace stowage
