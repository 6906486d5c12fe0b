#pragma once

#include <optional>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::testing {

/// The least peak of a small problem and positions that reach it, or nothing when there is no answer at all (the
/// capacity does not count).
///
/// Tries every aligned offset of every allowed region for every item, item by item, and turns back only when two items
/// conflict or the peak is no longer below the best known: nothing clever that could be wrong. For problems of some six
/// items and offsets of some thirty.
struct BruteForceAnswer {
  Bytes peak;
  std::vector<Position> positions;
};
[[nodiscard]] std::optional<BruteForceAnswer> solve_by_brute_force(const Problem& problem);

}  // namespace stowage::testing
