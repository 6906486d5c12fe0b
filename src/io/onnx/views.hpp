#pragma once

#include <cstdint>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/operands.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Output `output` of a node has the same bytes as its input `input`, from `offset` on.
struct View {
  std::uint32_t output;
  std::uint32_t input;
  Bytes offset;

  friend bool operator==(const View&, const View&) = default;
};

/// Whether `find_views` could find any, by the node's kind alone.
[[nodiscard]] bool may_be_view(const Node& node);

/// The outputs of `node` that are a contiguous part of an input, by the definition of its operator alone: whether a
/// view is permitted is not checked. Either every written output has a view or none has: a node either moves nothing or
/// runs.
///
/// Full views: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout when not training, Cast to the same type, and
/// Transpose, Expand, Tile and Concat if they do not move elements. Parts: Slice, Split and Gather along an axis before
/// which all dims are 1.
[[nodiscard]] std::vector<View> find_views(const Node& node, const Operands& operands);

}  // namespace stowage::io::onnx
