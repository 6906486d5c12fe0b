#pragma once

#include <cstddef>

#include "io/onnx/shape/call.hpp"

namespace stowage::io::onnx::shape {

/// The shape of a product as in numpy's matmul: matrices in the last two dimensions, the others are broadcast.
[[nodiscard]] Dims product_dims(Dims a, Dims b);

/// The shape of the product of two matrices, inputs of `call`, transposed according to its attributes transA and
/// transB.
[[nodiscard]] Dims gemm_dims(const Call& call, std::size_t a, std::size_t b);

}  // namespace stowage::io::onnx::shape
