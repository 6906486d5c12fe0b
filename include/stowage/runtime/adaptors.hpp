#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/runtime/allocator.hpp"

/// Allocators that wrap another allocator and add one behaviour each; they compose in any order.
/// The wrapped allocator must outlive its adaptor. Memory allocated through an adaptor must be
/// freed through it.
///
/// Thread safety is that of the wrapped allocator; an adaptor's own state is always guarded.
/// `LockAdaptor` adds thread safety.
namespace stowage {

/// Forwards everything to the wrapped allocator. Adaptors override what they change.
class STOWAGE_EXPORT AllocatorAdaptor : public Allocator {
 public:
  [[nodiscard]] DeviceId device() const override { return wrapped_.device(); }
  [[nodiscard]] Bytes alignment() const override { return wrapped_.alignment(); }
  Result<std::byte*> allocate(Bytes size, StreamId stream) override {
    return wrapped_.allocate(size, stream);
  }
  void free(std::byte* address, Bytes size, StreamId stream) override {
    wrapped_.free(address, size, stream);
  }
  Status record_use(std::byte* address, StreamId stream) override {
    return wrapped_.record_use(address, stream);
  }
  Bytes trim() override { return wrapped_.trim(); }
  [[nodiscard]] AllocatorStats stats() const override { return wrapped_.stats(); }
  void reset_peaks() override { wrapped_.reset_peaks(); }
  [[nodiscard]] MemorySnapshot snapshot() const override { return wrapped_.snapshot(); }

  [[nodiscard]] Allocator& wrapped() const { return wrapped_; }

 protected:
  explicit AllocatorAdaptor(Allocator& wrapped) : wrapped_(wrapped) {}

 private:
  Allocator& wrapped_;
};

// ------------------------------------------------------------------------------------- statistics

/// What happened in an interval of time.
struct AllocationCounters {
  /// Allocated minus freed; negative if more was freed than allocated.
  Bytes requested;
  Bytes requested_peak;  ///< The maximum of `requested`.
  Bytes rounded;         ///< As `requested`, with sizes rounded up to the alignment.
  Bytes rounded_peak;
  Bytes reserved;  ///< Growth of the wrapped allocator's footprint; negative if it shrank.
  /// Growth of the peak of that footprint.
  Bytes reserved_peak;

  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t failures = 0;

  friend bool operator==(const AllocationCounters&, const AllocationCounters&) = default;
};

/// Counts what goes through it, separately from other users of the wrapped allocator. In `stats`,
/// requested and rounded bytes, allocations and failures are its own; the footprint and the calls
/// to the device are those of the wrapped allocator.
///
/// Levels of counters nest: `push` starts one, `pop` ends the innermost and returns its counters;
/// outer levels include those of inner ones, peaks too. Levels belong to the adaptor, not to a
/// thread. Requests of 0 bytes are not counted.
class STOWAGE_EXPORT StatisticsAdaptor final : public AllocatorAdaptor {
 public:
  explicit StatisticsAdaptor(Allocator& wrapped);

  void push();
  /// The counters since the push, or since `reset_peaks` if that was later. Fails with `invalid`
  /// without a push.
  Result<AllocationCounters> pop();
  /// What `pop` would return; without a push, the counters since the start.
  [[nodiscard]] AllocationCounters counters() const;

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  [[nodiscard]] AllocatorStats stats() const override;
  /// Also restarts all levels.
  void reset_peaks() override;

 private:
  /// A level that starts now.
  [[nodiscard]] AllocationCounters level_from_now(const AllocatorStats& below) const;
  [[nodiscard]] AllocationCounters innermost(const AllocatorStats& below) const;

  mutable std::mutex mutex_;
  AllocationCounters totals_;  ///< Since the adaptor exists, without peaks; never reset.
  /// Where the totals stood when each level started; `requested_peak` and `rounded_peak` are the
  /// highest that they were while it was the innermost level. The first is the whole; never empty.
  std::vector<AllocationCounters> levels_;
};

// ------------------------------------------------------------------------------------------ limit

/// Limits the live bytes allocated through it, with sizes rounded up to the alignment. Requests
/// above the limit fail with `out_of_memory`, giving the figures, and count as failures. Exact with
/// many threads too: a request is refused only if it exceeds the limit together with memory that is
/// allocated or being allocated.
class STOWAGE_EXPORT LimitAdaptor final : public AllocatorAdaptor {
 public:
  /// A limit of 0 or less refuses everything.
  LimitAdaptor(Allocator& wrapped, Bytes limit) : AllocatorAdaptor(wrapped), limit_(limit) {}

  [[nodiscard]] Bytes limit() const { return limit_; }
  /// Live bytes, with sizes rounded up.
  [[nodiscard]] Bytes used() const { return Bytes(used_.load(std::memory_order_relaxed)); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;

 private:
  bool take(Bytes rounded);

  const Bytes limit_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::uint64_t> refusals_{0};
};

// -------------------------------------------------------------------------------------------- log

/// Logs every allocation, failure and free as a line of CSV, in the format of RMM's logging
/// adaptor, which RMM's replay benchmark and `stowage replay` read: the header
/// `Thread,Time,Action,Pointer,Size,Stream`, then for example
///
///     4711,14:21:19.998533,allocate,0x30a000000,256,0x2
///     4711,14:21:20.000017,allocate failure,(nil),1099511627776,0
///     4711,14:21:32.661875,free,0x30a000000,256,0x2
///
/// Thread is the system's thread id, Time is local, Size is as requested, Stream is hexadecimal.
/// Requests that give no memory (0 or fewer bytes, null) are not logged, so every free refers to an
/// earlier allocation; neither is `record_use`, which the format lacks. With many threads the order
/// of lines is consistent: a free is logged before it happens, an allocation after.
///
/// The stream belongs to the caller, must outlive the adaptor and must not be used by others
/// meanwhile. If writing fails, lines are lost; allocation is unaffected.
class STOWAGE_EXPORT LogAdaptor final : public AllocatorAdaptor {
 public:
  /// Writes the header.
  LogAdaptor(Allocator& wrapped, std::ostream& log);

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;

 private:
  void write(const char* action, const std::byte* address, Bytes size, StreamId stream);

  std::mutex mutex_;
  std::ostream& log_;
};

// --------------------------------------------------------------------------------------- failures

/// Which requests fail: those to which any of these conditions applies. Requests are counted from
/// 1; those of 0 or fewer bytes neither count nor fail.
struct FailureOptions {
  std::uint64_t nth = 0;    ///< The request with this number. 0: none.
  std::uint64_t every = 0;  ///< Requests whose number is a multiple of this. 0: none.
  double probability = 0;   ///< Of each request; deterministic for a given seed.
  std::uint64_t seed = 1;
  std::optional<Bytes> above = {};  ///< Requests larger than this.
};

/// Injects failures with `out_of_memory`, without calling the wrapped allocator, to test its users.
class STOWAGE_EXPORT FailureAdaptor final : public AllocatorAdaptor {
 public:
  FailureAdaptor(Allocator& wrapped, FailureOptions options);

  /// Applies new options from now on and restarts the count and the random sequence.
  void restart(FailureOptions options);

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;

 private:
  /// The number of the next request if it must fail.
  std::optional<std::uint64_t> next_fails(Bytes size);

  mutable std::mutex mutex_;
  FailureOptions options_;
  std::mt19937_64 random_;
  std::uint64_t requests_ = 0;
  std::uint64_t injected_ = 0;
};

/// When the wrapped allocator is out of memory, calls back to let the user free some, also through
/// this allocator.
class STOWAGE_EXPORT FailureCallbackAdaptor final : public AllocatorAdaptor {
 public:
  /// Whether to try again. Called in the allocating thread, without holding a lock; again after
  /// each retry that failed, so it must return false at some point.
  using Callback = std::function<bool(Bytes size, StreamId stream, const Error& error)>;

  FailureCallbackAdaptor(Allocator& wrapped, Callback callback);

  /// Errors other than `out_of_memory` are returned immediately.
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  /// Failures are the requests that were given up.
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;

 private:
  const Callback callback_;
  std::atomic<std::uint64_t> failures_{0};
};

// ------------------------------------------------------------------------------------------- lock

/// Locks a mutex around every call, which makes a single-threaded allocator thread-safe. Nothing
/// else may use the wrapped allocator. An allocator that checks its thread must be told not to
/// (`CachingOptions::any_thread`).
class STOWAGE_EXPORT LockAdaptor final : public AllocatorAdaptor {
 public:
  explicit LockAdaptor(Allocator& wrapped) : AllocatorAdaptor(wrapped) {}

  /// Locks the mutex, for calls to the wrapped allocator beyond the interface.
  [[nodiscard]] std::unique_lock<std::mutex> hold() const { return std::unique_lock(mutex_); }

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  Status record_use(std::byte* address, StreamId stream) override;
  Bytes trim() override;
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;
  [[nodiscard]] MemorySnapshot snapshot() const override;

 private:
  mutable std::mutex mutex_;
};

}  // namespace stowage
