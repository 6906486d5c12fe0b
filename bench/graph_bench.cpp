#include <algorithm>

#include <fmt/format.h>

#include "peers.hpp"
#include "sections.hpp"
#include "solver_runs.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// From a graph file to a verified plan, stage by stage and as a whole.
namespace stowage::bench {
namespace {

/// The planning of a graph, cut into its stages.
struct Stages {
  Timing import;
  Timing liveness;
  Timing lower;
  Timing raise;
  Timing verify;
  Timing plan;
};

/// An answer to every arena, as `plan` would find it.
std::vector<ArenaSolution> solve_all(const Lowering& lowering) {
  std::vector<ArenaSolution> solutions;
  for (const ArenaProblem& arena : lowering.arenas) {
    Result<SolveOutcome> outcome = solve(arena.problem);
    STOWAGE_CHECK(outcome.has_value() && outcome->has_answer(), "auto answers every arena of a graph without a capacity");
    solutions.push_back({std::move(outcome->positions), outcome->bound.bytes});
  }
  return solutions;
}

Stages run_stages(const GraphInstance& instance, const Liveness& liveness, const Lowering& lowering, const Effort& effort) {
  const Graph& graph = instance.graph;
  const std::vector<ArenaSolution> solutions = solve_all(lowering);
  const Plan raised = raise(graph, liveness, lowering, solutions);
  Stages stages;
  stages.import = measure(effort, [&] { return instance.import(); });
  stages.liveness = measure(effort, [&] { return analyze(graph); });
  stages.lower = measure(effort, [&] { return lower(graph, liveness); });
  stages.raise = measure(effort, [&] { return raise(graph, liveness, lowering, solutions); });
  stages.verify = measure(effort, [&] { return verify(graph, raised); });
  stages.plan = measure(effort, [&] { return plan(graph); });
  return stages;
}

std::vector<const Problem*> shared_problems(const Lowering& lowering) {
  std::vector<const Problem*> problems;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind == ArenaKind::shared) problems.push_back(&arena.problem);
  }
  return problems;
}

std::size_t count_items(const std::vector<const Problem*>& problems) {
  std::size_t count = 0;
  for (const Problem* const problem : problems) count += problem->items.size();
  return count;
}

const SolverRun& run_of(const std::vector<SolverRun>& runs, std::string_view solver) {
  return *std::find_if(runs.begin(), runs.end(), [&](const SolverRun& run) { return run.solver == solver; });
}

/// Our bytes beside ggml's, for the graphs that were recorded from it.
void print_peers(const std::vector<NamedRuns>& instances) {
  Table table({"bytes", "ggml", "online_best_fit", "auto", "bound", "auto / ggml"});
  bool any = false;
  for (const NamedRuns& instance : instances) {
    const auto peer =
        std::find_if(kGgml.begin(), kGgml.end(), [&](const PeerFigure& each) { return each.graph == instance.name; });
    if (peer == kGgml.end()) continue;
    const SolverRun& best = run_of(instance.runs, "auto");
    table.add({instance.name, with_commas(peer->bytes), with_commas(run_of(instance.runs, "online_best_fit").peak.value()),
               with_commas(best.peak.value()), with_commas(best.bound.value()), ratio(best.peak.value(), peer->bytes)});
    any = true;
  }
  if (!any) return;
  fmt::print("### Beside ggml\n\nColumn ggml: {}; a figure from the peer's own run, not from this one.\n\n", kGgmlSource);
  table.print();
}

}  // namespace

std::vector<Limited> bench_graphs(const Selection& selection, const Effort& effort) {
  constexpr double kPlanLimit = 10;
  Table stages({"graph", "ops", "items", "import", "liveness", "lower", "raise", "verify", "plan (auto)"});
  std::vector<NamedRuns> runs;
  std::vector<Limited> limited;
  for (const GraphInstance& instance : graph_instances(selection)) {
    const Liveness liveness = analyze(instance.graph);
    const Lowering lowering = lower(instance.graph, liveness);
    const std::vector<const Problem*> problems = shared_problems(lowering);
    const Stages times = run_stages(instance, liveness, lowering, effort);
    stages.add({instance.name, std::to_string(instance.graph.ops().size()), std::to_string(count_items(problems)),
                to_text(times.import), to_text(times.liveness), to_text(times.lower), to_text(times.raise), to_text(times.verify),
                to_text(times.plan)});
    runs.push_back({instance.name, run_solvers(problems, effort)});
    if (instance.path.empty()) limited.push_back({instance.name + ", plan (auto)", kPlanLimit, times.plan});
  }
  if (runs.empty()) return limited;
  fmt::print("## Graphs\n\n### Stages\n\n");
  stages.print();
  fmt::print("### Solvers\n\n");
  print_solver_tables(runs);
  print_peers(runs);
  return limited;
}

}  // namespace stowage::bench
