#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "memory/sim/address_space.hpp"

namespace stowage::memory {

/// One side of a copy: memory of the device, or of the host.
struct SimPlace {
  std::vector<SimExtent> device;
  std::byte* host = nullptr;  ///< Null: `device` counts.
};

/// Memory that a kernel reads or writes.
struct SimOperand {
  SimPlace place;
  Bytes size;
};

/// A copy when `size` is above 0, a kernel that computes when it has `compute`, else one that only uses memory.
struct SimWork {
  std::vector<SimExtent> uses = {};
  SimPlace to = {};
  SimPlace from = {};
  Bytes size = {};
  std::vector<SimOperand> inputs = {};
  std::vector<SimOperand> outputs = {};
  std::function<void(std::span<const std::vector<std::byte>>, std::span<std::vector<std::byte>>)> compute = {};
};

struct SimEvent {
  StreamId stream;  ///< That it was recorded on.
  bool complete = false;
};

/// Work that was submitted and is not finished, stream by stream. Bytes are copied when the copy finishes, not before.
///
/// A stream is a queue of work, waits and marks (events recorded). Waits and marks take no time: they leave the queue
/// as soon as they are at its head and, for a wait, its event is complete. A wait names an event that was recorded
/// before, so that following waits from stream to stream always ends at work that can be finished. Not thread-safe.
class SimStreams {
 public:
  void submit(StreamId stream, SimWork work);
  std::shared_ptr<SimEvent> record(StreamId stream);
  void wait(StreamId stream, std::shared_ptr<SimEvent> event);

  /// The oldest `count` pieces of work, as far as what they wait for is complete.
  void finish(StreamId stream, std::size_t count);
  /// All work of a stream, and on other streams what it waits for.
  void synchronize(StreamId stream);
  void finish_all();

 private:
  struct Wait {
    std::shared_ptr<SimEvent> event;
  };
  struct Mark {
    std::shared_ptr<SimEvent> event;
  };
  using Queue = std::deque<std::variant<SimWork, Wait, Mark>>;

  /// Takes waits and marks off the heads of all queues until none can go.
  void settle();
  static bool settle(Queue& queue);
  /// Precondition: the stream's head is work.
  void finish_head(Queue& queue);
  /// The stream whose head must finish next for this one to get on. Precondition: settled, and this one's queue is not
  /// empty.
  [[nodiscard]] StreamId blocker_of(StreamId stream) const;

  std::map<StreamId, Queue> queues_;
};

}  // namespace stowage::memory
