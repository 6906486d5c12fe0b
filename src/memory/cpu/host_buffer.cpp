#include <cstring>

#include "memory/cpu/cpu.hpp"
#include "memory/interface/errors.hpp"

namespace stowage {
namespace memory {

Status HostBuffer::fill(ByteRange range, std::uint8_t value) {
  STOWAGE_TRY_STATUS(check_range(type_.name(), range, size()));
  if (!range.empty()) {
    std::memset(memory_.data() + range.lower.value(), value, static_cast<std::size_t>(range.length().value()));
  }
  return Done{};
}

Status HostBuffer::write(Bytes offset, std::span<const std::byte> from) {
  STOWAGE_TRY_STATUS(check_range(type_.name(), range_from(offset, from.size()), size()));
  if (!from.empty()) std::memcpy(memory_.data() + offset.value(), from.data(), from.size());
  return Done{};
}

Status HostBuffer::read(Bytes offset, std::span<std::byte> to) const {
  STOWAGE_TRY_STATUS(check_range(type_.name(), range_from(offset, to.size()), size()));
  if (!to.empty()) std::memcpy(to.data(), memory_.data() + offset.value(), to.size());
  return Done{};
}

}  // namespace memory

std::unique_ptr<Buffer> borrow_buffer(std::span<std::byte> memory) {
  return std::make_unique<memory::HostBuffer>(cpu_device().buffer_type(), memory);
}

}  // namespace stowage
