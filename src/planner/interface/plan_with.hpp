#pragma once

#include <functional>

#include "stowage/planner.hpp"

namespace stowage {

/// Answers a Problem instead of `solve`, for callers that limit the search in a way that `PlanOptions` cannot express.
using Search = std::function<Result<SolveOutcome>(const Problem&)>;

/// Like `plan`, except that `search` answers the Problems of the arenas in which tensors share bytes, and that only the
/// strategy given by the options is tried.
Result<Planned> plan_with(const Graph& graph, const PlanOptions& options, const Search& search);

}  // namespace stowage
