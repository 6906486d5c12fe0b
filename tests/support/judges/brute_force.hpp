#pragma once

#include <optional>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::testing {

/// The smallest peak of a small problem and positions that reach it, or none if there is no answer at all (the capacity
/// is ignored).
///
/// Tries every aligned offset of every allowed region for every item, item by item, and backtracks only when two items
/// conflict or the peak is no longer below the best known: kept simple so that it is obviously correct. For problems of
/// about six items and thirty offsets.
struct BruteForceAnswer {
  Bytes peak;
  std::vector<Position> positions;
};
[[nodiscard]] std::optional<BruteForceAnswer> solve_by_brute_force(const Problem& problem);

}  // namespace stowage::testing
