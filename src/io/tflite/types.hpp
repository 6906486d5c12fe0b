#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stowage/base.hpp"

/// The element types of a TFLite file.
namespace stowage::io::tflite {

struct ElementType {
  std::string name;              ///< "f32", "i4"; "type 99" for one that this version does not know.
  std::optional<int> bits = {};  ///< Of an element; none for strings, variants and unknown types.
};

[[nodiscard]] ElementType element_type(std::int8_t type);
/// Whether TFLM has tensors of this type.
[[nodiscard]] bool is_tflm_type(std::int8_t type);

/// The bytes of a tensor: elements smaller than a byte are packed, rounded up to a byte. None for a negative dimension
/// or more than `kMaxBytes`.
[[nodiscard]] std::optional<Bytes> size_of(int bits, std::span<const std::int64_t> shape);

}  // namespace stowage::io::tflite
