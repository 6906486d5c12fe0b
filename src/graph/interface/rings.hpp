#pragma once

#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// The bytes of a prefetched tensor in its ring, and the ranges that it evicts.
struct RingRange {
  TensorId tensor;
  OpId op;  ///< The op that prefetches it.
  RingId ring;
  Bytes offset;
  Bytes size;                        ///< Padded to the alignment.
  std::vector<std::size_t> evicted;  ///< Indices of the ranges that own some of these bytes until then.
};

}  // namespace stowage
