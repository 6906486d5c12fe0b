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

/// Why a graph needs as much memory as it does, and what would reduce it. Every gain and cost is
/// the difference between two actual plans, never an estimate.
namespace stowage {

struct ExplainOptions {
  /// For the plan and every re-plan. The capacity and the previous plan are ignored.
  PlanOptions plan = {};
  /// A step is a peak if its live bytes are within this fraction of the maximum.
  double within = 0.01;
  std::size_t top = 8;               ///< How many holders, families and peaks are examined closely.
  std::optional<Bytes> budget = {};  ///< What the peak should fit in, in each memory.
  /// The same for the peak and the weights together.
  std::optional<Bytes> budget_total = {};
  /// For all re-plans together; absent: no limit.
  std::optional<std::chrono::nanoseconds> time_limit = std::chrono::seconds(20);
  /// Called before each re-plan with its description, on the caller's thread.
  std::function<void(const std::string&)> on_replan = {};
};

/// The rest of an explanation: peaks and their holders, gains, costs. Opaque; `explanation_to_text`
/// and `explanation_to_json` show all of it.
struct ExplanationDetails;

/// Why a graph needs as much memory as it does. Copies share the details.
struct Explanation {
  Summary summary;
  std::string cause;        ///< One sentence; sizes in human-readable units.
  std::size_t replans = 0;  ///< Plans made to measure gains and costs.
  std::size_t skipped = 0;  ///< Re-plans left out because the time ran out.
  std::shared_ptr<const ExplanationDetails> details = {};
};

/// Plans `graph`, finds what determines its peak, and plans again without parts of it. Fails as
/// `plan` does, and with `unsupported` when no plan is found in time. Thread-safe; deterministic
/// without time limits.
STOWAGE_EXPORT Result<Explanation> explain(const Graph& graph, const ExplainOptions& options = {});
/// The same for an existing plan, made with `options.plan`. Cannot fail.
[[nodiscard]] STOWAGE_EXPORT Explanation explain(const PlanScene& base,
                                                 const ExplainOptions& options = {});

enum class SizeStyle : std::uint8_t { bytes, human };

/// Lines have at most 100 columns. Thread-safe, as is the next.
[[nodiscard]] STOWAGE_EXPORT std::string explanation_to_text(const Explanation& explanation,
                                                             SizeStyle sizes);
/// `stowage.explain/1`.
[[nodiscard]] STOWAGE_EXPORT std::string explanation_to_json(const Explanation& explanation);

}  // namespace stowage
