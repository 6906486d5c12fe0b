#pragma once

#include "stowage/planner.hpp"

namespace stowage {

/// Plans with a single strategy, whatever else the options request: lower → pack → raise → verify, with the solver and
/// the knobs of the options.
Result<Planned> plan_once(const Graph& graph, const PlanOptions& options);

}  // namespace stowage
