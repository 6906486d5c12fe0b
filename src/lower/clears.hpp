#pragma once

#include <vector>

#include "layout/interface/layout.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// What must be filled, and when: the filled outputs and workspaces of every op. Ranges that are adjacent or overlap
/// are merged if they have the same region, value and moment. Precondition: `plan` has all placements.
[[nodiscard]] std::vector<Clear> find_clears(const Graph& graph, const Layout& layout, const Plan& plan);

}  // namespace stowage
