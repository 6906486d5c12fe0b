#include <fmt/format.h>

#include "lower/interface/lower.hpp"
#include "sections.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

namespace stowage::bench {
namespace {

/// An answer for every arena. The cost of raising and verifying does not depend on its quality.
std::vector<ArenaSolution> solve_all(const Lowering& lowering) {
  SolveOptions options;
  options.solver = "first_fit_by_size";
  std::vector<ArenaSolution> solutions;
  for (const ArenaProblem& arena : lowering.arenas) {
    Result<SolveOutcome> outcome = solve(arena.problem, options);
    STOWAGE_CHECK(outcome.has_value() && outcome->has_answer(),
                  "every arena of a graph without a capacity must have an answer");
    solutions.push_back({std::move(outcome->positions), outcome->bound});
  }
  return solutions;
}

/// Adds a row; returns the time of the complete plan.
Timing add_graph(Table& table, const GraphInstance& instance, const Effort& effort) {
  const Graph& graph = instance.graph;
  const Analysis analysis = analyze(graph);
  const Lowering lowering = lower(graph, analysis);
  const std::vector<ArenaSolution> solutions = solve_all(lowering);
  const Plan raised = raise(graph, analysis, lowering, solutions);
  const auto time = [&](auto&& work) { return to_text(measure(effort, work)); };
  const Timing whole = measure(effort, [&] { return plan(graph); });
  table.add({instance.name, std::to_string(graph.ops().size()), time([&] { return instance.import(); }),
             time([&] { return analyze(graph); }), time([&] { return lower(graph, analysis); }),
             time([&] { return raise(graph, analysis, lowering, solutions); }),
             time([&] { return verify(graph, raised); }), to_text(whole)});
  return whole;
}

std::vector<Limited> bench_graph_stages(const Options& options) {
  constexpr double kPlanLimit = 10;
  Table table({"graph", "ops", "import", "liveness", "lower", "raise", "verify", "plan (auto)"});
  std::vector<Limited> limited;
  for (const GraphInstance& instance : graph_instances(options.selection)) {
    const Timing whole = add_graph(table, instance, options.effort);
    if (instance.path.empty()) limited.push_back({instance.name + ", plan (auto)", kPlanLimit, whole});
  }
  table.print();
  return limited;
}

void bench_csv_stages(const Options& options) {
  Table table({"csv", "items", "import", "lower_bound", "validate"});
  for (const CsvInstance& instance : csv_instances(options.selection)) {
    const Problem& problem = instance.table.problem;
    SolveOptions online;
    online.solver = "online_best_fit";
    const Result<SolveOutcome> outcome = solve(problem, online);
    STOWAGE_CHECK(outcome.has_value() && outcome->has_answer(), "a CSV without capacity must have an answer");
    const auto time = [&](auto&& work) { return to_text(measure(options.effort, work)); };
    table.add({instance.name, std::to_string(problem.items.size()), time([&] { return instance.import(); }),
               time([&] { return lower_bound(problem); }),
               time([&] { return validate(problem, outcome->positions); })});
  }
  table.print();
}

}  // namespace

std::vector<Limited> bench_stages(const Options& options) {
  fmt::print("## Stages\n\n");
  std::vector<Limited> limited = bench_graph_stages(options);
  bench_csv_stages(options);
  return limited;
}

}  // namespace stowage::bench
