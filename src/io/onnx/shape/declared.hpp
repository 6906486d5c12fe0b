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

/// Adds to `facts` what the file states about the same value. Where both are known they must agree, except for
/// dimensions without a value; returns the contradiction, if any ("its type is int8 in the file, but …").
///
/// What remains unknown keeps its reason. If inference stopped at this value itself (`stopped_by` is empty), a
/// dimension without a value is a further reason.
[[nodiscard]] std::optional<std::string> reconcile(ValueFacts& facts, const ValueInfo& info, const DimValues& values);

}  // namespace stowage::io::onnx::shape
