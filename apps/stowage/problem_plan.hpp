#pragma once

#include <string>

#include "stowage/io.hpp"
#include "stowage/pack.hpp"
#include "stowage/planner.hpp"

namespace stowage::cli {

/// The solved Problem of a table, with the same figures as a graph's plan.
struct PlannedProblem {
  SolveOutcome outcome;
  Summary summary;
};

/// Fails if the options name an unknown solver. Options about tensors, such as `in_place`, have no effect; with
/// `no_reuse` every row lives for ever.
Result<PlannedProblem> plan_problem(const CsvProblem& table, const std::string& name, const PlanOptions& options);

/// What is wrong with options that include one for graphs only; empty: nothing.
[[nodiscard]] std::string graph_option_in(const PlanOptions& options);

/// Ends the command with a usage error if the options include one that is for graphs only.
void refuse_graph_options(const PlanOptions& options);

}  // namespace stowage::cli
