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

/// Solvers: from a `Problem` to positions. Independent of tensors and graphs.
namespace stowage {

struct SolveOutcome;

/// Options of the solver `blocks`, as in GE (docs/ge.md).
struct ReuseKnobs {
  /// How blocks are nested into larger ones.
  enum class Sort : std::uint8_t {
    descending,  ///< The largest first, among equals the latest; each where it leaves most room.
    /// The smallest first, among equals the earliest; each where it leaves least room.
    ascending,
  };
  /// Which of several free blocks an item takes.
  enum class Release : std::uint8_t {
    first,  ///< The one released first.
    last,   ///< The one released last.
  };
  /// Which blocks an item may take.
  enum class SizeClasses : std::uint8_t {
    exact,  ///< Those of items of exactly its size.
    /// Those of items between the same powers of two; a block has the size of the largest of them.
    range,
    one,  ///< All; every block has the size of the largest item.
  };
  Sort sort = Sort::descending;
  Release release = Release::last;
  SizeClasses size_classes = SizeClasses::exact;

  friend bool operator==(const ReuseKnobs&, const ReuseKnobs&) = default;
};

/// How to solve. The same problem, seed and node budget give the same answer for any number of
/// threads, unless a deadline or a stop request ends the search earlier.
struct SolveOptions {
  std::string solver = "auto";  ///< A name of `solvers()`.
  /// When it passes, the best answer so far is returned. If there is none, `auto` and the greedy
  /// solvers still finish the pass that gives one.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  /// For searching solvers: the approximate number of nodes after which they stop, over all
  /// threads; a round of runs is never cut short. Absent: no limit with a deadline, 200,000
  /// without.
  std::optional<std::uint64_t> node_budget = {};
  ReuseKnobs reuse = {};      ///< For the solver `blocks`.
  std::stop_token stop = {};  ///< When requested, the best answer so far is returned.
  /// Called with each better answer, on the thread that called `solve`.
  std::function<void(const SolveOutcome&)> on_better = {};
};

enum class SolveStatus : std::uint8_t {
  optimal,     ///< An answer whose peak equals the bound.
  feasible,    ///< An answer, within the capacity where there is one.
  infeasible,  ///< Proven: no answer exists within the capacity.
  /// Neither an answer within the capacity nor a proof that none exists. `positions` may hold an
  /// answer above the capacity.
  timed_out,
};

[[nodiscard]] STOWAGE_EXPORT std::string_view to_string(SolveStatus status);

/// The result of a solver. `positions` is empty, or has one entry per item and has passed
/// `validate`.
struct SolveOutcome {
  SolveStatus status = SolveStatus::timed_out;
  std::vector<Position> positions = {};
  Bytes peak;  ///< Of `positions`.
  /// The best known lower bound. `check_bound` accepts it, unless it comes from an exhausted
  /// search.
  Certificate bound = {};
  /// The solver, or the part of one, that found the positions; informative.
  std::string solver = {};
  std::uint64_t nodes = 0;  ///< Nodes visited by searching solvers.

  /// Whether `positions` is an answer: valid and within the capacity.
  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// One entry of the registry.
struct SolverInfo {
  std::string_view name;
  std::string_view summary;  ///< A one-line description.
  /// Whether it keeps improving until a deadline or its node budget ends it. Other solvers run
  /// once.
  bool searches = false;
};

/// All solvers, in the order in which `auto` prefers them on a tie; `auto` itself is last.
[[nodiscard]] STOWAGE_EXPORT std::span<const SolverInfo> solvers();

/// Solves `problem`. Fails when `check_problem` does or when no solver has that name. Everything
/// else, such as finding no answer, is a `SolveOutcome`. Thread-safe.
STOWAGE_EXPORT Result<SolveOutcome> solve(const Problem& problem, const SolveOptions& options = {});

/// The best lower bound of the peak that needs no search: from the most bytes live at one step,
/// alignments, pins and the gaps between them. O(pieces log pieces).
[[nodiscard]] STOWAGE_EXPORT Certificate lower_bound(const Problem& problem);

}  // namespace stowage
