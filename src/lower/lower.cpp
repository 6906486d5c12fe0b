#include "stowage/lower.hpp"

#include <algorithm>

#include "lower/pieces.hpp"

namespace stowage {
namespace {

Bytes padded_size(const AliasClass& klass) { return align_up(klass.size, klass.alignment); }

/// Builds the Problems of one graph, an item at a time.
class Builder {
 public:
  Builder(const Graph& graph, const Liveness& liveness) : graph_(graph), liveness_(liveness) {
    for (std::size_t m = 0; m < graph.memories().size(); ++m) {
      for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::persistent}) {
        const std::string suffix = kind == ArenaKind::persistent ? " persistent" : "";
        arenas_.push_back({graph.memories()[m].name + suffix, MemoryId(m), kind, {}, {}});
      }
    }
  }

  void add_storage(StorageId id);
  void add_workspace(OpId op, std::uint32_t index);
  Lowering finish(std::optional<Bytes> capacity);

 private:
  ArenaProblem& arena(MemoryId memory, ArenaKind kind) {
    return arenas_[memory.index() * 2 + (kind == ArenaKind::persistent ? 1 : 0)];
  }
  [[nodiscard]] Item item_of(const Storage& storage) const;
  [[nodiscard]] bool no_reuse(WorkspaceRef ref) const;
  void add_order(ArenaProblem& arena) const;
  void order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const;
  void order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const;
  void order_step(Step step, std::span<Step> threshold, std::span<Step> first) const;
  static void split_at(ArenaProblem& arena, Bytes max_size);

  const Graph& graph_;
  const Liveness& liveness_;
  std::vector<ArenaProblem> arenas_;
  Bytes naive_;
};

Item Builder::item_of(const Storage& storage) const {
  Item item{.pieces = {}, .size = {}, .alignment = storage.alignment, .pinned = {}, .allowed = {}};
  for (const ClassId id : storage.classes) {
    const AliasClass& klass = liveness_.classes[id.index()];
    const ByteRange bytes{klass.offset, klass.offset + padded_size(klass)};
    item.pieces.push_back({klass.life, bytes});
    item.size = std::max(item.size, bytes.upper);
  }
  item.pieces = disjoint_pieces(std::move(item.pieces));
  return item;
}

void Builder::add_storage(StorageId id) {
  const Storage& storage = liveness_.storages[id.index()];
  const AliasClass& first = liveness_.classes[storage.classes.front().index()];
  const ArenaKind kind = first.residence == Residence::persistent ? ArenaKind::persistent : ArenaKind::shared;
  ArenaProblem& target = arena(first.memory, kind);
  target.problem.items.push_back(item_of(storage));
  target.occupants.emplace_back(id);
  if (kind == ArenaKind::persistent) return;
  for (const ClassId klass : storage.classes) naive_ += padded_size(liveness_.classes[klass.index()]);
}

bool Builder::no_reuse(WorkspaceRef ref) const {
  return liveness_.no_reuse || graph_.op(ref.op).no_reuse || graph_.op(ref.op).workspaces[ref.index].no_reuse;
}

void Builder::add_workspace(OpId op, std::uint32_t index) {
  const Workspace& workspace = graph_.op(op).workspaces[index];
  if (workspace.size == Bytes(0)) return;
  const Step step(static_cast<std::int64_t>(op.index()));
  const Bytes alignment = graph_.alignment(workspace);
  const Bytes size = align_up(workspace.size, alignment);
  const Interval life = no_reuse({op, index}) ? Interval{Step(0), liveness_.horizon} : Interval{step, step + Step(1)};
  ArenaProblem& target = arena(workspace.memory, ArenaKind::shared);
  target.problem.items.push_back({{{life, {Bytes(0), size}}}, size, alignment, {}, {}});
  target.occupants.emplace_back(WorkspaceRef{op, index});
  naive_ += size;
}

/// Takes one access into a row: the item is over no earlier than what comes after `step`, and begins no later than `step`.
void Builder::order_step(Step step, std::span<Step> threshold, std::span<Step> first) const {
  for (std::size_t stream = 0; stream < threshold.size(); ++stream) {
    threshold[stream] = std::max(threshold[stream], liveness_.order.next(step, stream));
  }
  Step& begins = first[graph_.op(OpId(static_cast<std::size_t>(step.value()))).stream.index()];
  begins = std::min(begins, step);
}

void Builder::order_class(ClassId id, std::span<Step> threshold, std::span<Step> first) const {
  const AliasClass& klass = liveness_.classes[id.index()];
  for (const Step step : liveness_.accesses(id)) order_step(step, threshold, first);
  // The caller wrote it before anything ran, and nothing can be over before that.
  if (klass.life.lower == Step(0)) std::fill(first.begin(), first.end(), Step(0));
  if (klass.never_over) std::fill(threshold.begin(), threshold.end(), kNever);
  if (!klass.never_over && liveness_.accesses(id).empty()) {
    const auto task = std::find_if(graph_.ops().begin(), graph_.ops().end(), [](const Op& op) { return !op.no_task; });
    if (task != graph_.ops().end()) order_step(Step(task - graph_.ops().begin()), threshold, first);
  }
}

void Builder::order_storage(const Storage& storage, std::span<Step> threshold, std::span<Step> first) const {
  for (const ClassId id : storage.classes) order_class(id, threshold, first);
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
    if (const auto* storage = std::get_if<StorageId>(&target.occupants[i])) {
      order_storage(liveness_.storages[storage->index()], threshold, first);
      continue;
    }
    const WorkspaceRef ref = std::get<WorkspaceRef>(target.occupants[i]);
    order_step(Step(static_cast<std::int64_t>(ref.op.index())), threshold, first);
    if (no_reuse(ref)) {
      std::fill(first.begin(), first.end(), Step(0));
      std::fill(threshold.begin(), threshold.end(), kNever);
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

Lowering Builder::finish(std::optional<Bytes> capacity) {
  Lowering result{{}, naive_};
  for (ArenaProblem& each : arenas_) {
    if (each.occupants.empty()) continue;
    if (const std::optional<Bytes> max_size = graph_.memory(each.memory).max_size) split_at(each, *max_size);
    if (each.kind == ArenaKind::shared) {
      each.problem.capacity = capacity;
      if (liveness_.order.streams() > 1) add_order(each);
    }
    result.arenas.push_back(std::move(each));
  }
  return result;
}

}  // namespace

Lowering lower(const Graph& graph, const Liveness& liveness, std::optional<Bytes> capacity) {
  Builder builder(graph, liveness);
  for (std::size_t s = 0; s < liveness.storages.size(); ++s) builder.add_storage(StorageId(s));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    for (std::uint32_t w = 0; w < op.workspaces.size(); ++w) builder.add_workspace(OpId(k), w);
  }
  return builder.finish(capacity);
}

}  // namespace stowage
