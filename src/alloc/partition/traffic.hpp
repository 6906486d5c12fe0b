#pragma once

#include <cstddef>
#include <vector>

#include "alloc/partition/model.hpp"

namespace stowage::partitioning {

/// Bytes of a family that a backend needs in its own memory: what becomes one copy.
struct Crossing {
  std::size_t family = 0;
  std::size_t target = 0;          ///< The backend.
  TensorId root;                   ///< That has these bytes.
  ByteRange bytes;                 ///< In the family.
  Bytes alignment{1};              ///< That tensors read through it ask for, beyond the memory's.
  std::vector<Access> reads = {};  ///< By op; never none.
};

/// What has to be copied of a family. A value is brought to a memory once, with all that is read there of the same
/// tensor and overlaps, where that is no more than the parts, and again only after some of these bytes were written.
/// Near-linear in the accesses of the family for one tensor; where several views of it are read, quadratic.
[[nodiscard]] std::vector<Crossing> crossings_of(const Model& model, std::size_t family, const Assignment& assignment);

/// The bytes of these crossings. Precondition: `traffic_is_countable`.
[[nodiscard]] Bytes traffic_of(const Model& model, std::size_t family, const Assignment& assignment);

/// Whether the traffic of all families together stays within `kMaxBytes`, whoever runs what.
[[nodiscard]] bool traffic_is_countable(const Model& model);

}  // namespace stowage::partitioning
