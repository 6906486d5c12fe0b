#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/pack.hpp"
#include "timing.hpp"

namespace stowage::bench {

/// What one solver makes of an instance. Peak and nodes are sums over the instance's problems.
struct SolverRun {
  std::string_view solver;
  Bytes peak = {};
  std::uint64_t nodes = 0;
  bool searches = false;
  bool proven = true;  ///< Every problem's answer is known to be optimal.
  Timing time = {};
};

/// An instance by every solver, in the order of `solvers()`.
struct InstanceRuns {
  std::string name;
  std::size_t items = 0;
  Bytes bound = {};                   ///< Without search; the sum over the problems.
  std::optional<Bytes> optimum = {};  ///< Where it is known beforehand.
  std::vector<SolverRun> runs = {};

  [[nodiscard]] const SolverRun& by(std::string_view solver) const;
};

/// What the command line gives a search by default. The greedy solvers run to their end, whatever it takes.
inline constexpr std::chrono::seconds kSearchTime{1};

/// Every solver on all of `problems` (the shared arenas of a graph, or one CSV). `solve` checks the problem, finds the
/// bound and validates the answer; all of that is part of the time. A solver without an answer ends the program.
[[nodiscard]] InstanceRuns run_solvers(std::string name, std::span<const Problem* const> problems,
                                       const Effort& effort);

}  // namespace stowage::bench
