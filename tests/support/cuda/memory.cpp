/// Memory with addresses: of the device, pinned, and what copies and fills it.
#include <algorithm>
#include <cstring>

#include <sys/mman.h>

#include "support/cuda/state.hpp"

namespace stowage::memory::cuda::fake {
namespace {

/// Null when the host has none.
void* take_pages(std::size_t size) {
  void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  std::memset(pages, kUnwritten, std::min<std::size_t>(size, 4096));
  return pages;
}

}  // namespace

Code cuMemGetInfo(std::size_t* free, std::size_t* total) {
  Call call("cuMemGetInfo");
  if (const auto answer = call.answer_in_context()) return *answer;
  *total = kMemory;
  *free = kMemory - call.state.used[static_cast<std::size_t>(call.device())];
  return Code::success;
}

Code cuMemAlloc(Address* address, std::size_t size) {
  Call call("cuMemAlloc");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0) return call.refuse("0 bytes");
  std::size_t& used = call.state.used[static_cast<std::size_t>(call.device())];
  if (size > kMemory - used) return Code::out_of_memory;
  void* const pages = take_pages(size);
  if (pages == nullptr) return Code::out_of_memory;
  used += size;
  call.state.blocks.emplace(number(pages), Block{size, call.device()});
  *address = Address{number(pages)};
  return Code::success;
}

Code cuMemFree(Address address) {
  Call call("cuMemFree");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.blocks.find(number(address));
  if (found == call.state.blocks.end()) return call.refuse("no memory begins there");
  if (found->second.device != call.device()) return call.refuse("memory of another context");
  call.state.used[static_cast<std::size_t>(call.device())] -= found->second.size;
  munmap(reinterpret_cast<void*>(found->first), found->second.size);
  call.state.blocks.erase(found);
  return Code::success;
}

Code cuMemHostAlloc(void** address, std::size_t size, unsigned flags) {
  Call call("cuMemHostAlloc");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0 || flags != kHostPortable) return call.refuse("size or flags");
  *address = take_pages(size);
  if (*address == nullptr) return Code::out_of_memory;
  call.state.host_blocks.emplace(number(*address), Block{size, call.device()});
  return Code::success;
}

Code cuMemFreeHost(void* address) {
  Call call("cuMemFreeHost");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.host_blocks.find(number(address));
  if (found == call.state.host_blocks.end()) return call.refuse("no pinned memory begins there");
  munmap(address, found->second.size);
  call.state.host_blocks.erase(found);
  return Code::success;
}

Code cuMemcpyAsync(Address to, Address from, std::size_t size, Stream stream) {
  Call call("cuMemcpyAsync");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0 || to == Address{0} || from == Address{0}) return call.refuse("nothing, or null");
  if (!call.state.is_stream(call.name(), stream, call.device())) return Code::invalid_handle;
  if (!call.state.may_touch(call.name(), to, size, call.device())) return Code::invalid_value;
  if (!call.state.may_touch(call.name(), from, size, call.device())) return Code::invalid_value;
  std::memmove(reinterpret_cast<void*>(number(to)), reinterpret_cast<const void*>(number(from)), size);
  return Code::success;
}

Code cuMemsetD8Async(Address to, unsigned char value, std::size_t size, Stream stream) {
  Call call("cuMemsetD8Async");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0) return call.refuse("0 bytes");
  if (!call.state.is_stream(call.name(), stream, call.device())) return Code::invalid_handle;
  if (!call.state.may_touch(call.name(), to, size, call.device())) return Code::invalid_value;
  std::memset(reinterpret_cast<void*>(number(to)), value, size);
  return Code::success;
}

/// The real driver answers of memory that it does not know that the value is invalid; that is no misuse.
Code cuPointerGetAttribute(void* value, PointerAttribute attribute, Address address) {
  Call call("cuPointerGetAttribute");
  if (const auto answer = call.answer_in_context()) return *answer;
  const std::optional<Ordinal> device = call.state.device_at(number(address));
  const bool pinned = call.state.is_pinned(number(address));
  if (!device && !pinned) return Code::invalid_value;
  switch (attribute) {
    case PointerAttribute::memory_type:
      *static_cast<MemoryType*>(value) = pinned ? MemoryType::host : MemoryType::device;
      return Code::success;
    case PointerAttribute::device_ordinal:
      *static_cast<int*>(value) = device.value_or(0);
      return Code::success;
  }
  return call.refuse("an attribute that nobody asks for");
}

}  // namespace stowage::memory::cuda::fake
