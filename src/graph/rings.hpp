#pragma once

#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// A prefetched tensor's slot in its pool, and whose bytes it takes.
struct RingSlot {
  TensorId tensor;
  OpId op;  ///< That prefetches it.
  PoolId pool;
  Bytes offset;
  Bytes size;                        ///< Padded to the alignment.
  std::vector<std::size_t> evicted;  ///< Slots that have bytes there until then.
};

/// Places the outputs of prefetching ops in their pools: one after the other, in execution order, from the start again when one
/// does not fit before the end. O(slots log slots). Precondition: no output is larger than its pool.
[[nodiscard]] std::vector<RingSlot> place_rings(const Graph& graph);

}  // namespace stowage
