#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stowage/memory.hpp"
#include "stowage/replay.hpp"

namespace stowage::replaying {

/// A device with another device's memory and lagging streams: work submitted at time k is complete at time k + lag. For
/// replays, whose clock counts the events of the trace. The other device must outlive it.
///
/// An event always stands for pending work, unless its stream has been synchronized and no time has passed since. A
/// copy or fill is complete when the call returns. All streams have the same lag, so waiting for another stream delays
/// nothing; it only means that synchronizing this stream also completes the other's work.
///
/// Thread-safe, but only one thread may call `advance`. Calls are O(1), or O(streams) if waits are involved.
class LaggedDevice final : public Device {
 public:
  LaggedDevice(Device& memory, std::uint64_t lag) : memory_(memory), lag_(lag) {}

  /// Advances the clock by one.
  void advance() { clock_.store(clock_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  [[nodiscard]] DeviceId id() const override { return memory_.id(); }
  [[nodiscard]] std::string_view name() const override { return memory_.name(); }
  [[nodiscard]] BufferType& buffer_type() override { return memory_.buffer_type(); }
  [[nodiscard]] std::optional<Bytes> free_memory() const override { return memory_.free_memory(); }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return memory_.virtual_memory(); }

  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override;
  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override;
  Result<EventId> record(StreamId stream) override;
  Status wait(StreamId stream, EventId event) override;
  [[nodiscard]] Result<bool> is_complete(EventId event) override;
  Status synchronize(StreamId stream) override;
  void forget(EventId event) override;

 private:
  /// Per stream: events below this number are complete once the owner's work is.
  using Horizon = std::vector<std::uint64_t>;
  struct Event {
    std::uint64_t due = 0;  ///< The time at which it is complete at the latest.
    StreamId stream;
    bool forgotten = false;
    std::shared_ptr<const Horizon> after = {};  ///< What its stream had waited for; null: nothing.
  };
  struct Stream {
    std::uint64_t complete = 0;                      ///< Events below this number are complete, whatever the time.
    std::optional<std::uint64_t> synchronized = {};  ///< Time of the last synchronization.
    std::shared_ptr<const Horizon> after = {};
  };

  Stream& stream(StreamId id);
  Result<Event*> find(EventId event);

  Device& memory_;
  const std::uint64_t lag_;
  std::atomic<std::uint64_t> clock_{0};
  std::mutex mutex_;
  std::deque<Event> events_;  ///< From number `first_` on; forgotten ones are dropped from the front.
  std::uint64_t first_ = 1;
  std::vector<Stream> streams_;
};

/// `stowage::replay` with a clock that advances with every event of the trace; null: no clock. Does not give up.
[[nodiscard]] ReplayReport replay_with_clock(const Trace& trace, Allocator& allocator, LaggedDevice* clock,
                                             const ReplayOptions& options);
/// The same, but fails if it gave up.
Result<ReplayReport> replay_unless_refused(const Trace& trace, Allocator& allocator, LaggedDevice* clock,
                                           const ReplayOptions& options);

}  // namespace stowage::replaying
