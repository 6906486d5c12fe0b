#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/tflite/model.hpp"

namespace stowage::io::tflite {

/// A sentence that names the tensors without a fixed size, up to ten of them, that an operator of a subgraph with a
/// mark in `reached` touches, or that such a subgraph takes or gives. Nothing when there are none. What nobody touches
/// needs no size.
[[nodiscard]] std::optional<std::string> unsized_tensors(const ModelInfo& model, const std::vector<bool>& reached);

}  // namespace stowage::io::tflite
