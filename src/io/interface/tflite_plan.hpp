#pragma once

#include <string>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"

/// Plans inside TFLite models: TFLM's offline memory plan (metadata `OfflineMemoryAllocation`). Only the form is
/// checked here; the caller must verify a copy before it writes it.
namespace stowage::io {

/// A model as TFLM runs it with the offline memory plan of a copy, for `verify`.
struct PlannedModel {
  Graph graph;  ///< Tensors share memory only if their offsets are equal; those that TFLM places at run time are
                ///< external.
  Plan plan;    ///< With the copies that TFLM makes at the ends of subgraphs.
};

/// Reads the offline memory plan of `copy` as a plan for `model`. Fails if a file is damaged, if there is no plan, or
/// if the plan has another version or is for another number of subgraphs or tensors.
Result<PlannedModel> parse_tflite_plan(const ModelFile& model, const ModelFile& copy,
                                       const ImportOptions& options = {});

/// A copy of a model with a plan, not verified yet.
struct PlannedCopy {
  std::string bytes;
  PlannedModel read_back;  ///< What `parse_tflite_plan` returns for it.
};

/// `plan` is a plan of the graph that the model is imported as, with the same options. An existing plan in the model is
/// replaced; everything else is unchanged. Fails with `ErrorCode::unsupported` if TFLM's format cannot express the
/// plan.
Result<PlannedCopy> copy_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options);

/// A copy whose plan has no offsets: TFLM's own planner places everything. Fails only on damaged files and those that
/// cannot be copied.
Result<std::string> copy_without_offsets(const ModelFile& model);

}  // namespace stowage::io
