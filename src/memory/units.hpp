#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/base.hpp"

/// Sizes and addresses as the integer types that the system and the standard library expect.
namespace stowage::memory {

inline std::size_t count(Bytes bytes) { return static_cast<std::size_t>(bytes.value()); }
inline std::uintptr_t extent(Bytes size) { return static_cast<std::uintptr_t>(size.value()); }
inline std::uintptr_t number(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace stowage::memory
