#include "stowage/runtime/caching_allocator.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"
#include "runtime/heap_allocator.hpp"
#include "runtime/heap_snapshot.hpp"
#include "runtime/misuse.hpp"
#include "runtime/on_device.hpp"

namespace stowage {
namespace {

std::optional<std::thread::id> owner_of(const CachingOptions& options) {
  return options.any_thread ? std::nullopt : std::optional(std::this_thread::get_id());
}

}  // namespace

using runtime::Span;

class CachingAllocator::Impl final : public runtime::HeapAllocator {
 public:
  Impl(Device& device, const CachingOptions& options)
      : HeapAllocator(device, std::this_thread::get_id(), runtime::HeapAllocatorOptions::of(options)),
        options_(options),
        checks_(runtime::is_on(options.checks)),
        owner_(owner_of(options)),
        books_(options.alignment),
        tenant_{&books_, options.stream} {
    if (owner_) join();  // one without an owner is shared under a lock that peers do not know
  }
  /// Waits for the streams first, so that no memory is released while work uses it. If they cannot be waited for, the
  /// memory is leaked.
  ~Impl() override {
    leave();
    if (!runtime::process_is_exiting() && !synchronize()) space().abandon();
  }

  Result<std::byte*> allocate(Bytes size) {
    if (checks_) check_thread();
    if (size <= Bytes(0) || size > kMaxBytes) return runtime::answer_without_memory(size);
    const Bytes rounded = align_up(size, options_.alignment);
    if (const Span* const span = books_.take(rounded, size)) {
      count_allocation();
      return span->shown;
    }
    Result<std::byte*> address = allocate_slowly(rounded, size);
    if (address) count_allocation();
    return address;
  }

  void free(std::byte* address, Bytes size, StreamId stream) {
    if (address == nullptr) return;
    if (checks_) check_free(address, size, stream);
    Span* const span = books_.remove(address);
    if (span == nullptr) return;
    if (span->stitch != 0) space().end_use(span->stitch, options_.stream, true);
    books_.give_back(span);
  }

  Status record_use(const std::byte* address, StreamId stream) {
    if (checks_) check_thread();
    if (stream != options_.stream) {
      return Error{
          ErrorCode::unsupported, fmt::format("this allocator serves stream {} only", options_.stream.index()), {}};
    }
    if (books_.find(address) == nullptr) return Error{ErrorCode::invalid, "not an allocation of this allocator", {}};
    return Done{};
  }

  Bytes trim() override {
    if (checks_) check_thread();
    return runtime::is_quiet(device(), options_.stream) ? give_back_idle() : Bytes(0);
  }

  [[nodiscard]] AllocatorStats stats() const override { return stats_of(live_figures(), {&tenant_, 1}); }
  void reset_peaks() {
    restart_figures(live_figures());
    allocations_ = 0;
  }
  [[nodiscard]] MemorySnapshot snapshot() const {
    return runtime::snapshot_of(books_, {device().id(), options_.stream});
  }
  [[nodiscard]] const CachingOptions& options() const { return options_; }

 private:
  Result<std::byte*> allocate_slowly(Bytes size, Bytes requested);
  void count_allocation() {
    ++allocations_;
    figures.requested_peak = std::max(figures.requested_peak, books_.requested());
    figures.rounded_peak = std::max(figures.rounded_peak, books_.live());
  }
  Status synchronize() override {
    ++figures.waits;
    return device().synchronize(options_.stream);
  }
  Bytes give_back_idle() override {
    return return_idle({&tenant_, 1}, [](const runtime::SpanHeap&) { return true; });
  }
  [[nodiscard]] LiveFigures live_figures() const {
    return {.requested = books_.requested(),
            .rounded = books_.live(),
            .largest_idle = books_.largest_idle(),
            .live = books_.allocations(),
            .allocations = allocations_};
  }
  void check_thread() const;
  void check_free(const std::byte* address, Bytes size, StreamId stream) const;

  const CachingOptions options_;
  const bool checks_;
  const std::optional<std::thread::id> owner_;
  runtime::SpanHeap books_;
  const runtime::Tenant tenant_;
  std::uint64_t allocations_ = 0;
};

/// A separate function, so that a hit does not pay for the closure.
Result<std::byte*> CachingAllocator::Impl::allocate_slowly(Bytes size, Bytes requested) {
  return serve_at_last(
      requested, [&] { return serve_miss({size, requested, {&tenant_, 1}}, books_.live(), /*is_capture=*/false); });
}

// ------------------------------------------------------------------------------------------------------------- checks

void CachingAllocator::Impl::check_thread() const {
  if (owner_ && *owner_ != std::this_thread::get_id())
    runtime::misused("CachingAllocator", "used by a thread other than its own");
}

void CachingAllocator::Impl::check_free(const std::byte* address, Bytes size, StreamId stream) const {
  check_thread();
  const Span* const span = books_.find(address);
  std::string wrong = span == nullptr ? runtime::explain_unknown(books_, address) : runtime::wrong_size(*span, size);
  if (wrong.empty() && stream != options_.stream) {
    wrong = fmt::format("free of {} on stream {}: it belongs to stream {}", fmt::ptr(address), stream.index(),
                        options_.stream.index());
  }
  if (!wrong.empty()) runtime::misused("CachingAllocator", wrong);
}

// ------------------------------------------------------------------------------------------------------------ surface

CachingAllocator::CachingAllocator(Device& device, const CachingOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
CachingAllocator::~CachingAllocator() = default;

DeviceId CachingAllocator::device() const { return impl_->device().id(); }
Bytes CachingAllocator::alignment() const { return impl_->options().alignment; }

Result<std::byte*> CachingAllocator::allocate(Bytes size, StreamId stream) {
  if (stream != impl_->options().stream) {
    return Error{
        ErrorCode::invalid, fmt::format("this allocator serves stream {} only", impl_->options().stream.index()), {}};
  }
  return impl_->allocate(size);
}

Result<std::byte*> CachingAllocator::allocate(Bytes size) { return impl_->allocate(size); }

void CachingAllocator::free(std::byte* address, Bytes size, StreamId stream) { impl_->free(address, size, stream); }

Status CachingAllocator::record_use(std::byte* address, StreamId stream) { return impl_->record_use(address, stream); }
Bytes CachingAllocator::trim() { return impl_->trim(); }
AllocatorStats CachingAllocator::stats() const { return impl_->stats(); }
void CachingAllocator::reset_peaks() { impl_->reset_peaks(); }
MemorySnapshot CachingAllocator::snapshot() const { return impl_->snapshot(); }

}  // namespace stowage
