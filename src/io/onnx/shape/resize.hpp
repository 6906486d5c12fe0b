#pragma once

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

/// The shape that a Resize node makes of its input: by scales or to sizes, of all dimensions or some.
[[nodiscard]] Dims resized(const Call& call);

/// The shape that an Upsample node makes, which is by scales only.
[[nodiscard]] Dims upsampled(const Call& call);

}  // namespace stowage::io::onnx::shape
