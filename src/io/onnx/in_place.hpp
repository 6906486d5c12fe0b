#pragma once

#include <vector>

#include "io/onnx/model.hpp"
#include "io/onnx/operands.hpp"
#include "stowage/graph/description.hpp"

namespace stowage::io::onnx {

/// Which outputs of `node` may overwrite which inputs, because every element of the output depends on the element of
/// the input that it replaces, on no other element of that input, and both have the same number of bits: element-wise
/// operators whose input is not broadcast, those that copy an input and then change some of it (ScatterND), and those
/// that change nothing (Reshape).
[[nodiscard]] std::vector<InPlacePair> find_in_place(const Node& node, const Operands& operands);

}  // namespace stowage::io::onnx
