#include <algorithm>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "runtime/misuse.hpp"
#include "stowage/runtime/pmr.hpp"

namespace stowage {

PmrAllocator::PmrAllocator(std::pmr::memory_resource& resource, PmrAllocatorOptions options)
    : resource_(resource), options_(options) {
  STOWAGE_CHECK(is_power_of_two(options.alignment), "an alignment must be a power of two");
}

Result<std::byte*> PmrAllocator::allocate(Bytes size, StreamId stream) {
  if (size < Bytes(0)) {
    return failed({ErrorCode::invalid, fmt::format("pmr: {} bytes requested", size.value()), {}});
  }
  if (size == Bytes(0)) return nullptr;
  Result<std::byte*> address = ask(size);
  if (!address) return failed(std::move(address).error());
  enter(*address, {size, stream});
  return address;
}

Result<std::byte*> PmrAllocator::ask(Bytes size) {
  const auto problem = [&](ErrorCode code, const char* why) {
    return Error{code,
                 fmt::format("pmr: {} bytes requested, {} are live: {}", size.value(), stats().requested.value(), why),
                 {}};
  };
  if (size > kMaxBytes) return problem(ErrorCode::out_of_memory, "more than any memory has");
  const auto alignment = static_cast<std::size_t>(options_.alignment.value());
  try {
    return static_cast<std::byte*>(resource_.allocate(static_cast<std::size_t>(rounded(size).value()), alignment));
  } catch (const std::bad_alloc&) {
    return problem(ErrorCode::out_of_memory, "the resource is out of memory");
  } catch (const std::exception& exception) {
    return problem(ErrorCode::device, exception.what());
  } catch (...) {
    return problem(ErrorCode::device, "the resource failed");
  }
}

Error PmrAllocator::failed(Error error) {
  const std::lock_guard lock(mutex_);
  ++stats_.failures;
  return error;
}

void PmrAllocator::enter(std::byte* address, Block block) {
  const std::lock_guard lock(mutex_);
  live_.emplace(address, block);
  stats_.requested += block.requested;
  stats_.rounded += rounded(block.requested);
  stats_.requested_peak = std::max(stats_.requested_peak, stats_.requested);
  stats_.rounded_peak = std::max(stats_.rounded_peak, stats_.rounded);
  ++stats_.allocations;
  ++stats_.creates;
}

void PmrAllocator::check_free(const std::byte* address, const Block* block, Block given) const {
  const auto wrong = [&](const char* why) {
    runtime::misused("pmr", fmt::format("free of {}: {}", fmt::ptr(address), why));
  };
  if (block == nullptr) wrong("freed twice, or not the start of an allocation");
  if (block->requested != given.requested) wrong("the size differs from that of the allocation");
  if (block->stream != given.stream) wrong("the stream differs from that of the allocation");
}

void PmrAllocator::free(std::byte* address, Bytes size, StreamId stream) {
  if (address == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(address);
    if (runtime::is_on(options_.checks))
      check_free(address, found == live_.end() ? nullptr : &found->second, {size, stream});
    if (found == live_.end()) return;
    size = found->second.requested;
    live_.erase(found);  // before the resource gets it back, and may give it to another thread
    stats_.requested -= size;
    stats_.rounded -= rounded(size);
    ++stats_.releases;
  }
  resource_.deallocate(address, static_cast<std::size_t>(rounded(size).value()),
                       static_cast<std::size_t>(options_.alignment.value()));
}

Status PmrAllocator::record_use(std::byte* address, StreamId) {
  const std::lock_guard lock(mutex_);
  if (live_.contains(address)) return Done{};
  return Error{ErrorCode::invalid, fmt::format("pmr: {} is not an allocation", fmt::ptr(address)), {}};
}

AllocatorStats PmrAllocator::stats() const {
  const std::lock_guard lock(mutex_);
  AllocatorStats stats = stats_;
  stats.reserved = stats.rounded;
  stats.reserved_peak = stats.rounded_peak;
  stats.live = live_.size();
  return stats;
}

void PmrAllocator::reset_peaks() {
  const std::lock_guard lock(mutex_);
  AllocatorStats now;
  now.requested = now.requested_peak = stats_.requested;
  now.rounded = now.rounded_peak = stats_.rounded;
  stats_ = now;
}

MemorySnapshot PmrAllocator::snapshot() const {
  const std::lock_guard lock(mutex_);
  MemorySnapshot snapshot{options_.device, {}};
  for (const auto& [address, block] : live_) {
    const Bytes size = rounded(block.requested);
    const MemorySnapshot::Block shown{address, size, block.requested, MemorySnapshot::BlockState::live};
    snapshot.segments.push_back({address, size, block.stream, false, {shown}});
  }
  return snapshot;
}

}  // namespace stowage
