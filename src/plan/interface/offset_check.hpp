#pragma once

#include "stowage/plan.hpp"

namespace stowage::plan {

/// An `offset_sums` certificate is about at most this many items of its step: the largest, and among equals the first.
inline constexpr std::size_t kOrderedItems = 10;

/// Checks an `offset_sums` certificate: with a peak below its bytes, the largest items at its step cannot be stacked in
/// any order.
///
/// Applies to problems with one paid region, one whole piece per item, no pins and no stream order. For these, some
/// optimal answer has all offsets on a grid: multiples of the common divisor of all sizes and alignments. With a peak
/// of at most T, the bytes below an item at a step of its life consist of a sum of sizes of other items that are live
/// at that step, plus free bytes, of which there are at most T minus all bytes live at that step. This leaves each item
/// a set of possible offsets: those that satisfy this at every step of its life. The items at the certificate's step
/// must then be stackable bottom up, each at one of its possible offsets.
[[nodiscard]] bool check_offset_sums(const Problem& problem, const Certificate& certificate);

}  // namespace stowage::plan
