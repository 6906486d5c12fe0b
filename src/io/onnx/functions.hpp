#pragma once

#include <string>

#include "io/onnx/model.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// What inlining may add to a model, in bytes of nodes, names and kept elements. Functions that call functions that
/// call functions grow without limit; real ones stay far below.
inline constexpr std::size_t kMaxInlinedBytes = std::size_t{128} << 20;

/// The model with the nodes of each function in place of every node that calls it, and no functions any more. Values
/// inside get the call's name in front, attributes the call's values or their defaults.
///
/// Fails with `ErrorCode::invalid`, naming the node, on a function that calls itself, directly or not, on a call with
/// more inputs or outputs than the function has, on two functions of one name, on calls or graphs nested deeper than
/// `kMaxGraphDepth`, and where more than `kMaxInlinedBytes` would be added.
Result<Model> inline_functions(Model model, const std::string& file);

}  // namespace stowage::io::onnx
