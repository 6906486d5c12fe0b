#include "runtime/plan_ahead/iteration_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/interface/interval_map.hpp"
#include "stowage/pack.hpp"

// Every allocation that ends within the iteration is an item that lives from its allocation to its free. For one stream
// that is enough. For several, three ways were tried on a trace of three models
// that are served one request after the other:
//
// - one arena per stream: 10% above the peak of all streams together, because their peaks do not coincide;
// - the packer's stream order, with a distance between streams: 1.0 to 1.4% above it, and 0.5 s;
// - lives in recorded order, extended by the distance, at most to the stream's next allocation: no waste, 0.04 s.
//
// The last one was chosen. It keeps other streams away from bytes that a stream has just freed, unless the stream
// itself goes on: a busy stream may reuse its own bytes at once. Where streams alternate quickly, bytes pass from one
// to the other at once. That costs a wait, but is still correct, because the server orders streams by events whatever
// the plan says. If the extended lives cost more than half a percent, the original ones are planned too, and the better
// plan is taken.
namespace stowage::runtime {
namespace {

/// By which factor the distance between streams may increase the peak.
constexpr double kDistanceTolerance = 1.005;

class Planning {
 public:
  Planning(std::span<const RecordedAllocation> recorded, const PlanningOptions& options)
      : recorded_(recorded), options_(options) {
    for (const RecordedAllocation& one : recorded_) plan_.streams.push_back(one.stream);
    std::sort(plan_.streams.begin(), plan_.streams.end());
    plan_.streams.erase(std::unique(plan_.streams.begin(), plan_.streams.end()), plan_.streams.end());
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
      if (recorded_[i].life.upper != kNever) planned_.push_back(i);
    }
  }

  Result<IterationPlan> run() {
    STOWAGE_TRY(const SolveOutcome outcome, best_outcome());
    plan_.size = outcome.peak;
    plan_.bound = outcome.bound.bytes;
    make_slots(outcome.positions);
    find_predecessors();
    return std::move(plan_);
  }

 private:
  Result<SolveOutcome> best_outcome() const {
    if (plan_.streams.size() < 2) return solved(Step(0));
    STOWAGE_TRY(SolveOutcome apart, solved(options_.handover_distance));
    if (static_cast<double>(apart.peak.value()) <= kDistanceTolerance * static_cast<double>(most_live().value()))
      return apart;
    STOWAGE_TRY(SolveOutcome close, solved(Step(0)));
    const bool better =
        static_cast<double>(apart.peak.value()) > kDistanceTolerance * static_cast<double>(close.peak.value());
    return better ? std::move(close) : std::move(apart);
  }

  Result<SolveOutcome> solved(Step distance) const {
    const SolveOptions options{
        .solver = options_.solver, .deadline = options_.deadline, .node_budget = options_.node_budget};
    STOWAGE_TRY(SolveOutcome outcome, solve(problem(distance), options));
    if (!outcome.has_answer())
      return Error{ErrorCode::out_of_memory, "the time limit was too short to plan an iteration", {}};
    return outcome;
  }

  [[nodiscard]] Problem problem(Step distance) const {
    std::vector<Item> items(planned_.size());
    std::vector<std::pair<Step, std::size_t>> frees;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const RecordedAllocation& one = recorded_[planned_[i]];
      items[i] = {.pieces = {{one.life, {Bytes(0), one.size}}}, .size = one.size, .alignment = options_.alignment};
      frees.emplace_back(one.life.upper, i);
    }
    if (distance > Step(0)) draw_out(items, std::move(frees), distance);
    return {.items = std::move(items)};
  }

  /// Extends each life by the distance, to the next allocation of its stream, or to the end of the iteration, whichever
  /// is first. Goes from the last free to the first, so that the next allocation of each stream is known.
  void draw_out(std::vector<Item>& items, std::vector<std::pair<Step, std::size_t>> frees, Step distance) const {
    std::sort(frees.begin(), frees.end());
    const Step end = frees.empty() ? Step(0) : frees.back().first;
    std::vector<Step> next(plan_.streams.size(), end);
    std::size_t later = recorded_.size();
    for (auto entry = frees.rbegin(); entry != frees.rend(); ++entry) {
      const auto [freed, item] = *entry;
      while (later > 0 && recorded_[later - 1].life.lower >= freed) {
        --later;
        next[stream_of(later)] = recorded_[later].life.lower;
      }
      Step& upper = items[item].pieces.front().when.upper;
      upper = std::max(upper, std::min(upper + distance, next[stream_of(planned_[item])]));
    }
  }

  [[nodiscard]] Bytes most_live() const {
    std::vector<std::pair<Step, Bytes>> changes;
    for (const std::size_t i : planned_) {
      changes.emplace_back(recorded_[i].life.lower, recorded_[i].size);
      changes.emplace_back(recorded_[i].life.upper, Bytes(0) - recorded_[i].size);
    }
    std::sort(changes.begin(), changes.end());
    Bytes live(0);
    Bytes most(0);
    for (const auto& [when, change] : changes) most = std::max(most, live += change);
    return most;
  }

  void make_slots(std::span<const Position> positions) {
    std::vector<std::uint32_t> counts(plan_.streams.size() + 1);
    for (std::size_t i = 0; i < recorded_.size(); ++i) ++counts[stream_of(i) + 1];
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    plan_.first_slot = counts;
    plan_.slots.resize(recorded_.size());
    slot_of_.resize(recorded_.size());
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
      slot_of_[i] = counts[stream_of(i)]++;
      plan_.slots[slot_of_[i]] = {
          .size = recorded_[i].size, .offset = kUnplanned, .stream = static_cast<std::uint32_t>(stream_of(i))};
    }
    for (std::size_t i = 0; i < planned_.size(); ++i) plan_.slots[slot_of_[planned_[i]]].offset = positions[i].offset;
  }

  /// Goes through the iteration in time order and finds, for each slot, the last users of its bytes.
  void find_predecessors() {
    IntervalMap<std::size_t> last;  // the last recorded allocation that used each byte
    std::vector<std::vector<std::uint32_t>> found(plan_.slots.size());
    std::vector<Step> marked(plan_.streams.size(), Step(-1));
    for (const std::size_t i : planned_) {
      PlannedSlot& slot = plan_.slots[slot_of_[i]];
      std::vector<std::uint32_t>& mine = found[slot_of_[i]];
      Bytes covered(0);
      last.visit(slot.bytes(), [&](ByteRange bytes, std::size_t before) {
        covered += bytes.length();
        if (std::find(mine.begin(), mine.end(), slot_of_[before]) != mine.end()) return;
        mine.push_back(slot_of_[before]);
        if (stream_of(before) != slot.stream) handed_over(before, i, marked[stream_of(before)]);
      });
      slot.first_user = covered < slot.size;
      last.assign(slot.bytes(), i);
    }
    for (std::size_t slot = 0; slot < found.size(); ++slot) {
      plan_.slots[slot].first_predecessor = static_cast<std::uint32_t>(plan_.predecessors.size());
      plan_.predecessors.insert(plan_.predecessors.end(), found[slot].begin(), found[slot].end());
    }
  }

  /// Makes sure that the first stream records an event between the free and the allocation: one that it records anyway,
  /// or else one at the last free that keeps the distance, so that the event serves as many allocations as possible.
  void handed_over(std::size_t from, std::size_t to, Step& marked) {
    const Step freed = recorded_[from].life.upper;
    const Step needed = recorded_[to].life.lower;
    if (marked >= freed) return;
    const std::vector<std::size_t>& frees = frees_of(stream_of(from));
    const Step latest = std::max(freed, needed - options_.handover_distance);
    const auto after = std::upper_bound(frees.begin(), frees.end(), latest,
                                        [this](Step at, std::size_t i) { return at < recorded_[i].life.upper; });
    const std::size_t last = *std::prev(after);
    plan_.slots[slot_of_[last]].marks = true;
    marked = recorded_[last].life.upper;
  }

  /// The stream's planned allocations, in the order of their frees.
  const std::vector<std::size_t>& frees_of(std::size_t stream) {
    if (frees_.empty()) {
      frees_.resize(plan_.streams.size());
      for (const std::size_t i : planned_) frees_[stream_of(i)].push_back(i);
      for (std::vector<std::size_t>& frees : frees_) {
        std::sort(frees.begin(), frees.end(),
                  [this](std::size_t a, std::size_t b) { return recorded_[a].life.upper < recorded_[b].life.upper; });
      }
    }
    return frees_[stream];
  }

  [[nodiscard]] std::size_t stream_of(std::size_t recorded) const {
    const auto found = std::lower_bound(plan_.streams.begin(), plan_.streams.end(), recorded_[recorded].stream);
    return static_cast<std::size_t>(found - plan_.streams.begin());
  }

  std::span<const RecordedAllocation> recorded_;
  const PlanningOptions& options_;
  std::vector<std::size_t> planned_;  ///< Recorded allocations that end within the iteration.
  std::vector<std::uint32_t> slot_of_;
  std::vector<std::vector<std::size_t>> frees_;
  IterationPlan plan_;
};

}  // namespace

Result<IterationPlan> plan_iteration(std::span<const RecordedAllocation> recorded, const PlanningOptions& options) {
  return Planning(recorded, options).run();
}

}  // namespace stowage::runtime
