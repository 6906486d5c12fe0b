#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pack/index/occupancy.hpp"
#include "pack/plain.hpp"
#include "stowage/pack.hpp"

namespace stowage::pack {

/// A problem being solved: what is known about it, what its solvers share, and the best answer so far. Solvers `offer`
/// answers and `prove` bounds, and stop when it is `finished`. The problem has passed `check_problem`, its pins are
/// consistent, and every item fits in some region. The bound may be that of a larger problem of which this is a
/// component. Not thread-safe except for `stop_requested`.
class Bench {
 public:
  Bench(const Problem& problem, const SolveOptions& options, const Certificate& bound);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const SolveOptions& options() const { return options_; }
  [[nodiscard]] Bytes bound() const { return bound_.bytes; }
  /// The peak of the best answer; above every possible peak when there is none.
  [[nodiscard]] Bytes peak() const { return peak_; }
  /// The best answer; empty when there is none.
  [[nodiscard]] std::span<const Position> positions() const { return positions_; }
  /// The problem in plain form; null if it is not plain.
  [[nodiscard]] const Plain* plain() const;
  /// An empty occupancy of the kind that suits the problem. The bench must outlive it.
  [[nodiscard]] std::unique_ptr<Occupancy> new_occupancy() const;

  /// Records a valid answer. Returns true if it is better than the best so far.
  bool offer(std::vector<Position> positions, std::string_view solver);
  /// Records a proof. A bound that is not better than the known one changes nothing.
  void prove(const Certificate& certificate);
  /// Records a proof that no answer exists, whatever its peak.
  void prove_infeasible() { infeasible_ = true; }
  /// Whether there is nothing more to gain: optimal, within the capacity, proven infeasible, or told to stop.
  [[nodiscard]] bool finished() const;
  /// The deadline has passed or a stop was requested. Thread-safe.
  [[nodiscard]] bool stop_requested() const;
  /// Whether there is no answer yet and no stop was requested: a solver that finds one in a single pass must do so,
  /// even after the deadline.
  [[nodiscard]] bool needs_any() const;

  /// Nodes that may still be visited.
  [[nodiscard]] std::uint64_t nodes_left() const { return node_budget_ - std::min(node_budget_, nodes_); }
  void spend(std::uint64_t nodes) { nodes_ += nodes; }

  /// The result as the caller of `solve` sees it.
  [[nodiscard]] SolveOutcome outcome() const;

 private:
  const Problem& problem_;
  const SolveOptions& options_;
  Certificate bound_;
  bool infeasible_ = false;
  Bytes peak_ = kMaxBytes + Bytes(1);
  std::vector<Position> positions_;
  std::string solver_;
  std::uint64_t node_budget_;
  std::uint64_t nodes_ = 0;
  // Computed on first use.
  mutable std::optional<std::optional<Meetings>> meetings_;
  mutable std::optional<std::optional<Plain>> plain_;
};

}  // namespace stowage::pack
