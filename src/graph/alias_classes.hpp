#pragma once

#include <functional>
#include <vector>

#include "graph/interface/offset_union.hpp"
#include "graph/interface/relations.hpp"
#include "stowage/graph.hpp"

namespace stowage {

/// Called for each pair whose inner and outer tensor cannot be at the same address.
using OnContradiction = std::function<void(ScopeId scope, TensorId inner, TensorId outer)>;

/// Adds the tensors that bodies require at one address to `joined`, which holds the roots of views and the ops'
/// aliases: the inputs of bodies (except for what a loop carries), and a loop's results with the incoming values.
void join_bodies(const Graph& graph, OffsetUnion& joined, const OnContradiction& contradiction);

/// The contents of `joined` as a list by tensor; a view is found through its root.
[[nodiscard]] std::vector<AliasPlace> alias_places(const Graph& graph, OffsetUnion& joined);

}  // namespace stowage
