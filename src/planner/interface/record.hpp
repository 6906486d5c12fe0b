#pragma once

#include "layout/interface/analysis.hpp"
#include "lower/interface/lower.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// What `Planned` keeps for reports: the analysis behind the plan and the Problems that it answers, of the strategy
/// that won.
struct PlanningRecord {
  Analysis analysis;
  Lowering lowering;
};

/// What the stages before the solvers see of the options: for plans from elsewhere, which come without a record.
[[nodiscard]] AnalysisOptions analysis_options(const PlanOptions& options);
[[nodiscard]] LowerOptions lower_options(const PlanOptions& options);

}  // namespace stowage
