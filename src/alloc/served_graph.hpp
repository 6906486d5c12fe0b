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

struct ServedGraph {
  Graph graph;
  std::vector<std::size_t> type_of;  ///< By memory of `graph`: the index of its type.
};

/// `graph` as types serve it; memory i of it is served by type `type_of[i]`.
///
/// A graph that needs only addresses gets one memory for each of `types`, with the stricter of the two alignments and
/// of the two largest sizes. Of tensors that aliases tie together, only the lowest gets the new alignment; the others
/// are placed relative to it and keep their own.
///
/// In other graphs distances depend on alignments: those between the members of padded groups, for instance. There
/// alignments stay as they are, and memories of one type become one only if they agree in theirs, and in whether
/// callers can have buffers in them ("p2p").
///
/// Fails when the graph has more memories than `type_of`, or is invalid under the stricter alignment.
Result<ServedGraph> serve_graph(const Graph& graph, std::span<const ServingType> types,
                                std::span<const std::size_t> type_of);

/// By tensor: the number of its alias class. Two tensors have the same number iff views or aliases keep them at a fixed
/// distance.
[[nodiscard]] std::vector<std::uint32_t> shared_values(const Graph& graph);

}  // namespace stowage::alloc
