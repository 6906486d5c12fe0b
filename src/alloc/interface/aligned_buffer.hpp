#pragma once

#include <memory>

#include "stowage/memory.hpp"

namespace stowage::alloc {

/// From an address to the next one with that alignment.
[[nodiscard]] Bytes gap_at(const std::byte* address, Bytes alignment);

/// From the base of the buffer to its first aligned address. 0 for a buffer of size 0.
[[nodiscard]] inline Bytes gap_before(const Buffer& buffer, Bytes alignment) {
  return gap_at(buffer.base(), alignment);
}

/// What follows that gap; below 0 where the buffer ends inside of it.
[[nodiscard]] inline Bytes room_in(const Buffer& buffer, Bytes alignment) {
  return buffer.size() - gap_before(buffer, alignment);
}

/// A new buffer with room for `size` bytes behind the gap. Where the first one turns out to have an unaligned base it
/// goes again, `unaligned` becomes true, and a larger one is asked for. Fails as the type does.
Result<std::unique_ptr<Buffer>> allocate_aligned(BufferType& type, Bytes size, Bytes alignment, bool& unaligned);

}  // namespace stowage::alloc
