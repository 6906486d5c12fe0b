#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// The simplest correct plan: every family of tensors (joined by views, aliases and body inputs) and every workspace
/// has separate bytes, every value that may be copied is copied, fills are right before their ops, nothing is in
/// callers' buffers, nothing may move. It is made from the graph alone: an error that a shadow run finds in it is an
/// error of the graph or of shadow execution.
[[nodiscard]] Plan naive_plan(const Graph& graph);

}  // namespace stowage::testing
