#pragma once

#include <functional>
#include <vector>

#include "graph/interface/offset_union.hpp"
#include "graph/interface/relations.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Called where what a body passes in or out cannot lie where its pair says.
using OnContradiction = std::function<void(ScopeId scope, TensorId inner, TensorId outer)>;

/// Adds to `joined`, which holds the roots of views and the ops' aliases, what bodies put at one address: what they are
/// given from outside (except for what a loop carries), and a loop's results with the incoming values.
void join_bodies(const Graph& graph, OffsetUnion& joined, const OnContradiction& contradiction);

/// The same by tensor, with views followed to their roots.
[[nodiscard]] std::vector<AliasPlace> alias_places(const Graph& graph, OffsetUnion& joined);

}  // namespace stowage
