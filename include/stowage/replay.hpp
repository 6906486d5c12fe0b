#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/memory.hpp"
#include "stowage/runtime/allocator.hpp"

/// Replays a trace of allocations and frees on any allocator, and measures what it reserves, wastes
/// and how long it takes. docs/replay.md explains the figures.
namespace stowage {

// ----------------------------------------------------------------------------------------- traces

/// The allocations and frees of a program, in order.
struct Trace {
  enum class Action : std::uint8_t { allocate, free };
  struct Event {
    Action action = Action::allocate;
    std::uint32_t allocation = 0;  ///< Its number, from 0 in order of allocation; never reused.
    Bytes size;                    ///< As requested.
    StreamId stream;               ///< The stream of a free may differ from that of its allocation.

    friend bool operator==(const Event&, const Event&) = default;
  };
  /// Every free refers to an earlier allocation that has not been freed.
  std::vector<Event> events;
  std::uint32_t allocations = 0;

  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Reads a trace: a CSV with the columns op (a or f), id, size, stream, or an RMM log with the
/// columns Action, Pointer, Size, Stream, recognized by its header. `file` is the name for error
/// messages. An id or pointer may be reused once it is freed. Streams are numbered in order of
/// first use. Failed allocations and null pointers of 0 bytes in a log are skipped. Fails with
/// `ErrorCode::parse`, naming the line, on a missing column, a malformed or out-of-range number, a
/// free of something that is not allocated or has another size, an id that is already allocated,
/// and more than `kMaxBytes` live at once.
STOWAGE_EXPORT Result<Trace> parse_trace(std::string_view text, const std::string& file);
/// Writes the first kind of CSV. It reads back as the same trace if its streams are numbered as
/// `parse_trace` does.
[[nodiscard]] STOWAGE_EXPORT std::string trace_to_csv(const Trace& trace);

/// The most bytes that are live at once.
[[nodiscard]] STOWAGE_EXPORT Bytes peak_requested(const Trace& trace);

// ------------------------------------------------------------------------------------- allocators

/// An allocator that can be made by name.
struct AllocatorInfo {
  std::string_view name;
  std::string_view summary;  ///< A short description.
  bool any_stream = true;    ///< False: it serves stream 0 only.
};

/// All allocators, of this library and models of others; the first is the default.
[[nodiscard]] STOWAGE_EXPORT std::span<const AllocatorInfo> allocators();

/// Makes an allocator. `expected`, which may be null, is the trace to come, for allocators that
/// plan ahead. The device and the trace must outlive the allocator. Fails with
/// `ErrorCode::unknown_name`, listing the names, or when the device does not suit the allocator.
STOWAGE_EXPORT Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name,
                                                                 Device& device,
                                                                 const Trace* expected = nullptr);

// ----------------------------------------------------------------------------------------- replay

struct ReplayOptions {
  /// At least 1. From the second pass on, the allocator already holds its memory.
  std::uint32_t passes = 1;
  /// The maximum number of samples, taken in the last pass. Below 3: none.
  std::size_t samples = 0;
  /// The maximum number of blocks to report, of the last pass. 0: none.
  std::size_t blocks = 0;
  /// Work on a stream completes this many events of the trace after it was submitted, whatever the
  /// device says; absent: when the device says so. Only if the replay makes the allocator itself.
  std::optional<std::uint64_t> lag = {};
  /// A refused request takes about a millisecond, because everything idle is returned first. The
  /// first one after this time ends the replay. Absent: never. Only if the replay makes the
  /// allocator itself.
  std::optional<std::chrono::nanoseconds> give_up_after = {};
};

/// The state of an allocator after an event.
struct ReplaySample {
  std::uint64_t event = 0;
  Bytes requested;  ///< Live bytes, as granted.
  Bytes reserved;   ///< Reserved bytes; if the peak rose since the previous sample, that peak.
  /// As the allocator reports; if something was refused, at most what is reserved and not
  /// requested.
  Bytes largest_idle;

  friend bool operator==(const ReplaySample&, const ReplaySample&) = default;
};

/// An allocation that was granted, with the bytes and the events that it took.
struct ReplayBlock {
  std::uint64_t first = 0;  ///< The event that allocated it.
  std::uint64_t end = 0;    ///< The event that freed it, or one past the last event.
  Bytes low;                ///< Its place, see `ReplayBlocks`.
  Bytes size;
  StreamId stream;

  friend bool operator==(const ReplayBlock&, const ReplayBlock&) = default;
};

/// Where allocations lay. Places are addresses without large gaps: runs of addresses that blocks
/// use, the segments, follow each other from 0.
struct ReplayBlocks {
  std::vector<ReplayBlock> list = {};  ///< In order of allocation.
  std::vector<Bytes> segments = {};    ///< Their sizes.
  std::size_t left_out = 0;            ///< Blocks above the limit, the smallest in bytes × events.

  friend bool operator==(const ReplayBlocks&, const ReplayBlocks&) = default;
};

/// The figures of the last pass of a replay.
struct STOWAGE_EXPORT ReplayReport {
  std::string allocator = {};  ///< For printing; `replay` leaves both names empty.
  std::string device = {};
  std::uint64_t events = 0;
  Bytes peak_requested = {};  ///< Counted by the replay, as granted.
  Bytes peak_reserved = {};   ///< As the allocator reports.
  double ns_per_event = 0;
  std::uint64_t failures = 0;  ///< Refused allocations; their frees are skipped.
  std::optional<Error> first_failure = {};

  // Of the allocator's own counts.
  std::uint64_t creates = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t access_calls = 0;
  std::uint64_t event_waits = 0;

  /// The first and the last event, and from each of many equal parts between them the event with
  /// the most bytes requested by the trace. If something was refused, the sample has the most that
  /// was granted in its part. Hence the maxima over all samples are the peaks above.
  std::vector<ReplaySample> samples = {};
  ReplayBlocks blocks = {};

  /// 1 - peak requested / peak reserved; 0 if nothing was reserved.
  [[nodiscard]] double waste() const;
};

/// Replays the trace, pass after pass. A free on another stream than its allocation is preceded by
/// `record_use` for that stream. After each pass everything live is freed; before the next, the
/// allocator's peaks are reset. Only the calls, in a loop of a few instructions, are timed; the
/// clock is stopped for samples. O(events) per pass, plus the allocator's `stats` per sample.
[[nodiscard]] STOWAGE_EXPORT ReplayReport replay(const Trace& trace, Allocator& allocator,
                                                 const ReplayOptions& options);

/// The same with an allocator made by name for this replay. Fails as `make_allocator` does, and
/// with `ErrorCode::out_of_memory` if it gave up.
STOWAGE_EXPORT Result<ReplayReport> replay(const Trace& trace, std::string_view allocator,
                                           Device& device, const ReplayOptions& options);

/// `stowage.replay/1`, one object on one line.
[[nodiscard]] STOWAGE_EXPORT std::string replay_to_json(const ReplayReport& report);

}  // namespace stowage
