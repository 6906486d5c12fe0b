#pragma once

#include <cstddef>
#include <cstdint>

#include "stowage/base.hpp"

/// Sizes and addresses as the integer types that the system and the standard library expect.
namespace stowage::memory {

inline std::size_t to_size_t(Bytes size) { return static_cast<std::size_t>(size.value()); }

/// For arithmetic with addresses.
inline std::uintptr_t to_uintptr(Bytes size) { return static_cast<std::uintptr_t>(size.value()); }
inline std::uintptr_t to_uintptr(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace stowage::memory
