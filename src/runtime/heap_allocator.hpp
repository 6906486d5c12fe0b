#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "runtime/heap/policy.hpp"
#include "runtime/peers.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage::runtime {

/// The options that the heap allocators have in common.
struct HeapAllocatorOptions {
  template <class Options>
  static HeapAllocatorOptions of(const Options& options) {
    return {options.alignment, options.least_page, options.slack, options.limit, options.pool};
  }

  Bytes alignment;
  Bytes least_page;
  double slack = 0;
  std::optional<Bytes> limit = {};
  PhysicalPool* pool = nullptr;  ///< Null: the allocator makes its own, if the device has virtual memory.
};

/// What `CachingAllocator` and `StreamAllocator` share outside their fast paths: the memory that their heaps live in,
/// the sequence of last resorts, and the statistics. The derived classes do the locking: callers of the protected
/// functions hold the locks that protect the space and the figures,
/// and hold no lock when they call `serve_at_last` or `recycle`.
class HeapAllocator : public Peer {
 public:
  /// Called by peers that are out of memory.
  Bytes recycle() final { return synchronize() ? give_back_idle() : Bytes(0); }

  /// Returns idle memory that no work uses, as far as the device can tell without waiting, and says how much.
  virtual Bytes trim() = 0;
  [[nodiscard]] virtual AllocatorStats stats() const = 0;
  [[nodiscard]] Device& device() const { return device_; }

 protected:
  /// What is live, according to the heaps' bookkeeping.
  struct LiveFigures {
    Bytes requested;
    Bytes rounded;
    Bytes largest_idle;  ///< In a single heap.
    std::uint64_t live = 0;
    std::uint64_t allocations = 0;
  };
  /// Figures that the heaps do not keep.
  struct KeptFigures {
    Bytes needed;  ///< The largest number of live bytes at any miss so far.
    Bytes requested_peak;
    Bytes rounded_peak;
    Bytes reserved_peak;
    std::uint64_t failures = 0;
    std::uint64_t waits = 0;
  };

  HeapAllocator(Device& device, std::optional<std::thread::id> thread, const HeapAllocatorOptions& options);

  /// Fails if the pool is of another device. Otherwise calls `serve`, and again after each last resort that may have
  /// freed memory. Fails only after all of them, with an error that includes the statistics.
  Result<std::byte*> serve_at_last(Bytes requested, const std::function<Result<Span*>()>& serve);

  /// One attempt to serve a request that fits no idle span. `live` is the rounded live size of all heaps. With
  /// `is_capture`, only by growth.
  Result<Span*> serve_miss(Miss miss, Bytes live, bool is_capture);
  /// Returns the idle memory of those heaps that are quiet to the device.
  Bytes return_idle(std::span<const Tenant> tenants, const std::function<bool(const SpanHeap&)>& is_quiet);

  [[nodiscard]] AllocatorStats stats_of(const LiveFigures& live, std::span<const Tenant> tenants) const;
  void restart_figures(const LiveFigures& live);

  [[nodiscard]] PageSpace& space() { return space_; }
  [[nodiscard]] const PageSpace& space() const { return space_; }

  KeptFigures figures;

 private:
  /// Waits for all streams that may use this allocator's memory.
  virtual Status synchronize() = 0;
  /// Returns idle memory after `synchronize`, and says how much.
  virtual Bytes give_back_idle() = 0;
  /// Whether peers may be asked to wait for streams.
  [[nodiscard]] virtual bool may_wait() const { return true; }
  /// Counts a failed request.
  virtual void count_failure() { ++figures.failures; }

  Device& device_;
  const std::optional<Error> refusal_;  ///< Why no request is served; absent: they are.
  const double slack_;
  const std::unique_ptr<PhysicalPool> own_pool_;
  PhysicalPool* const pool_;  ///< Null if the device has no virtual memory, or no request is served.
  PageSpace space_;
};

}  // namespace stowage::runtime
