#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stowage/pack.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// An item takes another shape: another size, another life. It keeps its index. One that is gone
/// has size 0 from now on.
struct ItemChange {
  std::size_t item = 0;
  Item becomes;
};

/// An answer to an earlier problem, as far as it concerns a new one.
struct STOWAGE_EXPORT PreviousAnswer {
  std::vector<std::optional<Position>>
      positions;  ///< By item of the new problem; absent for those that are new. Empty: all are.
  Bytes peak;     ///< Of the earlier answer.
  Bytes bound;    ///< Of the earlier problem.

  [[nodiscard]] static PreviousAnswer of(const SolveOutcome& outcome);
};

struct ReplanOptions {
  SolveOptions solve =
      {};  ///< For when it must be solved from scratch. A deadline in it is one point in time.
  double tolerance =
      0.005;  ///< By how much more than before the peak may exceed the bound until then.
  std::vector<std::size_t> kept =
      {};  ///< Items that must not move, whatever it costs. Each needs a previous position.
};

/// What came of a change.
struct Replanned {
  /// `feasible` and `optimal` as of `solve`; `infeasible` when the bound exceeds the capacity,
  /// `timed_out` when only the peak does.
  SolveStatus status = SolveStatus::timed_out;
  Bytes peak;
  Certificate bound = {};
  std::size_t moved = 0;      ///< Items that had a position and now have another.
  bool from_scratch = false;  ///< What could stay was not enough.

  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// A problem with its answer, kept while the problem changes: what can stay stays.
///
/// A changed item stays where it is when there is room. If not, it moves or those in its way do,
/// whichever are fewer bytes, to the lowest place that is free, or in chains where none is. Only
/// when that leads above the peak that the tolerance permits is the whole solved from scratch. On
/// plain problems a change costs what it touches (items live at the same time as those that change
/// or move), not what there is; on others everything that stays is placed again, which is correct
/// but not fast.
///
/// The positions are valid after every call, also after one that failed, which changes nothing.
/// Deterministic, unless a deadline interferes. Not thread-safe.
class STOWAGE_EXPORT Replanner {
 public:
  /// Takes over what can stay of `previous`. Fails when the problem breaks a rule, when no solver
  /// has that name, when the tolerance is negative, when `previous` has positions but not one per
  /// item, and when a kept item cannot lie where it lay, or a pinned one at its pin; the message
  /// says why.
  static Result<Replanner> make(Problem problem, PreviousAnswer previous,
                                ReplanOptions options = {});
  ~Replanner();
  Replanner(Replanner&&) noexcept;
  Replanner& operator=(Replanner&&) noexcept;

  /// All of `changes` at once. Fails as `make` does.
  Result<Replanned> change(std::span<const ItemChange> changes);

  [[nodiscard]] const Problem& problem() const;
  /// Valid for `problem()`, whatever the status; within the capacity if there is an answer. Empty
  /// where limits of regions leave no room for everything or none was found.
  [[nodiscard]] const std::vector<Position>& positions() const;
  /// What the last call came to.
  [[nodiscard]] const Replanned& outcome() const;

 private:
  class STOWAGE_HIDDEN State;
  explicit Replanner(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace stowage
