#pragma once

#include <cstdint>
#include <vector>

#include "pack/bench.hpp"
#include "pack/improve/ejection_search.hpp"

namespace stowage::pack {

/// Improves the best answer of a plain problem by repairing it: everything that ends above a target is evicted and
/// finds another place below it, at the expense of others (`EjectionSearch`). What lies elsewhere stays, so that a try
/// costs what it changes.
///
/// With a capacity that is the target. Without, the target lies below the best peak by a part of its distance to the
/// bound: a larger part after a success, a smaller one after a failure, and twice the nodes for each try when even a
/// small one failed. A try that fails goes back to the best answer. Proves nothing. Not thread-safe.
class Neighbourhood {
 public:
  /// Precondition: the bench's problem is plain. The bench must outlive it.
  explicit Neighbourhood(Bench& bench);

  /// From the bench's best answer on, for about so many nodes, and with the efforts that the last call ended with.
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
  std::int64_t part_ = 1;  ///< A divisor of the distance to the bound.
  std::uint64_t effort_;   ///< Nodes of a try.
};

/// Improves the best answer of a plain problem that is too large for a proof, by turns of `neighbourhood` and
/// `perturbed`.
void improve_large(Bench& bench);

}  // namespace stowage::pack
