#pragma once

#include "stowage/base.hpp"

namespace stowage::memory {

/// An `out_of_memory` error that names the allocator and the size: "cpu: cannot allocate 4096 bytes: …".
[[nodiscard]] Error out_of_memory(std::string_view who, Bytes size, std::string_view why);

/// `invalid` unless the range lies within [0, size).
[[nodiscard]] Status check_range(std::string_view who, ByteRange range, Bytes size);

/// The range of `length` bytes from `offset` on, for `check_range`. Where these are out of range, one that
/// `check_range` rejects.
[[nodiscard]] ByteRange range_from(Bytes offset, std::size_t length);

/// `invalid` if a new buffer cannot have that size; `out_of_memory` if it is above `max_size`.
[[nodiscard]] Status check_buffer_size(std::string_view type, Bytes size, std::optional<Bytes> max_size);

}  // namespace stowage::memory
