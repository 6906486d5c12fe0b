#include "support/generators/constrained_graph.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "support/generators/annotations.hpp"
#include "support/generators/keep_apart.hpp"
#include "support/generators/op_drafter.hpp"

namespace stowage::testing {
namespace {

std::int64_t some_units(Dice& dice) { return 2 + static_cast<std::int64_t>(dice.below(6)); }

void add_memories(WorldDraft& world) {
  constexpr std::array<const char*, 3> kKinds = {"device", "host", "p2p"};
  const std::size_t count = 1 + world.dice.below(world.options.max_memories);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t unit = world.options.size_unit;
    Memory memory{.name = "memory " + std::to_string(i),
                  .alignment = Bytes(unit > 0 ? unit : world.dice.power_of_two(6))};
    if (world.dice.chance(world.options.memory_limits))
      memory.max_size =
          Bytes(unit > 0 ? unit * some_units(world.dice) : 128 + static_cast<std::int64_t>(world.dice.below(256)));
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
    world.rings.push_back({"ring " + std::to_string(world.rings.size()), size, memory});
  }
  world.ring_drafts.resize(world.rings.size());
}

void add_batches(WorldDraft& world) {
  if (!world.dice.chance(world.options.graphs_with_batches)) return;
  for (std::size_t i = 2 + world.dice.below(2); i > 0; --i) world.batches.push_back("batch " + std::to_string(i));
}

}  // namespace

ConstrainedGraphOptions tiny_graphs() {
  return {.max_ops = 10,
          .max_streams = 3,
          .max_memories = 2,
          .conduct = Conduct::unruly,
          .size_unit = 8,
          .reshapes = 12,
          .groups = 0,
          .bodies = 0,
          .fills = 0,
          .fixed_address = 0,
          .zero_copy = 0,
          .in_place = 60,
          .after = 30,
          .idle_ops = 8,
          .session = 0,
          .zero_sizes = 8,
          .memory_limits = 20,
          .graphs_with_batches = 0,
          .graphs_with_rings = 0};
}

ConstrainedGraphOptions tiny_constrained_graphs() {
  return {.max_ops = 9,
          .max_body_ops = 3,
          .max_streams = 3,
          .max_memories = 1,
          .conduct = Conduct::unruly,
          .size_unit = 8,
          .groups = 30,
          .bodies = 20,
          .fills = 40,
          .fixed_address = 6,
          .own_alignment = 0,
          .after = 30,
          .idle_ops = 10,
          .session = 30,
          .externals = 0,
          .zero_sizes = 0,
          .memory_limits = 0,
          .graphs_with_rings = 0};
}

Result<Graph> draw_constrained_graph(std::uint64_t seed, const ConstrainedGraphOptions& options) {
  WorldDraft world{.dice = Dice(seed, options), .options = options};
  world.streams = 1 + world.dice.below(options.max_streams);
  add_memories(world);
  add_pools(world);
  add_batches(world);
  ScopeDraft root(world, 0);
  OpDrafter drafter(root);
  drafter.add_given_tensors();
  const std::size_t ops = 1 + world.dice.below(std::min<std::size_t>(options.max_ops, 30));
  for (std::size_t i = 0; i < ops; ++i) drafter.add_op();
  GraphDescription graph{"constrained " + std::to_string(seed), std::move(world.memories), std::move(root.tensors),
                         std::move(root.ops), std::move(world.rings)};
  annotate(graph, seed);
  return build_keeping_apart(std::move(graph), seed, options.apart);
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
