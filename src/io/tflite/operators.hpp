#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What is known about an operator from its code alone.
namespace stowage::io::tflite {

/// Positions [lower, upper) in an operator's inputs.
struct InputRange {
  std::uint32_t lower = 0;
  std::uint32_t upper = 0;
};

struct OperatorTraits {
  /// Output 0 has the elements of input 0 in the same order: if both share memory, the operator does nothing.
  bool view_like = false;
  InputRange element_wise = {};  ///< Inputs that output 0 may overwrite if they have its shape and size.
};

/// "CONV_2D"; a custom operator's own name; "OPERATOR_300" for a code that this version does not know.
[[nodiscard]] std::string operator_name(std::int64_t code, std::string_view custom_name);

/// Whether an operator with this code is known by its custom name only.
[[nodiscard]] bool is_custom(std::int64_t code);

/// The defaults for a custom or unknown operator.
[[nodiscard]] OperatorTraits operator_traits(std::int64_t code);

}  // namespace stowage::io::tflite
