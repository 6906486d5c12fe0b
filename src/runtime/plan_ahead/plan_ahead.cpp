#include "stowage/runtime/plan_ahead.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/exiting.hpp"
#include "runtime/misuse.hpp"
#include "runtime/plan_ahead/iteration_plan.hpp"
#include "runtime/plan_ahead/plan_server.hpp"
#include "runtime/plan_ahead/planned_range.hpp"
#include "runtime/plan_ahead/recording.hpp"

namespace stowage {
namespace {

using Clock = std::chrono::steady_clock;
using runtime::IterationPlan;
using runtime::PlannedRange;
using runtime::PlanServer;
using runtime::Recording;

void add_calls(AllocatorStats& to, const AllocatorStats& from) {
  to.failures += from.failures;
  to.creates += from.creates;
  to.releases += from.releases;
  to.maps += from.maps;
  to.unmaps += from.unmaps;
  to.access_calls += from.access_calls;
  to.event_waits += from.event_waits;
}

}  // namespace

class PlanAheadAllocator::State {
 public:
  State(Device& device, Allocator& fallback, PlanAheadOptions options)
      : device_(device), fallback_(fallback), options_(std::move(options)), alignment_(fallback.alignment()) {
    if (options_.pool == nullptr && device.virtual_memory() != nullptr) {
      own_pool_ = std::make_unique<PhysicalPool>(*device.virtual_memory());
      options_.pool = own_pool_.get();
    }
  }

  ~State() {
    if (server_ != nullptr && (runtime::process_is_exiting() || !server_->synchronize())) range_->leave_mapped();
  }

  void begin_iteration() {
    end_iteration();
    in_iteration_ = true;
    if (server_ != nullptr) {
      server_->begin_iteration();
    } else if (pause_ > 0) {
      --pause_;
    } else {
      recording_ = std::make_unique<Recording>();
    }
  }

  void end_iteration() {
    in_iteration_ = false;
    if (recording_ == nullptr) return;
    const std::unique_ptr<Recording> recording = std::move(recording_);
    const Clock::time_point start = Clock::now();
    Result<IterationPlan> plan = runtime::plan_iteration(recording->allocations(), planning_options(start));
    counts_.plan_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (plan && plan->size > Bytes(0)) take_over(std::move(*plan));
  }

  Status forget_plan() {
    pause_ = 0;
    if (server_ == nullptr) return Done{};
    if (server_->live() > 0) {
      return Error{ErrorCode::invalid, fmt::format("{} allocations of the plan are still live", server_->live()), {}};
    }
    STOWAGE_TRY_STATUS(server_->synchronize());
    close_phase();
    past_.event_waits += server_->event_waits();
    past_.unmaps += range_->maps();
    server_.reset();
    range_.reset();
    return Done{};
  }

  Result<std::byte*> allocate(Bytes size, StreamId stream) {
    if (in_iteration_ && server_ != nullptr && size > Bytes(0) && size <= kMaxBytes) {
      const PlanServer::Answer answer = server_->allocate(size, stream);
      count(answer.verdict);
      if (answer.address != nullptr) {
        if (answer.verdict != PlanServer::Verdict::served) ++counts_.sheltered;
        allocated(size);
        return answer.address;
      }
    }
    Result<std::byte*> address = fallback_.allocate(size, stream);
    if (!address || *address == nullptr) return address;
    allocated(size);
    if (recording_ != nullptr) recording_->allocated(*address, align_up(size, alignment_), stream);
    return address;
  }

  void free(std::byte* address, Bytes size, StreamId stream) {
    if (address == nullptr) return;
    if (server_ != nullptr && server_->owns(address)) {
      if (const std::optional<Bytes> requested = server_->free(address, size, stream)) freed(*requested);
      return;
    }
    if (recording_ != nullptr) recording_->freed(address);
    fallback_.free(address, size, stream);
    freed(size);
  }

  Status record_use(std::byte* address, StreamId stream) {
    if (server_ != nullptr && server_->owns(address)) return server_->record_use(address, stream);
    return fallback_.record_use(address, stream);
  }

  [[nodiscard]] AllocatorStats stats() const {
    const AllocatorStats fallback = fallback_.stats();
    AllocatorStats stats = own_;
    stats.reserved = range_size() + fallback.reserved;
    stats.reserved_peak = std::max(past_.reserved_peak, range_size() + fallback.reserved_peak);
    stats.largest_idle = fallback.largest_idle;
    add_calls(stats, past_);
    add_calls(stats, fallback);
    if (server_ != nullptr) stats.event_waits += server_->event_waits();
    return stats;
  }

  void reset_peaks() {
    fallback_.reset_peaks();
    past_ = {};
    own_.requested_peak = own_.requested;
    own_.rounded_peak = own_.rounded;
    own_.allocations = 0;
    if (server_ != nullptr) server_->reset_waits();
    counts_.served = counts_.unplanned = counts_.deviated = counts_.blocked = counts_.sheltered = 0;
  }

  [[nodiscard]] MemorySnapshot snapshot() const {
    MemorySnapshot snapshot = fallback_.snapshot();
    if (server_ == nullptr) return snapshot;
    const Bytes size = server_->plan().size;
    snapshot.segments.push_back({.address = range_->base(),
                                 .size = size,
                                 .stream = server_->plan().streams.front(),
                                 .stitched = false,
                                 .blocks = server_->blocks(size)});
    return snapshot;
  }

  [[nodiscard]] PlanAheadCounts counts() const {
    PlanAheadCounts counts = counts_;
    if (server_ == nullptr) return counts;
    const IterationPlan& plan = server_->plan();
    counts.planned = static_cast<std::uint64_t>(std::count_if(
        plan.slots.begin(), plan.slots.end(), [](const runtime::PlannedSlot& slot) { return slot.planned(); }));
    counts.plan_size = plan.size;
    counts.plan_bound = plan.bound;
    return counts;
  }

  [[nodiscard]] Allocator& fallback() const { return fallback_; }

 private:
  [[nodiscard]] runtime::PlanningOptions planning_options(Clock::time_point start) const {
    runtime::PlanningOptions options{.alignment = alignment_,
                                     .solver = options_.solver,
                                     .node_budget = options_.node_budget,
                                     .handover_distance = Step(options_.handover_distance)};
    if (options_.time_limit) options.deadline = start + *options_.time_limit;
    return options;
  }

  /// The fallback is trimmed first, because the plan's range replaces the memory that the first iteration got from it.
  /// Only memory that no work uses can be trimmed; therefore this waits for the streams, once. If that fails, the
  /// fallback keeps more.
  void take_over(IterationPlan plan) {
    for (const StreamId stream : plan.streams) static_cast<void>(device_.synchronize(stream));
    fallback_.trim();
    close_phase();
    const std::uint64_t creates = creates_so_far();
    Result<std::unique_ptr<PlannedRange>> range =
        PlannedRange::take({.device = &device_, .pool = options_.pool, .alignment = alignment_}, plan.size);
    if (!range) {
      // Trimming and planning in every iteration would cost more than a plan could save.
      pause_ = std::uint64_t{1} << std::min<std::uint64_t>(counts_.refusals++, 16);
      return;
    }
    range_ = std::move(*range);
    past_.creates += options_.pool == nullptr ? 1 : creates_so_far() - creates;
    past_.maps += range_->maps();
    if (range_->maps() > 0) ++past_.access_calls;
    server_ = std::make_unique<PlanServer>(
        device_, std::move(plan), range_->base(),
        PlanServer::Options{.alignment = alignment_,
                            .cursor = {.window = options_.window, .least_share = options_.least_share},
                            .checks = runtime::is_on(options_.checks)});
    ++counts_.plans;
  }

  [[nodiscard]] std::uint64_t creates_so_far() const {
    return options_.pool == nullptr ? 0 : options_.pool->counts().creates;
  }

  /// The peaks of the fallback and of the range can be added only while the range does not change.
  void close_phase() {
    const AllocatorStats fallback = fallback_.stats();
    past_.reserved_peak = std::max(past_.reserved_peak, range_size() + fallback.reserved_peak);
    add_calls(past_, fallback);
    fallback_.reset_peaks();
  }

  [[nodiscard]] Bytes range_size() const { return range_ == nullptr ? Bytes(0) : range_->size(); }

  void allocated(Bytes size) {
    own_.requested += size;
    own_.rounded += align_up(size, alignment_);
    own_.requested_peak = std::max(own_.requested_peak, own_.requested);
    own_.rounded_peak = std::max(own_.rounded_peak, own_.rounded);
    ++own_.live;
    ++own_.allocations;
  }

  void freed(Bytes size) {
    own_.requested -= size;
    own_.rounded -= align_up(size, alignment_);
    --own_.live;
  }

  void count(PlanServer::Verdict verdict) {
    switch (verdict) {
      case PlanServer::Verdict::served:
        ++counts_.served;
        break;
      case PlanServer::Verdict::unplanned:
        ++counts_.unplanned;
        break;
      case PlanServer::Verdict::deviated:
        ++counts_.deviated;
        break;
      case PlanServer::Verdict::blocked:
        ++counts_.blocked;
        break;
    }
  }

  Device& device_;
  Allocator& fallback_;
  PlanAheadOptions options_;
  const Bytes alignment_;
  std::unique_ptr<PhysicalPool> own_pool_;  ///< Must outlive the range.
  std::unique_ptr<PlannedRange> range_;
  std::unique_ptr<PlanServer> server_;  ///< Present if and only if the range is.
  std::unique_ptr<Recording> recording_;
  bool in_iteration_ = false;
  std::uint64_t pause_ = 0;  ///< Iterations until the next one is recorded.
  AllocatorStats own_;       ///< Requested, rounded, live and allocations, for plan and fallback together.
  AllocatorStats past_;  ///< Calls and peak reserved bytes of earlier phases, before the fallback's counts were reset.
  PlanAheadCounts counts_;
};

Result<std::unique_ptr<PlanAheadAllocator>> PlanAheadAllocator::make(Device& device, Allocator& fallback,
                                                                     PlanAheadOptions options) {
  const auto refuse = [&](std::string_view who, DeviceId other) {
    return Error{ErrorCode::invalid,
                 fmt::format("planning ahead is on device {}, but the {} is on device {}", device.id().index(), who,
                             other.index()),
                 {}};
  };
  if (fallback.device() != device.id()) return refuse("fallback", fallback.device());
  if (options.pool != nullptr && options.pool->memory().device() != device.id()) {
    return refuse("pool", options.pool->memory().device());
  }
  return std::unique_ptr<PlanAheadAllocator>(
      new PlanAheadAllocator(std::make_unique<State>(device, fallback, std::move(options))));
}

PlanAheadAllocator::PlanAheadAllocator(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlanAheadAllocator::~PlanAheadAllocator() = default;

void PlanAheadAllocator::begin_iteration() { state_->begin_iteration(); }
void PlanAheadAllocator::end_iteration() { state_->end_iteration(); }
Status PlanAheadAllocator::forget_plan() { return state_->forget_plan(); }
DeviceId PlanAheadAllocator::device() const { return state_->fallback().device(); }
Bytes PlanAheadAllocator::alignment() const { return state_->fallback().alignment(); }
Result<std::byte*> PlanAheadAllocator::allocate(Bytes size, StreamId stream) { return state_->allocate(size, stream); }
void PlanAheadAllocator::free(std::byte* address, Bytes size, StreamId stream) { state_->free(address, size, stream); }
Status PlanAheadAllocator::record_use(std::byte* address, StreamId stream) {
  return state_->record_use(address, stream);
}
Bytes PlanAheadAllocator::trim() { return state_->fallback().trim(); }
AllocatorStats PlanAheadAllocator::stats() const { return state_->stats(); }
void PlanAheadAllocator::reset_peaks() { state_->reset_peaks(); }
MemorySnapshot PlanAheadAllocator::snapshot() const { return state_->snapshot(); }
PlanAheadCounts PlanAheadAllocator::counts() const { return state_->counts(); }

}  // namespace stowage
