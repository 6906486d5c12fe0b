#pragma once

#include <algorithm>

#include "stowage/runtime/allocator.hpp"

namespace stowage::replaying {

/// The statistics of an allocator, with their peaks. Not thread-safe.
class Account {
 public:
  void allocated(Bytes requested, Bytes rounded) {
    stats_.requested += requested;
    stats_.rounded += rounded;
    stats_.requested_peak = std::max(stats_.requested_peak, stats_.requested);
    stats_.rounded_peak = std::max(stats_.rounded_peak, stats_.rounded);
    ++stats_.live;
    ++stats_.allocations;
  }

  void freed(Bytes requested, Bytes rounded) {
    stats_.requested -= requested;
    stats_.rounded -= rounded;
    --stats_.live;
  }

  void reserved(Bytes size) {
    stats_.reserved += size;
    stats_.reserved_peak = std::max(stats_.reserved_peak, stats_.reserved);
  }

  void returned(Bytes size) { stats_.reserved -= size; }

  void reset_peaks() {
    const AllocatorStats before = stats_;
    stats_ = {};
    stats_.requested = stats_.requested_peak = before.requested;
    stats_.rounded = stats_.rounded_peak = before.rounded;
    stats_.reserved = stats_.reserved_peak = before.reserved;
    stats_.live = before.live;
  }

  /// For changing the call counts.
  [[nodiscard]] AllocatorStats& stats() { return stats_; }
  [[nodiscard]] const AllocatorStats& stats() const { return stats_; }

 private:
  AllocatorStats stats_;
};

}  // namespace stowage::replaying
