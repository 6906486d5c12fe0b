#pragma once

#include <functional>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// The least graph that it finds, by taking away ops, bodies, constraints, flags and tensors one after the other, of
/// which `fails` is still true. Precondition: it is true of `graph`. What comes out races with itself no more than what
/// went in: reductions of which a plan without any sharing goes wrong are not considered. Calls `fails` once a step; a
/// few hundred times for a graph of twenty ops.
[[nodiscard]] Graph reduce_graph(const Graph& graph, const std::function<bool(const Graph&)>& fails);

}  // namespace stowage::testing
