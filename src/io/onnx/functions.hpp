#pragma once

#include <string>

#include "io/onnx/model.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// The most that inlining may add to a model, in bytes of nodes, names and kept elements. Nested calls can grow
/// exponentially; real models stay far below.
inline constexpr std::size_t kMaxInlinedBytes = std::size_t{128} << 20;

/// Replaces every node that calls a function by the nodes of the function; the result has no functions. The names of
/// values inside are prefixed with the call's name; attributes get the call's values or their defaults.
///
/// Fails with `ErrorCode::invalid`, naming the node, on a function that calls itself, directly or not, on a call with
/// more inputs or outputs than the function has, on two functions with the same name, on calls or graphs nested deeper
/// than `kMaxGraphDepth`, and if more than `kMaxInlinedBytes` would be added.
Result<Model> inline_functions(Model model, const std::string& file);

}  // namespace stowage::io::onnx
