#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"
#include "stowage/verify.hpp"

/// Plans in the formats of other programs. Thread-safe.
namespace stowage {

/// A C header with the size and alignment of the arena and the offset of every tensor, whose name
/// is in a comment. The arena consists of the planned part alone. Its symbols begin with `name`, or
/// the graph's name if that is empty. Tensors outside of the arena have offset -1. Fails with
/// `ErrorCode::unsupported` for a plan that needs more than offsets into one arena.
STOWAGE_EXPORT Result<std::string> plan_to_header(const Graph& graph, const Plan& plan,
                                                  const std::string& name = {});

/// What TensorFlow Lite for Microcontrollers (TFLM) takes of its arena for a model: computed from
/// the sizes of its structures, in the version and build of `tflm_version`, with its reference
/// kernels. With these, a 32-bit target needs no more (docs/tflite.md).
struct TflmMemory {
  Bytes head;      ///< Tensors and scratch buffers, as the plan has them.
  Bytes tail;      ///< What lives as long as the interpreter: its structures, variables.
  Bytes arena;     ///< The smallest arena in which TFLM can start; at least head + tail.
  Bytes own_head;  ///< The head, if TFLM's own planner places everything.
  Bytes own_arena;
};

/// For the plan of the graph that `import_bytes` returns with the same options. Fails with
/// `ErrorCode::unsupported`, saying why, if TFLM could not run with the plan, and where its need is
/// not known: for operators and tensors whose memory is not known here.
STOWAGE_EXPORT Result<TflmMemory> tflm_memory(const ModelFile& model, const Plan& plan,
                                              const ImportOptions& options = {});

/// "tflite-micro 0.dev20261023182759 on x86-64".
[[nodiscard]] STOWAGE_EXPORT std::string_view tflm_version();

/// As `plan_to_header`, for a plan of a TFLite model: the size of the arena is what TFLM needs with
/// this plan, and the planned part has a name of its own. There is no size of the arena if
/// `tflm_memory` does not know it.
STOWAGE_EXPORT Result<std::string> tflite_plan_to_header(const ModelFile& model, const Graph& graph,
                                                         const Plan& plan,
                                                         const ImportOptions& options = {},
                                                         const std::string& name = {});

/// A copy of a TFLite model with the plan as TFLM's offline memory plan (metadata
/// `OfflineMemoryAllocation`); an existing one is replaced, everything else is unchanged. `plan` is
/// a plan of the graph that `import_bytes` returns with the same options. A plan with which TFLM is
/// known to need more than with its own planner is not written: the copy then has a plan that
/// leaves every tensor to TFLM. Fails with `ErrorCode::unsupported`, saying why, if TFLM could not
/// run with it: the copy is read back and verified before it is returned.
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
