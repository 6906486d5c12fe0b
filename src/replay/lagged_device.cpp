#include "replay/interface/lagged_device.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stowage::replaying {

LaggedDevice::Stream& LaggedDevice::stream(StreamId id) {
  if (id.index() >= streams_.size()) streams_.resize(id.index() + 1);
  return streams_[id.index()];
}

Result<LaggedDevice::Event*> LaggedDevice::find(EventId event) {
  const std::uint64_t number = static_cast<std::uint64_t>(event);
  if (number < first_ || number - first_ >= events_.size() || events_[number - first_].forgotten) {
    return Error{ErrorCode::invalid, fmt::format("{}: there is no event {}", name(), number), {}};
  }
  return &events_[number - first_];
}

Status LaggedDevice::copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) {
  STOWAGE_TRY_STATUS(memory_.copy(stream, to, from, size));
  return memory_.synchronize(stream);
}

Status LaggedDevice::fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) {
  STOWAGE_TRY_STATUS(memory_.fill(stream, to, value, size));
  return memory_.synchronize(stream);
}

Result<EventId> LaggedDevice::record(StreamId id) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = clock_.load(std::memory_order_relaxed);
  const bool idle = stream(id).synchronized == now && stream(id).after == nullptr;
  events_.push_back({.due = idle ? now : now + lag_, .stream = id, .after = stream(id).after});
  return EventId{first_ + events_.size() - 1};
}

Status LaggedDevice::wait(StreamId id, EventId event) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY(const Event* const found, find(event));
  Horizon after = stream(id).after ? *stream(id).after : Horizon();
  const std::size_t streams = std::max(found->stream.index() + 1, found->after ? found->after->size() : 0);
  if (after.size() < streams) after.resize(streams);
  std::uint64_t& own = after[found->stream.index()];
  own = std::max(own, static_cast<std::uint64_t>(event) + 1);
  for (std::size_t i = 0; found->after && i < found->after->size(); ++i)
    after[i] = std::max(after[i], (*found->after)[i]);
  stream(id).after = std::make_shared<const Horizon>(std::move(after));
  return Done{};
}

Result<bool> LaggedDevice::is_complete(EventId event) {
  const std::lock_guard lock(mutex_);
  STOWAGE_TRY(const Event* const found, find(event));
  return clock_.load(std::memory_order_relaxed) >= found->due ||
         static_cast<std::uint64_t>(event) < stream(found->stream).complete;
}

Status LaggedDevice::synchronize(StreamId id) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const Horizon> after = stream(id).after;
  for (std::size_t i = 0; after && i < after->size(); ++i) {
    std::uint64_t& complete = stream(StreamId(i)).complete;
    complete = std::max(complete, (*after)[i]);
  }
  stream(id).complete = first_ + events_.size();
  stream(id).synchronized = clock_.load(std::memory_order_relaxed);
  stream(id).after = nullptr;  // all of it is complete
  return Done{};
}

void LaggedDevice::forget(EventId event) {
  const std::lock_guard lock(mutex_);
  const Result<Event*> found = find(event);
  if (!found) return;
  (*found)->forgotten = true;
  (*found)->after = nullptr;
  for (; !events_.empty() && events_.front().forgotten; ++first_) events_.pop_front();
}

}  // namespace stowage::replaying
