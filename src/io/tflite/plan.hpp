#pragma once

#include "io/tflite/file.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/metadata.hpp"
#include "io/tflite/model.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Between a Plan, which speaks of a graph, and offsets, which speak of a model.
namespace stowage::io::tflite {

/// The offsets of a plan for the graph that `imported` is the description of. What has an address of its own, takes no
/// bytes or is touched by nobody has -1. Fails with `ErrorCode::unsupported` where TFLM could not run with the plan:
/// several arenas or regions, clears or bindings; one place for a tensor of a subgraph that has two; elements smaller
/// than a byte, for which TFLM counts a byte; a variable that TFLM would leave without memory (docs/tflite.md).
Result<OfflinePlan> offsets_of(const File& file, const ModelInfo& model, const ImportedModel& imported,
                               const Graph& graph, const Plan& plan);

/// The plan that TFLM makes of offsets, for `graph`, which was imported with them. Constants and variables lie in an
/// arena of their own; the copies are those that TFLM's control flow does. Without a size of the arena in `offline` it
/// is what the offsets need, but no more than all tensors next to each other.
[[nodiscard]] Plan plan_at(const ModelInfo& model, const ImportedModel& imported, const Graph& graph,
                           const OfflinePlan& offline);

}  // namespace stowage::io::tflite
