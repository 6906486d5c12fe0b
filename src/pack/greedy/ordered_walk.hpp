#pragma once

#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Online best fit with stream order: the items in order of begin, each in the tightest gap that is free for it. Gives
/// the same answer as `place_greedily` with `PlacementOrder::begin` and `Fit::tightest`, without scanning everything
/// that was placed before.
///
/// For each byte, a later item needs to know only its last owner: "comes before" is transitive, so an item that comes
/// after the last owner comes after all earlier owners of the byte too. The bytes are therefore kept as fragments, each
/// with its last owner. There are about as many fragments as items that are not yet over on every stream, independent
/// of the number of items and of unordered pairs. O(n × fragments). Precondition: `can_walk_ordered`.
[[nodiscard]] std::vector<Position> walk_ordered(const Problem& problem);

/// Whether the problem has a stream order, one region without a limit, and no pins.
[[nodiscard]] bool can_walk_ordered(const Problem& problem);

}  // namespace stowage::pack
