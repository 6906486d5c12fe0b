#pragma once

#include <cstddef>

#include "stowage/graph.hpp"

/// Graphs of many streams. The same arguments always give the same result.
namespace stowage::bench {

/// A training step in a pipeline: a stage on each stream, micro-batches that pass through all of them and back. A stage
/// keeps its activations until the micro-batch comes back, and may run ahead of the others by as much as the order of
/// the ops says: what one stream hears of another comes by way of all between.
[[nodiscard]] Graph make_pipeline(std::size_t ops, std::size_t streams);

/// Ops on streams drawn by lot. Each reads what its stream wrote last, one in six also what another stream wrote
/// lately, one in twenty something that its own stream wrote long ago.
[[nodiscard]] Graph make_weave(std::size_t ops, std::size_t streams);

/// Chains that know nothing of each other: whatever two streams use is unordered, so that nearly all pairs conflict.
[[nodiscard]] Graph make_strands(std::size_t ops, std::size_t streams);

}  // namespace stowage::bench
