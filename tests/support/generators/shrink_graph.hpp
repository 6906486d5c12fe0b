#pragma once

#include <cstdint>
#include <optional>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// The same graph with other sizes and distances: all halved, some tensors smaller, views elsewhere in their bases,
/// aliases at other offsets; the seed selects which of these. Never larger. None if the result is not a valid graph.
[[nodiscard]] std::optional<Graph> shrink_graph(const Graph& graph, std::uint64_t seed);

}  // namespace stowage::testing
