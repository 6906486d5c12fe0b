#include <algorithm>
#include <chrono>

#include "planner/interface/record.hpp"

namespace stowage {

namespace {

/// Constants that ops without a task list as outputs of their own, not as views.
Bytes folded_bytes(const Graph& graph, const Plan& plan) {
  std::vector<char> folded(graph.tensors().size());
  for (const Op& op : graph.ops()) {
    if (!op.no_task) continue;
    for (const TensorId output : op.outputs) {
      const Tensor& tensor = graph.tensor(output);
      if (tensor.flags.has(TensorFlag::constant) && !tensor.view_of) folded[output.index()] = 1;
    }
  }
  Bytes sum;
  for (const Placement& place : plan.placements) {
    if (folded[place.tensor.index()] == 0 || plan.arenas[place.arena.index()].kind != ArenaKind::persistent) continue;
    sum += plan.padding == Padding::own ? align_up(place.size, graph.alignment(place.tensor)) : place.size;
  }
  return sum;
}

/// The last op that has its memory filled at the start; op 0 if none has.
std::size_t last_central_fill(const Graph& graph, const std::vector<char>& central) {
  std::size_t last = 0;
  for (std::size_t k = 1; k < central.size(); ++k) {
    const ZeroFill& fill = graph.ops()[k].zero_fill;
    if (central[k] != 0 && !(fill.outputs.empty() && fill.workspaces.empty())) last = k;
  }
  return last;
}

/// Whether the bound counts memory as taken because it is filled before the op that needs it. Nobody knows what a
/// search counts.
bool counts_fills(const Arena& arena, std::size_t last) {
  const BoundProof::Argument argument = arena.proof.argument;
  const bool at_op = argument == BoundProof::Argument::live_bytes || argument == BoundProof::Argument::aligned;
  return arena.lower_bound > Bytes(0) && is_paid(arena.kind) &&
         !(at_op && arena.proof.op && arena.proof.op->index() >= last);
}

}  // namespace

BoundOptions bound_options(const Planned& planned) {
  const PlanOptions& options = planned.options;
  BoundOptions rests;
  if (planned.lower_bound == Bytes(0)) return rests;
  rests.forbidding = !options.in_place || options.no_reuse || !options.no_reuse_names.empty();
  if (rests.forbidding && planned.plan) {
    const std::vector<Arena>& arenas = planned.plan->arenas;
    rests.forbidding = std::any_of(arenas.begin(), arenas.end(), [](const Arena& arena) {
      const BoundProof::Argument argument = arena.proof.argument;
      return argument == BoundProof::Argument::choices || argument == BoundProof::Argument::search;
    });
  }
  const std::shared_ptr<const PlanningRecord>& record = planned.record;
  if (options.zero_fill != FillPolicy::central || !record) return rests;
  const std::size_t last = last_central_fill(planned.graph, record->analysis.layout.central_fills);
  rests.central_fills = last > 0;
  if (last > 0 && planned.plan) {
    const std::vector<Arena>& arenas = planned.plan->arenas;
    rests.central_fills =
        std::any_of(arenas.begin(), arenas.end(), [&](const Arena& arena) { return counts_fills(arena, last); });
  }
  return rests;
}

Summary summarize(const Planned& planned) {
  const Graph& graph = planned.graph;
  Summary summary;
  summary.name = graph.name();
  summary.ops = graph.ops().size();
  summary.tensors = graph.tensors().size();
  summary.items = planned.items;
  summary.lower_bound = planned.lower_bound;
  summary.naive = planned.naive;
  summary.padding = planned.options.padding;
  const BoundOptions rests = bound_options(planned);
  summary.bound_rests_on_options = rests.forbidding || rests.central_fills;
  summary.status = to_string(planned.status);
  summary.solver = planned.solver;
  summary.strategies = planned.candidates.size();
  if (summary.strategies > 1) summary.strategy = planned.strategy;
  if (planned.record) summary.solve_ms = std::chrono::duration<double, std::milli>(planned.record->times.solve).count();
  if (!planned.plan) return summary;
  summary.peak = planned.plan->peak();
  summary.proven_optimal = planned.plan->proven_optimal();
  summary.cost = cost_of(*planned.plan);
  summary.folded = folded_bytes(graph, *planned.plan);
  for (const Arena& arena : planned.plan->arenas) {
    if (arena.kind == ArenaKind::persistent) summary.weights += arena.size;
    summary.arenas.push_back({arena.name, graph.memory(arena.memory).name, std::string(to_string(arena.kind)),
                              arena.size, arena.lower_bound, arena.proven_optimal});
  }
  summary.total = summary.weights + summary.peak;
  return summary;
}

}  // namespace stowage
