#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Knobs of the solver `blocks`, as users of GE know them (docs/ge.md).
struct ReuseKnobs {
  /// How blocks are nested into larger ones.
  enum class Sort : std::uint8_t {
    descending,  ///< The largest first, of equals the latest; each where most room is left.
    ascending,   ///< The smallest first, of equals the earliest; each where it leaves the least room.
  };
  /// Which of several free blocks an item takes.
  enum class Release : std::uint8_t {
    first,  ///< The one that was released first: the oldest.
    last,   ///< The one that was released last.
  };
  /// Whose blocks an item may take.
  enum class SizeClasses : std::uint8_t {
    exact,  ///< Of items of just its size.
    range,  ///< Of items between the same powers of two; blocks are as large as the largest of them.
    one,    ///< Of all; blocks are as large as the largest item.
  };
  Sort sort = Sort::descending;
  Release release = Release::last;
  SizeClasses size_classes = SizeClasses::exact;

  friend bool operator==(const ReuseKnobs&, const ReuseKnobs&) = default;
};

/// How a solver may work. Same problem, seed and node budget give the same answer for any number of threads; a deadline or a stop
/// request only ends it earlier.
struct SolveOptions {
  std::string solver = "auto";  ///< A name of `solvers()`.
  /// Best answer so far when it passes; without any, `auto` and the greedy solvers still finish the pass that gives one.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  /// For searching solvers: after about how many nodes they stop, all threads together; a round of runs is never cut short.
  /// Absent: until the deadline; without one, 200,000.
  std::optional<std::uint64_t> node_budget = {};
  ReuseKnobs reuse = {};      ///< For the solver `blocks`.
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
  std::string solver = {};  ///< Who found the positions, for people: a solver or a part of one.
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

// ------------------------------------------------------------------------------------------------------------ re-planning

/// An item takes another shape: another size, another life. It keeps its index. One that is gone has size 0 from now on.
struct ItemChange {
  std::size_t item = 0;
  Item becomes;
};

/// An answer to an earlier problem, as far as it concerns a new one.
struct PreviousAnswer {
  std::vector<std::optional<Position>> positions;  ///< By item of the new problem; absent for those that are new. Empty: all are.
  Bytes peak;                                      ///< Of the earlier answer.
  Bytes bound;                                     ///< Of the earlier problem.

  [[nodiscard]] static PreviousAnswer of(const SolveOutcome& outcome);
};

struct ReplanOptions {
  SolveOptions solve = {};              ///< For when it must be solved from scratch. A deadline in it is one point in time.
  double tolerance = 0.005;             ///< By how much more than before the peak may exceed the bound until then.
  std::vector<std::size_t> fixed = {};  ///< Items that must not move, whatever it costs. Each needs a previous position.
};

/// What came of a change.
struct Replanned {
  /// `feasible` and `optimal` as of `solve`; `infeasible` when the bound exceeds the capacity, `timed_out` when only the peak
  /// does.
  SolveStatus status = SolveStatus::timed_out;
  Bytes peak;
  Certificate bound = {};
  std::size_t moved = 0;      ///< Items that had a position and now have another.
  bool from_scratch = false;  ///< What could stay was not enough.

  [[nodiscard]] bool has_answer() const { return status == SolveStatus::optimal || status == SolveStatus::feasible; }
};

/// A problem with its answer, kept while the problem changes: what can stay stays.
///
/// A changed item stays where it is when there is room. If not, it moves or those in its way do, whichever are fewer bytes, to
/// the lowest place that is free, or in chains where none is. Only when that leads above the peak that the tolerance permits is
/// the whole solved from scratch. On plain problems a change costs what it touches (items live at the same time as those that
/// change or move), not what there is; on others everything that stays is placed again, which is correct but not fast.
///
/// The positions are valid after every call, also after one that failed, which changes nothing. Deterministic, unless a deadline
/// interferes. Not thread-safe.
class Replanner {
 public:
  /// Takes over what can stay of `previous`. Fails when the problem breaks a rule, when no solver has that name, when the
  /// tolerance is negative, when `previous` has positions but not one an item, and when a fixed item cannot lie where it lay, or
  /// a pinned one at its pin; the message says why.
  static Result<Replanner> start(Problem problem, PreviousAnswer previous, ReplanOptions options = {});
  ~Replanner();
  Replanner(Replanner&&) noexcept;
  Replanner& operator=(Replanner&&) noexcept;

  /// All of `changes` at once. Fails as `start` does.
  Result<Replanned> change(std::span<const ItemChange> changes);

  [[nodiscard]] const Problem& problem() const;
  /// Valid for `problem()`, whatever the status; within the capacity if there is an answer. Empty where limits of regions leave
  /// no room for everything or none was found.
  [[nodiscard]] const std::vector<Position>& positions() const;
  /// What the last call came to.
  [[nodiscard]] const Replanned& outcome() const;

 private:
  class State;
  explicit Replanner(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// The best lower bound of the peak that needs no search: the most bytes live at one step, slots of aligned items, pins and the
/// gaps between them. O(pieces log pieces), a few times.
[[nodiscard]] Certificate lower_bound(const Problem& problem);

}  // namespace stowage
