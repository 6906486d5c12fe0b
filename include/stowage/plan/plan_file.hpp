#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan/plan.hpp"

/// Plans in files: `stowage.plan/1` (docs/formats.md). Everything here is thread-safe.
///
/// A file numbers tensors and ops body by body, so only together with its graph is it a `Plan`.
namespace stowage {

/// Reads a plan of `graph`. `file` is the name as the user gave it; it only appears in errors.
/// Checks the form, not whether the plan is correct: `verify` does that. Fails with
/// `ErrorCode::parse` when the text is not a plan file, with `ErrorCode::invalid` when it names a
/// body, tensor, op or workspace that the graph does not have, or has another name for one.
STOWAGE_EXPORT Result<Plan> parse_plan(std::string_view text, const std::string& file,
                                       const Graph& graph);
/// The file that `parse_plan` reads back as an equal plan, one entry per line. Precondition: the
/// graph has every tensor and op that the plan names.
[[nodiscard]] STOWAGE_EXPORT std::string plan_to_json(const Graph& graph, const Plan& plan);

/// The content of a plan file without its graph: opaque, for `plan_for`, `verify` and `diff`.
struct PlanFile;

/// Reads a plan file on its own. Fails with `ErrorCode::parse`. Never returns null.
STOWAGE_EXPORT Result<std::shared_ptr<const PlanFile>> parse_plan_file(std::string_view text,
                                                                       const std::string& file);
/// The name of the graph that the plan is of, as the file says.
[[nodiscard]] STOWAGE_EXPORT const std::string& graph_name(const PlanFile& file);
/// The plan in the ids of `graph`. Fails with `ErrorCode::invalid` on the first entry that names
/// something that the graph does not have, or with another name than the graph's. O(entries ×
/// log(bodies)), as is the next.
STOWAGE_EXPORT Result<Plan> plan_for(const Graph& graph, const PlanFile& file);
/// The same without the entries that name something that the graph does not have: for planning a
/// changed graph again. Names are not compared.
[[nodiscard]] STOWAGE_EXPORT Plan known_part(const Graph& graph, const PlanFile& file);

}  // namespace stowage
