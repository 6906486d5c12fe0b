#pragma once

#include <memory>

#include "stowage/memory.hpp"

namespace stowage::alloc {

/// The distance from an address to the next one with that alignment.
[[nodiscard]] Bytes gap_at(const std::byte* address, Bytes alignment);

/// The distance from the base of the buffer to its first aligned address. 0 for a buffer of size 0.
[[nodiscard]] inline Bytes gap_before(const Buffer& buffer, Bytes alignment) {
  return gap_at(buffer.base(), alignment);
}

/// The bytes after that gap; negative if the buffer ends inside it.
[[nodiscard]] inline Bytes room_in(const Buffer& buffer, Bytes alignment) {
  return buffer.size() - gap_before(buffer, alignment);
}

/// Allocates a buffer with room for `size` bytes after the gap. If the first attempt has an unaligned base, sets
/// `unaligned`, frees that buffer and allocates a larger one. Fails as the type does.
Result<std::unique_ptr<Buffer>> allocate_aligned(BufferType& type, Bytes size, Bytes alignment, bool& unaligned);

}  // namespace stowage::alloc
