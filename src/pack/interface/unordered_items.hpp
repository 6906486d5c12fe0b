#pragma once

#include <functional>
#include <optional>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// With stream order: items of which none comes before another lie apart, whatever the linear order says. The heaviest
/// set that was found until `stop`, grown from what is live at each of the fullest steps and from each item, largest
/// first; nothing when it is not above `from`, or without a stream order. Not looked at: what may go to unpaid regions,
/// and all but the 8,192 largest items. O(n²) and a bit for these: too much for `lower_bound`, little before a search.
[[nodiscard]] std::optional<Certificate> unordered_items_bound(const Problem& problem, Bytes from,
                                                               const std::function<bool()>& stop);
inline constexpr std::size_t kUnorderedSteps = 64;

}  // namespace stowage::pack
