#pragma once

#include <functional>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Reduces a graph for which `fails` is true by removing ops, bodies, constraints, flags and tensors one by one, as
/// long as `fails` stays true. Precondition: it is true for `graph`. Reductions do not introduce races: one for which a
/// plan without any sharing is wrong is not considered. Calls `fails` once per step; a few hundred times for a graph of
/// twenty ops.
[[nodiscard]] Graph reduce_graph(const Graph& graph, const std::function<bool(const Graph&)>& fails);

}  // namespace stowage::testing
