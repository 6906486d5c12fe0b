#pragma once

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/graph.hpp"

namespace stowage::alloc {

/// Why a plan of graph `planned` cannot serve `graph`, for graphs that need more than addresses: their plans serve only
/// graphs that are equal in everything that is not for people, sizes included.
[[nodiscard]] Replan difference(const Graph& planned, const Graph& graph);

}  // namespace stowage::alloc
