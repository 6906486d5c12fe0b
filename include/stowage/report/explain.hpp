#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "stowage/planner.hpp"
#include "stowage/report/scene.hpp"

/// Why a graph needs as much memory as it does, and what would have to change. Every gain and every
/// cost is the difference of two real plans, never an estimate.
namespace stowage {

struct ExplainOptions {
  PlanOptions plan =
      {};  ///< Of the plan and of every re-plan. Capacity and previous plan are left aside.
  double within =
      0.01;  ///< A step binds when its live bytes are within this share of the most live bytes.
  std::size_t top = 8;               ///< Of holders, families and peaks that are looked at closely.
  std::optional<Bytes> budget = {};  ///< What the peak should fit into, in each memory.
  std::optional<std::chrono::nanoseconds> time_limit =
      std::chrono::seconds(20);  ///< For all re-plans together; absent: none.
  /// Called with what is about to be planned, in the thread of the caller.
  std::function<void(const std::string&)> on_replan = {};
};

/// The rest of an explanation: peaks and their holders, gains, costs. Opaque; `explanation_to_text`
/// and `explanation_to_json` show all of it.
struct ExplanationDetails;

/// Why a graph needs as much memory as it does. Copies share the details.
struct Explanation {
  Summary summary;
  std::string cause;        ///< In one sentence; sizes in human units.
  std::size_t replans = 0;  ///< Plans made to measure gains and costs.
  std::size_t skipped = 0;  ///< Re-plans left out because the time ran out.
  std::shared_ptr<const ExplanationDetails> details = {};
};

/// Plans `graph`, looks at what binds, and plans again without parts of it. Fails as `plan` does,
/// and with `unsupported` when no plan is found in the time. Thread-safe; deterministic without
/// time limits.
STOWAGE_EXPORT Result<Explanation> explain(const Graph& graph, const ExplainOptions& options = {});
/// The same where there is a plan already, made with the options that `options` has for every
/// re-plan. Cannot fail.
[[nodiscard]] STOWAGE_EXPORT Explanation explain(const PlanScene& base,
                                                 const ExplainOptions& options = {});

enum class SizeStyle : std::uint8_t { bytes, human };

/// For people; no line is longer than 100 columns. Thread-safe, as is the next.
[[nodiscard]] STOWAGE_EXPORT std::string explanation_to_text(const Explanation& explanation,
                                                             SizeStyle sizes);
/// `stowage.explain/1`.
[[nodiscard]] STOWAGE_EXPORT std::string explanation_to_json(const Explanation& explanation);

}  // namespace stowage
