#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Which stream's work is ordered after which other's, as far as events that we recorded prove it. Streams are numbered
/// as in the plan; moments are counted by a clock of frees. Not thread-safe. Forgets its events at the end.
class StreamOrdering {
 public:
  using Moment = std::uint64_t;

  StreamOrdering(Device& device, std::vector<StreamId> streams);
  ~StreamOrdering();
  StreamOrdering(const StreamOrdering&) = delete;
  StreamOrdering& operator=(const StreamOrdering&) = delete;

  /// A free on the stream: work that was submitted before it may use the bytes.
  Moment freed(std::size_t stream) { return last_free_[stream] = ++clock_; }
  /// Records an event that later `order`s need not record. A failure costs nothing but time then.
  void mark(std::size_t stream);
  /// Every stream that goes on from here has the bytes of the others' last round.
  void begin_iteration() { last_round_ = last_free_; }
  /// A free of bytes of the last round, in this one.
  void freed_late(std::size_t stream) { last_round_[stream] = freed(stream); }

  // What is submitted to `to` from now on happens after what was freed on the others up to a moment. False: the device
  // failed.
  [[nodiscard]] bool order(std::size_t from, std::size_t to, Moment moment) {
    return from == to || ordered_[from * streams_.size() + to] >= moment || wait(from, to, moment);
  }
  [[nodiscard]] bool order_after_last_round(std::size_t to);
  [[nodiscard]] bool order_after_all(std::size_t to);

  [[nodiscard]] bool single() const { return streams_.size() < 2; }
  [[nodiscard]] std::uint64_t waits() const { return waits_; }
  void reset_waits() { waits_ = 0; }

 private:
  struct Mark {
    EventId event;
    Moment moment = 0;
  };
  [[nodiscard]] bool wait(std::size_t from, std::size_t to, Moment moment);
  /// The first mark of the stream that covers the moment; a new one where there is none. Null: the device failed.
  [[nodiscard]] const Mark* mark_for(std::size_t stream, Moment moment);

  Device& device_;
  std::vector<StreamId> streams_;
  Moment clock_ = 0;
  std::vector<Moment> last_free_;   ///< By stream.
  std::vector<Moment> last_round_;  ///< By stream: the last free of what the iterations before had.
  std::vector<Moment> ordered_;     ///< From × to: up to which moment.
  std::vector<std::deque<Mark>>
      marks_;  ///< By stream: the last few. The older one covers a moment, the sooner it is complete.
  std::uint64_t waits_ = 0;
};

}  // namespace stowage::runtime
