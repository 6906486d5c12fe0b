#pragma once

#include <cstddef>
#include <string_view>

#include "io/onnx/model.hpp"
#include "io/onnx/read_context.hpp"

/// The parts of a model that contain no nodes. Each function reads the message `bytes` and throws what `ReadContext`
/// and `Message` throw.
namespace stowage::io::onnx {

/// A TensorProto.
[[nodiscard]] TensorInfo read_tensor(std::string_view bytes, ReadContext& context);
/// A SparseTensorProto, with the name of its values.
[[nodiscard]] TensorInfo read_sparse_tensor(std::string_view bytes, ReadContext& context);
/// A ValueInfoProto.
[[nodiscard]] ValueInfo read_value_info(std::string_view bytes, ReadContext& context);

/// An element type by its number, which must exist.
[[nodiscard]] ElementType checked_element_type(std::int64_t number);

}  // namespace stowage::io::onnx
