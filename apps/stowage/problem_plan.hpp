#pragma once

#include <string>

#include "stowage/io.hpp"
#include "stowage/pack.hpp"
#include "stowage/planner.hpp"

namespace stowage::cli {

/// A table's Problem, solved, with the figures that a graph's plan has.
struct PlannedProblem {
  SolveOutcome outcome;
  Summary summary;
};

/// Fails when the options name an unknown solver. `options.in_place` and the like mean nothing here; `no_reuse` lets
/// every row live forever.
Result<PlannedProblem> plan_problem(const CsvProblem& table, const std::string& name, const PlanOptions& options);

/// Ends the command with a usage error where the options demand what a table cannot give.
void refuse_graph_options(const PlanOptions& options);

}  // namespace stowage::cli
