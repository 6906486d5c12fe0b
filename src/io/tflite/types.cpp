#include "io/tflite/types.hpp"

#include <algorithm>
#include <array>

namespace stowage::io::tflite {
namespace {

struct Known {
  const char* name;
  int bits;
};

/// By number. A resource is a handle of four bytes.
constexpr std::array kKnown{
    Known{"f32", 32},   Known{"f16", 16},     Known{"i32", 32},   Known{"u8", 8},        Known{"i64", 64},
    Known{"string", 0}, Known{"bool", 8},     Known{"i16", 16},   Known{"c64", 64},      Known{"i8", 8},
    Known{"f64", 64},   Known{"c128", 128},   Known{"u64", 64},   Known{"resource", 32}, Known{"variant", 0},
    Known{"u32", 32},   Known{"u16", 16},     Known{"i4", 4},     Known{"bf16", 16},     Known{"i2", 2},
    Known{"u4", 4},     Known{"f8e4m3fn", 8}, Known{"f8e5m2", 8},
};

}  // namespace

ElementType element_type(std::int8_t type) {
  if (type < 0 || static_cast<std::size_t>(type) >= kKnown.size()) return {.name = "type " + std::to_string(type)};
  const Known& known = kKnown[static_cast<std::size_t>(type)];
  if (known.bits == 0) return {.name = known.name};
  return {.name = known.name, .bits = known.bits};
}

bool is_tflm_type(std::int8_t type) {
  constexpr std::int8_t kWithoutSize[] = {5, 14};  // strings and variants
  constexpr std::int8_t kLast = 17;                // 4-bit integers
  return type >= 0 && type <= kLast &&
         std::find(std::begin(kWithoutSize), std::end(kWithoutSize), type) == std::end(kWithoutSize);
}

std::optional<Bytes> size_of(int bits, std::span<const std::int64_t> shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return Bytes(0);  // however large the other dimensions are
  std::int64_t total = bits;
  for (const std::int64_t dim : shape) {
    if (__builtin_mul_overflow(total, dim, &total)) return std::nullopt;
  }
  const Bytes size((total / 8) + (total % 8 != 0 ? 1 : 0));
  return size <= kMaxBytes ? std::optional(size) : std::nullopt;
}

}  // namespace stowage::io::tflite
