/// Virtual memory: addresses and physical memory are separate.
#include <iterator>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/cuda/state.hpp"

namespace stowage::memory::cuda::fake {
namespace {

bool is_multiple(std::size_t value) { return value % kGranularity == 0; }

void* reserve_at(void* address, std::size_t size, int flags) {
  return mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

bool is_reserved(const State& state, Number address, std::size_t size) {
  const auto after = state.reservations.upper_bound(address);
  if (after == state.reservations.begin()) return false;
  const auto& [start, length] = *std::prev(after);
  return address - start < length && size <= length - (address - start);
}

bool is_mapped_in(const State& state, Number address, std::size_t size) {
  const auto after = state.mappings.lower_bound(address + size);
  return after != state.mappings.begin() && std::prev(after)->first + std::prev(after)->second.size > address;
}

/// Memory is freed when neither a handle nor a mapping is left.
void let_go(State& state, Handle handle) {
  const auto memory = state.physicals.find(handle);
  if (!memory->second.released || memory->second.mappings > 0) return;
  state.used[static_cast<std::size_t>(memory->second.device)] -= memory->second.size;
  (void)fallocate(state.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(memory->second.file_offset), static_cast<off_t>(memory->second.size));
  state.physicals.erase(memory);
}

bool extend_file(State& state, std::size_t size) {
  if (state.file < 0) state.file = memfd_create("fake_cuda", MFD_CLOEXEC);
  const std::vector<unsigned char> unwritten(4096, kUnwritten);
  return state.file >= 0 && ftruncate(state.file, static_cast<off_t>(state.file_size + size)) == 0 &&
         pwrite(state.file, unwritten.data(), unwritten.size(), static_cast<off_t>(state.file_size)) == 4096;
}

}  // namespace

Code cuMemGetAllocationGranularity(std::size_t* granularity, const AllocationProperties* properties, GranularityKind) {
  Call call("cuMemGetAllocationGranularity");
  if (call.answer()) return *call.answer();
  if (properties->type != AllocationType::pinned || properties->location.type != LocationType::device) {
    return call.refuse("properties");
  }
  *granularity = kGranularity;
  return Code::success;
}

Code cuMemAddressReserve(Address* address, std::size_t size, std::size_t alignment, Address wish,
                         unsigned long long flags) {
  Call call("cuMemAddressReserve");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0 || !is_multiple(size) || alignment != kGranularity || wish != Address{0} || flags != 0) {
    return call.refuse("arguments");
  }
  void* const pages = reserve_at(nullptr, size + kGranularity, 0);
  if (pages == MAP_FAILED) return Code::out_of_memory;
  const Number start = (number(pages) + kGranularity - 1) / kGranularity * kGranularity;
  if (start > number(pages)) munmap(pages, start - number(pages));
  const Number end = number(pages) + size + kGranularity;
  if (end > start + size) munmap(reinterpret_cast<void*>(start + size), end - (start + size));
  call.state.reservations.emplace(start, size);
  *address = Address{start};
  return Code::success;
}

Code cuMemAddressFree(Address address, std::size_t size) {
  Call call("cuMemAddressFree");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.reservations.find(number(address));
  if (found == call.state.reservations.end() || found->second != size) return call.refuse("no such reservation");
  if (is_mapped_in(call.state, number(address), size)) return call.refuse("something is mapped there");
  munmap(reinterpret_cast<void*>(found->first), size);
  call.state.reservations.erase(found);
  return Code::success;
}

Code cuMemCreate(Handle* handle, std::size_t size, const AllocationProperties* properties, unsigned long long flags) {
  Call call("cuMemCreate");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (size == 0 || !is_multiple(size) || flags != 0 || properties->type != AllocationType::pinned)
    return call.refuse("arguments");
  if (properties->location.id != call.device()) return call.refuse("memory for another device than the current one");
  std::size_t& used = call.state.used[static_cast<std::size_t>(call.device())];
  if (size > kMemory - used || !extend_file(call.state, size)) return Code::out_of_memory;
  used += size;
  *handle = Handle{number(call.state.make_handle<void*>())};
  call.state.physicals.emplace(
      *handle, PhysicalMemory{.size = size, .device = call.device(), .file_offset = call.state.file_size});
  call.state.file_size += size;
  return Code::success;
}

Code cuMemRelease(Handle handle) {
  Call call("cuMemRelease");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.physicals.find(handle);
  if (found == call.state.physicals.end() || found->second.released) return call.refuse("no such handle");
  found->second.released = true;
  let_go(call.state, handle);
  return Code::success;
}

Code cuMemMap(Address address, std::size_t size, std::size_t offset, Handle handle, unsigned long long flags) {
  Call call("cuMemMap");
  if (const auto answer = call.answer_in_context()) return *answer;
  const auto found = call.state.physicals.find(handle);
  if (found == call.state.physicals.end() || found->second.released) return call.refuse("no such handle");
  if (offset != 0 || flags != 0) return call.refuse("offset and flags must be 0");
  if (size != found->second.size) return call.refuse("not all of the handle");
  if (!is_multiple(number(address)) || !is_reserved(call.state, number(address), size))
    return call.refuse("not reserved");
  if (is_mapped_in(call.state, number(address), size)) return call.refuse("something is mapped there");
  void* const place = reinterpret_cast<void*>(number(address));
  if (mmap(place, size, PROT_NONE, MAP_SHARED | MAP_FIXED, call.state.file,
           static_cast<off_t>(found->second.file_offset)) == MAP_FAILED) {
    return Code::out_of_memory;
  }
  ++found->second.mappings;
  call.state.mappings.emplace(number(address), FakeMapping{.size = size, .handle = handle});
  return Code::success;
}

Code cuMemUnmap(Address address, std::size_t size) {
  Call call("cuMemUnmap");
  if (const auto answer = call.answer_in_context()) return *answer;
  const std::vector<Number> starts = call.state.whole_mappings(number(address), size);
  if (starts.empty()) return call.refuse("these are not whole mappings");
  for (const Number start : starts) {
    const auto mapping = call.state.mappings.find(start);
    reserve_at(reinterpret_cast<void*>(start), mapping->second.size, MAP_FIXED);
    --call.state.physicals.find(mapping->second.handle)->second.mappings;
    const Handle handle = mapping->second.handle;
    call.state.mappings.erase(mapping);
    let_go(call.state, handle);
  }
  return Code::success;
}

Code cuMemSetAccess(Address address, std::size_t size, const AccessDescription* descriptions, std::size_t count) {
  Call call("cuMemSetAccess");
  if (const auto answer = call.answer_in_context()) return *answer;
  if (count != 1 || descriptions->flags != AccessFlags::read_write) return call.refuse("access");
  const std::vector<Number> starts = call.state.whole_mappings(number(address), size);
  if (starts.empty()) return call.refuse("these are not whole mappings");
  for (const Number start : starts) {
    FakeMapping& mapping = call.state.mappings.find(start)->second;
    const Ordinal owner = call.state.physicals.find(mapping.handle)->second.device;
    if (descriptions->location.id != owner) return call.refuse("access for another device than the memory's");
    mapping.access = descriptions->location.id;
    mprotect(reinterpret_cast<void*>(start), mapping.size, PROT_READ | PROT_WRITE);
  }
  return Code::success;
}

}  // namespace stowage::memory::cuda::fake
