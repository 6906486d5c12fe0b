#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "plan/interface/plan_file.hpp"
#include "planner/interface/record.hpp"
#include "report/labels.hpp"
#include "report/page_plan.hpp"

/// A plan that was read from a file. How it was made is unknown, and it may be wrong. The graph's alias classes tell
/// which tensors share bytes, the plan where they are, the graph when they live. Whatever is not in an existing region
/// is left out.
namespace stowage::report {
namespace {

class Foreign {
 public:
  Foreign(const Graph& graph, const Plan& plan, const PlanOptions& options)
      : graph_(graph), plan_(plan), analysis_(analyze(graph, analysis_options(options))) {}

  PlanData run() && {
    add_graph(data_, graph_, analysis_);
    for (const Arena& arena : plan_.arenas) {
      const bool known = arena.memory.index() < graph_.memories().size();
      data_.arenas.push_back(page_arena(arena, known ? graph_.memory(arena.memory).name : std::string()));
      data_.arenas.back().concurrent = arena.kind == ArenaKind::ring || analysis_.liveness.order.steps.streams() > 1;
    }
    for (const Placement& each : plan_.placements) add(each);
    for (const WorkspacePlacement& each : plan_.workspaces) add(each);
    set_holders(data_, holders_);
    return std::move(data_);
  }

 private:
  /// The offset from the start of the arena; none if the region does not exist or the sum is out of range.
  [[nodiscard]] std::optional<Bytes> place_of(ArenaId arena, std::uint32_t region, Bytes offset, Bytes size) const {
    if (arena.index() >= plan_.arenas.size() || region >= plan_.arenas[arena.index()].regions.size())
      return std::nullopt;
    std::optional<Bytes> place = offset;
    for (std::uint32_t r = 0; r < region && place; ++r)
      place = add_within_limit(*place, plan_.arenas[arena.index()].regions[r]);
    return place && add_within_limit(*place, size) ? place : std::nullopt;
  }

  void add(const Placement& placement) {
    const TensorId tensor = placement.tensor;
    const ClassPlace inside = analysis_.layout.sharing.place(tensor);
    const Bytes size = analysis_.layout.classes[inside.id].size;
    const std::optional<Bytes> place = place_of(placement.arena, placement.region, placement.offset, size);
    if (!place || *place < inside.offset || size == Bytes(0)) return;
    const Bytes low = *place - inside.offset;
    const auto [known, is_new] = known_.try_emplace({inside.id, placement.arena, low}, holders_.size());
    if (is_new) {
      PageHolder holder = holder_at(placement.arena, low, size);
      const Tensor& source = graph_.tensor(tensor);
      const std::int64_t producer = data_.tensors.producer[tensor.index()];
      holder.tensor = static_cast<std::int64_t>(tensor.index());
      holder.kind = producer >= 0 ? data_.ops.kind[static_cast<std::size_t>(producer)]
                                  : data_.strings.number(kind_of_given(source));
      const std::optional<OpId> writer =
          producer >= 0 ? std::optional(timeline().moments[static_cast<std::size_t>(producer)].op) : std::nullopt;
      holder.scope = data_.strings.number(layer_of(graph_, tensor, writer));
      const bool for_ever = plan_.arenas[placement.arena.index()].kind == ArenaKind::persistent;
      const Interval whole{Step(0), timeline().horizon()};
      for (const Interval& life : for_ever ? std::span(&whole, 1) : analysis_.liveness.lives[inside.id].needed())
        occupy(holder, life);
      holders_.push_back(std::move(holder));
    }
    holders_[known->second].tensors.push_back(tensor.index());
  }

  void add(const WorkspacePlacement& placement) {
    const OpId id = placement.op;
    const std::optional<Bytes> place = place_of(placement.arena, placement.region, placement.offset, placement.size);
    if (!place || placement.size == Bytes(0)) return;
    PageHolder holder = holder_at(placement.arena, *place, placement.size);
    holder.op = step_of(timeline(), id);
    holder.kind = data_.strings.number(graph_.op(id).kind);
    holder.scope = data_.strings.number(layer_of(graph_.op(id)));
    const bool for_ever = plan_.arenas[placement.arena.index()].kind == ArenaKind::session;
    const Interval whole{Step(0), timeline().horizon()};
    for (const Interval& life : for_ever ? std::span(&whole, 1) : timeline().spans(id)) occupy(holder, life);
    holders_.push_back(std::move(holder));
  }

  [[nodiscard]] const Timeline& timeline() const { return analysis_.liveness.timeline; }

  [[nodiscard]] static PageHolder holder_at(ArenaId arena, Bytes low, Bytes size) {
    return {.arena = arena.index(), .life = {}, .size = size, .low = low, .pieces = {}, .tensors = {}};
  }

  static void occupy(PageHolder& holder, Interval when) {
    if (when.empty()) return;
    if (holder.pieces.empty()) holder.life.lower = when.lower;
    holder.life.upper = when.upper;
    holder.pieces.push_back({when, {holder.low, holder.low + holder.size}});
  }

  const Graph& graph_;
  const Plan& plan_;
  Analysis analysis_;
  PlanData data_;
  std::vector<PageHolder> holders_;
  std::map<std::tuple<ClassId, ArenaId, Bytes>, std::size_t> known_;
};

/// Without a graph: tensors without lifetimes, by number where the file does not name them.
PlanData numbered(const PlanFile& plan) {
  PlanData data;
  for (const InBody<Placement>& each : plan.placements) {
    const std::string where = each.body.empty() ? "" : fmt::format(" in body {}", fmt::join(each.body, "."));
    const std::string name =
        each.name.empty() ? fmt::format("tensor {}{}", each.entry.tensor.index(), where) : each.name;
    data.tensors.name.push_back(data.strings.number(name));
    data.tensors.size.push_back(each.entry.size.value());
  }
  const std::size_t count = plan.placements.size();
  for (Column* const column : {&data.tensors.type, &data.tensors.shape, &data.tensors.role, &data.tensors.read_count})
    column->assign(count, 0);
  for (Column* const column : {&data.tensors.holder, &data.tensors.producer}) column->assign(count, -1);
  for (const Arena& arena : plan.arenas) data.arenas.push_back(page_arena(arena, {}));
  return data;
}

/// The figures that the plan has.
template <class AnyPlan>
Summary summary_of(const AnyPlan& plan, const PlanData& data) {
  Summary summary;
  summary.name = plan.graph;
  summary.ops = data.ops.name.size();
  summary.tensors = data.tensors.name.size();
  summary.items = data.holders.size.size();
  summary.peak = plan.peak();
  summary.lower_bound = plan.lower_bound();
  for (std::size_t h = 0; h < data.holders.size.size(); ++h) {
    const PageArena& arena = data.arenas[static_cast<std::size_t>(data.holders.arena[h])];
    if (is_paid(arena.kind))
      summary.naive = add_within_limit(summary.naive, Bytes(data.holders.size[h])).value_or(kMaxBytes);
  }
  summary.proven_optimal = plan.proven_optimal();
  summary.status = to_string(plan.proven_optimal() ? SolveStatus::optimal : SolveStatus::feasible);
  for (const PageArena& arena : data.arenas) {
    if (arena.kind == ArenaKind::persistent) summary.weights += arena.size;
    summary.arenas.push_back({arena.name, arena.memory, std::string(to_string(arena.kind)), arena.size,
                              arena.lower_bound, arena.proven_optimal});
  }
  summary.total = summary.weights + summary.peak;
  return summary;
}

}  // namespace

PlanData foreign_data(const DiffSide& side, const PlanOptions& options) {
  PlanData data = side.file ? numbered(*side.file) : Foreign(*side.graph, *side.plan, options).run();
  data.summary = side.file ? summary_of(*side.file, data) : summary_of(*side.plan, data);
  return data;
}

}  // namespace stowage::report
