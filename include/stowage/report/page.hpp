#pragma once

#include <optional>
#include <span>
#include <string>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"
#include "stowage/planner.hpp"
#include "stowage/replay.hpp"
#include "stowage/report/diff.hpp"
#include "stowage/report/explain.hpp"
#include "stowage/report/scene.hpp"

/// Pages for people to look at: one HTML file each that needs nothing else (docs/page.md). All of
/// them take O(n log n), keep nothing, are thread-safe, and give the same bytes for the same
/// arguments. They fail with `io` when packing does, for lack of memory.
namespace stowage {

/// What a page says beside the plan itself.
struct PageOptions {
  std::string label;                   ///< What was planned, as the user calls it: a file.
  std::optional<Bytes> capacity = {};  ///< Shown beside the peak, whether the plan fits it or not.
  const Explanation* explanation = nullptr;  ///< Null: the page has none.
};

/// The page of a planned graph.
STOWAGE_EXPORT Result<std::string> plan_page(const PlanScene& scene, const PageOptions& page);

/// The page of a table. Precondition: one position per row, and `summary` is of that answer. Where
/// the times of the table are few and far between, only steps at which something begins or ends are
/// shown.
STOWAGE_EXPORT Result<std::string> table_page(const CsvProblem& table,
                                              std::span<const Position> positions,
                                              const Summary& summary, const PageOptions& page);

/// The page of two plans. `difference` is theirs. Of the options only those of liveness count, for
/// a plan from elsewhere.
STOWAGE_EXPORT Result<std::string> diff_page(const DiffSide& before, const DiffSide& after,
                                             const PlanOptions& options,
                                             const PlanDiff& difference);

/// The page of a replay, which should have samples. `trace` is what the user calls it.
STOWAGE_EXPORT Result<std::string> replay_page(const std::string& trace,
                                               const ReplayReport& report);

/// How many samples of a replay a page has room for.
inline constexpr std::size_t kPageSamples = 4000;

}  // namespace stowage
