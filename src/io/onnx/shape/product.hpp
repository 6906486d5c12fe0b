#pragma once

#include <cstddef>

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

/// The shape of a product as numpy's matmul has it: matrices in the last two dimensions, the others broadcast.
[[nodiscard]] Dims product_dims(Dims a, Dims b);

/// The shape of the product of two matrices, inputs of `call`, which its attributes transA and transB turn.
[[nodiscard]] Dims gemm_dims(const Call& call, std::size_t a, std::size_t b);

}  // namespace stowage::io::onnx::shape
