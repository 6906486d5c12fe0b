#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "planner/interface/plan_with.hpp"
#include "planner/interface/record.hpp"

namespace stowage {

/// One way of planning a graph with one strategy. What it refers to must outlive it.
struct Attempt {
  const Graph& graph;
  const PlanOptions& options;
  const Search& search;                                                ///< Empty: `solve`.
  CopiedMembers copied = {};                                           ///< See `AnalysisOptions`.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};  ///< Of solving, instead of the time limit.
};

/// What precedes packing: the analysis and the Problems. Fails where `plan` does because of the graph and the options.
[[nodiscard]] Result<std::shared_ptr<PlanningRecord>> prepare(const Attempt& attempt);

/// Packs, raises and verifies what `prepare` has returned for the same attempt. A refused capacity is checked by a plan
/// without it, until the same deadline; if that does not suffice, nothing is proven (`SolveStatus::timed_out`).
[[nodiscard]] Result<Planned> complete(const Attempt& attempt, std::shared_ptr<PlanningRecord> record);

}  // namespace stowage
