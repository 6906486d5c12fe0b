#pragma once

#include <cstdint>
#include <vector>

#include "pack/bench.hpp"
#include "pack/improve/ejection_search.hpp"

namespace stowage::pack {

/// Improves the best answer of a plain problem by repairing it: every item that ends above a target is evicted and gets
/// another offset below it, if necessary by evicting others (`EjectionSearch`). All other items stay, so that the cost
/// of a try depends on what it changes.
///
/// The target lies below the best peak by a fraction of the distance to the bound, or to a capacity above it: a larger
/// fraction after a success, a smaller one after a failure, and twice the nodes per try when even a small fraction
/// failed. A try that fails goes back to the best answer. Proves nothing. Not thread-safe.
class Neighbourhood {
 public:
  /// Precondition: the bench's problem is plain. The bench must outlive it.
  explicit Neighbourhood(Bench& bench);

  /// Improves the bench's best answer for about `nodes` nodes, starting with the effort that the last call ended with.
  /// Precondition: there is an answer.
  void run(std::uint64_t nodes);

 private:
  [[nodiscard]] std::vector<EjectionSearch::Box> boxes() const;
  [[nodiscard]] std::int64_t target() const;
  bool reach(std::int64_t target, std::uint64_t nodes);
  bool change_costs();
  void try_less();

  Bench& bench_;
  const Plain& plain_;
  bool by_area_ = false;
  EjectionSearch search_;
  std::int64_t part_ = 1;  ///< Divides the distance to the bound or to the capacity.
  std::uint64_t effort_;   ///< Nodes per try.
};

/// Improves the best answer of a plain problem that is too large for a proof, by alternating `core_first`,
/// `neighbourhood` and `perturbed`.
void improve_large(Bench& bench);

}  // namespace stowage::pack
