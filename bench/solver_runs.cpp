#include "solver_runs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "exit.hpp"

namespace stowage::bench {
namespace {

SolveOutcome solve_or_exit(const Problem& problem, const SolverInfo& solver) {
  SolveOptions options;
  options.solver = solver.name;
  if (solver.searches) options.deadline = Clock::now() + kSearchTime;
  SolveOutcome outcome = value_or_exit(solve(problem, options));
  if (!outcome.has_answer()) exit_with({ErrorCode::invalid, fmt::format("{} has no answer", solver.name), {}});
  return outcome;
}

SolverRun run_solver(std::span<const Problem* const> problems, const SolverInfo& solver, Effort effort) {
  SolverRun run;
  if (solver.searches) effort.at_least = 1;  // a search that uses all of its time once will do so again
  const Timing time = measure(effort, [&] {
    run = {.solver = solver.name, .searches = solver.searches};
    for (const Problem* const problem : problems) {
      const SolveOutcome outcome = solve_or_exit(*problem, solver);
      run.peak += outcome.peak;
      run.nodes += outcome.nodes;
      run.proven = run.proven && outcome.status == SolveStatus::optimal;
    }
    return run.peak;
  });
  run.time = time;
  return run;
}

}  // namespace

const SolverRun& InstanceRuns::by(std::string_view solver) const {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const SolverRun& run) { return run.solver == solver; });
  STOWAGE_CHECK(found != runs.end(), "every solver must have run");
  return *found;
}

InstanceRuns run_solvers(std::string name, std::span<const Problem* const> problems, const Effort& effort) {
  InstanceRuns result{.name = std::move(name)};
  for (const Problem* const problem : problems) {
    result.items += problem->items.size();
    result.bound += lower_bound(*problem).bytes;
  }
  for (const SolverInfo& solver : solvers()) result.runs.push_back(run_solver(problems, solver, effort));
  for (const SolverRun& run : result.runs) {
    if (run.proven) result.optimum = run.peak;
  }
  return result;
}

}  // namespace stowage::bench
