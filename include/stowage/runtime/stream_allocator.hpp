#pragma once

#include <memory>
#include <optional>

#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct StreamOptions {
  Bytes alignment{512};                     ///< A power of two, 64 or more.
  Bytes least_page{std::int64_t{2} << 20};  ///< Rounded up to the memory's granularity.
  /// What may be reserved beyond what was ever needed at once before pages move between streams or
  /// are stitched instead.
  double slack = 0.005;
  std::optional<Bytes> limit =
      {};  ///< Of what is reserved; absent: the device's own. With a pool: the pool's.
  /// Whom to take pages from and give them back to, for allocators that share them; absent: a pool
  /// of its own. Must be of the device's memory and outlive the allocator.
  PhysicalPool* pool = nullptr;
  Checks checks = Checks::automatic;
};

/// Dynamic memory for any number of streams and threads, in the order of streams.
///
/// Memory belongs to a stream. Each has a heap like that of `CachingAllocator` under a lock of its
/// own, which only threads that allocate on the same stream at the same moment contend for. A free
/// does not wait for it unless checks are on: a thread that does not allocate there leaves its
/// blocks, some dozens at a time, to the next request, and small blocks it keeps for itself, some
/// of each size, until memory runs short. Idle pages move from stream to stream when the other one
/// would have to grow: the taker's stream waits, on the device, for what the giver's had been given
/// to do. An allocation that other streams used
/// (`record_use`) is idle once they are done.
///
/// When the device refuses memory: search again after events, synchronize the streams, give back
/// what is idle here, then at the device's other allocators, trim, try again. `out_of_memory` comes
/// only when idle pages and what the device has free do not cover the request.
///
/// The device must outlive it. Thread-safe. A request that is served from idle memory of its stream
/// and a free cost O(1).
class STOWAGE_EXPORT StreamAllocator final : public Allocator {
 public:
  /// Preconditions: those stated at the options.
  explicit StreamAllocator(Device& device, const StreamOptions& options = {});
  /// No other thread may be using it. Memory that is live is gone with it.
  ~StreamAllocator() override;

  [[nodiscard]] DeviceId device() const override;
  [[nodiscard]] Bytes alignment() const override;
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  /// 0 during a capture.
  Bytes trim() override;

  /// From here to `end_capture` a stream of the device may be captured into a graph, and nothing is
  /// asked of the device but new memory: no event is queried, no stream waits or is waited for,
  /// nothing is unmapped or goes back. So a request gets idle memory of its own stream or else new
  /// memory, and what other streams use (`record_use`) stays theirs until the end. Returns when
  /// nobody asks any more, hence must come before the capture. Captures nest, and may overlap.
  ///
  /// A graph uses, whenever it is launched, all that was allocated while it was captured. An
  /// allocator that serves a graph alone and stays in a capture as long as the graph exists keeps
  /// it all, live or idle.
  void begin_capture();
  void end_capture();

  /// Exact while no other thread is at work. `requested_peak` and `rounded_peak` are those of
  /// moments when a heap fell short, and of now: an exact one would need a counter that all threads
  /// share. `StatisticsAdaptor` has one.
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  class STOWAGE_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stowage
