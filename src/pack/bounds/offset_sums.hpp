#pragma once

#include "pack/plain.hpp"

namespace stowage::pack {

/// A bound from the offsets that are possible for an item (`plan/interface/offset_check.hpp` has the argument). It
/// exceeds the live bytes where several items that meet can each lie only at the bottom or at the top. That takes few
/// and large items in full sections; with many small items, every offset is possible.
///
/// Looks at the `kOffsetSections` fullest sections, and for each item there at as many of its own sections, for targets
/// from `from` up to `peak`, the peak of a known answer. Nothing if `from` cannot be refuted, or above 4,096 units of
/// the common divisor. Takes 0.1 to 0.3 ms for some hundred items: too much for `lower_bound` and for problems that are
/// optimal at once, little before a search.
[[nodiscard]] std::optional<Certificate> offset_sums_bound(const Problem& problem, const Plain& plain, Bytes from,
                                                           Bytes peak);
inline constexpr std::size_t kOffsetSections = 8;

}  // namespace stowage::pack
