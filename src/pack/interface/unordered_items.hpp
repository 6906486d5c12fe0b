#pragma once

#include <functional>
#include <optional>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// A bound from stream order: items of which none comes before another cannot share bytes, even if they are never live
/// together in the linear order. Returns the heaviest such set found until `stop` returned true, grown from the items
/// live at each of the 64 fullest steps and from each item, largest first. Nothing if it is not above `from`, or
/// without a stream order. Ignores items that may go to unpaid regions, and all except the 8,192 largest items.
/// Slightly more than O(n²) for these: too much for `lower_bound`, little before a search.
[[nodiscard]] std::optional<Certificate> unordered_items_bound(const Problem& problem, Bytes from,
                                                               const std::function<bool()>& stop);

/// The bytes that some piece of an item occupies: what counts of it in that bound.
[[nodiscard]] Bytes touched_bytes(const Item& item);

}  // namespace stowage::pack
