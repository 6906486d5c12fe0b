#include "pack/exact/valley_search.hpp"

#include <algorithm>
#include <limits>

#include "pack/exact/valley_state.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kNoItem = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxPairs = 4'000'000;
/// The search recurses once per item, with half a KiB to two KiB of stack each time.
constexpr std::uint32_t kMaxValleyItems = 4'096;
/// The fraction of a section's failure count that the next run starts with. With 0, each run must learn again where the
/// problem is tight; with 1, the first run's mistakes stay for ever.
constexpr double kWeightKept = 0.1;
/// A run gives up when undoing its path would take more than this.
constexpr std::size_t kMaxTrailBytes = std::size_t{80} << 20;

template <std::size_t Words>
class Search final : public ValleySearch {
 public:
  explicit Search(std::shared_ptr<const ValleyProblem> problem)
      : problem_(std::move(problem)),
        plain_(problem_->plain),
        state_(*problem_),
        is_option_(plain_.count(), 0),
        weight_(plain_.sections(), 0),
        ends_(plain_.count(), 0) {}

  SearchEnd run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit,
                const std::function<bool()>& stop, std::vector<std::int64_t>& offsets) override;
  [[nodiscard]] std::uint64_t nodes() const override { return nodes_; }
  void exchange_failures(std::vector<double>& failures) override {
    failures.resize(plain_.sections());
    weight_.swap(failures);
  }
  [[nodiscard]] std::unique_ptr<ValleySearch> fresh() const override { return std::make_unique<Search>(problem_); }

 private:
  using State = ValleyState<Words>;
  using Set = SectionSet<Words>;
  static constexpr std::int64_t kInfinite = State::kInfinite;

  /// One level of the recursion: what it has on the stacks `options_` and `why_`.
  struct Node {
    std::uint32_t section;
    std::size_t options;  ///< The index of the first.
    std::size_t count;
    std::size_t why;  ///< The index of the first; there is one for each option that was tried.
  };

  [[nodiscard]] bool covers(std::uint32_t i, std::uint32_t s) const {
    return plain_.first[i] <= s && s < plain_.last[i];
  }
  [[nodiscard]] bool goes_first(std::uint32_t a, std::uint32_t b) const {
    return style_->priority[a] != style_->priority[b] ? style_->priority[a] > style_->priority[b] : a < b;
  }

  [[nodiscard]] bool set_target(std::int64_t target);
  [[nodiscard]] bool fits(std::uint32_t s) const;
  [[nodiscard]] bool fits_coarsely(std::uint32_t s, std::int64_t alignment) const;
  [[nodiscard]] std::int64_t latest_end(std::uint32_t s) const;
  bool settle(Set& conflict);
  [[nodiscard]] bool supported(std::uint32_t i) const;
  [[nodiscard]] bool out_of_order(std::uint32_t i, std::int64_t offset) const;
  [[nodiscard]] std::uint32_t choose_section() const;
  [[nodiscard]] double branching_key(std::uint32_t s) const;
  [[nodiscard]] std::span<const std::uint32_t> options(const Node& node) const {
    return std::span(options_).subspan(node.options, node.count);
  }
  Node open_node();
  bool lift(const Node& node, Set& conflict);
  [[nodiscard]] std::int64_t next_support(std::uint32_t i, std::uint32_t s, Set& reason) const;
  [[nodiscard]] std::int64_t least_above(std::uint32_t i, std::uint32_t s, std::int64_t lifted_floor) const;
  [[nodiscard]] bool must_give_up() const;
  bool descend(Set& conflict);
  bool branch(const Node& node, Set& conflict);
  bool try_options(const Node& node, Set& conflict, bool& jump);

  std::shared_ptr<const ValleyProblem> problem_;
  const Plain& plain_;
  State state_;
  std::vector<std::uint8_t> is_option_;  ///< Scratch for `lift`.
  std::vector<double> weight_;           ///< By section: the failures that it took part in.
  // State of the current run.
  /// By item: where the bytes that it takes end at most, if it is to end at the target or below. For most problems, all
  /// of these are equal to the target.
  std::vector<std::int64_t> ends_;
  std::int64_t lowest_end_ = 0;
  std::int64_t highest_end_ = 0;
  const SearchStyle* style_ = nullptr;
  const std::function<bool()>* stop_ = nullptr;
  std::uint64_t nodes_ = 0;
  std::uint64_t node_end_ = 0;
  bool gave_up_ = false;
  std::vector<std::uint32_t> options_;  ///< Of all nodes on the path.
  std::vector<Set> why_;                ///< By option that was tried: why it cannot be at the floor.
  std::vector<std::int64_t> lifted_;    ///< Scratch for `lift`.
};

/// Returns false when an item is larger than the target.
template <std::size_t Words>
bool Search<Words>::set_target(std::int64_t target) {
  lowest_end_ = kInfinite;
  highest_end_ = 0;
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    const std::int64_t size = problem_->sizes[i];
    if (size > target) return false;
    ends_[i] = round_down(target - size, plain_.alignment[i]) + plain_.size[i];
    lowest_end_ = std::min(lowest_end_, ends_[i]);
    highest_end_ = std::max(highest_end_, ends_[i]);
  }
  return true;
}

/// Where the bytes of the unplaced items of `s` end at most.
template <std::size_t Words>
std::int64_t Search<Words>::latest_end(std::uint32_t s) const {
  if (lowest_end_ == highest_end_) return highest_end_;
  std::int64_t latest = 0;
  for (const std::uint32_t i : state_.unplaced(s)) latest = std::max(latest, ends_[i]);
  return latest;
}

/// Whether the unplaced items of `s` can lie on each other from its floor on.
template <std::size_t Words>
bool Search<Words>::fits(std::uint32_t s) const {
  if (state_.remaining(s) == 0) return true;
  const std::int64_t end = state_.floor(s) + state_.remaining(s);
  if (end > lowest_end_ && (end > highest_end_ || end > latest_end(s))) return false;
  return std::all_of(problem_->coarse.begin(), problem_->coarse.end(),
                     [&](std::int64_t alignment) { return fits_coarsely(s, alignment); });
}

/// The same for those that begin at multiples of `alignment`.
template <std::size_t Words>
bool Search<Words>::fits_coarsely(std::uint32_t s, std::int64_t alignment) const {
  std::int64_t floor = kInfinite;
  std::int64_t remaining = 0;
  std::int64_t latest = 0;
  for (const std::uint32_t i : state_.unplaced(s)) {
    if (plain_.alignment[i] < alignment) continue;
    const std::int64_t taken = round_up(plain_.size[i], alignment);
    floor = std::min(floor, state_.limit(i));
    remaining += taken;
    latest = std::max(latest, ends_[i] - plain_.size[i] + taken);
  }
  return remaining == 0 || floor + remaining <= latest;
}

/// Updates the floors. Returns false, with the conflict, when a section overflows; if several do, the one with most
/// failures is reported. The conflict contains the section itself, for its unplaced bytes, and the reasons of all
/// limits there, for its floor.
template <std::size_t Words>
bool Search<Words>::settle(Set& conflict) {
  std::uint32_t worst = kNoItem;
  state_.settle([&](std::uint32_t s) {
    if (fits(s)) return;
    if (worst == kNoItem || weight_[s] > weight_[worst]) worst = s;
  });
  if (worst == kNoItem) return true;
  weight_[worst] += 1;
  conflict.insert(worst);
  for (const std::uint32_t i : state_.unplaced(worst)) conflict.insert(state_.reason(i));
  return false;
}

/// Whether a placed item supports `i` at its limit. If not, the limit was raised by `lift`, and only an unplaced item
/// can.
template <std::size_t Words>
bool Search<Words>::supported(std::uint32_t i) const {
  std::int64_t top = 0;
  for (const std::uint32_t j : problem_->neighbours[i]) {
    if (state_.placed(j)) top = std::max(top, state_.offset(j) + plain_.size[j]);
  }
  return round_up(top, plain_.alignment[i]) >= state_.limit(i);
}

/// Items with exactly the same sections that lie on each other can change places, so one order of them is enough.
template <std::size_t Words>
bool Search<Words>::out_of_order(std::uint32_t i, std::int64_t offset) const {
  const std::span<const std::uint32_t> others = problem_->same_sections[i];
  return std::any_of(others.begin(), others.end(), [&](std::uint32_t j) {
    if (!state_.placed(j) || state_.offset(j) + plain_.size[j] != offset || !goes_first(i, j)) return false;
    if (offset + plain_.size[i] > ends_[j]) return false;
    const std::int64_t lower = state_.offset(j);
    return round_up(lower, plain_.alignment[i]) == lower &&
           round_up(lower + plain_.size[i], plain_.alignment[j]) == lower + plain_.size[i];
  });
}

template <std::size_t Words>
double Search<Words>::branching_key(std::uint32_t s) const {
  const double options = state_.at_floor(s) + (highest_end_ - state_.floor(s) - state_.remaining(s) > 0 ? 1 : 0);
  switch (style_->branching) {
    case Branching::most_conflicts:
      return options * 1e6 - weight_[s];
    case Branching::options_per_weight:
      return options / (1 + weight_[s]);
  }
  return options;
}

/// Looks at the sections of every valley: a run of equal floors, connected by unplaced items, with nothing lower next
/// to it.
template <std::size_t Words>
std::uint32_t Search<Words>::choose_section() const {
  const std::uint32_t sections = plain_.sections();
  std::uint32_t best = kNoItem;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t s = 0; s < sections;) {
    if (state_.remaining(s) == 0) {
      ++s;
      continue;
    }
    std::uint32_t end = s + 1;
    while (end < sections && state_.remaining(end) > 0 && state_.floor(end) == state_.floor(s) &&
           state_.goes_on(end - 1))
      ++end;
    const bool wall_left =
        s == 0 || !state_.goes_on(s - 1) || state_.remaining(s - 1) == 0 || state_.floor(s - 1) > state_.floor(s);
    const bool wall_right = end == sections || !state_.goes_on(end - 1) || state_.remaining(end) == 0 ||
                            state_.floor(end) > state_.floor(s);
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
auto Search<Words>::open_node() -> Node {
  Node node{choose_section(), options_.size(), 0, why_.size()};
  for (const std::uint32_t i : state_.unplaced(node.section)) {
    if (state_.limit(i) == state_.floor(node.section)) options_.push_back(i);
  }
  node.count = options_.size() - node.options;
  std::sort(options_.begin() + static_cast<std::ptrdiff_t>(node.options), options_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return goes_first(a, b); });
  return node;
}

/// The lowest offset at which `i`, if not at the floor of `s`, could rest on an unplaced item outside `s`; kInfinite if
/// there is none.
template <std::size_t Words>
std::int64_t Search<Words>::next_support(std::uint32_t i, std::uint32_t s, Set& reason) const {
  const std::int64_t floor = state_.floor(s);
  std::int64_t least = kInfinite;
  for (const std::uint32_t k : problem_->neighbours[i]) {
    if (!state_.placed(k) && !covers(k, s)) least = std::min(least, std::max(floor, state_.limit(k)) + plain_.size[k]);
  }
  // This depends on which items that meet i are unplaced, on what keeps i from lying lower, and on the limits of items
  // that would otherwise be a lower support.
  const bool full = style_->explanations == Explanations::full;
  reason.insert(state_.range(i));
  if (full) reason.insert(state_.reason(i));
  for (const std::uint32_t k : problem_->neighbours[i]) {
    if (!state_.placed(k) && !covers(k, s) && (full ? 0 : floor) + plain_.size[k] < least)
      reason.insert(state_.reason(k));
  }
  return least == kInfinite ? kInfinite : round_up(least, plain_.alignment[i]);
}

/// The lowest offset at which `i` could rest on another item of `s`, if those at the floor are lifted to
/// `lifted_floor`.
template <std::size_t Words>
std::int64_t Search<Words>::least_above(std::uint32_t i, std::uint32_t s, std::int64_t lifted_floor) const {
  std::int64_t least = kInfinite;
  for (const std::uint32_t k : state_.unplaced(s)) {
    if (k != i) least = std::min(least, (is_option_[k] ? lifted_floor : state_.limit(k)) + plain_.size[k]);
  }
  return least == kInfinite ? kInfinite : round_up(least, plain_.alignment[i]);
}

/// The last branch: none of the options is at the floor of the section. Raises their limits to where they could rest
/// instead. Returns false, with the conflict, when that leaves no room.
template <std::size_t Words>
bool Search<Words>::lift(const Node& node, Set& conflict) {
  const std::uint32_t s = node.section;
  Set all;
  all.insert(s);
  lifted_.clear();
  std::int64_t new_floor = kInfinite;
  for (std::size_t q = 0; q < node.count; ++q) {
    lifted_.push_back(next_support(options(node)[q], s, why_[node.why + q]));
    all.insert(why_[node.why + q]);
    new_floor = std::min(new_floor, lifted_.back());
    is_option_[options(node)[q]] = 1;
  }
  for (const std::uint32_t i : state_.unplaced(s)) {
    if (is_option_[i]) continue;
    new_floor = std::min(new_floor, state_.limit(i));
    all.insert(state_.reason(i));
  }
  bool room = new_floor < kInfinite && new_floor + state_.remaining(s) <= latest_end(s);
  for (std::size_t q = 0; room && q < node.count; ++q) {
    const std::uint32_t i = options(node)[q];
    const std::int64_t above = least_above(i, s, new_floor);
    const std::int64_t limit = std::min(lifted_[q], above);
    room = limit < kInfinite && limit + plain_.size[i] <= ends_[i];
    if (room) state_.set_limit(i, limit, above < lifted_[q] ? all : why_[node.why + q]);
  }
  for (const std::uint32_t i : options(node)) is_option_[i] = 0;
  if (!room) {
    weight_[s] += 1;
    conflict.insert(all);
    return false;
  }
  return settle(conflict);
}

/// The first branches: each option at the floor. Returns true when one led to a solution. Sets `jump` when the failure
/// did not depend on the option, so that the others need not be tried.
template <std::size_t Words>
bool Search<Words>::try_options(const Node& node, Set& conflict, bool& jump) {
  const std::int64_t floor = state_.floor(node.section);
  for (std::size_t q = 0; q < node.count; ++q) {
    const std::uint32_t i = options(node)[q];
    if (floor + plain_.size[i] > ends_[i]) {  // and its limit only rises
      weight_[node.section] += 1;
      conflict.insert(node.section);
      conflict.insert(state_.reason(i));
      jump = true;
      return false;
    }
    if (!supported(i)) {
      why_.push_back(state_.reason(i));
      continue;
    }
    if (out_of_order(i, floor)) {
      why_.push_back(state_.reason(i));
      why_.back().insert(plain_.first[i]);
      continue;
    }
    const typename State::Mark before = state_.mark();
    Set below;
    state_.place(i, floor);
    if (settle(below) && descend(below)) return true;
    if (gave_up_) return false;
    state_.undo(before);
    if (!below.meets(state_.range(i))) {
      conflict.insert(below);
      jump = true;
      return false;
    }
    why_.push_back(below);
  }
  return false;
}

template <std::size_t Words>
bool Search<Words>::must_give_up() const {
  return nodes_ >= node_end_ || state_.trail_bytes() + why_.size() * sizeof(Set) > kMaxTrailBytes ||
         (nodes_ % 1024 == 0 && (*stop_)());
}

template <std::size_t Words>
bool Search<Words>::descend(Set& conflict) {
  if (state_.left() == 0) return true;
  ++nodes_;
  if (must_give_up()) {
    gave_up_ = true;
    return false;
  }
  const Node node = open_node();
  const bool solved = branch(node, conflict);
  options_.resize(node.options);
  why_.resize(node.why);
  return solved;
}

template <std::size_t Words>
bool Search<Words>::branch(const Node& node, Set& conflict) {
  const typename State::Mark before = state_.mark();
  bool jump = false;
  if (try_options(node, conflict, jump)) return true;
  if (gave_up_ || jump) return false;
  Set above;
  if (lift(node, above) && descend(above)) return true;
  if (gave_up_) return false;
  state_.undo(before);
  conflict.insert(above);
  return false;
}

template <std::size_t Words>
SearchEnd Search<Words>::run(std::int64_t target, const SearchStyle& style, std::uint64_t node_limit,
                             const std::function<bool()>& stop, std::vector<std::int64_t>& offsets) {
  style_ = &style;
  stop_ = &stop;
  node_end_ = nodes_ + std::max<std::uint64_t>(1, node_limit);
  gave_up_ = false;
  options_.clear();
  why_.clear();
  for (double& weight : weight_) weight *= kWeightKept;
  if (!set_target(target)) return SearchEnd::exhausted;
  state_.reset(style.explanations);
  for (std::uint32_t s = 0; s < plain_.sections(); ++s) {
    if (!fits(s)) return SearchEnd::exhausted;
  }
  Set conflict;
  if (descend(conflict)) {
    offsets = state_.offsets();
    return SearchEnd::solved;
  }
  return gave_up_ || style.explanations == Explanations::brief ? SearchEnd::gave_up : SearchEnd::exhausted;
}

}  // namespace

std::unique_ptr<ValleySearch> ValleySearch::make(const Plain& plain) {
  const std::uint32_t sections = plain.sections();
  if (sections > 40 * 64 || plain.count() > kMaxValleyItems) return nullptr;
  std::optional<ItemLists> neighbours = ItemLists::meeting(plain, kMaxPairs);
  if (!neighbours) return nullptr;
  const auto problem = std::make_shared<const ValleyProblem>(plain, std::move(*neighbours));
  if (sections <= 2 * 64) return std::make_unique<Search<2>>(problem);
  if (sections <= 4 * 64) return std::make_unique<Search<4>>(problem);
  if (sections <= 10 * 64) return std::make_unique<Search<10>>(problem);
  return std::make_unique<Search<40>>(problem);
}

}  // namespace stowage::pack
