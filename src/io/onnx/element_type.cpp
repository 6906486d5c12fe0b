#include "io/onnx/element_type.hpp"

#include <array>
#include <cstddef>

namespace stowage::io::onnx {
namespace {

struct Traits {
  std::string_view name;
  std::int64_t bits;
};

// By number. Six-bit floats are packed four in three bytes.
constexpr std::array<Traits, 29> kTraits = {{
    {"undefined", 0},      {"float32", 32},  {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"float64", 64},  {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},      {"float6e2m3", 6},   {"float6e3m2", 6},
}};

const Traits& traits(ElementType type) { return kTraits[static_cast<std::size_t>(type)]; }

}  // namespace

std::optional<ElementType> element_type(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(kTraits.size())) return std::nullopt;
  return static_cast<ElementType>(number);
}

std::string_view to_string(ElementType type) { return traits(type).name; }

std::int64_t element_bits(ElementType type) { return traits(type).bits; }

std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims) {
  // A zero makes the tensor empty, however large the other dims are.
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    empty |= dim == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (count > kMaxBytes.value() / dim) return std::nullopt;
    count *= dim;
  }
  return count;
}

std::optional<Bytes> tensor_size(ElementType type, std::span<const std::int64_t> dims) {
  const std::int64_t bits = element_bits(type);
  const std::optional<std::int64_t> count = element_count(dims);
  if (bits == 0 || !count) return std::nullopt;
  // count * bits / 8, rounded up, without overflow.
  const std::int64_t whole = *count / 8;
  const std::int64_t rest = (*count % 8 * bits + 7) / 8;
  if (whole > (kMaxBytes.value() - rest) / bits) return std::nullopt;
  return Bytes(whole * bits + rest);
}

}  // namespace stowage::io::onnx
