#pragma once

#include <memory>
#include <optional>

#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {

struct CachingOptions {
  StreamId stream{};
  Bytes alignment{512};                     ///< A power of two, 64 or more.
  Bytes least_page{std::int64_t{2} << 20};  ///< Rounded up to the memory's granularity.
  /// What may be reserved beyond what was ever needed at once before pages are stitched instead.
  double slack = 0.005;
  std::optional<Bytes> limit =
      {};  ///< Of what is reserved; absent: the device's own. With a pool: the pool's.
  /// Whom to take pages from and give them back to, for allocators that share them; absent: a pool
  /// of its own. Must be of the device's memory and outlive the allocator.
  PhysicalPool* pool = nullptr;
  Checks checks = Checks::automatic;
  /// Whether another thread may use it than the one that made it, as long as no two do at a time.
  /// Not checked then.
  bool any_thread = false;
};

/// Dynamic memory for one stream and one thread, without locks: requests are served from memory
/// that is kept, at byte granularity, by best fit; what fits nowhere is stitched of idle pages, so
/// that memory goes to waste hardly ever. docs/runtime.md follows an allocation through it.
///
/// Freed memory is used again at once, in the order of the stream. When the device refuses memory,
/// in this order: synchronize the stream, give back what is idle here, then at the device's other
/// allocators of this thread, trim, try again. `out_of_memory` comes only when idle pages and what
/// the device has free do not cover the request.
///
/// The device must outlive it. Memory that is live when it is destroyed is gone with it. Calls that
/// take an address cost O(1), as does a request that is served from idle memory.
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
