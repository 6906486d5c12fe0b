#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/pack.hpp"
#include "timing.hpp"

namespace stowage::bench {

/// The result of one solver for an instance. Peak and nodes are sums over the instance's problems.
struct SolverRun {
  std::string_view solver;
  Bytes peak = {};
  std::uint64_t nodes = 0;
  bool searches = false;
  bool proven = true;  ///< The answer to every problem is known to be optimal.
  Timing time = {};
};

/// The results of all solvers for an instance, in the order of `solvers()`.
struct InstanceRuns {
  std::string name;
  std::size_t items = 0;
  Bytes bound = {};                   ///< Found without search; the sum over the problems.
  std::optional<Bytes> optimum = {};  ///< If known in advance.
  std::vector<SolverRun> runs = {};

  [[nodiscard]] const SolverRun& by(std::string_view solver) const;
};

/// The command line's default time limit for searches. The greedy solvers always run to completion.
inline constexpr std::chrono::seconds kSearchTime{1};

/// Runs every solver on all of `problems` (the shared arenas of a graph, or one CSV). The time includes all of `solve`:
/// checking the problem, finding the bound and validating the answer. Ends the program if a solver has no answer.
[[nodiscard]] InstanceRuns run_solvers(std::string name, std::span<const Problem* const> problems,
                                       const Effort& effort);

}  // namespace stowage::bench
