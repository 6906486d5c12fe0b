#pragma once

#include <optional>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// With stream order: items of which none comes before another lie apart, whatever the linear order says. The heaviest set that
/// was found, grown from what is live at each of the fullest steps and from each item, largest first; nothing when it is not
/// above `from`, without a stream order, or above 8,192 items. Not counted: what may go to unpaid regions. O(n²) and a bit: too
/// much for `lower_bound`, little before a search.
[[nodiscard]] std::optional<Certificate> unordered_items_bound(const Problem& problem, Bytes from);
inline constexpr std::size_t kUnorderedSteps = 64;

}  // namespace stowage::pack
