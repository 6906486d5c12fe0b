#pragma once

#include "layout/interface/analysis.hpp"
#include "lower/interface/lower.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// What `Planned` keeps for reports: the analysis and the Problems of the winning strategy.
struct PlanningRecord {
  Analysis analysis;
  Lowering lowering;
};

/// The options of the stages before the solvers. For plans from other sources, which have no record.
[[nodiscard]] AnalysisOptions analysis_options(const PlanOptions& options);
[[nodiscard]] LowerOptions lower_options(const PlanOptions& options);

}  // namespace stowage
