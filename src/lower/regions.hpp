#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/plan.hpp"

/// Regions for memory whose buffers have a largest size.
namespace stowage {

/// The items that are larger than a region may be, the largest first; equal ones in their order.
[[nodiscard]] std::vector<std::size_t> find_oversize(const Problem& problem, Bytes max_size);

/// Whether the problem with its regions has every answer that is legal.
enum class RegionChoice : std::uint8_t { complete, some };

/// Gives the problem regions of `max_size`, and further ones for larger items. There are twice as many of the former as
/// the items would need without any sharing. So filling one region after another always finds room, because two
/// neighbours together hold more than one region's worth.
///
/// A region that a larger item must lie in is as large as that item, and whatever fits may lie there too. Larger items
/// that do not conflict with it may, but they also have regions that nothing else may lie in: a region with nothing
/// larger than `max_size` in it must not exceed that. Which items must lie in their regions is a choice.
///
/// `oversize` as found; `larger` is the problem of these items alone, in this order, with their joins, stream order and
/// what is kept apart. O(items + larger items²), the latter up to a limit.
[[nodiscard]] RegionChoice split_at(Problem& problem, Bytes max_size, const std::vector<std::size_t>& oversize,
                                    const Problem& larger);

}  // namespace stowage
