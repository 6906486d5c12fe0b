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

/// Allocators over allocators: each adds one behaviour and leaves the rest to the one that it
/// wraps, so that they compose in any order. The wrapped allocator must outlive its adaptor. What
/// is allocated through an adaptor is freed through it.
///
/// Thread safety: that of the wrapped allocator; what an adaptor keeps itself is always guarded.
/// `LockAdaptor` adds it.
namespace stowage {

/// Leaves everything to the wrapped allocator; adaptors override what they change.
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

/// What happened between two moments.
struct AllocationCounters {
  Bytes
      requested;  ///< Allocated less freed. Below 0 where more was freed, of what was there before.
  Bytes requested_peak;  ///< The highest that `requested` was.
  Bytes rounded;         ///< As `requested`, sizes rounded up to the alignment.
  Bytes rounded_peak;
  Bytes reserved;  ///< By how much the wrapped allocator's footprint grew; below 0 where it shrank.
  Bytes reserved_peak;  ///< By how much the peak of that footprint rose; 0 where it was higher
                        ///< before.

  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t failures = 0;

  friend bool operator==(const AllocationCounters&, const AllocationCounters&) = default;
};

/// Counts what goes through it, apart from whatever else uses the wrapped allocator: requested and
/// rounded bytes, allocations and failures in `stats` are its own, the footprint and the calls to
/// the device come from below.
///
/// Levels of counters nest: `push` begins one, `pop` ends the innermost and says what happened in
/// it; the levels around it count that too, peaks included. Levels are the adaptor's, not a
/// thread's. Requests of 0 bytes do not count.
class STOWAGE_EXPORT StatisticsAdaptor final : public AllocatorAdaptor {
 public:
  explicit StatisticsAdaptor(Allocator& wrapped);

  void push();
  /// What happened since the push, or since `reset_peaks` if that was later. Fails with `invalid`
  /// where nothing was pushed.
  Result<AllocationCounters> pop();
  /// What `pop` would say; with nothing pushed, since the start.
  [[nodiscard]] AllocationCounters counters() const;

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  void free(std::byte* address, Bytes size, StreamId stream) override;
  [[nodiscard]] AllocatorStats stats() const override;
  /// Restarts all levels, besides what the interface says.
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

/// Refuses with `out_of_memory` whatever would bring the live bytes that went through it, each size
/// rounded up to the alignment, above a limit; the message has the figures. Refusals count as
/// failures. Exact with many threads too: a request is refused only if it and what others hold, or
/// are just being given, exceed the limit.
class STOWAGE_EXPORT LimitAdaptor final : public AllocatorAdaptor {
 public:
  /// A limit of 0 or less refuses everything.
  LimitAdaptor(Allocator& wrapped, Bytes limit) : AllocatorAdaptor(wrapped), limit_(limit) {}

  [[nodiscard]] Bytes limit() const { return limit_; }
  /// Live bytes, rounded.
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

/// Writes every allocation, failure and free as a line of CSV, in the format of RMM's logging
/// adaptor, which its replay benchmark and `stowage replay` read: the header
/// `Thread,Time,Action,Pointer,Size,Stream`, then for example
///
///     4711,14:21:19.998533,allocate,0x30a000000,256,0x2
///     4711,14:21:20.000017,allocate failure,(nil),1099511627776,0
///     4711,14:21:32.661875,free,0x30a000000,256,0x2
///
/// Thread is the system's number of it, Time is local, Size is as requested, Stream is hexadecimal.
/// Requests that give no memory (0 bytes, null, below 0) have no line, so that every free names an
/// allocation before it; nor has `record_use`, which the format does not know. With many threads
/// the order of lines is one in which the addresses make sense: a free is written before it
/// happens, an allocation after.
///
/// The stream belongs to the caller, must outlive the adaptor and be left alone while it is used.
/// Its failures are its own: lines are lost then, allocation goes on.
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

/// Which requests are to fail; one that any of these applies to does. Requests are counted from 1;
/// those of 0 bytes or less neither count nor fail.
struct FailureOptions {
  std::uint64_t nth = 0;    ///< This one. 0: none.
  std::uint64_t every = 0;  ///< All whose number is a multiple of it. 0: none.
  double probability = 0;   ///< Of each; the same ones for the same seed.
  std::uint64_t seed = 1;
  std::optional<Bytes> above = {};  ///< All larger ones.
};

/// Fails on request, with `out_of_memory` and without asking the wrapped allocator: for testing how
/// its users bear it.
class STOWAGE_EXPORT FailureAdaptor final : public AllocatorAdaptor {
 public:
  FailureAdaptor(Allocator& wrapped, FailureOptions options);

  /// From now on this, with the count and the seed from their start.
  void restart(FailureOptions options);

  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;

 private:
  /// The number of a request that is to fail; nothing for one that is not.
  std::optional<std::uint64_t> next_fails(Bytes size);

  mutable std::mutex mutex_;
  FailureOptions options_;
  std::mt19937_64 random_;
  std::uint64_t requests_ = 0;
  std::uint64_t injected_ = 0;
};

/// When the wrapped allocator is out of memory, asks somebody who may free some, through this
/// allocator too.
class STOWAGE_EXPORT FailureCallbackAdaptor final : public AllocatorAdaptor {
 public:
  /// Whether to try again. Called in the allocating thread, without holding a lock; again after
  /// each retry that failed, so it must return false at some point.
  using Callback = std::function<bool(Bytes size, StreamId stream, const Error& error)>;

  FailureCallbackAdaptor(Allocator& wrapped, Callback callback);

  /// Errors other than `out_of_memory` are returned at once.
  Result<std::byte*> allocate(Bytes size, StreamId stream) override;
  /// Failures are those that were given up.
  [[nodiscard]] AllocatorStats stats() const override;
  void reset_peaks() override;

 private:
  const Callback callback_;
  std::atomic<std::uint64_t> failures_{0};
};

// ------------------------------------------------------------------------------------------- lock

/// One mutex around every call: makes an allocator for one thread serve many. Nothing else may use
/// the wrapped allocator meanwhile. An allocator that checks its owner must be told not to.
class STOWAGE_EXPORT LockAdaptor final : public AllocatorAdaptor {
 public:
  explicit LockAdaptor(Allocator& wrapped) : AllocatorAdaptor(wrapped) {}

  /// Keeps everybody else out while it is held, for what the wrapped allocator has besides the
  /// interface.
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
