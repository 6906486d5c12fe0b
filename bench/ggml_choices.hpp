#pragma once

#include "stowage/graph.hpp"

namespace stowage::bench {

/// The graph with ggml's own rules in place of ours: an op overwrites the first source that ggml would take (same
/// layout, read by nobody else, no view and without views) or none, and an input that nobody reads lives to the end.
/// What is left to the planner is where everything lies. Precondition: a graph that was recorded from ggml.
[[nodiscard]] Graph with_ggml_choices(const Graph& graph);

}  // namespace stowage::bench
