#pragma once

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

/// The output shape of a Resize node: by scales or to sizes, of all dimensions or some.
[[nodiscard]] Dims resized(const Call& call);

/// The output shape of an Upsample node, which has scales only.
[[nodiscard]] Dims upsampled(const Call& call);

}  // namespace stowage::io::onnx::shape
