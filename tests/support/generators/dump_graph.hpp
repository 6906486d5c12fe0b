#pragma once

#include <string>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// The complete graph as text, one line per tensor and op, with bodies indented, for debugging.
[[nodiscard]] std::string dump_graph(const Graph& graph);

}  // namespace stowage::testing
