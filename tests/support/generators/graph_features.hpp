#pragma once

#include <set>
#include <string>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// The features that a graph uses ("concat", "loop: carried, aliased"), to check that random graphs use all of them.
[[nodiscard]] std::set<std::string> graph_features(const Graph& graph);

/// All words that `graph_features` knows.
[[nodiscard]] const std::vector<std::string>& all_graph_features();

}  // namespace stowage::testing
