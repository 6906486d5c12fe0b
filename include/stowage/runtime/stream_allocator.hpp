#pragma once

#include <memory>
#include <optional>

#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct StreamOptions {
  Bytes alignment{512};  ///< A power of two, 64 or more.
  Bytes least_page{std::int64_t{2}
                   << 20};  ///< The smallest page. Rounded up to the memory's granularity.
  /// How much may be reserved beyond the peak need, as a fraction, before pages are moved between
  /// streams or stitched instead.
  double slack = 0.005;
  /// Of reserved memory; absent: the device's limit. With a pool: the pool's limit.
  std::optional<Bytes> limit = {};
  /// A pool shared with other allocators; null: a private pool. Must outlive the allocator. With a
  /// pool of another device, every request fails with `invalid`.
  PhysicalPool* pool = nullptr;
  Checks checks = Checks::automatic;
};

/// A stream-ordered dynamic allocator for any number of streams and threads.
///
/// Each stream has a heap like that of `CachingAllocator` with its own lock, so only threads that
/// allocate on the same stream at the same time contend. A free does not take that lock unless
/// checks are on: threads cache some small blocks of each size until memory runs short, and hand
/// other blocks over in batches of some dozens to the next request. If a heap would have to grow,
/// idle pages of other streams are moved to it; its stream then waits, on the device, for the work
/// submitted to the other. An allocation used by other streams (`record_use`) becomes idle once
/// their work is complete.
///
/// When the device is out of memory, it checks events and searches again, synchronizes the streams,
/// reclaims idle memory here, then from the device's other allocators, trims, and retries. It fails
/// with `out_of_memory` only if idle pages and the device's free memory do not cover the request.
///
/// The device must outlive it. Thread-safe. A free, and a request served from idle memory of its
/// stream, cost O(1).
class STOWAGE_EXPORT StreamAllocator final : public Allocator {
 public:
  /// Preconditions: those stated at the options.
  explicit StreamAllocator(Device& device, const StreamOptions& options = {});
  /// No other thread may be using it. Frees live memory too.
  ~StreamAllocator() override;

  [[nodiscard]] DeviceId device() const override;
  [[nodiscard]] Bytes alignment() const override;
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  /// 0 during a capture.
  Bytes trim() override;

  /// Until `end_capture`, a stream of the device may be captured into a graph. The device is only
  /// asked for new memory: no event is queried, no stream waits or is waited for, nothing is
  /// unmapped or freed. A request is served from idle memory of its own stream or from new memory,
  /// and memory that other streams use (`record_use`) is not reused. Returns once no other device
  /// calls are in progress, so call it before the capture starts. Captures may nest and overlap.
  ///
  /// A graph uses all memory allocated during its capture whenever it is launched. To keep that
  /// memory, serve the graph from a separate allocator and end its capture only when the graph is
  /// destroyed.
  void begin_capture();
  void end_capture();

  /// Exact while no other thread uses the allocator. `requested_peak` and `rounded_peak` are
  /// sampled when a heap runs short and now, since exact peaks would need a counter shared by all
  /// threads. `StatisticsAdaptor` has one.
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  class STOWAGE_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stowage
