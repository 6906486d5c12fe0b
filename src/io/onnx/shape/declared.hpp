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

/// How the file and the inference differ.
struct Difference {
  std::string text;     ///< "its type is int8 in the file, but …".
  DimValues dims = {};  ///< The values of symbolic dims with which the shapes would agree; empty if none would do.
};

/// Adds to `facts` what the file states about the same value. Where both are known they must agree, except for
/// dimensions without a value; returns the contradiction, if any.
///
/// What remains unknown keeps its reason. If inference stopped at this value itself (`stopped_by` is empty), a
/// dimension without a value is a further reason.
[[nodiscard]] std::optional<Difference> reconcile(ValueFacts& facts, const ValueInfo& info, const DimValues& values);

}  // namespace stowage::io::onnx::shape
