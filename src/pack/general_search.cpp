#include "pack/general_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "pack/edge_finding.hpp"
#include "pack/general_model.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kNone = GeneralModel::kNone;
constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::int64_t kMaxTarget = std::int64_t{1} << 61;
constexpr std::uint64_t kFirstRun = 200;
constexpr std::size_t kMaxCliqueWork = 20'000;
constexpr std::uint32_t kPairsToCompare = 2'000;
constexpr double kNoise = 0.5;
constexpr std::size_t kNodeWork = 50;
constexpr std::size_t kWorkBetweenLooks = 50'000;

std::int64_t round_down(std::int64_t value, std::int64_t alignment) { return value & ~(alignment - 1); }

}  // namespace

class GeneralSearch::Search {
 public:
  explicit Search(const Problem& problem);

  SearchEnd run(Bytes target, std::uint64_t seed, std::uint64_t node_limit, const std::function<bool()>& stop);
  [[nodiscard]] std::vector<Position> positions() const;
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  enum class What : std::uint8_t { lower, upper, least, most, region, choice, top };
  struct Change {
    What what;
    std::uint32_t index;
    std::int64_t old;
  };
  /// An item is in a region (or not), or the difference of a pair is at least `value` (or else at most `otherwise`) or the reverse.
  struct Decision {
    enum class Kind : std::uint8_t { in_region, at_least, at_most };
    Kind kind;
    std::uint32_t index;
    std::int64_t value;
    std::int64_t otherwise;
    std::size_t mark;
  };
  enum class Step : std::uint8_t { decided, failed, solved };

  bool start();
  SearchEnd search(std::uint64_t node_end);
  bool backtrack();
  bool apply(const Decision& decision);
  bool refute(const Decision& decision);
  void undo(std::size_t mark);
  void clear_queues();

  bool set_lower(std::uint32_t i, std::int64_t value);
  bool set_upper(std::uint32_t i, std::int64_t value);
  bool set_top(std::uint32_t region, std::int64_t value);
  void set_least(std::uint32_t pair, std::int64_t value);
  void set_most(std::uint32_t pair, std::int64_t value);
  bool assign(std::uint32_t i, std::uint32_t region);
  bool exclude(std::uint32_t i, std::uint32_t region);
  void touch(std::uint32_t i);
  void add_load(std::uint32_t i, std::uint32_t region, std::int64_t sign);
  [[nodiscard]] std::int64_t ceiling(std::uint32_t region) const;
  [[nodiscard]] std::int64_t& load(std::uint32_t clique, std::uint32_t region) { return load_[clique * regions() + region]; }
  [[nodiscard]] std::uint32_t regions() const { return static_cast<std::uint32_t>(problem_.regions.size()); }
  [[nodiscard]] bool may(std::uint32_t i, std::uint32_t region) const { return choices_[i * regions() + region] != 0; }

  void look_at_clock(std::size_t work);
  bool propagate();
  bool propagate_item(std::uint32_t i);
  bool propagate_pair(std::uint32_t p);
  bool propagate_tops();
  bool propagate_clique(std::uint32_t c);
  bool shrink_clique(std::uint32_t c, std::uint32_t region);
  bool enough_room(std::uint32_t c);
  bool narrow(const GeneralModel::Pair& pair, std::int64_t& least, std::int64_t& most) const;

  Step decide(Decision& decision);
  Step decide_region(std::uint32_t i, Decision& decision);
  bool use_region_symmetry(std::uint32_t i);
  [[nodiscard]] std::int64_t growth(std::uint32_t i, std::uint32_t region);
  bool choose_pair(Decision& decision);
  [[nodiscard]] double score(const GeneralModel::Pair& pair, std::int64_t room_above, std::int64_t room_below) const;
  [[nodiscard]] double random_fraction() { return static_cast<double>(random_() % 1024) / 1024; }

  const Problem& problem_;
  std::optional<GeneralModel> model_;
  bool possible_ = true;  ///< False when an item of no size has no place.
  std::int64_t target_ = 0;
  const std::function<bool()>* stop_ = nullptr;
  std::uint64_t nodes_ = 0;
  std::size_t work_ = 0;
  bool stopped_ = false;
  std::mt19937_64 random_;

  std::vector<std::int64_t> lower_, upper_;  ///< By item: limits of the offset.
  std::vector<std::int64_t> least_, most_;   ///< By pair: what was decided about the difference.
  std::vector<std::uint32_t> region_;        ///< By item, or kNone.
  std::vector<char> choices_;                ///< Item × region: whether still possible.
  std::vector<std::uint32_t> choice_count_;
  std::vector<std::int64_t> top_;   ///< By region: a lower limit.
  std::vector<std::int64_t> load_;  ///< Clique × region: bytes of the items assigned; with several regions only.
  std::int64_t paid_ = 0;           ///< The sum of the tops of paid regions.
  std::vector<Change> trail_;
  std::vector<Decision> decisions_;
  std::vector<std::uint32_t> queue_, dirty_;
  std::vector<char> queued_, is_dirty_;
  bool tops_changed_ = false;
  std::vector<double> weight_;  ///< By item: failures.
  std::vector<double> noise_;   ///< By item: what makes one run different from another.
  bool explore_ = false;        ///< Whether to try a random region now and then.
  EdgeFinder finder_;
  std::vector<EdgeTask> tasks_;
};

GeneralSearch::Search::Search(const Problem& problem) : problem_(problem), model_(GeneralModel::make(problem)) {
  for (const Item& item : problem.items) {
    if (!item.pinned) continue;
    possible_ = possible_ && is_aligned(*item.pinned, item.alignment);
    for (std::uint32_t r = 0; r < regions(); ++r) {
      const std::optional<Bytes> limit = problem.regions[r].limit;
      if (item.allowed.contains(r) && limit && *item.pinned + item.size > *limit) possible_ = false;
    }
  }
  if (!model_) return;
  weight_.assign(model_->count(), 1.0);
  noise_.assign(model_->count(), 1.0);
}

/// The state before the first decision.
bool GeneralSearch::Search::start() {
  const std::uint32_t n = model_->count();
  lower_.assign(n, 0);
  upper_.assign(n, model_->ceiling());
  least_.assign(model_->pairs().size(), -kInfinite);
  most_.assign(model_->pairs().size(), kInfinite);
  region_.assign(n, kNone);
  choices_.assign(std::size_t{n} * regions(), 1);
  choice_count_.assign(n, regions());
  top_.assign(regions(), 0);
  load_.assign(regions() > 1 ? model_->cliques().size() * regions() : 0, 0);
  paid_ = 0;
  trail_.clear();
  decisions_.clear();
  queued_.assign(n, 0);
  is_dirty_.assign(model_->cliques().size(), 0);
  queue_.clear();
  dirty_.clear();
  tops_changed_ = false;
  if (target_ < 0) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Item& item = problem_.items[model_->item(i).index];
    if (const std::uint32_t pair = model_->item(i).twin_pair; pair != kNone) least_[pair] = 1;
    if (item.pinned && (!set_lower(i, item.pinned->value()) || !set_upper(i, item.pinned->value()))) return false;
    if (regions() == 1 && !assign(i, 0)) return false;
    for (std::uint32_t r = 0; regions() > 1 && r < regions(); ++r) {
      const bool fits = model_->item(i).size <= ceiling(r);
      if ((!fits || !item.allowed.contains(r)) && !exclude(i, r)) return false;
    }
  }
  return propagate();
}

SearchEnd GeneralSearch::Search::run(Bytes target, std::uint64_t seed, std::uint64_t node_limit, const std::function<bool()>& stop) {
  if (!possible_) return SearchEnd::exhausted;
  if (!model_) return SearchEnd::gave_up;
  target_ = std::min(target.value(), kMaxTarget);
  stop_ = &stop;
  random_.seed(seed);
  stopped_ = false;
  if (!start()) return stopped_ ? SearchEnd::gave_up : SearchEnd::exhausted;
  const std::size_t root = trail_.size();
  const std::uint64_t end = nodes_ + node_limit;
  std::uint64_t length = std::max<std::uint64_t>(kFirstRun, 10 * model_->count());
  for (std::uint32_t round = 0;; ++round) {
    std::generate(noise_.begin(), noise_.end(), [&] { return round == 0 && seed == 0 ? 1.0 : 1 + kNoise * random_fraction(); });
    explore_ = round > 0;
    const std::uint64_t run_end = std::min(end, nodes_ + length);
    const SearchEnd result = search(run_end);
    if (result != SearchEnd::gave_up || stopped_ || nodes_ >= end) return result;
    undo(root);
    decisions_.clear();
    length += length / 2;
  }
}

/// Depth first, without recursion: decisions may be many thousand deep.
SearchEnd GeneralSearch::Search::search(std::uint64_t node_end) {
  while (true) {
    if (stopped_ || nodes_ >= node_end) return SearchEnd::gave_up;
    ++nodes_;
    look_at_clock(kNodeWork + kPairsToCompare);
    Decision decision{};
    const Step step = decide(decision);
    if (step == Step::solved) return SearchEnd::solved;
    bool alive = step == Step::decided;
    if (alive) {
      decision.mark = trail_.size();
      decisions_.push_back(decision);
      alive = apply(decision) && propagate();
    }
    if (!alive && !stopped_ && !backtrack()) return stopped_ ? SearchEnd::gave_up : SearchEnd::exhausted;
  }
}

/// Back to the last decision that has another side, and on there. False when there is none.
bool GeneralSearch::Search::backtrack() {
  while (!decisions_.empty()) {
    const Decision decision = decisions_.back();
    decisions_.pop_back();
    undo(decision.mark);
    if (refute(decision) && propagate()) return true;
    if (stopped_) return false;
  }
  return false;
}

bool GeneralSearch::Search::apply(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::in_region: return assign(decision.index, static_cast<std::uint32_t>(decision.value));
    case Decision::Kind::at_least: set_least(decision.index, decision.value); return true;
    case Decision::Kind::at_most: set_most(decision.index, decision.value); return true;
  }
  return false;
}

bool GeneralSearch::Search::refute(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::in_region: return exclude(decision.index, static_cast<std::uint32_t>(decision.value));
    case Decision::Kind::at_least: set_most(decision.index, decision.otherwise); return true;
    case Decision::Kind::at_most: set_least(decision.index, decision.otherwise); return true;
  }
  return false;
}

void GeneralSearch::Search::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& change = trail_.back();
    switch (change.what) {
      case What::lower: lower_[change.index] = change.old; break;
      case What::upper: upper_[change.index] = change.old; break;
      case What::least: least_[change.index] = change.old; break;
      case What::most: most_[change.index] = change.old; break;
      case What::region:
        add_load(change.index, region_[change.index], -1);
        region_[change.index] = kNone;
        break;
      case What::choice:
        choices_[change.index] = 1;
        ++choice_count_[change.index / regions()];
        break;
      case What::top:
        if (problem_.regions[change.index].paid) paid_ += change.old - top_[change.index];
        top_[change.index] = change.old;
        break;
    }
  }
  clear_queues();
}

void GeneralSearch::Search::clear_queues() {
  for (const std::uint32_t i : queue_) queued_[i] = 0;
  for (const std::uint32_t c : dirty_) is_dirty_[c] = 0;
  queue_.clear();
  dirty_.clear();
  tops_changed_ = false;
}

// ------------------------------------------------------------------------------------------------------------ changes

void GeneralSearch::Search::touch(std::uint32_t i) {
  if (region_[i] == kNone) return;
  if (!queued_[i]) {
    queued_[i] = 1;
    queue_.push_back(i);
  }
  for (const std::uint32_t c : model_->cliques_of(i)) {
    if (is_dirty_[c]) continue;
    is_dirty_[c] = 1;
    dirty_.push_back(c);
    std::push_heap(dirty_.begin(), dirty_.end(), std::greater<>());
  }
}

bool GeneralSearch::Search::set_lower(std::uint32_t i, std::int64_t value) {
  if (value <= lower_[i]) return true;
  trail_.push_back({What::lower, i, lower_[i]});
  lower_[i] = round_up(value, model_->item(i).alignment);
  if (lower_[i] > upper_[i]) return false;
  touch(i);
  return region_[i] == kNone || set_top(region_[i], lower_[i] + model_->item(i).size);
}

bool GeneralSearch::Search::set_upper(std::uint32_t i, std::int64_t value) {
  if (value >= upper_[i]) return true;
  trail_.push_back({What::upper, i, upper_[i]});
  upper_[i] = round_down(value, model_->item(i).alignment);
  if (lower_[i] > upper_[i]) return false;
  touch(i);
  return true;
}

bool GeneralSearch::Search::set_top(std::uint32_t region, std::int64_t value) {
  if (value <= top_[region]) return true;
  trail_.push_back({What::top, region, top_[region]});
  if (problem_.regions[region].paid) paid_ += value - top_[region];
  top_[region] = value;
  tops_changed_ = true;
  return paid_ <= target_ && value <= ceiling(region);
}

void GeneralSearch::Search::set_least(std::uint32_t pair, std::int64_t value) {
  if (value <= least_[pair]) return;
  trail_.push_back({What::least, pair, least_[pair]});
  least_[pair] = value;
  touch(model_->pairs()[pair].a);
}

void GeneralSearch::Search::set_most(std::uint32_t pair, std::int64_t value) {
  if (value >= most_[pair]) return;
  trail_.push_back({What::most, pair, most_[pair]});
  most_[pair] = value;
  touch(model_->pairs()[pair].a);
}

/// What no item in the region can end above: its limit, and what the tops of the other paid regions leave.
std::int64_t GeneralSearch::Search::ceiling(std::uint32_t region) const {
  std::int64_t result = model_->ceiling();
  const Region& at = problem_.regions[region];
  if (at.limit) result = std::min(result, at.limit->value());
  return at.paid ? std::min(result, target_ - paid_ + top_[region]) : result;
}

void GeneralSearch::Search::add_load(std::uint32_t i, std::uint32_t region, std::int64_t sign) {
  if (regions() == 1) return;
  for (const std::uint32_t c : model_->cliques_of(i)) {
    for (const GeneralModel::Task& task : model_->cliques()[c]) {
      if (task.item == i) load(c, region) += sign * task.bytes;
    }
  }
}

bool GeneralSearch::Search::assign(std::uint32_t i, std::uint32_t region) {
  if (region_[i] != kNone) return region_[i] == region;
  if (!may(i, region)) return false;
  trail_.push_back({What::region, i, 0});
  region_[i] = region;
  add_load(i, region, 1);
  for (const std::uint32_t c : model_->cliques_of(i)) {
    if (regions() > 1 && !set_top(region, load(c, region))) return false;
  }
  const GeneralModel::ModelItem& item = model_->item(i);
  touch(i);
  return set_top(region, lower_[i] + item.size) && set_upper(i, ceiling(region) - item.size);
}

bool GeneralSearch::Search::exclude(std::uint32_t i, std::uint32_t region) {
  if (!may(i, region)) return true;
  if (region_[i] == region) return false;
  trail_.push_back({What::choice, i * regions() + region, 0});
  choices_[i * regions() + region] = 0;
  if (--choice_count_[i] == 0) return false;
  if (choice_count_[i] > 1 || region_[i] != kNone) return true;
  std::uint32_t only = 0;
  while (!may(i, only)) ++only;
  return assign(i, only);
}

// -------------------------------------------------------------------------------------------------------- propagation

/// Asks `stop` after every so much work: one node of a large problem can take long.
void GeneralSearch::Search::look_at_clock(std::size_t work) {
  work_ += work;
  if (work_ < kWorkBetweenLooks) return;
  work_ = 0;
  stopped_ = stopped_ || (*stop_ && (*stop_)());
}

/// To the fixpoint. False when something has no place left, or when stopped.
bool GeneralSearch::Search::propagate() {
  std::size_t clique_work = 0;
  while (!stopped_) {
    if (!queue_.empty()) {
      const std::uint32_t i = queue_.back();
      queue_.pop_back();
      queued_[i] = 0;
      if (!propagate_item(i)) return false;
    } else if (tops_changed_) {
      tops_changed_ = false;
      if (regions() > 1 && !propagate_tops()) return false;
    } else if (!dirty_.empty() && clique_work < kMaxCliqueWork) {
      std::pop_heap(dirty_.begin(), dirty_.end(), std::greater<>());
      const std::uint32_t c = dirty_.back();
      dirty_.pop_back();
      clique_work += model_->cliques()[c].size() * model_->cliques()[c].size();
      is_dirty_[c] = 0;
      if (propagate_clique(c)) continue;
      for (const GeneralModel::Task& task : model_->cliques()[c]) weight_[task.item] += 1;
      return false;
    } else {
      return true;
    }
  }
  return false;
}

bool GeneralSearch::Search::propagate_item(std::uint32_t i) {
  look_at_clock(model_->pairs_of(i).size());
  for (const std::uint32_t p : model_->pairs_of(i)) {
    const GeneralModel::Pair& pair = model_->pairs()[p];
    if (region_[pair.a] != region_[pair.b]) continue;
    if (propagate_pair(p)) continue;
    weight_[pair.a] += 1;
    weight_[pair.b] += 1;
    return false;
  }
  return true;
}

/// The least and the most that the difference can be, given the limits of both offsets. False when there is no such difference.
bool GeneralSearch::Search::narrow(const GeneralModel::Pair& pair, std::int64_t& least, std::int64_t& most) const {
  least = std::max(least, lower_[pair.b] - upper_[pair.a]);
  most = std::min(most, upper_[pair.b] - lower_[pair.a]);
  const std::span<const GeneralModel::Forbidden> forbidden = model_->forbidden(pair);
  for (const GeneralModel::Forbidden& range : forbidden) {
    if (range.above < least && least < range.below) least = range.below;
  }
  for (std::size_t k = forbidden.size(); k-- > 0;) {
    if (forbidden[k].above < most && most < forbidden[k].below) most = forbidden[k].above;
  }
  return least <= most;
}

bool GeneralSearch::Search::propagate_pair(std::uint32_t p) {
  const GeneralModel::Pair& pair = model_->pairs()[p];
  std::int64_t least = least_[p];
  std::int64_t most = most_[p];
  if (!narrow(pair, least, most)) return false;
  return set_lower(pair.b, lower_[pair.a] + least) && set_upper(pair.a, upper_[pair.b] - least) &&
         set_lower(pair.a, lower_[pair.b] - most) && set_upper(pair.b, upper_[pair.a] + most);
}

bool GeneralSearch::Search::propagate_tops() {
  for (std::uint32_t i = 0; i < model_->count(); ++i) {
    if (region_[i] != kNone) {
      if (!set_upper(i, ceiling(region_[i]) - model_->item(i).size)) return false;
      continue;
    }
    for (std::uint32_t r = 0; r < regions(); ++r) {
      if (lower_[i] + model_->item(i).size > ceiling(r) && !exclude(i, r)) return false;
    }
  }
  return true;
}

bool GeneralSearch::Search::propagate_clique(std::uint32_t c) {
  look_at_clock(model_->cliques()[c].size() * model_->cliques()[c].size());
  if (regions() > 1 && !enough_room(c)) return false;
  for (std::uint32_t r = 0; r < regions(); ++r) {
    if (!shrink_clique(c, r)) return false;
  }
  return true;
}

/// Whether what is in no region yet can be in any, by bytes alone.
bool GeneralSearch::Search::enough_room(std::uint32_t c) {
  std::int64_t room = target_;
  for (std::uint32_t r = 0; r < regions(); ++r) {
    room += problem_.regions[r].paid ? -load(c, r) : ceiling(r) - load(c, r);
    room = std::min(room, kMaxTarget);
  }
  for (const GeneralModel::Task& task : model_->cliques()[c]) {
    if (region_[task.item] == kNone) room -= task.bytes;
  }
  return room >= 0;
}

bool GeneralSearch::Search::shrink_clique(std::uint32_t c, std::uint32_t region) {
  tasks_.clear();
  const GeneralModel::Clique& clique = model_->cliques()[c];
  for (std::uint32_t t = 0; t < clique.size(); ++t) {
    const GeneralModel::Task& task = clique[t];
    if (region_[task.item] != region) continue;
    const std::int64_t end = task.lower + task.length;
    tasks_.push_back({lower_[task.item] + task.lower, task.length, upper_[task.item] + end, t});
  }
  if (tasks_.size() < 3) return true;  // A pair takes care of itself.
  if (!finder_.run(tasks_)) return false;
  for (const EdgeTask& found : tasks_) {
    const GeneralModel::Task& task = clique[found.tag];
    if (!set_lower(task.item, found.release - task.lower)) return false;
    if (!set_upper(task.item, found.deadline - task.lower - task.length)) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------- branching

GeneralSearch::Search::Step GeneralSearch::Search::decide(Decision& decision) {
  for (const std::uint32_t i : model_->by_area()) {
    if (regions() > 1 && region_[i] == kNone) return decide_region(i, decision);
  }
  return choose_pair(decision) ? Step::decided : Step::solved;
}

/// Every item before `i` in the order has its region. So a region whose twin none of them is in is no better than the twin, and one
/// before that of its own twin is ruled out by exchange.
bool GeneralSearch::Search::use_region_symmetry(std::uint32_t i) {
  const std::uint32_t twin = model_->item(i).twin;
  for (std::uint32_t r = 0; r < regions(); ++r) {
    bool useless = twin != kNone && r < region_[twin];
    if (const std::uint32_t same = model_->twin_of_region(r); same != kNone && !useless) {
      useless = true;
      for (const std::uint32_t j : model_->by_area()) {
        if (j == i) break;
        if (region_[j] == same) useless = false;
      }
    }
    if (useless && !exclude(i, r)) return false;
  }
  return true;
}

/// By how much the region's top grows at least. Unpaid regions come first.
std::int64_t GeneralSearch::Search::growth(std::uint32_t i, std::uint32_t region) {
  if (!problem_.regions[region].paid) return -1;
  std::int64_t most = model_->item(i).size;
  for (const std::uint32_t c : model_->cliques_of(i)) most = std::max(most, load(c, region) + model_->item(i).size);
  return std::max<std::int64_t>(0, most - top_[region]);
}

GeneralSearch::Search::Step GeneralSearch::Search::decide_region(std::uint32_t i, Decision& decision) {
  if (!use_region_symmetry(i) || !propagate()) return Step::failed;
  if (region_[i] != kNone) return decide(decision);
  std::uint32_t best = kNone;
  for (std::uint32_t r = 0; r < regions(); ++r) {
    if (may(i, r) && (best == kNone || growth(i, r) < growth(i, best))) best = r;
  }
  if (explore_ && random_() % 8 == 0) {
    std::uint64_t skip = random_() % choice_count_[i];
    for (best = 0; !may(i, best) || skip-- > 0;) ++best;
  }
  decision = {Decision::Kind::in_region, i, best, 0, 0};
  return Step::decided;
}

/// Small for a pair that leaves little room on either side and whose items failed often: it decides most.
double GeneralSearch::Search::score(const GeneralModel::Pair& pair, std::int64_t room_above, std::int64_t room_below) const {
  const double weight = weight_[pair.a] + weight_[pair.b];
  const double room = static_cast<double>(room_above + 1) * static_cast<double>(room_below + 1);
  return room / (weight * weight) * noise_[pair.a] * noise_[pair.b];
}

/// A pair that overlaps at the lower limits: the best of the first few thousand from a random one on. False when there is none at all:
/// the lower limits are the answer.
bool GeneralSearch::Search::choose_pair(Decision& decision) {
  const auto count = static_cast<std::uint32_t>(model_->pairs().size());
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t seen = 0;
  std::uint32_t p = count > kPairsToCompare ? static_cast<std::uint32_t>(random_() % count) : 0;
  for (std::uint32_t k = 0; k < count && seen < kPairsToCompare; ++k, p = p + 1 == count ? 0 : p + 1) {
    const GeneralModel::Pair& pair = model_->pairs()[p];
    if (region_[pair.a] != region_[pair.b]) continue;
    const std::int64_t difference = lower_[pair.b] - lower_[pair.a];
    for (const GeneralModel::Forbidden& range : model_->forbidden(pair)) {
      if (difference <= range.above || range.below <= difference) continue;
      ++seen;
      const std::int64_t above = std::min(most_[p], upper_[pair.b] - lower_[pair.a]) - range.below;
      const std::int64_t below = range.above - std::max(least_[p], lower_[pair.b] - upper_[pair.a]);
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
    result[i].region = item.allowed.only.empty() ? 0 : item.allowed.only.front();
    result[i].offset = item.pinned.value_or(Bytes(0));
  }
  for (std::uint32_t i = 0; i < model_->count(); ++i) result[model_->item(i).index] = {region_[i], Bytes(lower_[i])};
  return result;
}

GeneralSearch::GeneralSearch(const Problem& problem) : search_(std::make_unique<Search>(problem)) {}
GeneralSearch::~GeneralSearch() = default;
GeneralSearch::GeneralSearch(GeneralSearch&&) noexcept = default;
GeneralSearch& GeneralSearch::operator=(GeneralSearch&&) noexcept = default;

SearchEnd GeneralSearch::run(Bytes target, std::uint64_t seed, std::uint64_t node_limit, const std::function<bool()>& stop,
                             std::vector<Position>& positions) {
  const SearchEnd end = search_->run(target, seed, node_limit, stop);
  if (end == SearchEnd::solved) positions = search_->positions();
  return end;
}

std::uint64_t GeneralSearch::nodes() const { return search_->nodes(); }

}  // namespace stowage::pack
