#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stowage/pack.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// Replaces an item: another size, another lifetime. The index stays the same. To remove an item,
/// set its size to 0.
struct ItemChange {
  std::size_t item = 0;
  Item becomes;
};

/// An answer to an earlier problem, in terms of a new one.
struct STOWAGE_EXPORT PreviousAnswer {
  /// By item of the new problem; absent for new items. Empty: all are new.
  std::vector<std::optional<Position>> positions;
  Bytes peak;   ///< The peak of the earlier answer.
  Bytes bound;  ///< The lower bound of the earlier problem.

  [[nodiscard]] static PreviousAnswer of(const SolveOutcome& outcome);
};

struct ReplanOptions {
  /// For solving from scratch. A deadline is a point in time, not a duration per call.
  SolveOptions solve = {};
  /// By how much more than before the peak may exceed the bound before the problem is solved from
  /// scratch.
  double tolerance = 0.005;
  /// Items that must not move. Each needs a previous position.
  std::vector<std::size_t> kept = {};
};

/// The result of a change.
struct Replanned {
  /// `feasible` and `optimal` as for `solve`; `infeasible` when the bound exceeds the capacity,
  /// `timed_out` when only the peak does.
  SolveStatus status = SolveStatus::timed_out;
  Bytes peak;
  Certificate bound = {};
  std::size_t moved = 0;      ///< Items whose position changed.
  bool from_scratch = false;  ///< Whether the problem had to be solved from scratch.

  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// Keeps an answer up to date while its problem changes, and moves as little as possible.
///
/// A changed item stays where it is if there is room. Otherwise either it or the items in its way
/// move, whichever are fewer bytes, to the lowest free place, or in chains if there is none. If
/// that exceeds the peak that the tolerance permits, the problem is solved from scratch. On plain
/// problems the cost depends only on the items live at the same time as those that change or move;
/// on others every item is placed again, which is correct but not fast.
///
/// The positions are valid after every call; a call that fails changes nothing. Deterministic,
/// unless a deadline interferes. Not thread-safe.
class STOWAGE_EXPORT Replanner {
 public:
  /// Starts from `previous`. Fails with `ErrorCode::unsupported` for a problem with joins, and when
  /// `check_problem` does, when no solver has that name, when the tolerance is negative, when
  /// `previous` has positions but not one per item, and when a kept item cannot stay or a pinned
  /// one cannot lie at its pin; the message says why.
  static Result<Replanner> make(Problem problem, PreviousAnswer previous,
                                ReplanOptions options = {});
  ~Replanner();
  Replanner(Replanner&&) noexcept;
  Replanner& operator=(Replanner&&) noexcept;

  /// Applies all of `changes` at once. Fails as `make` does.
  Result<Replanned> change(std::span<const ItemChange> changes);

  [[nodiscard]] const Problem& problem() const;
  /// Valid for `problem()`, whatever the status; within the capacity if there is an answer. Empty
  /// when none were found, for example because the regions' limits leave too little room.
  [[nodiscard]] const std::vector<Position>& positions() const;
  /// The result of the last call.
  [[nodiscard]] const Replanned& outcome() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit Replanner(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
