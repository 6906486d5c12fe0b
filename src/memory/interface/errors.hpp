#pragma once

#include "stowage/base.hpp"

namespace stowage::memory {

/// `out_of_memory`, naming who has none and how much was asked for: "cpu: cannot allocate 4096 bytes: …".
[[nodiscard]] Error out_of_memory(std::string_view who, Bytes size, std::string_view why);

/// `invalid` unless the range lies within [0, size).
[[nodiscard]] Status check_range(std::string_view who, ByteRange range, Bytes size);

/// The range of `length` bytes from `offset` on, for `check_range`: one that lies nowhere if the sum would overflow.
[[nodiscard]] ByteRange range_from(Bytes offset, std::size_t length);

/// `invalid` unless a new buffer may have that size; `out_of_memory` when it is above the largest.
[[nodiscard]] Status check_buffer_size(std::string_view type, Bytes size, std::optional<Bytes> max_size);

}  // namespace stowage::memory
