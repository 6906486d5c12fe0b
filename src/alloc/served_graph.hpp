#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/memory.hpp"

namespace stowage::alloc {

/// A type that memories are served by, and how large a chunk of it may be.
struct ServingType {
  const BufferType* type = nullptr;
  std::optional<Bytes> limit = {};
};

/// `graph` with one memory for each of `types`; memory i becomes memory `type_of[i]`, with the stricter of both
/// alignments and largest sizes. Of tensors that aliases hold together only the lowest gets the new alignment: the
/// others have their places by it, and keep the alignment that they had. Fails when the graph has more memories than
/// `type_of`, or breaks a rule of its own under the stricter alignment.
Result<Graph> serve_graph(const Graph& graph, std::span<const ServingType> types, std::span<const std::size_t> type_of);

/// By tensor: a number that exactly those have in common whose bytes are at fixed distances, by views or aliases.
[[nodiscard]] std::vector<std::uint32_t> shared_values(const Graph& graph);

}  // namespace stowage::alloc
