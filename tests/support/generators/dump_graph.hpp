#pragma once

#include <string>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Everything that the graph says, one line a tensor and an op, bodies indented: for people who look for a fault.
[[nodiscard]] std::string dump_graph(const Graph& graph);

}  // namespace stowage::testing
