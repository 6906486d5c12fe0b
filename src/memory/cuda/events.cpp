#include "memory/cuda/events.hpp"

#include <fmt/format.h>

namespace stowage::memory::cuda {

EventTable::~EventTable() {
  const Result<Scope> scope = context_.enter();
  if (!scope) return;
  for (const auto& [id, event] : events_) context_.driver().try_call<&Functions::cuEventDestroy>(event);
  for (const Event event : idle_) context_.driver().try_call<&Functions::cuEventDestroy>(event);
}

Result<EventId> EventTable::record(Stream stream) {
  STOWAGE_TRY(const Event event, take());
  const Status recorded = context_.driver().call<&Functions::cuEventRecord>(event, stream);
  const std::lock_guard lock(mutex_);
  if (!recorded) {
    idle_.push_back(event);
    return recorded.error();
  }
  const EventId id{next_++};
  events_.emplace(id, event);
  return id;
}

// The lock is held during the driver call. Otherwise another thread could forget the event and record it again
// meanwhile.

Status EventTable::wait(Stream stream, EventId id) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) return unknown(id);
  return context_.driver().call<&Functions::cuStreamWaitEvent>(stream, found->second, 0U);
}

Result<bool> EventTable::is_complete(EventId id) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) return unknown(id);
  const Code code = context_.driver().raw<&Functions::cuEventQuery>(found->second);
  if (code == Code::success) return true;
  if (code == Code::not_ready) return false;
  return context_.driver().error(code, "cuEventQuery", fmt::format("{}", fmt::ptr(found->second)));
}

void EventTable::forget(EventId id) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(id);
  if (found == events_.end()) return;
  idle_.push_back(found->second);
  events_.erase(found);
}

Result<Event> EventTable::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      const Event event = idle_.back();
      idle_.pop_back();
      return event;
    }
  }
  Event made = nullptr;
  STOWAGE_TRY_STATUS(context_.driver().call<&Functions::cuEventCreate>(&made, kEventWithoutTiming));
  return made;
}

Error EventTable::unknown(EventId id) const {
  return {
      ErrorCode::invalid, fmt::format("{}: there is no event {}", context_.name(), static_cast<std::uint64_t>(id)), {}};
}

}  // namespace stowage::memory::cuda
