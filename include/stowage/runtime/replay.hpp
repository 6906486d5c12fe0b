#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/runtime/allocator.hpp"
#include "stowage/runtime/lagged_device.hpp"
#include "stowage/runtime/trace.hpp"

namespace stowage {

struct ReplayOptions {
  std::uint32_t passes = 1;       ///< At least 1. From the second on the allocator has its memory already.
  LaggedDevice* clock = nullptr;  ///< Moves on with every event of the trace; null: no clock.
  std::size_t samples = 0;        ///< At most so many are taken, in the last pass. Below 3: none.
};

/// Where an allocator stood after an event.
struct ReplaySample {
  std::uint64_t event = 0;
  Bytes requested;     ///< Live, of what was granted.
  Bytes reserved;      ///< What the allocator held; where its peak rose since the sample before, that peak.
  Bytes largest_idle;  ///< As the allocator says; where something was refused, at most what is reserved and not requested.

  friend bool operator==(const ReplaySample&, const ReplaySample&) = default;
};

/// What an allocator made of a trace, in the last pass.
struct ReplayReport {
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

  /// The first and the last event, and of each of many equal parts between them the one with the most bytes requested (as the
  /// trace asks; where something was refused, the sample has the most that was granted in its part). Hence the most of all
  /// samples are the peaks above.
  std::vector<ReplaySample> samples = {};

  /// 1 - peak requested / peak reserved; 0 where nothing was reserved.
  [[nodiscard]] double waste() const;
};

/// Asks the allocator for what the trace asked for, pass after pass. A free on another stream than its allocation's says first
/// that this stream used it. Between passes whatever is live is freed and the allocator's peaks start anew; after the last one,
/// all is freed too. The time is that of the calls alone, with a loop of a few instructions around them; samples are taken while
/// the clock is stopped. O(events) a pass, and the allocator's `stats` for each sample.
[[nodiscard]] ReplayReport replay(const Trace& trace, Allocator& allocator, const ReplayOptions& options);

/// The most bytes that are live at once.
[[nodiscard]] Bytes peak_requested(const Trace& trace);

}  // namespace stowage
