#pragma once

#include <cstddef>
#include <vector>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// Bytes of a family that a backend needs in its own memory: they become one copy.
struct Crossing {
  std::size_t family = 0;
  std::size_t target = 0;  ///< The backend.
  TensorId root;           ///< The root tensor that contains these bytes.
  ByteRange bytes;         ///< Relative to the family.
  /// Required by tensors that are read through the copy, beyond the memory's own alignment.
  Bytes alignment{1};
  std::vector<Access> reads = {};  ///< By op; at least one.
};

/// The copies that a family needs. A value is copied to a memory once, and again only after some of its bytes were
/// written. Overlapping reads of the same tensor in one memory share a copy, unless it would be larger than separate
/// ones. Near-linear in the accesses of the family if one tensor is read; quadratic if several views are.
[[nodiscard]] std::vector<Crossing> crossings_of(const Model& model, std::size_t family, const Assignment& assignment);

/// The bytes of these crossings together. Precondition: `traffic_is_countable`.
[[nodiscard]] Bytes traffic_of(const Model& model, std::size_t family, const Assignment& assignment);

/// Whether the traffic of all families together stays within `kMaxBytes` under every assignment.
[[nodiscard]] bool traffic_is_countable(const Model& model);

}  // namespace stowage::partitioning
