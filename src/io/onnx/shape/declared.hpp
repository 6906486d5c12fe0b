#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "io/onnx/model.hpp"
#include "io/onnx/shape/infer.hpp"

namespace stowage::io::onnx::shape {

/// Values of symbolic dimensions, by name.
using DimValues = std::map<std::string, std::int64_t>;

/// Adds to `facts` what the file says about the same value. Where both are known they must agree, except for dimensions
/// without a value: returns what does not ("it is float32 in the file, but …").
///
/// What stays unknown keeps its reason. Where the knowledge was lost at this very value (`stopped_by` is empty), a
/// dimension without a value is one more.
[[nodiscard]] std::optional<std::string> reconcile(ValueFacts& facts, const ValueInfo& info, const DimValues& values);

}  // namespace stowage::io::onnx::shape
