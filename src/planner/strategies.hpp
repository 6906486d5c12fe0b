#pragma once

#include "stowage/planner.hpp"

namespace stowage {

/// One strategy, whatever else the options ask for: lower → pack → raise → verify with their solver and knobs.
Result<Planned> plan_once(const Graph& graph, const PlanOptions& options);

}  // namespace stowage
