#include "support/generators/constrained_graph.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "support/generators/op_drafter.hpp"

namespace stowage::testing {
namespace {

void add_memories(WorldDraft& world) {
  constexpr std::array<const char*, 3> kKinds = {"device", "host", "p2p"};
  const std::size_t count = 1 + world.dice.below(world.options.max_memories);
  for (std::size_t i = 0; i < count; ++i) {
    Memory memory{.name = "memory " + std::to_string(i), .alignment = Bytes(world.dice.power_of_two(6))};
    if (world.dice.chance(10)) memory.max_size = Bytes(128 + static_cast<std::int64_t>(world.dice.below(256)));
    memory.kind = kKinds[world.dice.below(kKinds.size())];
    world.memories.push_back(memory);
  }
}

/// Their size is a multiple of the alignment, so that what fits fits with its padding.
void add_pools(WorldDraft& world) {
  if (!world.dice.chance(world.options.graphs_with_rings)) return;
  for (std::size_t i = 1 + world.dice.below(2); i > 0; --i) {
    const MemoryId memory(world.dice.below(world.memories.size()));
    const Bytes size(32 * static_cast<std::int64_t>(1 + world.dice.below(3)));
    world.pools.push_back({"ring " + std::to_string(world.pools.size()), size, memory});
  }
  world.rings.resize(world.pools.size());
}

void add_batches(WorldDraft& world) {
  if (!world.dice.chance(world.options.graphs_with_batches)) return;
  for (std::size_t i = 2 + world.dice.below(2); i > 0; --i) world.batches.push_back("batch " + std::to_string(i));
}

}  // namespace

Result<Graph> draw_constrained_graph(std::uint64_t seed, const ConstrainedGraphOptions& options) {
  WorldDraft world{.dice = Dice(seed), .options = options};
  world.streams = 1 + world.dice.below(options.max_streams);
  add_memories(world);
  add_pools(world);
  add_batches(world);
  ScopeDraft root(world, 0);
  OpDrafter drafter(root);
  drafter.add_given_tensors();
  const std::size_t ops = 1 + world.dice.below(std::min<std::size_t>(options.max_ops, 30));
  for (std::size_t i = 0; i < ops; ++i) drafter.add_op();
  return Graph::build({"constrained " + std::to_string(seed), std::move(world.memories), std::move(root.tensors),
                       std::move(root.ops), std::move(world.pools)});
}

Graph constrained_graph(std::uint64_t seed, const ConstrainedGraphOptions& options) {
  for (std::uint64_t salt = 0; salt < 100; ++salt) {
    Result<Graph> graph = draw_constrained_graph(seed + (salt << 48), options);
    if (graph) return std::move(graph).value();
  }
  STOWAGE_CHECK(false, "a hundred draws, and no graph");
  std::abort();
}

}  // namespace stowage::testing
