#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/tflite/model.hpp"

namespace stowage::io::tflite {

/// A sentence that names up to ten tensors without a fixed size that are accessed by an operator of a subgraph marked
/// in `reached`, or that are an input or output of such a subgraph. None if there are no such tensors. Other tensors
/// need no size.
[[nodiscard]] std::optional<std::string> unsized_tensors(const ModelInfo& model, const std::vector<bool>& reached);

}  // namespace stowage::io::tflite
