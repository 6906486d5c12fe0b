#pragma once

#include "pack/plain.hpp"

namespace stowage::pack {

/// A bound from what can lie under an item (`plan/interface/offset_check.hpp` has the argument): above the live bytes
/// where several items that meet can each only lie at the bottom or at the top. That takes few and large items in full
/// sections; many small ones have sums everywhere.
///
/// Looks at the `kOffsetSections` fullest sections, and for each item there at so many of its own, for targets from
/// `from` up to `peak`, which some answer has; nothing when it cannot refute `from`, or above 4,096 units of the common
/// divisor. 0.1 to 0.3 ms on some hundred items: too much for `lower_bound` and what is optimal at first sight, little
/// before a search.
[[nodiscard]] std::optional<Certificate> offset_sums_bound(const Problem& problem, const Plain& plain, Bytes from,
                                                           Bytes peak);
inline constexpr std::size_t kOffsetSections = 8;

}  // namespace stowage::pack
