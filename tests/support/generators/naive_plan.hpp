#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// A plan by the book and without any thought: every family of tensors (views, aliases and body inputs join them) and
/// every workspace in bytes of its own, everything that is passed on by value copied where a plan may copy, fills right
/// before their ops, nothing in callers' buffers, nothing that may move. Made from the graph alone: what a shadow run
/// finds in it is a fault of the graph or of shadow execution.
[[nodiscard]] Plan naive_plan(const Graph& graph);

}  // namespace stowage::testing
