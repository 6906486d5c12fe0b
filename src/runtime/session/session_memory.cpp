#include "runtime/session/session_memory.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"

namespace stowage::runtime {

SessionMemory::~SessionMemory() {
  if (leave_) {  // the device keeps the pages while they are mapped, that is for ever; buffers are leaked
    for (const Page page : pages_) source_.pool->free(page);
    for (std::unique_ptr<Buffer>& buffer : buffers_) keep_for_ever(std::shared_ptr<Buffer>(std::move(buffer)));
    return;
  }
  if (reserved_ == nullptr) return;
  // Two attempts, since a device that failed once may succeed the next time. If it fails again, the pages stay mapped,
  // because a destructor cannot fail.
  shrink(Bytes(0));
  shrink(Bytes(0));
  const bool empty = pages_.empty();
  for (const Page page : pages_) source_.pool->free(page);
  if (empty && !source_.pool->memory().free(reserved_, source_.address_space)) return;
}

void SessionMemory::settle() {
  if (std::exchange(settled_, true) || source_.pool == nullptr) return;
  if (source_.alignment > source_.pool->memory().granularity()) return;  // only buffers can have this alignment
  const Result<std::byte*> reserved = source_.pool->memory().reserve(source_.address_space);
  if (!reserved) return;
  reserved_ = *reserved;
  extents_.push_back({reserved_, Bytes(0)});
}

Status SessionMemory::grow(Bytes size) {
  const Bytes before = extents_.front().size;
  const Bytes wanted = align_up(size, source_.pool->memory().granularity());
  if (wanted > source_.address_space) {
    return Error{
        ErrorCode::out_of_memory,
        fmt::format("a session needs {} bytes, but has addresses for {}", size.value(), source_.address_space.value()),
        {}};
  }
  if (wanted <= before) return Done{};
  return add_page(wanted - before);
}

/// Adds a single page for the whole shortfall: per byte, large pages are cheap.
Status SessionMemory::add_page(Bytes size) {
  STOWAGE_TRY(const Page page, source_.pool->allocate(size));
  Extent& extent = extents_.front();
  const Status mapped = source_.pool->memory().map(extent.base + extent.size.value(), page.physical, Bytes(0), size);
  if (!mapped) {
    source_.pool->free(page);
    source_.pool->trim(size);
    return mapped;
  }
  pages_.push_back(page);
  extent.size += size;
  return Done{};
}

Status SessionMemory::add(Bytes size) {
  BufferType& type = source_.device->buffer_type();
  STOWAGE_TRY(std::unique_ptr<Buffer> buffer, type.allocate(size + source_.alignment));
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer->base()));
  const Bytes skipped = align_up(Bytes(base), source_.alignment) - Bytes(base);
  extents_.push_back({buffer->base() + skipped.value(), size});
  buffers_.push_back(std::move(buffer));
  return Done{};
}

Bytes SessionMemory::shrink(Bytes size) {
  Bytes returned(0);
  Extent& extent = extents_.front();
  while (!pages_.empty() && extent.size - pages_.back().size >= size) {
    const Page page = pages_.back();
    if (!source_.pool->memory().unmap(extent.base + (extent.size - page.size).value(), page.size)) break;
    extent.size -= page.size;
    pages_.pop_back();
    source_.pool->free(page);
    returned += page.size;
  }
  if (returned > Bytes(0)) source_.pool->trim(returned);
  return returned;
}

Bytes SessionMemory::remove(std::size_t extent) {
  const Bytes size = buffers_[extent]->size();
  buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(extent));
  extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(extent));
  return size;
}

Bytes SessionMemory::reserved() const {
  Bytes sum(0);
  for (const Page& page : pages_) sum += page.size;
  for (const auto& buffer : buffers_) sum += buffer->size();
  return sum;
}

}  // namespace stowage::runtime
