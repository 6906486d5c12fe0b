#pragma once

#include <functional>

#include "stowage/planner.hpp"

namespace stowage {

/// Answers a Problem instead of `solve`: for whoever limits the search by something else than `PlanOptions` can say.
using Search = std::function<Result<SolveOutcome>(const Problem&)>;

/// `plan`, except that `search` answers for the arenas in which tensors share bytes. Of strategies there is the one
/// that the options name.
Result<Planned> plan_with(const Graph& graph, const PlanOptions& options, const Search& search);

}  // namespace stowage
