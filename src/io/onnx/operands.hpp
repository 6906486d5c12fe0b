#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "io/onnx/shape/infer.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// An input or output of a node, with what is known about it.
struct Operand {
  const ValueFacts* facts;  ///< Of a tensor of unknown size they are incomplete; it is never a view or in place.
  Bytes size;
};

/// The operands of a node by position; omitted ones are absent.
struct Operands {
  std::vector<std::optional<Operand>> inputs;
  std::vector<std::optional<Operand>> outputs;

  /// Null if the node has no such input, or it is omitted.
  [[nodiscard]] const Operand* input(std::size_t i) const {
    return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr;
  }
  [[nodiscard]] const Operand* output(std::size_t i) const {
    return i < outputs.size() && outputs[i] ? &*outputs[i] : nullptr;
  }
};

}  // namespace stowage::io::onnx
