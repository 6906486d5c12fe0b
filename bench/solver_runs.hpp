#pragma once

#include <span>
#include <string>
#include <vector>

#include "stowage/pack.hpp"
#include "timing.hpp"

namespace stowage::bench {

/// What one solver makes of an instance, in the order of `solvers()`.
struct SolverRun {
  std::string solver;
  Bytes peak;  ///< Both are sums over the instance's problems.
  Bytes bound;
  std::string winner;  ///< Who found the answer, of `auto`; the last problem's.
  Timing time;
};

/// Every solver on all of `problems` (the shared arenas of a graph, or one CSV), without a deadline. `solve` checks the problem,
/// finds the bound and validates the answer; all of that is part of the time. A solver without an answer ends the program.
[[nodiscard]] std::vector<SolverRun> run_solvers(std::span<const Problem* const> problems, const Effort& effort);

/// One row an instance, one column a solver: peak / bound, then the times.
struct NamedRuns {
  std::string name;
  std::vector<SolverRun> runs;
};
void print_solver_tables(const std::vector<NamedRuns>& instances);

}  // namespace stowage::bench
