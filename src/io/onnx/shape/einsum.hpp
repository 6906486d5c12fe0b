#pragma once

#include <string_view>
#include <vector>

#include "io/onnx/model.hpp"

namespace stowage::io::onnx::shape {

/// The shape of the result of `equation` ("bij,bjk->bik", "...ij->...ji") for these operands. Throws `Stop` if the
/// equation and the operands do not match.
[[nodiscard]] Dims einsum_dims(std::string_view equation, const std::vector<Dims>& operands);

}  // namespace stowage::io::onnx::shape
