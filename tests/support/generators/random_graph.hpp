#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

namespace stowage::testing {

struct RandomGraphOptions {
  std::size_t max_ops = 30;  ///< At most 64.
  std::size_t max_streams = 4;
  std::size_t max_memories = 2;
  std::size_t apart = 20;  ///< Percent of graphs with tensors that are to be kept apart.
};

/// A small graph that uses all features that need only addresses: all flags, nested views, writes through views,
/// mandatory aliases, in-place pairs (sensible and not), workspaces, ops without a task, omitted inputs, alignments,
/// size limits, streams with `after` edges, tensors kept apart.
///
/// It is free of races: accesses to bytes that views or aliases share, of which one is a write, are always ordered.
/// Equal seeds and options give equal graphs.
[[nodiscard]] Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace stowage::testing
