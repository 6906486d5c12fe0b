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
#include "runtime/heap_allocator.hpp"
#include "runtime/heap_snapshot.hpp"
#include "runtime/heap_table.hpp"
#include "runtime/misuse.hpp"
#include "runtime/on_device.hpp"

/// Lock order: a pass of the gate, if the device is asked about streams; then `slow_`, which admits one request at a
/// time to the slow path; then heaps' locks; then magazines' locks. A thread without `slow_` holds at most one heap's
/// lock; with it, several. Peers are called without any lock.
///
/// Small blocks pass through magazines, unless checks are on, since those need to see every free. A magazine does not
/// look at the heap's bookkeeping; therefore the heap counts small allocations by their rounded size, and the excess is
/// counted separately (`overcount`).
namespace stowage {

using runtime::Span;
using runtime::StreamHeap;

class StreamAllocator::Impl final : public runtime::HeapAllocator {
 public:
  Impl(Device& device, const StreamOptions& options)
      : HeapAllocator(device, std::nullopt, runtime::HeapAllocatorOptions::of(options)),
        options_(options),
        checks_(runtime::is_on(options.checks)),
        unit_shift_(std::countr_zero(static_cast<std::uint64_t>(options.alignment.value()))),
        heaps_({device, space(), gate_}, options.alignment) {
    join();
  }
  /// Waits for the streams first, so that no memory is released while work uses it. If they cannot be waited for, the
  /// memory is leaked.
  ~Impl() override {
    leave();
    if (!runtime::process_is_exiting() && !synchronize()) space().abandon();
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

  void free(std::byte* address, Bytes size, StreamId stream) {
    if (address == nullptr) return;
    StreamHeap& heap = heaps_.of(stream);
    const Request request = request_of(size);
    if (request.small != 0 && heap.keep(request.small, address, request.rounding())) return;
    std::unique_lock lock(heap.mutex, std::defer_lock);
    if (checks_) {
      lock.lock();
    } else if (!heap.is_home() || !lock.try_lock()) {
      if (heap.send(address, size, request.rounding()))
        return;  // without waiting: the lock may be held during a call to the device
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

  Bytes trim() override { return give_back_idle(); }
  void begin_capture() { gate_.begin_capture(); }
  void end_capture() { gate_.end_capture(); }
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks();
  [[nodiscard]] MemorySnapshot snapshot() const;
  [[nodiscard]] const StreamOptions& options() const { return options_; }

 private:
  using Pass = runtime::CaptureGate::Pass;
  class Everyone;

  struct Request {
    Bytes size;
    Bytes rounded;
    Bytes booked;           ///< The size that the heap counts as requested.
    std::size_t small = 0;  ///< Number of units, if magazines keep blocks of this size; else 0.

    [[nodiscard]] Bytes rounding() const { return booked - size; }
  };
  [[nodiscard]] Request request_of(Bytes size) const {
    const Bytes rounded = align_up(size, options_.alignment);
    const auto units = static_cast<std::size_t>(rounded.value() >> unit_shift_);
    if (checks_ || units > runtime::Magazine::kLargest) return {size, rounded, size};
    return {size, rounded, rounded, units};
  }
  /// Precondition: the heap is locked.
  static std::byte* counted(StreamHeap& heap, Span* span, const Request& request) {
    ++heap.allocations;
    heap.overcount += request.rounding();
    return span->shown;
  }

  Result<std::byte*> allocate_slowly(StreamHeap& heap, const Request& request);
  Result<Span*> serve(StreamHeap& heap, const Request& request);
  Status synchronize() override;
  Bytes give_back_idle() override;
  [[nodiscard]] bool may_wait() const override { return !gate_.is_closed(); }
  void count_failure() override {
    const std::lock_guard lock(slow_);
    ++figures.failures;
  }
  void check_free(const StreamHeap& heap, const std::byte* address, Bytes size) const;

  const StreamOptions options_;
  const bool checks_;
  const int unit_shift_;
  mutable runtime::CaptureGate gate_;
  runtime::HeapTable heaps_;
  mutable std::mutex slow_;  ///< Protects the figures and, together with the locks of all heaps, the space.
};

// ---------------------------------------------------------------------------------------------------------- slow path

/// A separate function, so that a hit does not pay for the closure.
Result<std::byte*> StreamAllocator::Impl::allocate_slowly(StreamHeap& heap, const Request& request) {
  return serve_at_last(request.size, [&] { return serve(heap, request); });
}

/// All heaps, locked, after reclaiming all blocks that other threads and streams are done with. The first heap is the
/// one that asks.
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
  [[nodiscard]] Bytes rounded() const {
    Bytes sum(0);
    for (const StreamHeap* const heap : heaps_) sum += heap->books.live();
    return sum;
  }
  [[nodiscard]] Bytes requested() const {
    Bytes sum(0);
    for (const StreamHeap* const heap : heaps_) sum += heap->counts().requested;
    return sum;
  }
  [[nodiscard]] LiveFigures live() const {
    LiveFigures sum;
    sum.requested = requested();
    sum.rounded = rounded();
    for (const StreamHeap* const heap : heaps_) {
      sum.allocations += heap->counts().allocations;
      sum.live += heap->books.allocations();
      sum.largest_idle = std::max(sum.largest_idle, heap->books.largest_idle());
    }
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
  const std::span<const runtime::Tenant> givers = pass.allowed() ? everyone.tenants() : everyone.tenants().first(1);
  Result<Span*> span = serve_miss({request.rounded, request.booked, givers}, everyone.rounded(), !pass.allowed());
  if (!span) return span;
  counted(heap, *span, request);
  figures.rounded_peak = std::max(figures.rounded_peak, everyone.rounded());
  figures.requested_peak = std::max(figures.requested_peak, everyone.requested());
  return span;
}

// ---------------------------------------------------------------------------------------------------------- give back

/// Holds no heap's lock, because the work waited for may itself free memory. Waits for all streams, even if one fails.
Status StreamAllocator::Impl::synchronize() {
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
    if (Status done = device().synchronize(stream); !done) all = std::move(done);
  }
  const std::lock_guard slow(slow_);
  figures.waits += streams.size();
  return all;
}

/// A stream that took bytes waited for their previous stream. So if the streams of the current owners are quiet, no
/// work uses the bytes.
Bytes StreamAllocator::Impl::give_back_idle() {
  const Pass pass(gate_);
  if (!pass.allowed()) return Bytes(0);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  std::set<const runtime::SpanHeap*> quiet;
  for (StreamHeap* const heap : everyone.heaps()) {
    if (runtime::is_quiet(device(), heap->stream())) quiet.insert(&heap->books);
  }
  return return_idle(everyone.tenants(), [&](const runtime::SpanHeap& books) { return quiet.contains(&books); });
}

// --------------------------------------------------------------------------------------------------- checks and stats

void StreamAllocator::Impl::check_free(const StreamHeap& heap, const std::byte* address, Bytes size) const {
  const Span* const span = heap.books.find(address);
  std::string wrong =
      span == nullptr ? runtime::explain_unknown(heap.books, address) : runtime::wrong_size(*span, size);
  if (wrong.empty()) return;
  if (span == nullptr) wrong += fmt::format(" on stream {}", heap.stream().index());
  runtime::misused("StreamAllocator", wrong);
}

AllocatorStats StreamAllocator::Impl::stats() const {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  return stats_of(everyone.live(), everyone.tenants());
}

void StreamAllocator::Impl::reset_peaks() {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  const Everyone everyone(pass, heaps_, nullptr);
  restart_figures(everyone.live());
  for (StreamHeap* const heap : everyone.heaps()) heap->reset_allocations();
}

MemorySnapshot StreamAllocator::Impl::snapshot() const {
  const Pass pass(gate_);
  const std::lock_guard slow(slow_);
  MemorySnapshot all{.device = device().id(), .segments = {}};
  const Everyone everyone(pass, heaps_, nullptr);
  for (const StreamHeap* const heap : everyone.heaps()) {
    MemorySnapshot one = runtime::snapshot_of(heap->books, {device().id(), heap->stream()});
    std::ranges::move(one.segments, std::back_inserter(all.segments));
  }
  return all;
}

// ------------------------------------------------------------------------------------------------------------ surface

StreamAllocator::StreamAllocator(Device& device, const StreamOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
StreamAllocator::~StreamAllocator() = default;

DeviceId StreamAllocator::device() const { return impl_->device().id(); }
Bytes StreamAllocator::alignment() const { return impl_->options().alignment; }
Result<std::byte*> StreamAllocator::allocate(Bytes size, StreamId stream) { return impl_->allocate(size, stream); }
void StreamAllocator::free(std::byte* address, Bytes size, StreamId stream) { impl_->free(address, size, stream); }
Status StreamAllocator::record_use(std::byte* address, StreamId stream) { return impl_->record_use(address, stream); }
Bytes StreamAllocator::trim() { return impl_->trim(); }
void StreamAllocator::begin_capture() { impl_->begin_capture(); }
void StreamAllocator::end_capture() { impl_->end_capture(); }
AllocatorStats StreamAllocator::stats() const { return impl_->stats(); }
void StreamAllocator::reset_peaks() { impl_->reset_peaks(); }
MemorySnapshot StreamAllocator::snapshot() const { return impl_->snapshot(); }

}  // namespace stowage
