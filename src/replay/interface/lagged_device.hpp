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

/// Another device's memory with streams that run behind: what was submitted when the clock said k is complete once it
/// says k + lag. For replays, whose clock counts events of the trace. The other device must outlive it.
///
/// There is always some work that an event stands for, unless the stream was synchronized and no time has passed since;
/// a copy is complete when the call returns. Since every stream is behind by the same lag, waiting for another one
/// delays nothing: it only makes the other's work complete where this one is synchronized.
///
/// Thread-safe; `advance` by one thread. Every call is O(1), except for O(streams) where waits are involved.
class LaggedDevice final : public Device {
 public:
  LaggedDevice(Device& memory, std::uint64_t lag) : memory_(memory), lag_(lag) {}

  /// Time passes.
  void advance() { clock_.store(clock_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  [[nodiscard]] DeviceId id() const override { return memory_.id(); }
  [[nodiscard]] std::string_view name() const override { return memory_.name(); }
  [[nodiscard]] BufferType& buffer_type() override { return memory_.buffer_type(); }
  [[nodiscard]] std::optional<Bytes> free_memory() const override { return memory_.free_memory(); }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return memory_.virtual_memory(); }

  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override;
  Result<EventId> record(StreamId stream) override;
  Status wait(StreamId stream, EventId event) override;
  [[nodiscard]] Result<bool> is_complete(EventId event) override;
  Status synchronize(StreamId stream) override;
  void forget(EventId event) override;

 private:
  /// By stream: events below the number are over where the owner's work is.
  using Horizon = std::vector<std::uint64_t>;
  struct Event {
    std::uint64_t due = 0;  ///< When it is complete at the latest.
    StreamId stream;
    bool forgotten = false;
    std::shared_ptr<const Horizon> after = {};  ///< What its stream waited for before; null: nothing.
  };
  struct Stream {
    std::uint64_t complete = 0;                      ///< Events below this number are, whatever the clock says.
    std::optional<std::uint64_t> synchronized = {};  ///< When it last was.
    std::shared_ptr<const Horizon> after = {};
  };

  Stream& stream(StreamId id);
  Result<Event*> find(EventId event);

  Device& memory_;
  const std::uint64_t lag_;
  std::atomic<std::uint64_t> clock_{0};
  std::mutex mutex_;
  std::deque<Event> events_;  ///< From number `first_` on; those at the front are dropped once forgotten.
  std::uint64_t first_ = 1;
  std::vector<Stream> streams_;
};

/// `stowage::replay` with a clock that moves on with every event of the trace; null: no clock.
[[nodiscard]] ReplayReport replay_with_clock(const Trace& trace, Allocator& allocator, LaggedDevice* clock,
                                             const ReplayOptions& options);

}  // namespace stowage::replaying
