#pragma once

#include <vector>

#include "stowage/graph.hpp"
#include "stowage/lower.hpp"

namespace stowage::report {

/// What is to be thought away: tensors and workspaces by the graph's own numbers, ascending.
struct Absent {
  std::vector<TensorId> tensors;
  std::vector<WorkspaceId> workspaces;
};

/// Adds the tensors that must be of the same size as one that is absent, or are its parts or its whole: inner and outer ends of
/// body pairs, carried pairs, packed groups, and all tensors at fixed distances from these.
[[nodiscard]] Absent closed(const Graph& graph, Absent absent);

/// The graph in which everything absent has size 0; views and aliases of it have offset 0. Fails where that breaks a rule of
/// graphs. Precondition: `absent` is closed.
Result<Graph> without(const Graph& graph, const Absent& absent);

}  // namespace stowage::report
