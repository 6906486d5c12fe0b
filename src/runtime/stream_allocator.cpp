#include "stowage/runtime/stream_allocator.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/capture_gate.hpp"
#include "runtime/exiting.hpp"
#include "runtime/heap/policy.hpp"
#include "runtime/heap_snapshot.hpp"
#include "runtime/heap_table.hpp"
#include "runtime/misuse.hpp"
#include "runtime/on_device.hpp"
#include "runtime/out_of_memory.hpp"
#include "runtime/peers.hpp"

/// Locks: a pass of the gate by whoever asks the device about streams, then `slow_` (one request at a time in the slow path),
/// then heaps' locks, then magazines'. Whoever holds a heap's lock without `slow_` asks for no other heap's; whoever holds
/// `slow_` may hold several heaps'. Peers are called without any.
///
/// Small blocks pass through magazines unless checks are on, which need to see every free. A magazine does not look at the
/// books; hence the books count small allocations by their rounded size, and what that is too much is kept beside.
namespace stowage {

using runtime::Span;
using runtime::StreamHeap;

class StreamAllocator::Impl final : public runtime::Peer {
 public:
  Impl(Device& device, const StreamOptions& options)
      : Peer(device, std::nullopt),
        device_(device),
        options_(options),
        checks_(runtime::is_on(options.checks)),
        unit_shift_(std::countr_zero(static_cast<std::uint64_t>(options.alignment.value()))),
        own_pool_(options.pool == nullptr ? runtime::make_pool(device, options.limit) : nullptr),
        pool_(options.pool != nullptr ? options.pool : own_pool_.get()),
        space_(device, pool_,
               {.alignment = options.alignment,
                .least_page = runtime::least_page_of(pool_, options.least_page),
                .limit = options.limit}),
        heaps_({device, space_, gate_}, options.alignment) {
    runtime::process_is_exiting();
    join();
  }
  /// Streams first, then memory: nothing is taken from under work that runs. What cannot be waited for stays where it is.
  ~Impl() override {
    leave();
    if (!runtime::process_is_exiting() && !synchronize_all()) space_.abandon();
  }

  Result<std::byte*> allocate(Bytes size, StreamId stream) {
    if (size <= Bytes(0) || size > kMaxBytes) return runtime::answer_without_memory(size);
    StreamHeap& heap = heaps_.of(stream);
    const Request request = request_of(size);
    if (request.small != 0) {
      if (std::byte* const kept = heap.take_kept(request.small, request.rounding())) return kept;
    }
    {
      const std::lock_guard lock(heap.mutex);
      if (Span* const span = heap.take(request.rounded, request.booked)) return counted(heap, span, request);
    }
    return allocate_slowly(heap, request);
  }

  void deallocate(std::byte* address, Bytes size, StreamId stream) {
    if (address == nullptr) return;
    StreamHeap& heap = heaps_.of(stream);
    const Request request = request_of(size);
    if (request.small != 0 && heap.keep(request.small, address, request.rounding())) return;
    std::unique_lock lock(heap.mutex, std::defer_lock);
    if (checks_) {
      lock.lock();
    } else if (!heap.is_home() || !lock.try_lock()) {
      if (heap.send(address, size, request.rounding())) return;  // never waits: the lock may be held while a device is asked
      lock.lock();
    }
    if (checks_) check_free(heap, address, size);
    if (Span* const span = heap.books.remove(address)) {
      heap.overcount -= request.rounding();
      heap.give_back(span);
    }
  }

  Status record_use(std::byte* address, StreamId stream) {
    for (StreamHeap* const heap : heaps_.all()) {
      const std::lock_guard lock(heap->mutex);
      if (heap->add_use(address, stream)) return Done{};
    }
    return Error{ErrorCode::invalid, "not an allocation of this allocator", {}};
  }

  Bytes trim();
  Bytes recycle() override;
  void begin_capture() { gate_.begin_capture(); }
  void end_capture() { gate_.end_capture(); }
  [[nodiscard]] AllocatorStats stats() const;
  void reset_peaks();
  [[nodiscard]] MemorySnapshot snapshot() const;
  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] const StreamOptions& options() const { return options_; }

 private:
  using Pass = runtime::CaptureGate::Pass;
  class Everyone;

  struct Request {
    Bytes size;
    Bytes rounded;
    Bytes booked;           ///< What the books count as requested.
    std::size_t small = 0;  ///< How many units, where magazines keep such blocks.

    [[nodiscard]] Bytes rounding() const { return booked - size; }
  };
  [[nodiscard]] Request request_of(Bytes size) const {
    const Bytes rounded = align_up(size, options_.alignment);
    const auto units = static_cast<std::size_t>(rounded.value() >> unit_shift_);
    if (checks_ || units > runtime::Magazine::kLargest) return {size, rounded, size};
    return {size, rounded, rounded, units};
  }
  /// The heap is locked.
  static std::byte* counted(StreamHeap& heap, Span* span, const Request& request) {
    ++heap.allocations;
    heap.overcount += request.rounding();
    return span->shown;
  }

  Result<std::byte*> allocate_slowly(StreamHeap& heap, const Request& request);
  Result<Span*> serve(StreamHeap& heap, const Request& request);
  Status synchronize_all();
  Bytes give_back_idle();
  void check_free(const StreamHeap& heap, const std::byte* address, Bytes size) const;

  Device& device_;
  const StreamOptions options_;
  const bool checks_;
  const int unit_shift_;
  const std::unique_ptr<PhysicalPool> own_pool_;
  PhysicalPool* const pool_;
  runtime::PageSpace space_;  ///< Under `slow_` and the locks of all heaps.
  mutable runtime::CaptureGate gate_;
  runtime::HeapTable heaps_;

  mutable std::mutex slow_;
  Bytes needed_;
  Bytes requested_peak_;
  Bytes rounded_peak_;
  Bytes reserved_peak_;
  std::uint64_t failures_ = 0;
  std::uint64_t waits_ = 0;
};

// ------------------------------------------------------------------------------------------------------------ slow path

/// The ladder. Each rung may have brought what was missing; only when all have failed is that an error.
Result<std::byte*> StreamAllocator::Impl::allocate_slowly(StreamHeap& heap, const Request& request) {
  Result<Span*> span = serve(heap, request);
  const auto is_short = [&] { return !span && span.error().code == ErrorCode::out_of_memory; };
  if (is_short() && synchronize_all()) {
    span = serve(heap, request);
    if (is_short() && give_back_idle() > Bytes(0)) span = serve(heap, request);
  }
  if (is_short() && !gate_.is_closed() && runtime::recycle_peers(device_, *this) > Bytes(0)) span = serve(heap, request);
  if (span) return (*span)->shown;
  Error error = std::move(span).error();
  if (error.code == ErrorCode::out_of_memory) {
    give_back_idle();  // what a request took that came to nothing serves nobody here
    error = runtime::out_of_memory(
        {.requested = request.size, .why = error.message, .stats = stats(), .free = device_.free_memory()});
  }
  const std::lock_guard lock(slow_);
  ++failures_;
  return error;
}

/// All heaps, locked, with what other threads and streams are done with back in their books. The first is the one that asks.
class StreamAllocator::Impl::Everyone {
 public:
  Everyone(const Pass& pass, const runtime::HeapTable& heaps, const StreamHeap* first) : heaps_(heaps.all()) {
    for (StreamHeap* const heap : heaps_) {
      locks_.emplace_back(heap->mutex);
      heap->take_all_in();
      if (pass.allowed()) heap->collect();
      tenants_.push_back({&heap->books, heap->stream()});
      if (heap == first) std::swap(tenants_.front(), tenants_.back());
    }
  }

  [[nodiscard]] std::span<StreamHeap* const> heaps() const { return heaps_; }
  [[nodiscard]] std::span<const runtime::Tenant> tenants() const { return tenants_; }
  [[nodiscard]] Bytes live() const {
    Bytes sum(0);
    for (const StreamHeap* const heap : heaps_) sum += heap->books.live();
    return sum;
  }
  [[nodiscard]] Bytes requested() const {
    Bytes sum(0);
    for (const StreamHeap* const heap : heaps_) sum += heap->counts().requested;
    return sum;
  }

 private:
  std::vector<StreamHeap*> heaps_;
  std::vector<std::unique_lock<runtime::SpinLock>> locks_;
  std::vector<runtime::Tenant> tenants_;
};

Result<Span*> StreamAllocator::Impl::serve(StreamHeap& heap, const Request& request) {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, &heap);
  if (Span* const span = heap.books.take(request.rounded, request.booked)) {
    counted(heap, span, request);
    return span;
  }
  const Bytes needed = std::max(needed_, everyone.live() + request.rounded);
  const runtime::PageSpace::Request wanted{request.rounded, request.booked};
  Result<Span*> span = pass.allowed()
                           ? runtime::serve(space_, wanted, everyone.tenants(), {.slack = options_.slack, .needed = needed})
                           : runtime::serve_by_growth(space_, wanted, everyone.tenants().front());
  if (span) {
    counted(heap, *span, request);
    needed_ = needed;
    rounded_peak_ = std::max(rounded_peak_, everyone.live());
    requested_peak_ = std::max(requested_peak_, everyone.requested());
  }
  reserved_peak_ = std::max(reserved_peak_, space_.reserved());
  return span;
}

// ------------------------------------------------------------------------------------------------------------ give back

/// Without any heap's lock: work that is waited for may free memory itself. All streams are waited for, though one fails.
Status StreamAllocator::Impl::synchronize_all() {
  const Pass pass(gate_);
  if (!pass.allowed()) return Error{ErrorCode::unsupported, "a stream is being captured", {}};
  std::set<StreamId> streams;
  for (StreamHeap* const heap : heaps_.all()) {
    const std::lock_guard lock(heap->mutex);
    heap->take_all_in();
    std::ranges::copy(heap->streams(), std::inserter(streams, streams.end()));
  }
  Status all = Done{};
  for (const StreamId stream : streams) {
    if (Status done = device_.synchronize(stream); !done) all = std::move(done);
  }
  const std::lock_guard slow(slow_);
  waits_ += streams.size();
  return all;
}

/// A stream that took bytes waited for the one that had them: when the streams of those who have them now are quiet, nobody uses
/// them.
Bytes StreamAllocator::Impl::give_back_idle() {
  const Pass pass(gate_);
  if (!pass.allowed()) return Bytes(0);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  std::set<const runtime::SpanHeap*> quiet;
  for (StreamHeap* const heap : everyone.heaps()) {
    if (runtime::is_quiet(device_, heap->stream())) quiet.insert(&heap->books);
  }
  const Bytes returned = space_.trim(everyone.tenants(), [&](const runtime::SpanHeap& books) { return quiet.contains(&books); });
  return space_.is_paged() ? pool_->trim() : returned;
}

Bytes StreamAllocator::Impl::trim() { return give_back_idle(); }

Bytes StreamAllocator::Impl::recycle() {
  const Status waited = synchronize_all();
  return waited ? give_back_idle() : Bytes(0);
}

// ------------------------------------------------------------------------------------------------------ checks and stats

void StreamAllocator::Impl::check_free(const StreamHeap& heap, const std::byte* address, Bytes size) const {
  const Span* const span = heap.books.find(address);
  std::string wrong = span == nullptr ? runtime::explain_unknown(heap.books, address) : runtime::wrong_size(*span, size);
  if (wrong.empty()) return;
  if (span == nullptr) wrong += fmt::format(" on stream {}", heap.stream().index());
  runtime::misused("StreamAllocator", wrong);
}

AllocatorStats StreamAllocator::Impl::stats() const {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  AllocatorStats stats;
  for (const StreamHeap* const heap : everyone.heaps()) {
    stats.live += heap->books.allocations();
    stats.allocations += heap->counts().allocations;
    stats.largest_idle = std::max(stats.largest_idle, heap->books.largest_idle());
  }
  stats.largest_idle = std::max(stats.largest_idle, space_.idle_pages(runtime::idle_of(everyone.tenants())));
  stats.requested = everyone.requested();
  stats.rounded = everyone.live();
  stats.reserved = space_.reserved();
  stats.requested_peak = std::max(requested_peak_, stats.requested);
  stats.rounded_peak = std::max(rounded_peak_, stats.rounded);
  stats.reserved_peak = std::max(reserved_peak_, stats.reserved);
  stats.failures = failures_;
  stats.event_waits = waits_ + space_.waits();
  const ExpandableArena::Counts calls = space_.counts();
  stats.maps = calls.maps;
  stats.unmaps = calls.unmaps;
  stats.access_calls = calls.access_calls;
  stats.creates = space_.plain_counts().creates;
  stats.releases = space_.plain_counts().releases;
  if (pool_ != nullptr) {
    stats.creates += pool_->counts().creates;
    stats.releases += pool_->counts().releases;
  }
  return stats;
}

void StreamAllocator::Impl::reset_peaks() {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  requested_peak_ = everyone.requested();
  rounded_peak_ = everyone.live();
  reserved_peak_ = space_.reserved();
  failures_ = waits_ = 0;
  for (StreamHeap* const heap : everyone.heaps()) heap->reset_allocations();
  space_.reset_counts();
  if (pool_ != nullptr) pool_->reset_peaks();
}

MemorySnapshot StreamAllocator::Impl::snapshot() const {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  MemorySnapshot all{.device = device_.id(), .segments = {}};
  const Everyone everyone(pass, heaps_, nullptr);
  for (const StreamHeap* const heap : everyone.heaps()) {
    MemorySnapshot one = runtime::snapshot_of(heap->books, {device_.id(), heap->stream()});
    std::ranges::move(one.segments, std::back_inserter(all.segments));
  }
  return all;
}

// -------------------------------------------------------------------------------------------------------------- surface

StreamAllocator::StreamAllocator(Device& device, const StreamOptions& options) : impl_(std::make_unique<Impl>(device, options)) {}
StreamAllocator::~StreamAllocator() = default;

DeviceId StreamAllocator::device() const { return impl_->device().id(); }
Bytes StreamAllocator::alignment() const { return impl_->options().alignment; }
Result<std::byte*> StreamAllocator::allocate(Bytes size, StreamId stream) { return impl_->allocate(size, stream); }
void StreamAllocator::deallocate(std::byte* address, Bytes size, StreamId stream) { impl_->deallocate(address, size, stream); }
Status StreamAllocator::record_use(std::byte* address, StreamId stream) { return impl_->record_use(address, stream); }
Bytes StreamAllocator::trim() { return impl_->trim(); }
void StreamAllocator::begin_capture() { impl_->begin_capture(); }
void StreamAllocator::end_capture() { impl_->end_capture(); }
AllocatorStats StreamAllocator::stats() const { return impl_->stats(); }
void StreamAllocator::reset_peaks() { impl_->reset_peaks(); }
MemorySnapshot StreamAllocator::snapshot() const { return impl_->snapshot(); }

}  // namespace stowage
