#include "pack/exact/general_search.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "pack/exact/general_state.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kNone = GeneralModel::kNone;
constexpr std::int64_t kMaxTarget = std::int64_t{1} << 61;
/// Nodes. At least ten per item, so that a run can reach an answer.
constexpr std::uint64_t kFirstRun = 200;
constexpr std::uint32_t kPairsToCompare = 2'000;  ///< Overlapping pairs to compare when choosing one.
constexpr double kNoise = 0.5;
/// A node that takes more work than this counts as several: relations that contradict each other in a cycle may raise
/// limits by a few bytes at a time, for seconds.
constexpr std::uint64_t kWorkOfNode = 4'000;

/// Whether every pin is aligned and within its region.
bool pins_are_possible(const Problem& problem) {
  return std::all_of(problem.items.begin(), problem.items.end(), [&](const Item& item) {
    if (!item.pinned) return true;
    for (std::uint32_t r = 0; r < problem.regions.size(); ++r) {
      const std::optional<Bytes> limit = problem.regions[r].limit;
      if (item.may_lie_in(r) && limit && *item.pinned + item.size > *limit) return false;
    }
    return is_aligned(*item.pinned, item.alignment);
  });
}

}  // namespace

class GeneralSearch::Search {
 public:
  explicit Search(const Problem& problem) : problem_(problem), possible_(pins_are_possible(problem)) {}

  SearchEnd run(Bytes target, std::uint64_t seed, std::uint64_t node_limit, const std::function<bool()>& stop);
  [[nodiscard]] std::vector<Position> positions() const;
  [[nodiscard]] std::uint64_t nodes() const { return state_ ? std::max(nodes_, state_->work() / kWorkOfNode) : 0; }

 private:
  /// An item is in a region, or not; or the difference of a pair is at least `value` or at most `otherwise`, in this
  /// order or the reverse.
  struct Decision {
    enum class Kind : std::uint8_t { in_region, at_least, at_most };
    Kind kind;
    std::uint32_t index;  ///< Of the item or of the pair.
    std::int64_t value;
    std::int64_t otherwise;
    std::size_t mark;
  };
  enum class Choice : std::uint8_t { made, impossible, none_left };

  void prepare(const std::function<bool()>& stop);
  SearchEnd search(std::uint64_t node_end);
  bool backtrack();
  bool apply(const Decision& decision);
  bool refute(const Decision& decision);
  void make_noise(bool any);

  Choice decide(Decision& decision);
  Choice decide_region(std::uint32_t i, Decision& decision);
  bool use_region_symmetry(std::uint32_t i);
  [[nodiscard]] bool is_used_before(std::uint32_t region, std::uint32_t i) const;
  bool choose_pair(Decision& decision);
  [[nodiscard]] double score(const GeneralModel::Pair& pair, std::int64_t room_above, std::int64_t room_below) const;

  const Problem& problem_;
  bool possible_;
  bool prepared_ = false;
  std::optional<GeneralModel> model_;
  std::optional<GeneralState> state_;  ///< Present if `model_` is.
  std::vector<Decision> decisions_;
  std::uint64_t nodes_ = 0;
  std::mt19937_64 random_;
  std::vector<double> noise_;  ///< By item: makes runs differ from each other.
  bool explore_ = false;       ///< Whether to try a random region now and then.
};

/// Runs on first use, and stops early when there is no time left.
void GeneralSearch::Search::prepare(const std::function<bool()>& stop) {
  if (prepared_) return;
  prepared_ = true;
  model_ = GeneralModel::make(problem_, stop);
  if (model_) state_.emplace(problem_, *model_);
}

SearchEnd GeneralSearch::Search::run(Bytes target, std::uint64_t seed, std::uint64_t node_limit,
                                     const std::function<bool()>& stop) {
  if (!possible_) return SearchEnd::exhausted;
  prepare(stop);
  if (!model_) return SearchEnd::gave_up;
  random_.seed(seed);
  decisions_.clear();
  const std::uint64_t end = node_limit < UINT64_MAX - nodes() ? nodes() + node_limit : UINT64_MAX;
  const std::function<bool()> stop_or_too_much = [&] { return stop() || nodes() >= end; };
  if (!state_->start(std::min(target.value(), kMaxTarget), stop_or_too_much))
    return state_->stopped() ? SearchEnd::gave_up : SearchEnd::exhausted;
  const std::size_t root = state_->mark();
  std::uint64_t length = std::max<std::uint64_t>(kFirstRun, 10 * std::uint64_t{model_->count()});
  for (bool first = true;; first = false) {
    explore_ = !first;
    make_noise(!first || seed != 0);
    const SearchEnd result = search(std::min(end, nodes_ + length));
    if (result != SearchEnd::gave_up || state_->stopped() || nodes() >= end) return result;
    state_->undo(root);
    decisions_.clear();
    length += length / 2;
  }
}

void GeneralSearch::Search::make_noise(bool any) {
  noise_.assign(model_->count(), 1.0);
  for (double& noise : noise_) noise += any ? kNoise * static_cast<double>(random_() % 1024) / 1024 : 0;
}

/// Depth-first, without recursion: there may be many thousand decisions.
SearchEnd GeneralSearch::Search::search(std::uint64_t node_end) {
  while (!state_->stopped() && nodes_ < node_end) {
    ++nodes_;
    state_->look_at_clock(kPairsToCompare);
    Decision decision{};
    const Choice choice = decide(decision);
    if (choice == Choice::none_left) return SearchEnd::solved;
    bool alive = choice == Choice::made;
    if (alive) {
      decision.mark = state_->mark();
      decisions_.push_back(decision);
      alive = apply(decision) && state_->propagate();
    }
    if (!alive && !backtrack()) return state_->stopped() ? SearchEnd::gave_up : SearchEnd::exhausted;
  }
  return SearchEnd::gave_up;
}

/// Returns to the last decision whose other side is possible, and takes that side. Returns false when there is none, or
/// when stopped.
bool GeneralSearch::Search::backtrack() {
  while (!state_->stopped() && !decisions_.empty()) {
    const Decision decision = decisions_.back();
    decisions_.pop_back();
    state_->undo(decision.mark);
    if (refute(decision) && state_->propagate()) return true;
  }
  return false;
}

bool GeneralSearch::Search::apply(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::in_region:
      return state_->assign(decision.index, static_cast<std::uint32_t>(decision.value));
    case Decision::Kind::at_least:
      state_->set_least(decision.index, decision.value);
      break;
    case Decision::Kind::at_most:
      state_->set_most(decision.index, decision.value);
      break;
  }
  return true;
}

bool GeneralSearch::Search::refute(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::in_region:
      return state_->exclude(decision.index, static_cast<std::uint32_t>(decision.value));
    case Decision::Kind::at_least:
      state_->set_most(decision.index, decision.otherwise);
      break;
    case Decision::Kind::at_most:
      state_->set_least(decision.index, decision.otherwise);
      break;
  }
  return true;
}

GeneralSearch::Search::Choice GeneralSearch::Search::decide(Decision& decision) {
  for (const std::uint32_t i : model_->by_area()) {
    if (state_->regions() > 1 && state_->region(i) == kNone) return decide_region(i, decision);
  }
  return choose_pair(decision) ? Choice::made : Choice::none_left;
}

/// Every item before `i` in the order has its region. So a region whose twin is unused by them is no better than that
/// twin, and a region before that of the item's own twin is excluded by symmetry.
bool GeneralSearch::Search::use_region_symmetry(std::uint32_t i) {
  const std::uint32_t twin = model_->item(i).twin;
  for (std::uint32_t r = 0; r < state_->regions(); ++r) {
    const std::uint32_t same = model_->twin_of_region(r);
    const bool useless = (twin != kNone && r < state_->region(twin)) || (same != kNone && !is_used_before(same, i));
    if (useless && !state_->exclude(i, r)) return false;
  }
  return true;
}

/// Whether an item before `i` in the order is in the region.
bool GeneralSearch::Search::is_used_before(std::uint32_t region, std::uint32_t i) const {
  for (const std::uint32_t j : model_->by_area()) {
    if (j == i) return false;
    if (state_->region(j) == region) return true;
  }
  return false;
}

GeneralSearch::Search::Choice GeneralSearch::Search::decide_region(std::uint32_t i, Decision& decision) {
  if (!use_region_symmetry(i) || !state_->propagate()) return Choice::impossible;
  if (state_->region(i) != kNone) return decide(decision);
  std::uint32_t best = kNone;
  for (std::uint32_t r = 0; r < state_->regions(); ++r) {
    if (state_->may(i, r) && (best == kNone || state_->growth(i, r) < state_->growth(i, best))) best = r;
  }
  if (explore_ && random_() % 8 == 0) {
    std::uint64_t skip = random_() % state_->choice_count(i);
    for (best = 0; !state_->may(i, best) || skip-- > 0;) ++best;
  }
  decision = {Decision::Kind::in_region, i, best, 0, 0};
  return Choice::made;
}

/// Small for a pair that leaves little room on either side and whose items failed often: it decides the most.
double GeneralSearch::Search::score(const GeneralModel::Pair& pair, std::int64_t room_above,
                                    std::int64_t room_below) const {
  const double weight = state_->weight(pair.a) + state_->weight(pair.b);
  const double room = static_cast<double>(room_above + 1) * static_cast<double>(room_below + 1);
  return room / (weight * weight) * noise_[pair.a] * noise_[pair.b];
}

/// Chooses a pair that overlaps at the lower limits: the best of the first few thousand, starting from a random one.
/// Returns false when there is none: then the lower limits are an answer.
bool GeneralSearch::Search::choose_pair(Decision& decision) {
  const auto count = static_cast<std::uint32_t>(model_->pairs().size());
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t seen = 0;
  std::uint32_t p = count > kPairsToCompare ? static_cast<std::uint32_t>(random_() % count) : 0;
  for (std::uint32_t k = 0; k < count && seen < kPairsToCompare; ++k, p = p + 1 == count ? 0 : p + 1) {
    const GeneralModel::Pair& pair = model_->pairs()[p];
    if (state_->region(pair.a) != state_->region(pair.b)) continue;
    const std::int64_t difference = state_->lower(pair.b) - state_->lower(pair.a);
    for (const GeneralModel::Forbidden& range : model_->forbidden(pair)) {
      if (difference <= range.above || range.below <= difference) continue;
      ++seen;
      const std::int64_t above = state_->most(p) - range.below;
      const std::int64_t below = range.above - state_->least(p);
      const double value = score(pair, above, below);
      if (value >= best) continue;
      best = value;
      decision.index = p;
      decision.kind = above >= below ? Decision::Kind::at_least : Decision::Kind::at_most;
      decision.value = above >= below ? range.below : range.above;
      decision.otherwise = above >= below ? range.above : range.below;
    }
  }
  return seen > 0;
}

std::vector<Position> GeneralSearch::Search::positions() const {
  std::vector<Position> result(problem_.items.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Item& item = problem_.items[i];
    result[i].region = item.allowed.empty() ? 0 : item.allowed.front();
    result[i].offset = item.pinned.value_or(Bytes(0));
  }
  for (std::uint32_t i = 0; i < model_->count(); ++i)
    result[model_->item(i).index] = {state_->region(i), Bytes(state_->lower(i))};
  return result;
}

GeneralSearch::GeneralSearch(const Problem& problem) : search_(std::make_unique<Search>(problem)) {}
GeneralSearch::~GeneralSearch() = default;
GeneralSearch::GeneralSearch(GeneralSearch&&) noexcept = default;
GeneralSearch& GeneralSearch::operator=(GeneralSearch&&) noexcept = default;

SearchEnd GeneralSearch::run(Bytes target, std::uint64_t seed, std::uint64_t node_limit,
                             const std::function<bool()>& stop, std::vector<Position>& positions) {
  const SearchEnd end = search_->run(target, seed, node_limit, stop);
  if (end == SearchEnd::solved) positions = search_->positions();
  return end;
}

std::uint64_t GeneralSearch::nodes() const { return search_->nodes(); }

}  // namespace stowage::pack
