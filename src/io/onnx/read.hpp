#pragma once

#include <string>
#include <string_view>

#include "io/onnx/model.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Graphs inside graphs (bodies inside bodies) go no deeper than this.
inline constexpr std::size_t kMaxGraphDepth = 64;

/// Reads a ModelProto. Keeps nothing of `bytes`. Time and memory are proportional to the bytes there are, whatever they
/// claim.
///
/// Fails, naming `file`, the path inside the model and the node or tensor:
/// - `ErrorCode::parse`: no protobuf, or one that ends early; a field of another wire type than ONNX's; no graph; a
/// node without
///   kind, a tensor, attribute or value without a name it needs; an attribute whose type and content differ; a negative
///   dimension; a tensor whose data has another number of elements than its dimensions say.
/// - `ErrorCode::invalid`: a tensor of more than 2^62 bytes, an unknown element type, graphs nested deeper than
/// `kMaxGraphDepth`.
///
/// Not errors: unknown fields, which newer versions may have; data that is elsewhere or missing altogether.
Result<Model> read_model(std::string_view bytes, const std::string& file);

}  // namespace stowage::io::onnx
