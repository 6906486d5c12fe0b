#include "alloc/interface/aligned_buffer.hpp"

#include <cstdint>

namespace stowage::alloc {

Bytes gap_at(const std::byte* address, Bytes alignment) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return Bytes(static_cast<std::int64_t>((0 - number) & static_cast<std::uintptr_t>(alignment.value() - 1)));
}

Result<std::unique_ptr<Buffer>> allocate_aligned(BufferType& type, Bytes size, Bytes alignment, bool& unaligned) {
  STOWAGE_TRY(std::unique_ptr<Buffer> buffer, type.allocate(size));
  if (room_in(*buffer, alignment) >= size) return buffer;
  buffer.reset();
  unaligned = true;
  return type.allocate(size + alignment);
}

}  // namespace stowage::alloc
