#pragma once

#include <cstddef>

#include "stowage/graph.hpp"

/// Graphs with many streams. The same arguments always give the same result.
namespace stowage::bench {

/// A pipelined training step: one stage per stream; micro-batches pass through all stages and back. A stage keeps its
/// activations until the micro-batch comes back, and may run ahead of the others as far as the order of the ops
/// permits. A stream is ordered with respect to a distant one only through all stages between them.
[[nodiscard]] Graph make_pipeline(std::size_t ops, std::size_t streams);

/// Ops on random streams. Each reads what its stream wrote last; one in six also reads a recent result of another
/// stream, one in twenty an old result of its own stream.
[[nodiscard]] Graph make_weave(std::size_t ops, std::size_t streams);

/// Independent chains, one per stream: tensors of different streams are never ordered, so nearly all pairs conflict.
[[nodiscard]] Graph make_strands(std::size_t ops, std::size_t streams);

}  // namespace stowage::bench
