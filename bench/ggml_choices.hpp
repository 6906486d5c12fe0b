#pragma once

#include "stowage/graph.hpp"

namespace stowage::bench {

/// The graph with ggml's rules instead of ours: an op overwrites the first source that ggml would choose (same layout,
/// no other reader, not a view and without views) or none, and an input that no op reads lives to the end. Only the
/// placement is left to the planner. Precondition: the graph was recorded from ggml.
[[nodiscard]] Graph with_ggml_choices(const Graph& graph);

}  // namespace stowage::bench
