#include "stowage/replay.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "replay/blocks.hpp"
#include "replay/interface/lagged_device.hpp"

namespace stowage::replaying {
namespace {

/// An event with everything that the calls need. Allocations that are not live at the same time share an entry in the
/// table of addresses, so that the table stays small enough for the caches.
struct Call {
  Bytes size;
  std::uint32_t place = 0;  ///< Index in the table of addresses.
  StreamId stream;          ///< The allocation's.
  StreamId free_stream;     ///< For a free.
  Trace::Action action = Trace::Action::allocate;
};

struct Script {
  std::vector<Call> calls;
  std::vector<Call> leftovers;  ///< Frees of the allocations that the trace leaves live.
  std::size_t places = 0;
};

Script script_of(const Trace& trace) {
  Script script;
  std::vector<Call> frees(trace.allocations);  // per allocation, as far as known
  std::vector<bool> live(trace.allocations);
  std::vector<std::uint32_t> idle;
  for (const Trace::Event& event : trace.events) {
    Call& call = frees[event.allocation];
    if (event.action == Trace::Action::allocate) {
      if (idle.empty()) idle.push_back(static_cast<std::uint32_t>(script.places++));
      call = {event.size, idle.back(), event.stream, event.stream, Trace::Action::free};
      idle.pop_back();
    } else {
      call.free_stream = event.stream;
      idle.push_back(call.place);
    }
    live[event.allocation] = event.action == Trace::Action::allocate;
    script.calls.push_back(call);
    script.calls.back().action = event.action;
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) script.leftovers.push_back(frees[i]);
  }
  return script;
}

/// Calls `see(position, bytes)` with the bytes that are live after each call. Refused allocations do not count; they
/// are given as positions in `calls`, ascending.
template <class See>
void walk(const Script& script, const std::vector<std::size_t>& refused, See see) {
  std::vector<bool> granted(script.places);
  auto next = refused.begin();
  Bytes now;
  for (std::size_t i = 0; i < script.calls.size(); ++i) {
    const Call& call = script.calls[i];
    if (call.action == Trace::Action::allocate) {
      granted[call.place] = next == refused.end() || *next != i;
      if (!granted[call.place]) ++next;
      if (granted[call.place]) now += call.size;
    } else if (granted[call.place]) {
      now -= call.size;
    }
    see(i, now);
  }
}

Bytes peak_of(const Script& script, const std::vector<std::size_t>& refused) {
  Bytes peak;
  walk(script, refused, [&](std::size_t, Bytes now) { peak = std::max(peak, now); });
  return peak;
}

/// Divides the calls into parts with one sample each:
/// the first call, the last one, and parts of equal length between them.
class Parts {
 public:
  Parts(std::size_t calls, std::size_t samples) : calls_(calls), inner_(calls < 3 ? 0 : std::min(samples, calls) - 2) {}

  [[nodiscard]] std::size_t count() const { return std::min<std::size_t>(calls_, 2) + inner_; }
  [[nodiscard]] std::size_t of(std::size_t call) const {
    if (call == 0) return 0;
    return call + 1 == calls_ ? count() - 1 : 1 + (call - 1) * inner_ / (calls_ - 2);
  }

 private:
  std::size_t calls_;
  std::size_t inner_;
};

/// The calls after which samples are taken, ascending: in each part, the call with the most live bytes.
std::vector<ReplaySample> samples_of(const Script& script, std::size_t limit) {
  if (limit < 3) return {};
  const Parts parts(script.calls.size(), limit);
  std::vector<ReplaySample> samples(parts.count());
  std::vector<Bytes> most(parts.count(), Bytes(-1));
  walk(script, {}, [&](std::size_t call, Bytes now) {
    const std::size_t part = parts.of(call);
    if (now <= most[part]) return;
    most[part] = now;
    samples[part].event = call;
  });
  return samples;
}

/// Replays a trace, pass after pass. Its members are the state of the current pass.
class Replay {
 public:
  Replay(const Trace& trace, Allocator& allocator, LaggedDevice* clock)
      : allocator_(allocator), clock_(clock), script_(script_of(trace)), addresses_(script_.places) {}

  void give_up_after(std::chrono::nanoseconds time) { give_up_at_ = std::chrono::steady_clock::now() + time; }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  /// Takes at most this many samples, and remembers addresses if it reports blocks. Once it gave up, the report is of
  /// no use.
  ReplayReport pass(std::size_t samples, std::size_t blocks) {
    refused_.clear();
    granted_.assign(blocks == 0 ? 0 : script_.calls.size(), nullptr);
    spent_ = {};
    report_ = {.events = script_.calls.size(), .samples = samples_of(script_, samples)};
    const std::span<const Call> calls(script_.calls);
    std::size_t done = 0;
    Bytes peak;
    for (ReplaySample& sample : report_.samples) {
      run_timed(calls.subspan(done, sample.event + 1 - done));
      done = sample.event + 1;
      look(sample, peak);
    }
    run_timed(calls.subspan(done));
    if (!calls.empty()) report_.ns_per_event = spent_.count() / static_cast<double>(calls.size());
    report_.peak_requested = peak_of(script_, refused_);
    count_requested();
    if (blocks > 0) report_.blocks = blocks_of(grants(), blocks);
    add_counts(allocator_.stats());
    run(script_.leftovers);
    return report_;
  }

 private:
  void run_timed(std::span<const Call> calls) {
    const auto start = std::chrono::steady_clock::now();
    run(calls);
    spent_ += std::chrono::steady_clock::now() - start;
  }

  /// `peak` is the allocator's peak at the previous sample.
  void look(ReplaySample& sample, Bytes& peak) const {
    const AllocatorStats stats = allocator_.stats();
    sample.reserved = stats.reserved_peak > peak ? stats.reserved_peak : stats.reserved;
    sample.largest_idle = stats.largest_idle;
    peak = std::max(peak, stats.reserved_peak);
  }

  void count_requested() {
    if (report_.samples.empty()) return;
    const Parts parts(script_.calls.size(), report_.samples.size());
    walk(script_, refused_, [&](std::size_t call, Bytes now) {
      ReplaySample& sample = report_.samples[parts.of(call)];
      sample.requested = std::max(sample.requested, now);
    });
    if (refused_.empty()) return;
    // With refusals, `requested` may come from another call of the part: its bytes were reserved too, and not idle.
    for (ReplaySample& sample : report_.samples) {
      sample.reserved = std::max(sample.reserved, sample.requested);
      sample.largest_idle = std::min(sample.largest_idle, sample.reserved - sample.requested);
    }
  }

  /// Of all allocations, by the call that made them.
  [[nodiscard]] std::vector<Grant> grants() const {
    std::vector<Grant> list;
    std::vector<std::size_t> open(script_.places);  // by place: the last grant there
    for (std::size_t i = 0; i < script_.calls.size(); ++i) {
      const Call& call = script_.calls[i];
      if (call.action == Trace::Action::free) {
        list[open[call.place]].end = i;
        continue;
      }
      open[call.place] = list.size();
      list.push_back({i, script_.calls.size(), reinterpret_cast<std::uintptr_t>(granted_[i]), call.size, call.stream});
    }
    return list;
  }

  void run(std::span<const Call> calls) {
    for (const Call& call : calls) {
      if (call.action == Trace::Action::allocate) {
        if (!allocate(call)) return;
      } else {
        free(call);
      }
      if (clock_ != nullptr) clock_->advance();
    }
  }

  /// False if the replay must end.
  bool allocate(const Call& call) {
    if (gave_up_) return false;
    Result<std::byte*> address = allocator_.allocate(call.size, call.stream);
    if (address) {
      addresses_[call.place] = *address;
      if (!granted_.empty()) granted_[static_cast<std::size_t>(&call - script_.calls.data())] = *address;
      return true;
    }
    addresses_[call.place] = nullptr;
    refused_.push_back(static_cast<std::size_t>(&call - script_.calls.data()));
    fail(std::move(address).error());
    gave_up_ = give_up_at_ && std::chrono::steady_clock::now() >= *give_up_at_;
    return !gave_up_;
  }

  /// A null address needs no free: it stands for 0 bytes, or for a refused allocation.
  void free(const Call& call) {
    std::byte* const address = addresses_[call.place];
    if (address == nullptr) return;
    if (call.free_stream != call.stream) {
      if (Status used = allocator_.record_use(address, call.free_stream); !used) fail(std::move(used).error());
    }
    allocator_.free(address, call.size, call.stream);
  }

  void fail(Error error) {
    if (report_.failures++ == 0) report_.first_failure = std::move(error);
  }

  void add_counts(const AllocatorStats& stats) {
    report_.peak_reserved = stats.reserved_peak;
    report_.creates = stats.creates;
    report_.maps = stats.maps;
    report_.unmaps = stats.unmaps;
    report_.access_calls = stats.access_calls;
    report_.event_waits = stats.event_waits;
  }

  Allocator& allocator_;
  LaggedDevice* clock_;
  Script script_;
  std::vector<std::byte*> addresses_;  ///< By `Call::place`.
  std::vector<std::size_t> refused_;   ///< In this pass.
  std::vector<std::byte*> granted_;    ///< By call; empty if nobody wants to know.
  std::chrono::duration<double, std::nano> spent_{};
  std::optional<std::chrono::steady_clock::time_point> give_up_at_;
  bool gave_up_ = false;
  ReplayReport report_;
};

}  // namespace

Result<ReplayReport> replay_unless_refused(const Trace& trace, Allocator& allocator, LaggedDevice* clock,
                                           const ReplayOptions& options) {
  STOWAGE_CHECK(options.passes > 0, "a replay needs at least one pass");
  Replay replay(trace, allocator, clock);
  if (options.give_up_after) replay.give_up_after(*options.give_up_after);
  for (std::uint32_t i = 1; i < options.passes; ++i) {
    (void)replay.pass(0, 0);
    allocator.reset_peaks();
  }
  ReplayReport report = replay.pass(options.samples, options.blocks);
  if (!replay.gave_up()) return report;
  Error error = report.first_failure.value_or(Error{ErrorCode::out_of_memory, {}, {}});
  error.message = fmt::format("gave up, because too much was refused; the first time: {}", error.message);
  return error;
}

ReplayReport replay_with_clock(const Trace& trace, Allocator& allocator, LaggedDevice* clock,
                               const ReplayOptions& options) {
  ReplayOptions patient = options;
  patient.give_up_after.reset();
  return *replay_unless_refused(trace, allocator, clock, patient);
}

}  // namespace stowage::replaying

namespace stowage {

double ReplayReport::waste() const {
  if (peak_reserved == Bytes(0)) return 0;
  return 1.0 - static_cast<double>(peak_requested.value()) / static_cast<double>(peak_reserved.value());
}

ReplayReport replay(const Trace& trace, Allocator& allocator, const ReplayOptions& options) {
  return replaying::replay_with_clock(trace, allocator, nullptr, options);
}

Result<ReplayReport> replay(const Trace& trace, std::string_view allocator, Device& device,
                            const ReplayOptions& options) {
  std::optional<replaying::LaggedDevice> lagged;
  if (options.lag) lagged.emplace(device, *options.lag);
  replaying::LaggedDevice* const clock = lagged ? &*lagged : nullptr;
  STOWAGE_TRY(const std::unique_ptr<Allocator> made,
              make_allocator(allocator, clock != nullptr ? *clock : device, &trace));
  return replaying::replay_unless_refused(trace, *made, clock, options);
}

Bytes peak_requested(const Trace& trace) { return replaying::peak_of(replaying::script_of(trace), {}); }

}  // namespace stowage
