#include "replay/buffer_allocator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "alloc/interface/aligned_buffer.hpp"

namespace stowage::replaying {

Result<std::byte*> BufferAllocator::allocate(Bytes size, StreamId stream) {
  if (size == Bytes(0)) return nullptr;
  if (size < Bytes(0) || size > kMaxBytes) {
    return Error{ErrorCode::invalid, fmt::format("{}: {} bytes requested", device_.name(), size.value()), {}};
  }
  bool unaligned = false;
  Result<std::unique_ptr<Buffer>> buffer =
      alloc::allocate_aligned(device_.buffer_type(), align_up(size, alignment()), alignment(), unaligned);
  if (!buffer) {
    ++account_.stats().failures;
    const AllocatorStats& now = account_.stats();
    return Error{buffer.error().code,
                 fmt::format("{} bytes requested; {} live, {} reserved, none idle: {}", size.value(),
                             now.requested.value(), now.reserved.value(), buffer.error().message),
                 buffer.error().where};
  }
  ++account_.stats().creates;
  const Bytes taken = (*buffer)->size();
  account_.allocated(size, taken);
  account_.reserved(taken);
  std::byte* const address = (*buffer)->base() + alloc::gap_before(**buffer, alignment()).value();
  live_.emplace(address, Live{*std::move(buffer), size, stream});
  return address;
}

/// If waiting for a stream fails, its work has failed too, so the failure is ignored.
void BufferAllocator::wait_for(StreamId stream) {
  (void)device_.synchronize(stream);
  ++account_.stats().event_waits;
}

void BufferAllocator::free(std::byte* address, Bytes size, StreamId stream) {
  const auto found = live_.find(address);
  if (found == live_.end() || found->second.requested != size || found->second.stream != stream) return;
  wait_for(stream);
  for (const StreamId each : found->second.uses) wait_for(each);
  account_.freed(size, found->second.buffer->size());
  account_.returned(found->second.buffer->size());
  ++account_.stats().releases;
  live_.erase(found);
}

Status BufferAllocator::record_use(std::byte* address, StreamId stream) {
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return Error{ErrorCode::invalid, fmt::format("{}: {} is not an allocation", device_.name(), fmt::ptr(address)), {}};
  }
  std::vector<StreamId>& uses = found->second.uses;
  const bool known = stream == found->second.stream || std::find(uses.begin(), uses.end(), stream) != uses.end();
  if (!known) uses.push_back(stream);
  return Done{};
}

MemorySnapshot BufferAllocator::snapshot() const {
  MemorySnapshot snapshot{.device = device(), .segments = {}};
  for (const auto& [address, live] : live_) {
    const Bytes size = alloc::room_in(*live.buffer, alignment());
    snapshot.segments.push_back(
        {address, size, live.stream, false, {{address, size, live.requested, MemorySnapshot::BlockState::live}}});
  }
  std::sort(snapshot.segments.begin(), snapshot.segments.end(),
            [](const MemorySnapshot::Segment& a, const MemorySnapshot::Segment& b) { return a.address < b.address; });
  return snapshot;
}

}  // namespace stowage::replaying
