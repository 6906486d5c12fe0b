#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/cuda/context.hpp"

namespace stowage::memory::cuda {

/// Events by number. The driver's events are reused after `forget`, because creating one costs more than recording it.
/// That is safe for streams that still wait: a wait refers to the moment that the event stood for when the wait was
/// submitted. The context must be current in all calls except `forget`. Thread-safe.
class EventTable {
 public:
  explicit EventTable(const DeviceContext& context) : context_(context), next_(context.first_id()) {}
  EventTable(const EventTable&) = delete;
  EventTable& operator=(const EventTable&) = delete;
  ~EventTable();

  Result<EventId> record(Stream stream);
  Status wait(Stream stream, EventId id);
  Result<bool> is_complete(EventId id);
  void forget(EventId id);

 private:
  Result<Event> take();
  Error unknown(EventId id) const;

  const DeviceContext& context_;
  std::mutex mutex_;
  std::unordered_map<EventId, Event> events_;
  std::vector<Event> idle_;
  std::uint64_t next_;
};

}  // namespace stowage::memory::cuda
