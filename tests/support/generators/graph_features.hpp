#pragma once

#include <set>
#include <string>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// What a graph uses, in words ("concat", "loop: carried, aliased"), to see that random graphs use everything.
[[nodiscard]] std::set<std::string> graph_features(const Graph& graph);

/// All words that `graph_features` knows.
[[nodiscard]] const std::vector<std::string>& all_graph_features();

}  // namespace stowage::testing
