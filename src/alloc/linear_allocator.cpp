#include <algorithm>
#include <cstdint>

#include "stowage/alloc.hpp"

namespace stowage {

std::optional<Bytes> LinearAllocator::allocate(Bytes size) {
  STOWAGE_CHECK(Bytes(0) <= size && size <= kMaxBytes, "a size out of range");
  const Bytes offset = next();
  if (size == Bytes(0)) return std::min(offset, buffer_->size());
  if (missing(size) > Bytes(0)) return std::nullopt;
  used_ = offset + size;
  return offset;
}

Bytes LinearAllocator::missing(Bytes size) const {
  if (size == Bytes(0)) return Bytes(0);
  // Not `offset + size > end`: the gap before the offset may be as large as the alignment, and the sum could overflow.
  return std::max(Bytes(0), size - (buffer_->size() - next()));
}

Bytes LinearAllocator::remaining() const { return std::max(Bytes(0), buffer_->size() - next()); }

Bytes LinearAllocator::next() const {
  const Bytes alignment = buffer_->type().alignment();
  STOWAGE_CHECK(is_power_of_two(alignment), "a buffer type's alignment is a power of two");
  const std::uintptr_t address =
      reinterpret_cast<std::uintptr_t>(buffer_->base()) + static_cast<std::uintptr_t>(used_.value());
  const std::uintptr_t gap = (0 - address) & static_cast<std::uintptr_t>(alignment.value() - 1);
  return used_ + Bytes(static_cast<std::int64_t>(gap));
}

}  // namespace stowage
