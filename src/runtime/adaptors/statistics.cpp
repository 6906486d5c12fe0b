#include <algorithm>

#include "runtime/adaptors/rounded.hpp"
#include "stowage/runtime/adaptors.hpp"

/// The totals are never reset. A level stores their values at its beginning and their maximum since. So an allocation
/// costs the same at any depth, and a level that ends only has to pass its peak on to the enclosing one.
namespace stowage {

StatisticsAdaptor::StatisticsAdaptor(Allocator& wrapped) : AllocatorAdaptor(wrapped) {
  levels_.push_back(level_from_now(wrapped.stats()));
}

AllocationCounters StatisticsAdaptor::level_from_now(const AllocatorStats& below) const {
  AllocationCounters level = totals_;
  level.requested_peak = totals_.requested;
  level.rounded_peak = totals_.rounded;
  level.reserved = below.reserved;
  level.reserved_peak = below.reserved_peak;
  return level;
}

void StatisticsAdaptor::push() {
  const AllocatorStats below = wrapped().stats();
  const std::lock_guard lock(mutex_);
  levels_.push_back(level_from_now(below));
}

Result<AllocationCounters> StatisticsAdaptor::pop() {
  const AllocatorStats below = wrapped().stats();
  const std::lock_guard lock(mutex_);
  if (levels_.size() == 1) return Error{ErrorCode::invalid, "statistics: pop without push", {}};
  const AllocationCounters result = innermost(below);
  const AllocationCounters ended = levels_.back();
  levels_.pop_back();
  levels_.back().requested_peak = std::max(levels_.back().requested_peak, ended.requested_peak);
  levels_.back().rounded_peak = std::max(levels_.back().rounded_peak, ended.rounded_peak);
  return result;
}

AllocationCounters StatisticsAdaptor::counters() const {
  const AllocatorStats below = wrapped().stats();
  const std::lock_guard lock(mutex_);
  return innermost(below);
}

AllocationCounters StatisticsAdaptor::innermost(const AllocatorStats& below) const {
  const AllocationCounters& level = levels_.back();
  return {.requested = totals_.requested - level.requested,
          .requested_peak = level.requested_peak - level.requested,
          .rounded = totals_.rounded - level.rounded,
          .rounded_peak = level.rounded_peak - level.rounded,
          .reserved = below.reserved - level.reserved,
          .reserved_peak = std::max(below.reserved_peak - level.reserved_peak, Bytes(0)),
          .allocations = totals_.allocations - level.allocations,
          .frees = totals_.frees - level.frees,
          .failures = totals_.failures - level.failures};
}

Result<std::byte*> StatisticsAdaptor::allocate(Bytes size, StreamId stream) {
  Result<std::byte*> address = wrapped().allocate(size, stream);
  if (address && *address == nullptr) return address;
  const std::lock_guard lock(mutex_);
  if (!address) {
    ++totals_.failures;
    return address;
  }
  ++totals_.allocations;
  totals_.requested += size;
  totals_.rounded += runtime::rounded(size, alignment());
  AllocationCounters& level = levels_.back();
  level.requested_peak = std::max(level.requested_peak, totals_.requested);
  level.rounded_peak = std::max(level.rounded_peak, totals_.rounded);
  return address;
}

void StatisticsAdaptor::free(std::byte* address, Bytes size, StreamId stream) {
  if (address != nullptr) {
    // Before the memory is freed: no other thread can get it, and be counted for it, at the same time.
    const std::lock_guard lock(mutex_);
    ++totals_.frees;
    totals_.requested -= size;
    totals_.rounded -= runtime::rounded(size, alignment());
  }
  wrapped().free(address, size, stream);
}

AllocatorStats StatisticsAdaptor::stats() const {
  AllocatorStats stats = wrapped().stats();
  const std::lock_guard lock(mutex_);
  const AllocationCounters& start = levels_.front();
  stats.requested = totals_.requested;
  stats.rounded = totals_.rounded;
  stats.requested_peak = stats.rounded_peak = Bytes(0);
  for (const AllocationCounters& level : levels_) {
    stats.requested_peak = std::max(stats.requested_peak, level.requested_peak);
    stats.rounded_peak = std::max(stats.rounded_peak, level.rounded_peak);
  }
  stats.live = totals_.allocations - totals_.frees;
  stats.allocations = totals_.allocations - start.allocations;
  stats.failures = totals_.failures - start.failures;
  return stats;
}

void StatisticsAdaptor::reset_peaks() {
  wrapped().reset_peaks();
  const AllocatorStats below = wrapped().stats();
  const std::lock_guard lock(mutex_);
  std::fill(levels_.begin(), levels_.end(), level_from_now(below));
}

}  // namespace stowage
