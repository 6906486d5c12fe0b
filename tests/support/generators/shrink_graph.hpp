#pragma once

#include <cstdint>
#include <optional>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// The same graph with other sizes and distances: all halved, some tensors smaller, views elsewhere in their bases,
/// aliases at other offsets; which of these, the seed says. Never larger. Nothing when what comes out breaks a rule of
/// graphs.
[[nodiscard]] std::optional<Graph> shrink_graph(const Graph& graph, std::uint64_t seed);

}  // namespace stowage::testing
