#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory/cuda/context.hpp"

namespace stowage::memory::cuda {

/// Events by number. Those of the driver are used again once they are forgotten, for making one costs more than
/// recording it; a stream that waits for one waits for the moment it stood for when the wait was submitted, so that
/// nobody notices. The context must be current in all calls but `forget`. Thread-safe.
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
