#pragma once

#include <vector>

#include "graph/interface/rings.hpp"

namespace stowage {

/// Places the outputs of prefetching ops in their rings: one after another in execution order, starting again at offset
/// 0 when one does not fit before the end. O(ranges log ranges). Precondition: no output is larger than its ring.
[[nodiscard]] std::vector<RingRange> place_rings(const Graph& graph);

}  // namespace stowage
