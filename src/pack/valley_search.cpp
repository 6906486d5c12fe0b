#include "pack/valley_search.hpp"

#include <algorithm>
#include <limits>

#include "pack/section_set.hpp"

namespace stowage::pack {
namespace {

constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxPairs = 4'000'000;

/// The items that meet each item, in compressed rows; nothing when there are too many.
struct Neighbours {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> items;

  static std::optional<Neighbours> find(const Plain& plain);
};

std::optional<Neighbours> Neighbours::find(const Plain& plain) {
  Neighbours result;
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    result.begin.push_back(result.items.size());
    for (std::uint32_t j = 0; j < plain.count(); ++j) {
      if (j != i && plain.first[i] < plain.last[j] && plain.first[j] < plain.last[i]) result.items.push_back(j);
    }
    if (result.items.size() > 2 * kMaxPairs) return std::nullopt;
  }
  result.begin.push_back(result.items.size());
  return result;
}

template <std::size_t Words>
class Search final : public ValleySearch {
 public:
  Search(const Plain& plain, std::shared_ptr<const Neighbours> neighbours);

  SearchEnd run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit, const std::function<bool()>& stop,
                std::vector<std::int64_t>& offsets) override;
  [[nodiscard]] std::uint64_t nodes() const override { return nodes_; }
  [[nodiscard]] std::unique_ptr<ValleySearch> fresh() const override { return std::make_unique<Search>(plain_, neighbours_); }

 private:
  using Set = SectionSet<Words>;

  /// What to restore: a limit with its reason, or (`limit` == kPlaced) an item that was placed.
  struct Change {
    std::uint32_t item;
    std::int64_t limit;
    Set reason;
  };
  static constexpr std::int64_t kPlaced = -1;

  /// The memory of one level of the recursion, kept for the next visit.
  struct Frame {
    std::vector<std::uint32_t> options;
    std::vector<Set> why;  ///< By option: why it cannot be at the floor.
    std::vector<std::int64_t> lifted;
  };

  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t i) const {
    return {neighbours_->items.data() + neighbours_->begin[i], neighbours_->begin[i + 1] - neighbours_->begin[i]};
  }
  [[nodiscard]] std::span<const std::uint32_t> unplaced(std::uint32_t s) const { return {rows_[s].data(), unplaced_[s]}; }
  [[nodiscard]] bool covers(std::uint32_t i, std::uint32_t s) const { return plain_.first[i] <= s && s < plain_.last[i]; }

  void reset();
  void find_floor(std::uint32_t s);
  void touch(std::uint32_t i, std::int64_t from_level);
  std::uint32_t settle();
  void set_limit(std::uint32_t i, std::int64_t limit, const Set& reason);
  void take_out(std::uint32_t i);
  void put_back(std::uint32_t i);
  void undo(std::size_t mark);
  void explain_overflow(std::uint32_t s, Set& conflict);
  bool place(std::uint32_t i, std::int64_t offset, Set& conflict);
  [[nodiscard]] bool supported(std::uint32_t i) const;
  [[nodiscard]] std::uint32_t choose_section() const;
  [[nodiscard]] double branching_key(std::uint32_t s) const;
  void collect_options(std::uint32_t s, Frame& frame) const;
  bool lift(std::uint32_t s, Frame& frame, Set& conflict);
  [[nodiscard]] std::int64_t next_support(std::uint32_t i, std::uint32_t s, Set& reason) const;
  [[nodiscard]] std::int64_t least_above(std::uint32_t i, std::uint32_t s, std::int64_t lifted_floor) const;
  bool descend(std::size_t depth, Set& conflict);
  bool try_options(std::uint32_t s, std::size_t depth, Set& conflict, bool& jump);

  const Plain& plain_;
  std::shared_ptr<const Neighbours> neighbours_;
  std::vector<Set> range_;  ///< By item: its sections.
  // The state: which items are placed, where, and what the others are known not to be below of.
  std::vector<std::vector<std::uint32_t>> rows_;  ///< By section: its items, unplaced ones first.
  std::vector<std::uint32_t> unplaced_;           ///< By section: how many.
  std::vector<std::size_t> slot_begin_;           ///< By item, into `slot_`.
  std::vector<std::uint32_t> slot_;               ///< By item and section: where in the row.
  std::vector<std::int64_t> limit_;
  std::vector<Set> reason_;
  std::vector<std::int64_t> offset_;
  std::vector<std::uint8_t> placed_;
  std::vector<std::int64_t> floor_;      ///< By section.
  std::vector<std::uint32_t> at_floor_;  ///< By section: how many items have it as their limit.
  std::vector<std::int64_t> remaining_;  ///< By section: bytes still to come.
  std::vector<std::uint32_t> bridges_;   ///< By section: unplaced items that go on into the next.
  std::uint32_t left_ = 0;
  std::vector<Change> trail_;
  std::vector<std::uint8_t> is_dirty_;
  std::vector<std::uint32_t> dirty_;     ///< Sections whose floor must be found anew.
  std::vector<std::uint8_t> is_option_;  ///< Scratch of lift.
  std::vector<double> weight_;           ///< By section: failures that it took part in.
  // The run.
  std::int64_t target_ = 0;
  const SearchStyle* style_ = nullptr;
  const std::function<bool()>* stop_ = nullptr;
  std::uint64_t nodes_ = 0;
  std::uint64_t node_end_ = 0;
  bool gave_up_ = false;
  std::vector<std::unique_ptr<Frame>> frames_;
};

template <std::size_t Words>
Search<Words>::Search(const Plain& plain, std::shared_ptr<const Neighbours> neighbours)
    : plain_(plain), neighbours_(std::move(neighbours)), range_(plain.count()), rows_(plain.sections()) {
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    slot_begin_.push_back(slot_.size());
    for (std::uint32_t s = plain.first[i]; s < plain.last[i]; ++s) {
      slot_.push_back(static_cast<std::uint32_t>(rows_[s].size()));
      rows_[s].push_back(i);
      range_[i].insert(s);
    }
  }
  is_option_.assign(plain.count(), 0);
}

template <std::size_t Words>
void Search<Words>::reset() {
  const std::uint32_t sections = plain_.sections();
  limit_.assign(plain_.count(), 0);
  reason_.assign(plain_.count(), Set{});
  offset_.assign(plain_.count(), 0);
  placed_.assign(plain_.count(), 0);
  floor_.assign(sections, 0);
  at_floor_.assign(sections, 0);
  remaining_ = plain_.total;
  bridges_.assign(sections, 0);
  unplaced_.assign(sections, 0);
  is_dirty_.assign(sections, 0);
  weight_.assign(sections, 0);
  dirty_.clear();
  trail_.clear();
  left_ = plain_.count();
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    for (std::uint32_t s = plain_.first[i]; s + 1 < plain_.last[i]; ++s) ++bridges_[s];
  }
  for (std::uint32_t s = 0; s < sections; ++s) {
    unplaced_[s] = static_cast<std::uint32_t>(rows_[s].size());
    find_floor(s);
  }
}

template <std::size_t Words>
void Search<Words>::find_floor(std::uint32_t s) {
  std::int64_t least = kInfinite;
  std::uint32_t count = 0;
  for (const std::uint32_t i : unplaced(s)) {
    if (limit_[i] < least) {
      least = limit_[i];
      count = 1;
    } else {
      count += limit_[i] == least;
    }
  }
  floor_[s] = least;
  at_floor_[s] = count;
}

/// The sections of `i` whose floor may change when a limit at or above `from_level` does.
template <std::size_t Words>
void Search<Words>::touch(std::uint32_t i, std::int64_t from_level) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    if (is_dirty_[s] || floor_[s] < from_level) continue;
    is_dirty_[s] = 1;
    dirty_.push_back(s);
  }
}

/// Brings the floors up to date. Returns a section that overflows, the most notorious one, or kNone.
template <std::size_t Words>
std::uint32_t Search<Words>::settle() {
  std::uint32_t worst = kNone;
  for (const std::uint32_t s : dirty_) {
    is_dirty_[s] = 0;
    find_floor(s);
    if (remaining_[s] == 0 || floor_[s] + remaining_[s] <= target_) continue;
    if (worst == kNone || weight_[s] > weight_[worst]) worst = s;
  }
  dirty_.clear();
  return worst;
}

template <std::size_t Words>
void Search<Words>::set_limit(std::uint32_t i, std::int64_t limit, const Set& reason) {
  trail_.push_back({i, limit_[i], reason_[i]});
  touch(i, limit_[i]);
  limit_[i] = limit;
  reason_[i] = reason;
}

/// Moves `i` behind the unplaced ones in its rows. `put_back` must come in the reverse order.
template <std::size_t Words>
void Search<Words>::take_out(std::uint32_t i) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    std::uint32_t& slot = slot_[slot_begin_[i] + s - plain_.first[i]];
    const std::uint32_t last = --unplaced_[s];
    const std::uint32_t other = rows_[s][last];
    rows_[s][slot] = other;
    slot_[slot_begin_[other] + s - plain_.first[other]] = slot;
    rows_[s][last] = i;
    slot = last;
    remaining_[s] -= plain_.size[i];
    if (s + 1 < plain_.last[i]) --bridges_[s];
  }
  placed_[i] = 1;
  --left_;
}

template <std::size_t Words>
void Search<Words>::put_back(std::uint32_t i) {
  for (std::uint32_t s = plain_.first[i]; s < plain_.last[i]; ++s) {
    ++unplaced_[s];
    remaining_[s] += plain_.size[i];
    if (s + 1 < plain_.last[i]) ++bridges_[s];
  }
  placed_[i] = 0;
  ++left_;
}

template <std::size_t Words>
void Search<Words>::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    if (change.limit == kPlaced) {
      put_back(change.item);
      touch(change.item, std::numeric_limits<std::int64_t>::min());
      continue;
    }
    limit_[change.item] = change.limit;
    reason_[change.item] = change.reason;
    touch(change.item, change.limit);
  }
  for (const std::uint32_t s : dirty_) {
    is_dirty_[s] = 0;
    find_floor(s);
  }
  dirty_.clear();
}

/// The floor of `s` is what it is because of every limit there, and its bytes because of what is unplaced in it.
template <std::size_t Words>
void Search<Words>::explain_overflow(std::uint32_t s, Set& conflict) {
  weight_[s] += 1;
  conflict.insert(s);
  for (const std::uint32_t i : unplaced(s)) conflict.insert(reason_[i]);
}

/// Places `i` and lifts whatever it meets above it. False, with the conflict, when a section overflows.
template <std::size_t Words>
bool Search<Words>::place(std::uint32_t i, std::int64_t offset, Set& conflict) {
  trail_.push_back({i, kPlaced, {}});
  take_out(i);
  offset_[i] = offset;
  touch(i, std::numeric_limits<std::int64_t>::min());
  const std::int64_t top = offset + plain_.size[i];
  for (const std::uint32_t j : neighbours(i)) {
    if (placed_[j]) continue;
    const std::int64_t limit = round_up(top, plain_.alignment[j]);
    if (limit <= limit_[j]) continue;
    Set reason;
    reason.insert(std::max(plain_.first[i], plain_.first[j]));
    set_limit(j, limit, reason);
  }
  const std::uint32_t overflow = settle();
  if (overflow == kNone) return true;
  explain_overflow(overflow, conflict);
  return false;
}

/// Whether something placed holds `i` up at its limit. If not, the limit came from lifting, and only what is still to come can.
template <std::size_t Words>
bool Search<Words>::supported(std::uint32_t i) const {
  std::int64_t top = 0;
  for (const std::uint32_t j : neighbours(i)) {
    if (placed_[j]) top = std::max(top, offset_[j] + plain_.size[j]);
  }
  return round_up(top, plain_.alignment[i]) >= limit_[i];
}

template <std::size_t Words>
double Search<Words>::branching_key(std::uint32_t s) const {
  const double options = at_floor_[s] + (target_ - floor_[s] - remaining_[s] > 0 ? 1 : 0);
  switch (style_->branching) {
    case Branching::most_conflicts:
      return options * 1e6 - weight_[s];
    case Branching::options_per_weight:
      return options / (1 + weight_[s]);
    case Branching::lowest_floor:
      return options * 1e15 + static_cast<double>(floor_[s]);
  }
  return options;
}

/// Looks at the sections of every valley: a run of equal floors, connected by unplaced items, with nothing lower next to it.
template <std::size_t Words>
std::uint32_t Search<Words>::choose_section() const {
  const std::uint32_t sections = plain_.sections();
  std::uint32_t best = kNone;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t s = 0; s < sections;) {
    if (remaining_[s] == 0) {
      ++s;
      continue;
    }
    std::uint32_t end = s + 1;
    while (end < sections && remaining_[end] > 0 && floor_[end] == floor_[s] && bridges_[end - 1] > 0) ++end;
    const bool wall_left = s == 0 || bridges_[s - 1] == 0 || remaining_[s - 1] == 0 || floor_[s - 1] > floor_[s];
    const bool wall_right = end == sections || bridges_[end - 1] == 0 || remaining_[end] == 0 || floor_[end] > floor_[s];
    for (std::uint32_t x = s; wall_left && wall_right && x < end; ++x) {
      const double key = branching_key(x);
      if (key >= least) continue;
      least = key;
      best = x;
    }
    s = end;
  }
  return best;
}

template <std::size_t Words>
void Search<Words>::collect_options(std::uint32_t s, Frame& frame) const {
  frame.options.clear();
  for (const std::uint32_t i : unplaced(s)) {
    if (limit_[i] == floor_[s]) frame.options.push_back(i);
  }
  const auto first = [&](std::uint32_t a, std::uint32_t b) {
    return style_->priority[a] != style_->priority[b] ? style_->priority[a] > style_->priority[b] : a < b;
  };
  std::sort(frame.options.begin(), frame.options.end(), first);
  frame.why.assign(frame.options.size(), Set{});
}

/// Where `i`, not at the floor of `s`, could rest on something unplaced outside of `s`; kInfinite when on nothing.
template <std::size_t Words>
std::int64_t Search<Words>::next_support(std::uint32_t i, std::uint32_t s, Set& reason) const {
  const std::int64_t floor = floor_[s];
  std::int64_t least = kInfinite;
  for (const std::uint32_t k : neighbours(i)) {
    if (!placed_[k] && !covers(k, s)) least = std::min(least, std::max(floor, limit_[k]) + plain_.size[k]);
  }
  // It depends on who is unplaced beside i, and on the limits of those that would be a lower support without them.
  reason.insert(range_[i]);
  for (const std::uint32_t k : neighbours(i)) {
    if (!placed_[k] && !covers(k, s) && floor + plain_.size[k] < least) reason.insert(reason_[k]);
  }
  return least == kInfinite ? kInfinite : round_up(least, plain_.alignment[i]);
}

/// Where `i` would rest on another item of `s`, at the earliest, when those at the floor are lifted to `lifted_floor`.
template <std::size_t Words>
std::int64_t Search<Words>::least_above(std::uint32_t i, std::uint32_t s, std::int64_t lifted_floor) const {
  std::int64_t least = kInfinite;
  for (const std::uint32_t k : unplaced(s)) {
    if (k != i) least = std::min(least, (is_option_[k] ? lifted_floor : limit_[k]) + plain_.size[k]);
  }
  return least == kInfinite ? kInfinite : round_up(least, plain_.alignment[i]);
}

/// The last branch: none of the options is at the floor of `s`. Lifts their limits to where they could rest instead. False, with
/// the conflict, when that leaves no room.
template <std::size_t Words>
bool Search<Words>::lift(std::uint32_t s, Frame& frame, Set& conflict) {
  Set all;
  all.insert(s);
  frame.lifted.clear();
  std::int64_t new_floor = kInfinite;
  for (std::size_t q = 0; q < frame.options.size(); ++q) {
    frame.lifted.push_back(next_support(frame.options[q], s, frame.why[q]));
    all.insert(frame.why[q]);
    new_floor = std::min(new_floor, frame.lifted.back());
    is_option_[frame.options[q]] = 1;
  }
  for (const std::uint32_t i : unplaced(s)) {
    if (is_option_[i]) continue;
    new_floor = std::min(new_floor, limit_[i]);
    all.insert(reason_[i]);
  }
  bool room = new_floor < kInfinite && new_floor + remaining_[s] <= target_;
  for (std::size_t q = 0; room && q < frame.options.size(); ++q) {
    const std::uint32_t i = frame.options[q];
    const std::int64_t above = least_above(i, s, new_floor);
    const std::int64_t limit = std::min(frame.lifted[q], above);
    room = limit < kInfinite && limit + plain_.size[i] <= target_;
    if (room) set_limit(i, limit, above < frame.lifted[q] ? all : frame.why[q]);
  }
  for (const std::uint32_t i : frame.options) is_option_[i] = 0;
  if (!room) {
    weight_[s] += 1;
    conflict.insert(all);
    return false;
  }
  const std::uint32_t overflow = settle();
  if (overflow != kNone) explain_overflow(overflow, conflict);
  return overflow == kNone;
}

/// The first branches: each option at the floor. True when one led to a solution. `jump` when the failure had nothing to do with
/// the option, so that the others need not be tried.
template <std::size_t Words>
bool Search<Words>::try_options(std::uint32_t s, std::size_t depth, Set& conflict, bool& jump) {
  Frame& frame = *frames_[depth];
  const std::int64_t floor = floor_[s];
  for (std::size_t q = 0; q < frame.options.size(); ++q) {
    const std::uint32_t i = frame.options[q];
    if (!supported(i)) {
      frame.why[q].insert(reason_[i]);
      continue;
    }
    const std::size_t mark = trail_.size();
    Set below;
    if (place(i, floor, below) && descend(depth + 1, below)) return true;
    if (gave_up_) return false;
    undo(mark);
    if (!below.meets(range_[i])) {
      conflict.insert(below);
      jump = true;
      return false;
    }
    frame.why[q].insert(below);
  }
  return false;
}

template <std::size_t Words>
bool Search<Words>::descend(std::size_t depth, Set& conflict) {
  if (left_ == 0) return true;
  ++nodes_;
  if (nodes_ >= node_end_ || (nodes_ % 1024 == 0 && (*stop_)())) {
    gave_up_ = true;
    return false;
  }
  if (frames_.size() <= depth) frames_.push_back(std::make_unique<Frame>());
  const std::uint32_t s = choose_section();
  collect_options(s, *frames_[depth]);
  const std::size_t mark = trail_.size();
  bool jump = false;
  if (try_options(s, depth, conflict, jump)) return true;
  if (gave_up_ || jump) return false;
  Set above;
  if (lift(s, *frames_[depth], above) && descend(depth + 1, above)) return true;
  if (gave_up_) return false;
  undo(mark);
  conflict.insert(above);
  return false;
}

template <std::size_t Words>
SearchEnd Search<Words>::run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit,
                             const std::function<bool()>& stop, std::vector<std::int64_t>& offsets) {
  target_ = target;
  style_ = &style;
  stop_ = &stop;
  node_end_ = nodes_ + std::max<std::uint64_t>(1, node_limit);
  gave_up_ = false;
  reset();
  for (std::uint32_t s = 0; s < plain_.sections(); ++s) {
    if (remaining_[s] > target) return SearchEnd::exhausted;
  }
  Set conflict;
  if (descend(0, conflict)) {
    offsets = offset_;
    return SearchEnd::solved;
  }
  return gave_up_ ? SearchEnd::gave_up : SearchEnd::exhausted;
}

}  // namespace

std::unique_ptr<ValleySearch> ValleySearch::make(const Plain& plain) {
  const std::uint32_t sections = plain.sections();
  if (sections > 40 * 64) return nullptr;
  std::optional<Neighbours> found = Neighbours::find(plain);
  if (!found) return nullptr;
  const auto neighbours = std::make_shared<const Neighbours>(std::move(*found));
  if (sections <= 2 * 64) return std::make_unique<Search<2>>(plain, neighbours);
  if (sections <= 4 * 64) return std::make_unique<Search<4>>(plain, neighbours);
  if (sections <= 10 * 64) return std::make_unique<Search<10>>(plain, neighbours);
  return std::make_unique<Search<40>>(plain, neighbours);
}

}  // namespace stowage::pack
