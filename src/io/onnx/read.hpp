#pragma once

#include <string>
#include <string_view>

#include "io/onnx/model.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// The deepest nesting of graphs (bodies inside bodies).
inline constexpr std::size_t kMaxGraphDepth = 64;

/// Reads a ModelProto. Keeps no reference to `bytes`. Time and memory are proportional to the size of `bytes`, whatever
/// sizes it claims.
///
/// Fails, naming `file`, the path inside the model and the node or tensor:
/// - `ErrorCode::parse`: bytes that are not protobuf or are truncated; a field with another wire type than in ONNX; no
///   graph; a node without kind; a tensor, attribute or value without a name where it needs one; an attribute whose
///   type and content differ; a negative dimension (in a declared shape, -1 means unknown); a tensor whose data has
///   another number of elements than its shape.
/// - `ErrorCode::invalid`: a tensor of more than 2^62 bytes, an unknown element type, graphs nested deeper than
///   `kMaxGraphDepth`.
///
/// Not errors: unknown fields, which newer versions may have; data that is in another file or missing.
Result<Model> read_model(std::string_view bytes, const std::string& file);

}  // namespace stowage::io::onnx
