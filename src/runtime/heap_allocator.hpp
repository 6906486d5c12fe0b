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

/// What the heap allocators need to know of their options.
struct HeapAllocatorOptions {
  template <class Options>
  static HeapAllocatorOptions of(const Options& options) {
    return {options.alignment, options.least_page, options.slack, options.limit, options.pool};
  }

  Bytes alignment;
  Bytes least_page;
  double slack = 0;
  std::optional<Bytes> limit = {};
  PhysicalPool* pool = nullptr;  ///< Null: one of its own, where the device has virtual memory.
};

/// What `CachingAllocator` and `StreamAllocator` share beyond their hits: the memory that their heaps live in, the
/// ladder of last resorts, and the figures. Locks are theirs: whatever the space or the figures are behind is held by
/// whoever calls the protected functions, and nothing is held when `serve_at_last` or `recycle` is called.
class HeapAllocator : public Peer {
 public:
  /// For peers that are out of memory.
  Bytes recycle() final { return synchronize() ? give_back_idle() : Bytes(0); }

  /// Returns what is idle and not in use by any work, as far as one can tell without waiting; says how much.
  virtual Bytes trim() = 0;
  [[nodiscard]] virtual AllocatorStats stats() const = 0;
  [[nodiscard]] Device& device() const { return device_; }

 protected:
  /// What is live, as the heaps' books say.
  struct LiveFigures {
    Bytes requested;
    Bytes rounded;
    Bytes largest_idle;  ///< Of one heap.
    std::uint64_t live = 0;
    std::uint64_t allocations = 0;
  };
  /// What is kept beside the books.
  struct KeptFigures {
    Bytes needed;  ///< The most that was live at once when a heap last fell short.
    Bytes requested_peak;
    Bytes rounded_peak;
    Bytes reserved_peak;
    std::uint64_t failures = 0;
    std::uint64_t waits = 0;
  };

  HeapAllocator(Device& device, std::optional<std::thread::id> thread, const HeapAllocatorOptions& options);

  /// The ladder: `serve` is tried, and again after each last resort that may have brought what was missing. Only when
  /// all have failed is that an error, which has the figures.
  Result<std::byte*> serve_at_last(Bytes requested, const std::function<Result<Span*>()>& serve);

  /// One attempt for a request that fits no idle span; `live` is what all heaps have, rounded. `is_capture`: by growth
  /// alone.
  Result<Span*> serve_miss(Miss miss, Bytes live, bool is_capture);
  /// Gives what is idle in these heaps, if quiet, back to the device.
  Bytes return_idle(std::span<const Tenant> tenants, const std::function<bool(const SpanHeap&)>& is_quiet);

  [[nodiscard]] AllocatorStats stats_of(const LiveFigures& live, std::span<const Tenant> tenants) const;
  void restart_figures(const LiveFigures& live);

  [[nodiscard]] PageSpace& space() { return space_; }
  [[nodiscard]] const PageSpace& space() const { return space_; }

  KeptFigures figures;

 private:
  /// Waits for all streams that may use its memory.
  virtual Status synchronize() = 0;
  /// Returns what is idle, once they were waited for; says how much.
  virtual Bytes give_back_idle() = 0;
  /// Whether peers may be asked to wait for streams.
  [[nodiscard]] virtual bool may_wait() const { return true; }
  /// Counts a request that failed.
  virtual void count_failure() { ++figures.failures; }

  Device& device_;
  const double slack_;
  const std::unique_ptr<PhysicalPool> own_pool_;
  PhysicalPool* const pool_;  ///< Null where the device has no virtual memory.
  PageSpace space_;
};

}  // namespace stowage::runtime
