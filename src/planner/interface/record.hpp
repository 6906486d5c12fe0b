#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "layout/interface/analysis.hpp"
#include "lower/interface/lower.hpp"
#include "stowage/planner.hpp"

namespace stowage {

/// How long each stage took.
struct StageTimes {
  std::chrono::nanoseconds liveness{};
  std::chrono::nanoseconds lower{};
  std::chrono::nanoseconds solve{};
  std::chrono::nanoseconds verify{};
};

/// What is known of one arena that counts towards the peak, whether there is a plan or not.
struct ArenaNeed {
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes lower_bound;
  std::optional<Bytes> size = {};  ///< Of the best answer, even above the capacity; absent: none was found.
};

/// What `Planned` keeps for reports: the analysis and the Problems of the winning strategy.
struct PlanningRecord {
  Analysis analysis;
  Lowering lowering;
  std::vector<ArenaNeed> needs = {};  ///< Memory by memory.
  std::vector<Bytes> weights = {};    ///< By memory: the size of its persistent arena. Only with a total capacity.
  StageTimes times = {};
  bool bounds_lowered = false;  ///< What was proven of some Problem did not hold for the graph.
};

/// The limit of the paid arenas of a memory, from both capacities; below 0 if the weights alone exceed the total one.
[[nodiscard]] std::optional<Bytes> capacity_of(const PlanOptions& options, const std::vector<Bytes>& weights,
                                               MemoryId memory);

/// Which options the bounds rest on: others might allow a smaller plan.
struct BoundOptions {
  bool forbidding = false;     ///< Without in-place pairs, or without reuse.
  bool central_fills = false;  ///< Memory that ops need filled is filled at the start, and so is taken from then on.
};
[[nodiscard]] BoundOptions bound_options(const Planned& planned);

/// The options of the stages before the solvers. For plans from other sources, which have no record.
[[nodiscard]] AnalysisOptions analysis_options(const PlanOptions& options);
[[nodiscard]] LowerOptions lower_options(const PlanOptions& options);

}  // namespace stowage
