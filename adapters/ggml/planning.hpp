#pragma once

#include <cstdint>
#include <vector>

#include "buffer_types.hpp"
#include "graph_walk.hpp"
#include "settings.hpp"
#include "stowage/base.hpp"

namespace stowage::ggml {

/// Where a tensor lies: a chunk of a memory becomes one buffer.
struct ChunkPlace {
  std::uint32_t memory = 0;
  std::uint32_t chunk = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< What was planned for the tensor.
};

/// Bytes that each chunk of each memory must have.
using ChunkSizes = std::vector<std::vector<std::uint64_t>>;

struct WalkPlan {
  std::vector<ChunkPlace> places;  ///< By index in the walk; meaningful for the allocator's own.
  ChunkSizes chunks;               ///< By memory, the largest chunk first.
};

/// Plans a walked graph. Fails when it cannot be converted, and when `settings` ask for verification and the verifier
/// has findings.
Result<WalkPlan> plan_walk(const GraphWalk& walk, const BufferTypes& types, const Settings& settings);

}  // namespace stowage::ggml
