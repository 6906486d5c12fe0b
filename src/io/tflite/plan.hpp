#pragma once

#include "io/tflite/file.hpp"
#include "io/tflite/import.hpp"
#include "io/tflite/metadata.hpp"
#include "io/tflite/model.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Converts between a Plan, which refers to a graph, and offsets, which refer to a model.
namespace stowage::io::tflite {

/// The offsets of a plan for the graph described by `imported`. Constants, variables, tensors without bytes and tensors
/// that no operator accesses have -1. Fails with `ErrorCode::unsupported` if TFLM cannot run with the plan: several
/// arenas or regions, clears or bindings; two places for a tensor of a subgraph; elements smaller than a byte, for
/// which TFLM counts a byte; a variable that TFLM would leave without memory (docs/tflite.md).
Result<OfflinePlan> offsets_of(const File& file, const ModelInfo& model, const ImportedModel& imported,
                               const Graph& graph, const Plan& plan);

/// The plan that the offsets mean for TFLM, for `graph`, which was imported with them. Constants and variables lie in a
/// separate arena; the copies are those of TFLM's control flow. If `offline` has no arena size, the arena is as large
/// as the offsets require, but at most the sum of the sizes of all tensors.
[[nodiscard]] Plan plan_at(const ModelInfo& model, const ImportedModel& imported, const Graph& graph,
                           const OfflinePlan& offline);

}  // namespace stowage::io::tflite
