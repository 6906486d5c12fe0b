#pragma once

#include <cstdint>
#include <vector>

#include "buffer_types.hpp"
#include "graph_walk.hpp"
#include "settings.hpp"
#include "stowage/base.hpp"

namespace stowage::ggml {

/// Where a tensor lies. A chunk of a memory becomes one buffer.
struct ChunkPlace {
  std::uint32_t memory = 0;
  std::uint32_t chunk = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< Planned for the tensor.
};

/// The required size of each chunk of each memory.
using ChunkSizes = std::vector<std::vector<std::uint64_t>>;

struct WalkPlan {
  std::vector<ChunkPlace> places;  ///< By index in the walk; valid for tensors that the allocator places.
  ChunkSizes chunks;               ///< Per memory, the largest chunk first.
};

/// Plans a walked graph. Fails if it cannot be converted,
/// or if `settings` request verification and the verifier has findings.
Result<WalkPlan> plan_walk(const GraphWalk& walk, const BufferTypes& types, const Settings& settings);

}  // namespace stowage::ggml
