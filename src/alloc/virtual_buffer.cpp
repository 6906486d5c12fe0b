#include "alloc/virtual_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "memory/interface/errors.hpp"

namespace stowage::alloc {

Result<std::unique_ptr<VirtualBuffer>> VirtualBuffer::make(BufferType& type, const VirtualSource& source) {
  Result<std::byte*> range = source.device->virtual_memory()->reserve(source.address_space);
  if (!range) {
    return Error{range.error().code,
                 fmt::format("{}: cannot reserve addresses for {} bytes: {}", type.name(), source.address_space.value(),
                             range.error().message),
                 {}};
  }
  return std::unique_ptr<VirtualBuffer>(new VirtualBuffer(type, source, *range));
}

VirtualBuffer::~VirtualBuffer() {
  // A device that failed once may succeed the second time. If it keeps failing, the pages leak, because a destructor
  // cannot report it.
  if (!shrink(Bytes(0)) && !shrink(Bytes(0))) return;
  if (!memory_.free(range_, source_.address_space)) return;
}

Status VirtualBuffer::grow(Bytes size) {
  if (size > source_.address_space) {
    return memory::out_of_memory(type_.name(), size,
                                 fmt::format("only {} bytes of addresses are reserved", source_.address_space.value()));
  }
  const Bytes before = size_;
  while (size_ < size) {
    const Status added = add_page();
    if (added) continue;
    if (!shrink(before)) return in_words_of_type(added.error(), size);  // pages that stay are used later
    return in_words_of_type(added.error(), size);
  }
  return Done{};
}

Status VirtualBuffer::add_page() {
  STOWAGE_TRY(const PhysicalId physical, memory_.create(source_.page));
  const Status mapped = memory_.map(range_ + size_.value(), physical, Bytes(0), source_.page);
  const Status released = memory_.release(physical);
  if (!mapped) return mapped;
  size_ += source_.page;
  return released;
}

Status VirtualBuffer::shrink(Bytes size) {
  while (size_ - source_.page >= size && size_ > Bytes(0)) {
    STOWAGE_TRY_STATUS(memory_.unmap(range_ + (size_ - source_.page).value(), source_.page));
    size_ -= source_.page;
  }
  return Done{};
}

Error VirtualBuffer::in_words_of_type(const Error& error, Bytes size) const {
  return {error.code, fmt::format("{}: cannot allocate {} bytes: {}", type_.name(), size.value(), error.message), {}};
}

Status VirtualBuffer::fill(ByteRange range, std::uint8_t value) {
  STOWAGE_TRY_STATUS(memory::check_range(type_.name(), range, size_));
  const Bytes most{std::int64_t{1} << 20};
  const std::vector<std::byte> from(static_cast<std::size_t>(std::min(most, range.length()).value()), std::byte{value});
  for (Bytes at = range.lower; at < range.upper; at += most) {
    const Bytes count = std::min(most, range.upper - at);
    STOWAGE_TRY_STATUS(copy(range_ + at.value(), from.data(), static_cast<std::size_t>(count.value())));
  }
  return Done{};
}

Status VirtualBuffer::write(Bytes offset, std::span<const std::byte> from) {
  STOWAGE_TRY_STATUS(memory::check_range(type_.name(), memory::range_from(offset, from.size()), size_));
  return copy(range_ + offset.value(), from.data(), from.size());
}

Status VirtualBuffer::read(Bytes offset, std::span<std::byte> to) const {
  STOWAGE_TRY_STATUS(memory::check_range(type_.name(), memory::range_from(offset, to.size()), size_));
  return copy(to.data(), range_ + offset.value(), to.size());
}

Status VirtualBuffer::copy(std::byte* to, const std::byte* from, std::size_t count) const {
  if (count == 0) return Done{};
  if (type_.host_visible()) {
    std::memcpy(to, from, count);
    return Done{};
  }
  STOWAGE_TRY_STATUS(source_.device->copy(StreamId(0), to, from, Bytes(static_cast<std::int64_t>(count))));
  return source_.device->synchronize(StreamId(0));
}

}  // namespace stowage::alloc
