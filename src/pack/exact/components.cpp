#include "pack/exact/components.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "pack/bounds/bound.hpp"
#include "pack/exact/exact.hpp"
#include "pack/exact/peaks.hpp"
#include "pack/greedy/skyline.hpp"
#include "pack/subproblem.hpp"

namespace stowage::pack {
namespace {

/// With stream order: the largest number of pairs of a pinned item and another item to look at.
constexpr std::size_t kMaxPinnedPairs = 20'000'000;
constexpr std::size_t kNoComponent = SIZE_MAX;
/// Nodes of the first visit of a component.
constexpr std::uint64_t kFirstVisit = 25'000;

/// Disjoint sets of items (union-find).
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::size_t> parent_;
};

/// A maximal range of steps in which something unpinned is live, all of it in one group.
struct Stretch {
  Interval when;
  std::size_t item;  ///< One of the group.
};

/// With stream order: items of one group that are consecutive in order of begin.
struct ItemRun {
  std::vector<Step> threshold;  ///< By stream: from where on all of them are over.
  std::size_t item;             ///< One of the group.
};

class ComponentFinder {
 public:
  explicit ComponentFinder(const Problem& problem) : problem_(problem), groups_(problem.items.size()) {}

  std::vector<Component> find() {
    problem_.order.empty() ? meet_in_time() : meet_unordered();
    keep_apart();
    std::vector<Component> components;
    std::vector<std::size_t> component_of(problem_.items.size(), kNoComponent);  // by group
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.items[i].pinned || problem_.items[i].size == Bytes(0)) continue;
      std::size_t& component = component_of[groups_.of(i)];
      if (component == kNoComponent) component = components.size();
      if (component == components.size()) components.emplace_back();
      components[component].items.push_back(i);
    }
    for (const auto& [pinned, item] : beside_pinned_) {
      if (component_of[groups_.of(item)] == kNoComponent) continue;  // it has no bytes
      components[component_of[groups_.of(item)]].items.push_back(pinned);
    }
    for (Component& component : components) finish(component);
    return components;
  }

 private:
  /// Items that are kept apart meet, whenever they live. (Joined items meet in any case.)
  void keep_apart() {
    for (const ApartPair& pair : problem_.apart) {
      if (bytes_in(problem_, pair, pair.a).empty() || bytes_in(problem_, pair, pair.b).empty()) continue;
      const bool a = problem_.items[pair.a].pinned.has_value();
      const bool b = problem_.items[pair.b].pinned.has_value();
      if (!a && !b) groups_.unite(pair.a, pair.b);
      if (a != b)
        beside_pinned_.push_back(a ? std::pair<std::size_t, std::size_t>(pair.a, pair.b)
                                   : std::pair<std::size_t, std::size_t>(pair.b, pair.a));
    }
  }

  void meet_in_time() {
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (!problem_.items[i].pinned) append_chunks(problem_, i, chunks);
    }
    std::sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return a.when.lower != b.when.lower ? a.when.lower < b.when.lower : a.item < b.item;
    });
    std::vector<Stretch> stretches;
    for (const Chunk& chunk : chunks) {
      if (stretches.empty() || stretches.back().when.upper <= chunk.when.lower)
        stretches.push_back({chunk.when, chunk.item});
      stretches.back().when.upper = std::max(stretches.back().when.upper, chunk.when.upper);
      groups_.unite(stretches.back().item, chunk.item);
    }
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.items[i].pinned) find_beside(i, stretches);
    }
  }

  void find_beside(std::size_t pinned, const std::vector<Stretch>& stretches) {
    std::vector<Chunk> chunks;
    append_chunks(problem_, pinned, chunks);
    for (const Chunk& chunk : chunks) {
      auto stretch = std::upper_bound(stretches.begin(), stretches.end(), chunk.when.lower,
                                      [](Step step, const Stretch& each) { return step < each.when.upper; });
      for (; stretch != stretches.end() && stretch->when.lower < chunk.when.upper; ++stretch)
        beside_pinned_.push_back({pinned, stretch->item});
    }
  }

  /// With stream order, each component comes before the next one as a whole: every item before every item. (If every
  /// two items of two sets are ordered, but not all in the same direction, then some pair between them is unordered.)
  /// So in order of begin components are consecutive, and each item joins the last groups as long as it does not come
  /// after all of their items.
  void meet_unordered() {
    std::vector<ItemRun> runs;
    for (const std::size_t item : unpinned_in_order()) {
      ItemRun run = run_of(item);
      for (; !runs.empty() && !is_over(runs.back(), item); runs.pop_back()) join(run, runs.back());
      runs.push_back(std::move(run));
    }
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.items[i].pinned && problem_.items[i].size > Bytes(0)) find_unordered_beside(i);
    }
  }

  [[nodiscard]] std::vector<std::size_t> unpinned_in_order() const {
    std::vector<std::pair<Step, std::size_t>> begins;
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      const Item& item = problem_.items[i];
      if (!item.pinned && item.size > Bytes(0)) begins.emplace_back(item.life().lower, i);
    }
    std::sort(begins.begin(), begins.end());
    std::vector<std::size_t> items;
    for (const auto& [begin, item] : begins) items.push_back(item);
    return items;
  }

  [[nodiscard]] ItemRun run_of(std::size_t item) const {
    const std::size_t streams = problem_.order.streams;
    const auto row = problem_.order.threshold.begin() + static_cast<std::ptrdiff_t>(item * streams);
    return {{row, row + static_cast<std::ptrdiff_t>(streams)}, item};
  }

  /// Whether all items of the run come before the item.
  [[nodiscard]] bool is_over(const ItemRun& run, std::size_t item) const {
    const Step* const first = &problem_.order.first[item * problem_.order.streams];
    return std::equal(run.threshold.begin(), run.threshold.end(), first, std::less_equal<>());
  }

  void join(ItemRun& run, const ItemRun& other) {
    for (std::size_t s = 0; s < run.threshold.size(); ++s)
      run.threshold[s] = std::max(run.threshold[s], other.threshold[s]);
    groups_.unite(run.item, other.item);
  }

  void find_unordered_beside(std::size_t pinned) {
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      if (problem_.items[i].pinned || problem_.items[i].size == Bytes(0)) continue;
      if (!problem_.order.before(i, pinned) && !problem_.order.before(pinned, i)) beside_pinned_.push_back({pinned, i});
    }
  }

  void finish(Component& component) const {
    std::vector<std::size_t>& items = component.items;
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
    component.problem = subproblem(problem_, items);
  }

  const Problem& problem_;
  Groups groups_;
  /// A pinned item, and an unpinned item of a group that it meets.
  std::vector<std::pair<std::size_t, std::size_t>> beside_pinned_;
};

/// A component that is being solved.
struct Part {
  Component component;
  std::vector<Position> positions;  ///< Empty while there is no answer.
  Bytes peak = kMaxBytes + Bytes(1);
  std::uint64_t visits = 0;

  void take(std::vector<Position> better) {
    positions = std::move(better);
    peak = peak_of(component.problem, positions);
  }
};

class Apart {
 public:
  Apart(Bench& bench, std::vector<Component> components) : bench_(bench), positions_(bench.outcome().positions) {
    for (Component& component : components) {
      Part& part = parts_.emplace_back(std::move(component));
      if (positions_.empty()) continue;
      std::vector<Position> known;
      for (const std::size_t i : part.component.items) known.push_back(positions_[i]);
      part.take(std::move(known));
    }
    if (!positions_.empty()) return;
    for (const Item& item : bench.problem().items) positions_.push_back({0, item.pinned.value_or(Bytes(0))});
  }

  void run() {
    while (!bench_.finished() && bench_.nodes_left() > 0) visit(*std::max_element(parts_.begin(), parts_.end(), lower));
  }

 private:
  static bool lower(const Part& a, const Part& b) { return a.peak < b.peak; }
  [[nodiscard]] Bytes goal() const { return bench_.problem().capacity.value_or(bench_.bound()); }

  void visit(Part& part) {
    const auto above =
        std::count_if(parts_.begin(), parts_.end(), [&](const Part& each) { return each.peak > goal(); });
    const std::uint64_t nodes = kFirstVisit << std::min<std::uint64_t>(part.visits, 32);
    SolveOptions options = bench_.options();
    options.on_better = {};
    options.node_budget = above > 1 ? std::min(nodes, bench_.nodes_left()) : bench_.nodes_left();
    options.seed += part.visits++;
    // What the component may reach without being above the bound of the whole.
    const Bytes bound(std::max<std::int64_t>(0, Peaks(part.component.problem).at_most(bench_.bound().value())));
    Bench alone(part.component.problem, options, {Certificate::Argument::exhausted_search, bound, {}, 0});
    if (!part.positions.empty()) alone.offer(part.positions, "exact");
    // The best start for the whole need not be the best for each component. If only one component is too high, it
    // usually is.
    if (part.visits == 1 && above > 1 && alone.plain()) solve_skyline(alone);
    solve_exact(alone);
    take(part, alone.outcome());
  }

  void take(Part& part, SolveOutcome outcome) {
    // At least one node, so that the loop ends when a search refuses the problem.
    bench_.spend(std::max<std::uint64_t>(1, outcome.nodes));
    const std::optional<Bytes> capacity = bench_.problem().capacity;
    const bool too_high = capacity && outcome.bound.bytes > *capacity;
    if (outcome.status == SolveStatus::infeasible && !too_high) bench_.prove_infeasible();
    // Bounds of a component rely on its own common divisor, which a check on the whole problem does not know; so the
    // certificate says only that a search was exhausted.
    bench_.prove({Certificate::Argument::exhausted_search, outcome.bound.bytes, {}, 0});
    if (!outcome.positions.empty()) part.take(std::move(outcome.positions));
    for (std::size_t k = 0; k < part.positions.size(); ++k) positions_[part.component.items[k]] = part.positions[k];
    const bool all =
        std::all_of(parts_.begin(), parts_.end(), [](const Part& each) { return !each.positions.empty(); });
    if (all) bench_.offer(positions_, "exact");
  }

  Bench& bench_;
  std::vector<Part> parts_;
  std::vector<Position> positions_;  ///< Of the whole problem.
};

}  // namespace

std::vector<Component> find_components(const Problem& problem) {
  const auto pinned = static_cast<std::size_t>(std::count_if(problem.items.begin(), problem.items.end(),
                                                             [](const Item& item) { return item.pinned.has_value(); }));
  if (!problem.order.empty() && pinned * problem.items.size() > kMaxPinnedPairs) return {};
  return ComponentFinder(problem).find();
}

bool solve_components(Bench& bench) {
  if (bench.problem().regions.size() != 1) return false;
  std::vector<Component> components = find_components(bench.problem());
  if (components.size() < 2) return false;
  Apart(bench, std::move(components)).run();
  return true;
}

}  // namespace stowage::pack
