#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "io/onnx/shape/infer.hpp"
#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// An input or output of a node, with what is known about it.
struct Operand {
  const ValueFacts*
      facts;  ///< Known, except for tensors whose size is unknown: then nothing is a view or in place anyway.
  Bytes size;
};

/// The operands of a node by position; omitted ones are absent.
struct Operands {
  std::vector<std::optional<Operand>> inputs;
  std::vector<std::optional<Operand>> outputs;

  /// Nothing where the node has no such input, or it is omitted.
  [[nodiscard]] const Operand* input(std::size_t i) const {
    return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr;
  }
  [[nodiscard]] const Operand* output(std::size_t i) const {
    return i < outputs.size() && outputs[i] ? &*outputs[i] : nullptr;
  }
};

}  // namespace stowage::io::onnx
