#pragma once

#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// The bytes that a prefetched tensor has in its ring, and whose they were.
struct RingRange {
  TensorId tensor;
  OpId op;  ///< That prefetches it.
  RingId ring;
  Bytes offset;
  Bytes size;                        ///< Padded to the alignment.
  std::vector<std::size_t> evicted;  ///< Positions of the ranges that have bytes there until then.
};

}  // namespace stowage
