#include <cstdint>
#include <cstring>
#include <new>

#include "stowage/runtime/pmr.hpp"

namespace stowage {
namespace {

/// A request to the resource, as a request to the allocator.
struct Request {
  Bytes size;
  bool over_aligned;  ///< The address is moved up, and the original one is stored right before it.
};

Request request_for(std::size_t bytes, std::size_t alignment, const Allocator& allocator) {
  const bool over_aligned = alignment > static_cast<std::size_t>(allocator.alignment().value());
  const std::size_t extra = over_aligned ? alignment + sizeof(void*) : 0;
  return {Bytes(static_cast<std::int64_t>((bytes == 0 ? 1 : bytes) + extra)), over_aligned};
}

bool acceptable(std::size_t bytes, std::size_t alignment) {
  const auto most = static_cast<std::size_t>(kMaxBytes.value()) / 2;  // so that their sum does not exceed kMaxBytes
  return alignment != 0 && (alignment & (alignment - 1)) == 0 && bytes < most && alignment < most;
}

std::byte* moved_up(std::byte* start, std::size_t alignment) {
  const auto first = reinterpret_cast<std::uintptr_t>(start) + sizeof start;
  std::byte* const address =
      start + (((first + alignment - 1) & ~(alignment - 1)) - reinterpret_cast<std::uintptr_t>(start));
  std::memcpy(address - sizeof start, &start, sizeof start);
  return address;
}

std::byte* start_of(std::byte* moved) {
  std::byte* start = nullptr;
  std::memcpy(&start, moved - sizeof start, sizeof start);
  return start;
}

}  // namespace

void* PmrResource::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (!acceptable(bytes, alignment)) throw std::bad_alloc();
  const Request request = request_for(bytes, alignment, allocator_);
  const Result<std::byte*> start = allocator_.allocate(request.size, stream_);
  if (!start) throw std::bad_alloc();
  return request.over_aligned ? moved_up(*start, alignment) : *start;
}

void PmrResource::do_deallocate(void* address, std::size_t bytes, std::size_t alignment) {
  if (address == nullptr) return;
  const Request request = request_for(bytes, alignment, allocator_);
  auto* const given = static_cast<std::byte*>(address);
  allocator_.free(request.over_aligned ? start_of(given) : given, request.size, stream_);
}

bool PmrResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  const auto* const same = dynamic_cast<const PmrResource*>(&other);
  return same != nullptr && &same->allocator_ == &allocator_ && same->stream_ == stream_;
}

}  // namespace stowage
