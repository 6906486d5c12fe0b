#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "memory/sim/address_space.hpp"

namespace stowage::memory {

/// One side of a copy: memory of the device or of the host.
struct SimPlace {
  std::vector<SimExtent> device;
  std::byte* host = nullptr;  ///< Null: `device` is used.
};

/// Memory that a kernel reads or writes.
struct SimOperand {
  SimPlace place;
  Bytes size;
};

/// If `size` is above 0, a fill where `value` is set and else a copy; a kernel that computes if `compute` is set;
/// otherwise a kernel that only uses memory.
struct SimWork {
  std::vector<SimExtent> uses = {};
  SimPlace to = {};
  SimPlace from = {};
  Bytes size = {};
  std::optional<std::uint8_t> value = {};
  std::vector<SimOperand> inputs = {};
  std::vector<SimOperand> outputs = {};
  std::function<void(std::span<const std::vector<std::byte>>, std::span<std::vector<std::byte>>)> compute = {};
};

struct SimEvent {
  StreamId stream;  ///< The stream on which it was recorded.
  bool complete = false;
};

/// Work that was submitted and is not finished, by stream. A copy or fill changes bytes when it finishes, not before.
///
/// A stream is a queue of work, waits and marks (recorded events). Waits and marks take no time: a mark leaves the
/// queue when it reaches the head, a wait when its event is also complete. A wait names an event that was recorded
/// before it, so that following waits from stream to stream always ends at work that can be finished. Not thread-safe.
class SimStreams {
 public:
  void submit(StreamId stream, SimWork work);
  std::shared_ptr<SimEvent> record(StreamId stream);
  void wait(StreamId stream, std::shared_ptr<SimEvent> event);

  /// Finishes the oldest `count` pieces of work; stops at a wait whose event is not complete.
  void finish(StreamId stream, std::size_t count);
  /// Finishes all work of a stream, and the work on other streams that it waits for.
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

  /// Removes waits and marks from the heads of all queues until none can be removed.
  void settle();
  static bool settle(Queue& queue);
  /// Precondition: the head of the queue is work.
  void finish_head(Queue& queue);
  /// The stream whose head must finish next so that this one can proceed. Precondition: settled, and this stream's
  /// queue is not empty.
  [[nodiscard]] StreamId blocker_of(StreamId stream) const;

  std::map<StreamId, Queue> queues_;
};

}  // namespace stowage::memory
