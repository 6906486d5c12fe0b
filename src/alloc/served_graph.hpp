#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/memory.hpp"

namespace stowage::alloc {

/// A buffer type that serves memories, and the largest chunk of it.
struct ServingType {
  const BufferType* type = nullptr;
  std::optional<Bytes> limit = {};
};

/// `graph` with one memory for each of `types`: memory i becomes memory `type_of[i]`, with the stricter of the two
/// alignments and of the two largest sizes. Of tensors that aliases tie together, only the lowest gets the new
/// alignment; the others are placed relative to it and keep their own. Fails when the graph has more memories than
/// `type_of`, or is invalid under the stricter alignment.
Result<Graph> serve_graph(const Graph& graph, std::span<const ServingType> types, std::span<const std::size_t> type_of);

/// By tensor: the number of its alias class. Two tensors have the same number iff views or aliases keep them at a fixed
/// distance.
[[nodiscard]] std::vector<std::uint32_t> shared_values(const Graph& graph);

}  // namespace stowage::alloc
