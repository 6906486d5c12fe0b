#pragma once

#include <cstdint>

/// Rounding of built-in integers, for the inner loops. `alignment` is a power of two.
namespace stowage::pack {

[[nodiscard]] inline std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
[[nodiscard]] inline std::int64_t round_down(std::int64_t value, std::int64_t alignment) {
  return value & ~(alignment - 1);
}

}  // namespace stowage::pack
