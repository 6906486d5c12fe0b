#pragma once

#include <vector>

#include "graph/interface/groups.hpp"

namespace stowage {

/// All groups, in the order of the ops, inputs before outputs. O(members).
[[nodiscard]] std::vector<Group> find_groups(const Graph& graph);

}  // namespace stowage
