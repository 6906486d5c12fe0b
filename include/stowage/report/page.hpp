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

/// HTML pages, each a single self-contained file (docs/page.md). All functions take O(n log n), are
/// stateless and thread-safe, and return the same bytes for the same arguments. They fail with `io`
/// if compression runs out of memory.
namespace stowage {

/// What a page shows besides the plan.
struct PageOptions {
  std::string label;                   ///< What users call the input: a file name.
  std::optional<Bytes> capacity = {};  ///< Shown next to the peak, whether the plan fits or not.
  const Explanation* explanation = nullptr;  ///< May be null.
};

/// The page of a planned graph.
STOWAGE_EXPORT Result<std::string> plan_page(const PlanScene& scene, const PageOptions& page);

/// The page of a table. Precondition: one position per row, and `summary` describes that answer. If
/// the times of the table are sparse, only steps at which something begins or ends are shown.
STOWAGE_EXPORT Result<std::string> table_page(const CsvProblem& table,
                                              std::span<const Position> positions,
                                              const Summary& summary, const PageOptions& page);

/// The page that compares two plans; `difference` is `diff(before, after)`. Of the options, only
/// those that affect lifetimes matter, and only for plans that were not made by `plan`.
STOWAGE_EXPORT Result<std::string> diff_page(const DiffSide& before, const DiffSide& after,
                                             const PlanOptions& options,
                                             const PlanDiff& difference);

/// The page of a replay, which should have samples, and may have blocks. `trace` is what users call
/// the trace.
STOWAGE_EXPORT Result<std::string> replay_page(const std::string& trace,
                                               const ReplayReport& report);

/// How many samples of a replay a page can show.
inline constexpr std::size_t kPageSamples = 4000;
/// How many blocks of a replay a page shows.
inline constexpr std::size_t kPageBlocks = 20'000;

}  // namespace stowage
