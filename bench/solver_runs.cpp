#include "solver_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "table.hpp"

namespace stowage::bench {
namespace {

/// What the command line gives a search by default. The greedy solvers run to their end, whatever it takes.
constexpr std::chrono::seconds kSearchTime{1};

bool searches(std::string_view name) {
  return std::any_of(solvers().begin(), solvers().end(),
                     [&](const SolverInfo& info) { return info.name == name && info.searches; });
}

SolveOutcome solve_or_exit(const Problem& problem, SolveOptions options) {
  if (searches(options.solver)) options.deadline = std::chrono::steady_clock::now() + kSearchTime;
  Result<SolveOutcome> outcome = solve(problem, options);
  if (outcome && outcome->has_answer()) return std::move(outcome).value();
  fmt::print(stderr, "stowage_bench: {} has no answer\n", options.solver);
  std::exit(1);
}

SolverRun run_solver(std::span<const Problem* const> problems, const SolveOptions& options, const Effort& effort) {
  SolverRun run{.solver = options.solver, .peak = {}, .bound = {}, .winner = {}, .time = {}};
  run.time = measure(effort, [&] {
    run.peak = run.bound = Bytes(0);
    for (const Problem* const problem : problems) {
      const SolveOutcome outcome = solve_or_exit(*problem, options);
      run.peak += outcome.peak;
      run.bound += outcome.bound.bytes;
      run.winner = outcome.solver;
    }
    return run.peak;
  });
  return run;
}

Table solver_table(const std::string& first, const std::vector<SolverRun>& runs) {
  std::vector<std::string> header = {first};
  for (const SolverRun& run : runs) header.push_back(run.solver);
  return Table(std::move(header));
}

}  // namespace

std::vector<SolverRun> run_solvers(std::span<const Problem* const> problems, const Effort& effort) {
  std::vector<SolverRun> runs;
  for (const SolverInfo& info : solvers()) {
    SolveOptions options;
    options.solver = info.name;
    runs.push_back(run_solver(problems, options, effort));
  }
  return runs;
}

void print_solver_tables(const std::vector<NamedRuns>& instances) {
  if (instances.empty()) return;
  Table peaks = solver_table("peak / bound", instances.front().runs);
  Table times = solver_table("time to solve", instances.front().runs);
  for (const NamedRuns& instance : instances) {
    std::vector<std::string> peak = {instance.name};
    std::vector<std::string> time = {instance.name};
    for (const SolverRun& run : instance.runs) {
      const std::string found_by = run.solver == "auto" ? fmt::format(" ({})", run.winner) : "";
      peak.push_back(ratio(run.peak.value(), run.bound.value()) + found_by);
      time.push_back(to_text(run.time));
    }
    peaks.add(std::move(peak));
    times.add(std::move(time));
  }
  peaks.print();
  times.print();
}

}  // namespace stowage::bench
