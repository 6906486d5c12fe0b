#pragma once

#include "lower/interface/lower.hpp"
#include "stowage/planner.hpp"

/// What the stages before the solvers see of the options: for whoever needs the analysis behind a plan again.
namespace stowage {

[[nodiscard]] AnalysisOptions analysis_options(const PlanOptions& options);
[[nodiscard]] LowerOptions lower_options(const PlanOptions& options);
/// The options of the strategy that won. Precondition: `planned` is what `plan` returned with `options`.
[[nodiscard]] PlanOptions winning_options(const Planned& planned, const PlanOptions& options);

}  // namespace stowage
