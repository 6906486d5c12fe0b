#pragma once

#include <string>

#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"

/// Plans inside of TFLite models: TFLM's offline memory plan (metadata `OfflineMemoryAllocation`). Only the form is
/// checked here; whoever hands a copy on verifies it first.
namespace stowage::io {

/// A model as the offline memory plan of a copy runs it, for `verify`.
struct PlannedModel {
  Graph graph;  ///< Views and the like only where the offsets are equal; what TFLM places at run time is external.
  Plan plan;    ///< With the copies that TFLM does at the ends of subgraphs.
};

/// Reads the offline memory plan of `copy` as a plan for `model`. Fails on damaged files, where there is no plan, and
/// on one of another version or for another number of subgraphs or tensors.
Result<PlannedModel> parse_tflite_plan(const ModelFile& model, const ModelFile& copy,
                                       const ImportOptions& options = {});

/// A copy of a model with a plan, not verified yet.
struct PlannedCopy {
  std::string bytes;
  PlannedModel read_back;  ///< What `parse_tflite_plan` makes of it.
};

/// `plan` is a plan of the graph that the model is imported as, with the same options. A plan that is in the model
/// already is replaced, everything else is as it was. Fails with `ErrorCode::unsupported` where TFLM's format cannot
/// express the plan.
Result<PlannedCopy> copy_with_plan(const ModelFile& model, const Plan& plan, const ImportOptions& options);

}  // namespace stowage::io
