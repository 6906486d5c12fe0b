#include "runtime/heap_allocator.hpp"

#include <algorithm>
#include <utility>

#include "runtime/exiting.hpp"
#include "runtime/on_device.hpp"
#include "runtime/out_of_memory.hpp"

namespace stowage::runtime {

HeapAllocator::HeapAllocator(Device& device, std::optional<std::thread::id> thread, const HeapAllocatorOptions& options)
    : Peer(device, thread),
      device_(device),
      refusal_(refuse_pool(device, options.pool)),
      slack_(options.slack),
      own_pool_(options.pool == nullptr ? make_pool(device, options.limit) : nullptr),
      pool_(refusal_ || options.pool == nullptr ? own_pool_.get() : options.pool),
      space_(device, pool_,
             {.alignment = options.alignment,
              .least_page = least_page_of(pool_, options.least_page),
              .limit = options.limit}) {
  process_is_exiting();
}

// ------------------------------------------------------------------------------------------------------- last resorts

Result<std::byte*> HeapAllocator::serve_at_last(Bytes requested, const std::function<Result<Span*>()>& serve) {
  if (refusal_) return *refusal_;
  Result<Span*> span = serve();
  const auto is_short = [&] { return !span && span.error().code == ErrorCode::out_of_memory; };
  if (is_short() && synchronize()) {
    span = serve();
    if (is_short() && give_back_idle() > Bytes(0)) span = serve();
  }
  if (is_short() && may_wait() && recycle_peers(device_, *this) > Bytes(0)) span = serve();
  if (span) return (*span)->shown;
  count_failure();
  if (!is_short()) return std::move(span).error();
  trim();  // memory that the failed attempts added is of no use here
  return out_of_memory(
      {.requested = requested, .why = span.error().message, .stats = stats(), .free = device_.free_memory()});
}

Result<Span*> HeapAllocator::serve_miss(Miss miss, Bytes live, bool is_capture) {
  const Bytes needed = std::max(figures.needed, live + miss.size);
  Result<Span*> span = is_capture ? serve_by_growth(space_, std::move(miss))
                                  : serve(space_, std::move(miss), {.slack = slack_, .needed = needed});
  if (span) figures.needed = needed;
  figures.reserved_peak = std::max(figures.reserved_peak, space_.reserved());
  return span;
}

Bytes HeapAllocator::return_idle(std::span<const Tenant> tenants,
                                 const std::function<bool(const SpanHeap&)>& is_quiet) {
  const Bytes returned = space_.trim(tenants, is_quiet);
  return space_.is_paged() ? pool_->trim() : returned;
}

// ------------------------------------------------------------------------------------------------------------ figures

AllocatorStats HeapAllocator::stats_of(const LiveFigures& live, std::span<const Tenant> tenants) const {
  AllocatorStats stats;
  stats.requested = live.requested;
  stats.rounded = live.rounded;
  stats.reserved = space_.reserved();
  stats.requested_peak = std::max(figures.requested_peak, live.requested);
  stats.rounded_peak = std::max(figures.rounded_peak, live.rounded);
  stats.reserved_peak = std::max(figures.reserved_peak, stats.reserved);
  stats.largest_idle = std::max(live.largest_idle, space_.idle_pages(idle_of(tenants)));
  stats.live = live.live;
  stats.allocations = live.allocations;
  stats.failures = figures.failures;
  stats.event_waits = figures.waits + space_.waits();
  const ExpandableArena::Counts calls = space_.counts();
  stats.maps = calls.maps;
  stats.unmaps = calls.unmaps;
  stats.access_calls = calls.access_calls;
  stats.creates = space_.unpaged_counts().creates;
  stats.releases = space_.unpaged_counts().releases;
  if (pool_ != nullptr) {
    const PhysicalPool::Counts pages = pool_->counts();
    stats.creates += pages.creates;
    stats.releases += pages.releases;
  }
  return stats;
}

void HeapAllocator::restart_figures(const LiveFigures& live) {
  figures = {.needed = figures.needed,
             .requested_peak = live.requested,
             .rounded_peak = live.rounded,
             .reserved_peak = space_.reserved()};
  space_.reset_counts();
  if (pool_ != nullptr) pool_->reset_peaks();
}

}  // namespace stowage::runtime
