#pragma once

#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"
#include "stowage/verify.hpp"

/// Plans in the formats of other programs. Thread-safe.
namespace stowage {

/// A C header with the size and alignment of the arena and the offset of every tensor, whose name
/// is in a comment. Its symbols begin with `name`, or the graph's name if that is empty. Tensors
/// outside of the arena have offset -1. Fails with `ErrorCode::unsupported` for a plan that needs
/// more than offsets into one arena.
STOWAGE_EXPORT Result<std::string> plan_to_header(const Graph& graph, const Plan& plan,
                                                  const std::string& name = {});

/// A copy of a TFLite model with the plan as TFLM's offline memory plan (metadata
/// `OfflineMemoryAllocation`); an existing one is replaced, everything else is unchanged. `plan` is
/// a plan of the graph that `import_bytes` returns with the same options. Fails with
/// `ErrorCode::unsupported`, saying why, if TFLM could not run with it: the copy is read back and
/// verified before it is returned.
STOWAGE_EXPORT Result<std::string> tflite_with_plan(const ModelFile& model, const Plan& plan,
                                                    const ImportOptions& options = {});

/// Verifies the offline memory plan in `copy`, another TFLite file, as a plan for `model`. Empty:
/// it is correct. Fails on damaged files, when there is no plan, and on a plan of another version
/// or for another number of subgraphs or tensors.
STOWAGE_EXPORT Result<std::vector<Finding>> verify_tflite(const ModelFile& model,
                                                          const ModelFile& copy,
                                                          const ImportOptions& import = {},
                                                          const VerifyOptions& options = {});

}  // namespace stowage
