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

/// Solvers: from a `Problem` to positions. This module knows geometry only; it has never heard of
/// tensors.
namespace stowage {

struct SolveOutcome;

/// Knobs of the solver `blocks`, as users of GE know them (docs/ge.md).
struct ReuseKnobs {
  /// How blocks are nested into larger ones.
  enum class Sort : std::uint8_t {
    descending,  ///< The largest first, of equals the latest; each where most room is left.
    ascending,   ///< The smallest first, of equals the earliest; each where it leaves the least
                 ///< room.
  };
  /// Which of several free blocks an item takes.
  enum class Release : std::uint8_t {
    first,  ///< The one that was released first: the oldest.
    last,   ///< The one that was released last.
  };
  /// Whose blocks an item may take.
  enum class SizeClasses : std::uint8_t {
    exact,  ///< Of items of just its size.
    range,  ///< Of items between the same powers of two; blocks are as large as the largest of
            ///< them.
    one,    ///< Of all; blocks are as large as the largest item.
  };
  Sort sort = Sort::descending;
  Release release = Release::last;
  SizeClasses size_classes = SizeClasses::exact;

  friend bool operator==(const ReuseKnobs&, const ReuseKnobs&) = default;
};

/// How a solver may work. Same problem, seed and node budget give the same answer for any number of
/// threads; a deadline or a stop request only ends it earlier.
struct SolveOptions {
  std::string solver = "auto";  ///< A name of `solvers()`.
  /// Best answer so far when it passes; without any, `auto` and the greedy solvers still finish the
  /// pass that gives one.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  /// For searching solvers: after about how many nodes they stop, all threads together; a round of
  /// runs is never cut short. Absent: until the deadline; without one, 200,000.
  std::optional<std::uint64_t> node_budget = {};
  ReuseKnobs reuse = {};      ///< For the solver `blocks`.
  std::stop_token stop = {};  ///< Best answer so far when it is requested.
  /// Called with each better answer, on the thread that called `solve`.
  std::function<void(const SolveOutcome&)> on_better = {};
};

enum class SolveStatus : std::uint8_t {
  optimal,     ///< An answer whose peak equals the bound.
  feasible,    ///< An answer, within the capacity where there is one.
  infeasible,  ///< Proven: there is no answer (within the capacity).
  timed_out,  ///< Neither an answer within the capacity nor a proof that there is none. `positions`
              ///< may hold one above it.
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(SolveStatus status);

/// What a solver came back with. When `positions` is not empty it has one entry per item and has
/// passed `validate`.
struct SolveOutcome {
  SolveStatus status = SolveStatus::timed_out;
  std::vector<Position> positions = {};
  Bytes peak;               ///< Of `positions`.
  Certificate bound = {};   ///< The best that is known; `check_bound` accepts it, unless it came
                            ///< from an exhausted search.
  std::string solver = {};  ///< Who found the positions, for people: a solver or a part of one.
  std::uint64_t nodes = 0;  ///< Visited by searching solvers.

  /// Positions that are an answer to the problem: valid and within its capacity.
  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// One entry of the registry.
struct SolverInfo {
  std::string_view name;
  std::string_view summary;  ///< One line for people.
  bool searches = false;     ///< Goes on improving until a deadline or its node budget ends it; the
                             ///< others run once.
};

/// Every solver, in the order in which `auto` prefers them on a tie; `auto` itself is last.
[[nodiscard]] STOWAGE_EXPORT std::span<const SolverInfo> solvers();

/// Solves `problem`. Fails when the problem breaks a rule (`check_problem`) or no solver has that
/// name; everything that can happen to a good problem is a `SolveOutcome`. Thread-safe.
STOWAGE_EXPORT Result<SolveOutcome> solve(const Problem& problem, const SolveOptions& options = {});

/// The best lower bound of the peak that needs no search: the most bytes live at one step, whole
/// multiples of alignments, pins and the gaps between them. O(pieces log pieces), a few times.
[[nodiscard]] STOWAGE_EXPORT Certificate lower_bound(const Problem& problem);

}  // namespace stowage
