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

}  // namespace

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
