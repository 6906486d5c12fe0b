#pragma once

#include "stowage/plan.hpp"

namespace stowage::plan {

/// How many of the items at the step an `offset_sums` certificate speaks of: the largest, of equal ones the first.
inline constexpr std::size_t kOrderedItems = 10;

/// Checks an `offset_sums` certificate: that with a peak below its bytes the largest items at its step have no order.
///
/// For problems of one paid region, one whole piece an item, no pins, no stream order. There some best answer lies on
/// the grid of the common divisor of all sizes and alignments. With a peak of at most T, what lies under an item at a
/// step of its life is a sum of sizes of others that are live then, and at most T less all that is live then stays
/// free: this leaves each item some offsets, those that agree with every step of its life. One after another, bottom
/// up, the items at the certificate's step must each have one of theirs.
[[nodiscard]] bool check_offset_sums(const Problem& problem, const Certificate& certificate);

}  // namespace stowage::plan
