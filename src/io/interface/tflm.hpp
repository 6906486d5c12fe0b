#pragma once

#include <string_view>

#include "stowage/base.hpp"
#include "stowage/io.hpp"
#include "stowage/plan.hpp"

namespace stowage::io {

/// Whose sizes these are; bench/README.md compares the figures with its recording allocator.
inline constexpr std::string_view kTflmVersion = "tflite-micro 0.dev20261023182759 on x86-64";

/// What TensorFlow Lite for Microcontrollers takes of its arena. It allocates from both ends: the *head* holds tensors
/// and scratch buffers, the *tail* what lives as long as the interpreter. While it prepares a model it needs more for
/// a moment, so that the smallest arena in which it can start may be larger than both together.
struct TflmNeed {
  Bytes head;
  Bytes tail;
  Bytes arena;  ///< The size of the smallest arena, at an address that is a multiple of 16.
};

/// For a model with the offsets of `plan`, or as TFLM's own planner places everything if it is null. Fails as
/// `copy_with_plan`, and with `ErrorCode::unsupported`, saying why, where the need is not known (docs/tflite.md).
Result<TflmNeed> tflm_need(const ModelFile& model, const Plan* plan, const ImportOptions& options);

}  // namespace stowage::io
