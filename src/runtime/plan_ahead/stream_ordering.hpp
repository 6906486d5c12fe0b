#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "stowage/memory.hpp"

namespace stowage::runtime {

/// Which stream's work is ordered after which other's, as far as recorded events prove it. Streams are numbered as in
/// the plan; moments are counted in frees. Not thread-safe. The destructor forgets the events.
class StreamOrdering {
 public:
  using Moment = std::uint64_t;

  StreamOrdering(Device& device, std::vector<StreamId> streams);
  ~StreamOrdering();
  StreamOrdering(const StreamOrdering&) = delete;
  StreamOrdering& operator=(const StreamOrdering&) = delete;

  /// Notes a free on the stream: work submitted before it may use the bytes. Returns its moment.
  Moment freed(std::size_t stream) { return last_free_[stream] = ++clock_; }
  /// Records an event in advance, so that later calls of `order` need not. If that fails, only time is lost.
  void mark(std::size_t stream);
  /// From now on the bytes that other streams freed so far count as those of the last round.
  void begin_iteration() { last_round_ = last_free_; }
  /// Notes a free, in this round, of bytes of the last round.
  void freed_late(std::size_t stream) { last_round_[stream] = freed(stream); }

  // These order later work of `to` after the frees of other streams up to a moment.
  // They return false if the device failed.
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
  /// The oldest mark of the stream that covers the moment, or a new one. Null if the device failed.
  [[nodiscard]] const Mark* mark_for(std::size_t stream, Moment moment);

  Device& device_;
  std::vector<StreamId> streams_;
  Moment clock_ = 0;
  std::vector<Moment> last_free_;   ///< Per stream.
  std::vector<Moment> last_round_;  ///< Per stream: the last free of bytes from earlier iterations.
  std::vector<Moment> ordered_;     ///< Per pair (from, to): ordered up to this moment.
  /// Per stream: the last few. Of those that cover a moment, the oldest is complete first.
  std::vector<std::deque<Mark>> marks_;
  std::uint64_t waits_ = 0;
};

}  // namespace stowage::runtime
