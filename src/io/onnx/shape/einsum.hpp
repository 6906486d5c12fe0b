#pragma once

#include <string_view>
#include <vector>

#include "io/onnx/model.hpp"

namespace stowage::io::onnx::shape {

/// The shape of the sum that `equation` ("bij,bjk->bik", "...ij->...ji") says of these operands. Throws `Stop` where
/// equation and operands do not fit.
[[nodiscard]] Dims einsum_dims(std::string_view equation, const std::vector<Dims>& operands);

}  // namespace stowage::io::onnx::shape
