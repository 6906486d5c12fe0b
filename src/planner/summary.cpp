#include <chrono>

#include "planner/interface/record.hpp"

namespace stowage {

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
  for (const Arena& arena : planned.plan->arenas) {
    summary.arenas.push_back({arena.name, graph.memory(arena.memory).name, std::string(to_string(arena.kind)),
                              arena.size, arena.lower_bound, arena.proven_optimal});
  }
  return summary;
}

}  // namespace stowage
