#pragma once

#include <memory>
#include <optional>

#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct CachingOptions {
  StreamId stream{};
  Bytes alignment{512};  ///< A power of two, 64 or more.
  Bytes least_page{std::int64_t{2}
                   << 20};  ///< The smallest page. Rounded up to the memory's granularity.
  /// How much may be reserved beyond the peak need, as a fraction, before pages are stitched
  /// instead.
  double slack = 0.005;
  /// Of reserved memory; absent: the device's limit. With a pool: the pool's limit.
  std::optional<Bytes> limit = {};
  /// A pool shared with other allocators; null: a private pool. Must outlive the allocator. With a
  /// pool of another device, every request fails with `invalid`.
  PhysicalPool* pool = nullptr;
  Checks checks = Checks::automatic;
  /// Whether threads other than the one that made it may use it, one at a time. Not checked then.
  bool any_thread = false;
};

/// A dynamic allocator for one stream and one thread, without locks. Requests are served from
/// cached memory by best fit; if nothing fits, idle pages are stitched together, so that
/// fragmentation wastes hardly any memory. docs/runtime.md follows an allocation through it.
///
/// Freed memory is reused immediately, in stream order. When the device is out of memory, it
/// synchronizes the stream, reclaims idle memory here, then from the device's other allocators of
/// this thread, trims, and retries. It fails with `out_of_memory` only if idle pages and the
/// device's free memory do not cover the request.
///
/// The device must outlive it. The destructor frees live memory too. Calls that take an address,
/// and requests served from idle memory, cost O(1).
class STOWAGE_EXPORT CachingAllocator final : public Allocator {
 public:
  /// Preconditions: those stated at the options.
  explicit CachingAllocator(Device& device, const CachingOptions& options = {});
  ~CachingAllocator() override;

  [[nodiscard]] DeviceId device() const override;
  [[nodiscard]] Bytes alignment() const override;
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  Result<std::byte*> allocate(Bytes size);
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  Bytes trim() override;
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  class STOWAGE_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stowage
