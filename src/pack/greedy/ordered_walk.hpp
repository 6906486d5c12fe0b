#pragma once

#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Online best fit with stream order: the items in order of begin, each in the tightest gap that is free for it. The
/// same answer as `place_greedily` with `PlacementOrder::begin` and `Fit::tightest`, without looking at all that was
/// placed before.
///
/// Whoever begins later needs to know, of each byte, only who had it last: coming before is transitive, so that whoever
/// is after that one is after all that had the byte earlier. The bytes are therefore kept as fragments, each with its
/// last owner, and there are about as many of them as items not yet over on every stream, whatever the number of items
/// and of unordered pairs. O(n × fragments). Precondition: `can_walk_ordered`.
[[nodiscard]] std::vector<Position> walk_ordered(const Problem& problem);

/// With stream order, one region without a limit, and no pins.
[[nodiscard]] bool can_walk_ordered(const Problem& problem);

}  // namespace stowage::pack
