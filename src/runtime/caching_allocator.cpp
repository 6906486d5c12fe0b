#include "stowage/runtime/caching_allocator.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"
#include "runtime/heap/policy.hpp"
#include "runtime/heap_snapshot.hpp"
#include "runtime/misuse.hpp"
#include "runtime/on_device.hpp"
#include "runtime/out_of_memory.hpp"
#include "runtime/peers.hpp"

namespace stowage {
namespace {

std::optional<std::thread::id> owner_of(const CachingOptions& options) {
  return options.any_thread ? std::nullopt : std::optional(std::this_thread::get_id());
}

}  // namespace

class CachingAllocator::Impl final : public runtime::Peer {
 public:
  Impl(Device& device, const CachingOptions& options)
      : Peer(device, std::this_thread::get_id()),
        device_(device),
        options_(options),
        checks_(runtime::is_on(options.checks)),
        owner_(owner_of(options)),
        own_pool_(options.pool == nullptr ? runtime::make_pool(device, options.limit) : nullptr),
        books_(options.alignment),
        space_(device, pool(),
               {.alignment = options.alignment,
                .least_page = runtime::least_page_of(pool(), options.least_page),
                .limit = options.limit}),
        tenant_{&books_, options.stream} {
    runtime::process_is_exiting();
    if (owner_) join();  // one that several threads use takes turns by a lock that peers do not know
  }
  /// Streams first, then memory: nothing is taken from under work that runs. What cannot be waited for stays where it is.
  ~Impl() override {
    leave();
    if (!runtime::process_is_exiting() && !device_.synchronize(options_.stream)) space_.abandon();
  }

  Result<std::byte*> allocate(Bytes size) {
    if (checks_) check_thread();
    if (size <= Bytes(0) || size > kMaxBytes) return runtime::answer_without_memory(size);
    const Bytes rounded = align_up(size, options_.alignment);
    runtime::Span* span = books_.take(rounded, size);
    if (span == nullptr) {
      STOWAGE_TRY(span, take_slowly(rounded, size));
    }
    ++allocations_;
    requested_peak_ = std::max(requested_peak_, books_.requested());
    rounded_peak_ = std::max(rounded_peak_, books_.live());
    return span->shown;
  }

  void deallocate(std::byte* address, Bytes size, StreamId stream) {
    if (address == nullptr) return;
    if (checks_) check_free(address, size, stream);
    runtime::Span* const span = books_.remove(address);
    if (span == nullptr) return;
    if (span->view != 0) space_.end_use(span->view, options_.stream, true);
    books_.give_back(span);
  }

  Status record_use(const std::byte* address, StreamId stream) {
    if (checks_) check_thread();
    if (stream != options_.stream) {
      return Error{ErrorCode::unsupported, fmt::format("an allocator of stream {} serves no other", options_.stream.index()), {}};
    }
    if (books_.find(address) == nullptr) return Error{ErrorCode::invalid, "not an allocation of this allocator", {}};
    return Done{};
  }

  Bytes trim() {
    if (checks_) check_thread();
    return runtime::is_quiet(device_, options_.stream) ? give_back_idle() : Bytes(0);
  }
  Bytes recycle() override { return device_.synchronize(options_.stream) ? give_back_idle() : Bytes(0); }

  [[nodiscard]] AllocatorStats stats() const;
  void reset_peaks();
  [[nodiscard]] MemorySnapshot snapshot() const { return runtime::snapshot_of(books_, {device_.id(), options_.stream}); }
  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] const CachingOptions& options() const { return options_; }

 private:
  [[nodiscard]] PhysicalPool* pool() const { return options_.pool != nullptr ? options_.pool : own_pool_.get(); }

  Result<runtime::Span*> take_slowly(Bytes size, Bytes requested);
  Result<runtime::Span*> serve(Bytes size, Bytes requested);
  Bytes give_back_idle();
  void check_thread() const;
  void check_free(const std::byte* address, Bytes size, StreamId stream) const;

  Device& device_;
  const CachingOptions options_;
  const bool checks_;
  const std::optional<std::thread::id> owner_;
  const std::unique_ptr<PhysicalPool> own_pool_;
  runtime::SpanHeap books_;
  runtime::PageSpace space_;
  const runtime::Tenant tenant_;

  Bytes needed_;  ///< The most that was live at once when the heap last fell short.
  Bytes requested_peak_;
  Bytes rounded_peak_;
  Bytes reserved_peak_;
  std::uint64_t allocations_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t waits_ = 0;
};

// ------------------------------------------------------------------------------------------------------------ slow path

Result<runtime::Span*> CachingAllocator::Impl::serve(Bytes size, Bytes requested) {
  const Bytes needed = std::max(needed_, books_.live() + size);
  Result<runtime::Span*> span =
      runtime::serve(space_, {size, requested}, {&tenant_, 1}, {.slack = options_.slack, .needed = needed});
  if (span) needed_ = needed;
  reserved_peak_ = std::max(reserved_peak_, space_.reserved());
  return span;
}

/// The ladder. Each rung may have brought what was missing; only when all have failed is that an error.
Result<runtime::Span*> CachingAllocator::Impl::take_slowly(Bytes size, Bytes requested) {
  Result<runtime::Span*> span = serve(size, requested);
  const auto is_short = [&] { return !span && span.error().code == ErrorCode::out_of_memory; };
  if (is_short()) {
    ++waits_;
    if (device_.synchronize(options_.stream)) {
      span = serve(size, requested);
      if (is_short() && give_back_idle() > Bytes(0)) span = serve(size, requested);
    }
  }
  if (is_short() && runtime::recycle_peers(device_, *this) > Bytes(0)) span = serve(size, requested);
  if (!span) ++failures_;
  if (!is_short()) return span;
  trim();  // what a request took that came to nothing serves nobody here
  return runtime::out_of_memory(
      {.requested = requested, .why = span.error().message, .stats = stats(), .free = device_.free_memory()});
}

Bytes CachingAllocator::Impl::give_back_idle() {
  Bytes returned = space_.trim({&tenant_, 1}, [](const runtime::SpanHeap&) { return true; });
  if (space_.is_paged()) returned = pool()->trim();
  return returned;
}

// ------------------------------------------------------------------------------------------------------ checks and stats

void CachingAllocator::Impl::check_thread() const {
  if (owner_ && *owner_ != std::this_thread::get_id())
    runtime::misused("CachingAllocator", "used by another thread than its own");
}

void CachingAllocator::Impl::check_free(const std::byte* address, Bytes size, StreamId stream) const {
  check_thread();
  const runtime::Span* const span = books_.find(address);
  std::string wrong = span == nullptr ? runtime::explain_unknown(books_, address) : runtime::wrong_size(*span, size);
  if (wrong.empty() && stream != options_.stream) {
    wrong = fmt::format("free of {} on stream {}: it belongs to stream {}", fmt::ptr(address), stream.index(),
                        options_.stream.index());
  }
  if (!wrong.empty()) runtime::misused("CachingAllocator", wrong);
}

AllocatorStats CachingAllocator::Impl::stats() const {
  AllocatorStats stats;
  stats.requested = books_.requested();
  stats.rounded = books_.live();
  stats.reserved = space_.reserved();
  stats.requested_peak = requested_peak_;
  stats.rounded_peak = rounded_peak_;
  stats.reserved_peak = reserved_peak_;
  stats.largest_idle = std::max(books_.largest_idle(), space_.idle_pages(runtime::idle_of({&tenant_, 1})));
  stats.live = books_.allocations();
  stats.allocations = allocations_;
  stats.failures = failures_;
  const auto plain = space_.plain_counts();
  stats.creates = plain.creates;
  stats.releases = plain.releases;
  if (pool() != nullptr) {
    const PhysicalPool::Counts pages = pool()->counts();
    stats.creates += pages.creates;
    stats.releases += pages.releases;
  }
  const ExpandableArena::Counts calls = space_.counts();
  stats.maps = calls.maps;
  stats.unmaps = calls.unmaps;
  stats.access_calls = calls.access_calls;
  stats.event_waits = waits_;
  return stats;
}

void CachingAllocator::Impl::reset_peaks() {
  requested_peak_ = books_.requested();
  rounded_peak_ = books_.live();
  reserved_peak_ = space_.reserved();
  allocations_ = failures_ = waits_ = 0;
  space_.reset_counts();
  if (pool() != nullptr) pool()->reset_peaks();
}

// -------------------------------------------------------------------------------------------------------------- surface

CachingAllocator::CachingAllocator(Device& device, const CachingOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
CachingAllocator::~CachingAllocator() = default;

DeviceId CachingAllocator::device() const { return impl_->device().id(); }
Bytes CachingAllocator::alignment() const { return impl_->options().alignment; }

Result<std::byte*> CachingAllocator::allocate(Bytes size, StreamId stream) {
  if (stream != impl_->options().stream) {
    return Error{
        ErrorCode::invalid, fmt::format("an allocator of stream {} serves no other", impl_->options().stream.index()), {}};
  }
  return impl_->allocate(size);
}

Result<std::byte*> CachingAllocator::allocate(Bytes size) { return impl_->allocate(size); }

void CachingAllocator::deallocate(std::byte* address, Bytes size, StreamId stream) { impl_->deallocate(address, size, stream); }

Status CachingAllocator::record_use(std::byte* address, StreamId stream) { return impl_->record_use(address, stream); }
Bytes CachingAllocator::trim() { return impl_->trim(); }
AllocatorStats CachingAllocator::stats() const { return impl_->stats(); }
void CachingAllocator::reset_peaks() { impl_->reset_peaks(); }
MemorySnapshot CachingAllocator::snapshot() const { return impl_->snapshot(); }

}  // namespace stowage
