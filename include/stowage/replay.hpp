#pragma once

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

/// What a program asked of its allocator, asked again of any allocator: what that one reserves,
/// wastes and takes. docs/replay.md says what the figures mean.
namespace stowage {

// ----------------------------------------------------------------------------------------- traces

/// What a program asked of its allocator, in order.
struct Trace {
  enum class Action : std::uint8_t { allocate, free };
  struct Event {
    Action action = Action::allocate;
    std::uint32_t allocation = 0;  ///< Which one, from 0 in the order of allocation; used once.
    Bytes size;                    ///< As requested.
    StreamId stream;               ///< A free's may be another than its allocation's.

    friend bool operator==(const Event&, const Event&) = default;
  };
  std::vector<Event> events;  ///< Every free names an allocation before it that is not freed yet.
  std::uint32_t allocations = 0;

  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Reads what a program asked of its allocator: a CSV with the columns op (a or f), id, size,
/// stream, or a log of RMM's with the columns Action, Pointer, Size, Stream, by its header. `file`
/// is its name as the user gave it, which only appears in errors. An id or pointer may come again
/// once it is freed; streams are numbered in the order of their first use. Of a log, failed
/// allocations and null pointers of 0 bytes are left out. Fails with `ErrorCode::parse`, naming the
/// line: a column that is missing, a number that is none or out of range, a free of what is not
/// allocated or of another size, an id that is allocated already, more than `kMaxBytes` live at
/// once.
STOWAGE_EXPORT Result<Trace> parse_trace(std::string_view text, const std::string& file);
/// The CSV of the first kind that reads back as the same trace, where its streams are numbered as
/// `parse_trace` does.
[[nodiscard]] STOWAGE_EXPORT std::string trace_to_csv(const Trace& trace);

/// The most bytes that are live at once.
[[nodiscard]] STOWAGE_EXPORT Bytes peak_requested(const Trace& trace);

// ------------------------------------------------------------------------------------- allocators

/// An allocator that can be asked for by name.
struct AllocatorInfo {
  std::string_view name;
  std::string_view summary;  ///< A few words for people.
  bool any_stream = true;    ///< False: it serves stream 0 only.
};

/// All there are, ours and models of others; the first is the default.
[[nodiscard]] STOWAGE_EXPORT std::span<const AllocatorInfo> allocators();

/// `expected` is what will be asked for, for allocators that plan ahead; it may be null. The device
/// and the trace must outlive the allocator. Fails with `ErrorCode::unknown_name`, listing the
/// names, or as the allocator does that the device does not suit.
STOWAGE_EXPORT Result<std::unique_ptr<Allocator>> make_allocator(std::string_view name,
                                                                 Device& device,
                                                                 const Trace* expected = nullptr);

// ----------------------------------------------------------------------------------------- replay

struct ReplayOptions {
  std::uint32_t passes =
      1;  ///< At least 1. From the second on the allocator has its memory already.
  std::size_t samples = 0;  ///< At most so many are taken, in the last pass. Below 3: none.
  /// Work on a stream is complete so many events of the trace after it was submitted, whatever the
  /// device says; absent: as the device says. Only where the replay makes the allocator itself.
  std::optional<std::uint64_t> lag = {};
};

/// Where an allocator stood after an event.
struct ReplaySample {
  std::uint64_t event = 0;
  Bytes requested;  ///< Live, of what was granted.
  Bytes reserved;   ///< What it held; where its peak rose since the sample before, that peak.
  /// As the allocator says; where something was refused, at most what is reserved and not
  /// requested.
  Bytes largest_idle;

  friend bool operator==(const ReplaySample&, const ReplaySample&) = default;
};

/// What an allocator made of a trace, in the last pass.
struct STOWAGE_EXPORT ReplayReport {
  std::string allocator = {};  ///< The names, for whoever prints it; `replay` leaves them empty.
  std::string device = {};
  std::uint64_t events = 0;
  Bytes peak_requested = {};  ///< Counted here, of what was granted.
  Bytes peak_reserved = {};   ///< As the allocator says.
  double ns_per_event = 0;
  std::uint64_t failures = 0;  ///< Allocations that were refused; their frees are left out.
  std::optional<Error> first_failure = {};

  // Of the allocator's own counts.
  std::uint64_t creates = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t access_calls = 0;
  std::uint64_t event_waits = 0;

  /// The first and the last event, and of each of many equal parts between them the one with the
  /// most bytes requested (as the trace asks; where something was refused, the sample has the most
  /// that was granted in its part). Hence the most of all samples are the peaks above.
  std::vector<ReplaySample> samples = {};

  /// 1 - peak requested / peak reserved; 0 where nothing was reserved.
  [[nodiscard]] double waste() const;
};

/// Asks the allocator for what the trace asked for, pass after pass. A free on another stream than
/// its allocation's says first that this stream used it. Between passes whatever is live is freed
/// and the allocator's peaks start anew; after the last one, all is freed too. The time is that of
/// the calls alone, with a loop of a few instructions around them; samples are taken while the
/// clock is stopped. O(events) per pass, and the allocator's `stats` for each sample.
[[nodiscard]] STOWAGE_EXPORT ReplayReport replay(const Trace& trace, Allocator& allocator,
                                                 const ReplayOptions& options);

/// The same with an allocator by name, made for this replay. Fails as `make_allocator` does.
STOWAGE_EXPORT Result<ReplayReport> replay(const Trace& trace, std::string_view allocator,
                                           Device& device, const ReplayOptions& options);

/// `stowage.replay/1`, one object on one line.
[[nodiscard]] STOWAGE_EXPORT std::string replay_to_json(const ReplayReport& report);

}  // namespace stowage
