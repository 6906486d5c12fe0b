#pragma once

#include <cstdint>
#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/operands.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// Output `output` of a node has the very bytes that its input `input` has from `offset` on.
struct View {
  std::uint32_t output;
  std::uint32_t input;
  Bytes offset;

  friend bool operator==(const View&, const View&) = default;
};

/// Whether `find_views` could find any, by the node's kind alone.
[[nodiscard]] bool may_be_view(const Node& node);

/// The outputs of `node` that are a contiguous part of an input, by the definition of its operator alone: whether they
/// may lie there is not asked. Every output that is written has one, or none has: a node either moves nothing or is
/// run.
///
/// Full views: Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout when not training, Cast to the same type, and
/// Transpose, Expand, Tile and Concat where they leave all elements where they were. Parts: Slice, Split and Gather
/// along an axis that nothing but ones comes before.
[[nodiscard]] std::vector<View> find_views(const Node& node, const Operands& operands);

}  // namespace stowage::io::onnx
