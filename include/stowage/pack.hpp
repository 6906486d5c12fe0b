#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/plan.hpp"

/// Solvers: from a `Problem` to positions. This module knows geometry only; it has never heard of tensors.
namespace stowage {

struct SolveOutcome;

/// How a solver may work. Same problem, seed and node budget give the same answer for any number of threads; a deadline or a stop
/// request only ends it earlier.
struct SolveOptions {
  std::string solver = "auto";                                         ///< A name of `solvers()`.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};  ///< Best answer so far when it passes.
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  /// For searching solvers: how many nodes they may visit, all threads together. Absent: until the deadline; without one,
  /// 200,000.
  std::optional<std::uint64_t> node_budget = {};
  std::stop_token stop = {};  ///< Best answer so far when it is requested.
  std::function<void(const SolveOutcome&)> on_better =
      {};  ///< Called with each better answer, on the thread that called `solve`.
};

enum class SolveStatus : std::uint8_t {
  optimal,     ///< An answer whose peak equals the bound.
  feasible,    ///< An answer, within the capacity where there is one.
  infeasible,  ///< Proven: there is no answer (within the capacity).
  timed_out,   ///< Neither an answer within the capacity nor a proof that there is none. `positions` may hold one above it.
};

[[nodiscard]] std::string_view to_string(SolveStatus status);

/// What a solver came back with. When `positions` is not empty it has one entry an item and has passed `validate`.
struct SolveOutcome {
  SolveStatus status = SolveStatus::timed_out;
  std::vector<Position> positions = {};
  Bytes peak;               ///< Of `positions`.
  Certificate bound = {};   ///< The best that is known; `check_bound` accepts it, unless it came from an exhausted search.
  std::string solver = {};  ///< Who found the positions.
  std::uint64_t nodes = 0;  ///< Visited by searching solvers.

  /// Positions that are an answer to the problem: valid and within its capacity.
  [[nodiscard]] bool has_answer() const { return status == SolveStatus::optimal || status == SolveStatus::feasible; }
};

/// One entry of the registry.
struct SolverInfo {
  std::string_view name;
  std::string_view summary;  ///< One line for people.
  bool searches = false;     ///< Goes on improving until a deadline or its node budget ends it; the others run once.
};

/// Every solver, in the order in which `auto` prefers them on a tie; `auto` itself is last.
[[nodiscard]] std::span<const SolverInfo> solvers();

/// Solves `problem`. Fails when the problem breaks a rule (`check_problem`) or no solver has that name; everything that
/// can happen to a good problem is a `SolveOutcome`. Thread-safe.
Result<SolveOutcome> solve(const Problem& problem, const SolveOptions& options = {});

/// The best lower bound of the peak that needs no search: the most bytes live at one step, slots of aligned items, pins and the
/// gaps between them. O(pieces log pieces), a few times.
[[nodiscard]] Certificate lower_bound(const Problem& problem);

}  // namespace stowage
