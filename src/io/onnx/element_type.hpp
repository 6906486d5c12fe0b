#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stowage/base.hpp"

namespace stowage::io::onnx {

/// The types of a tensor's elements, numbered as in TensorProto.DataType.
enum class ElementType : std::uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

/// The type with that number; none if there is no such type. 0 is `undefined`.
[[nodiscard]] std::optional<ElementType> element_type(std::int64_t number);

/// "float32", "int4".
[[nodiscard]] std::string_view to_string(ElementType type);

/// Bits of one element in memory; 0 for strings and `undefined`, which have no size. Elements smaller than a byte are
/// packed.
[[nodiscard]] std::int64_t element_bits(ElementType type);

/// The product of `dims`; none if one of them is negative or the product is above `kMaxBytes`. A scalar has one
/// element.
[[nodiscard]] std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims);

/// The size of a dense tensor, rounded up to a byte; none if `element_count` has none, the size is above `kMaxBytes`,
/// or the type has no size.
[[nodiscard]] std::optional<Bytes> tensor_size(ElementType type, std::span<const std::int64_t> dims);

}  // namespace stowage::io::onnx
