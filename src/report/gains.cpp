#include "report/gains.hpp"

#include <algorithm>
#include <set>

#include "report/labels.hpp"

namespace stowage::report {
namespace {

constexpr std::size_t kRounds = 256;     // rounds of growing a set; each adds at least one holder
constexpr std::size_t kMaxPruned = 512;  // larger sets are not pruned
constexpr std::size_t kAllSubsets = 4;   // up to this size, every subset is tried
constexpr std::size_t kFurther = 2;      // further sets searched, starting from the best one of a single family
constexpr std::size_t kAlone = 8;        // up to this size, each holder is also tried alone

const PlacedArena* find_arena(const Scene& scene, MemoryId memory, ArenaKind kind) {
  for (const PlacedArena& arena : scene.arenas()) {
    if (arena.problem->memory == memory && arena.problem->kind == kind) return &arena;
  }
  return nullptr;
}

bool is_searched(const PlacedArena& arena) {
  return is_paid(arena.problem->kind) && arena.problem->kind != ArenaKind::ring && !arena.items.empty();
}

Bytes size_of(const Scene& scene, const PlacedArena& arena) { return scene.plan().arenas[arena.number.index()].size; }

/// Largest first.
std::vector<const PlacedArena*> searched_arenas(const Scene& scene) {
  std::vector<const PlacedArena*> arenas;
  for (const PlacedArena& arena : scene.arenas()) {
    if (is_searched(arena)) arenas.push_back(&arena);
  }
  std::sort(arenas.begin(), arenas.end(), [&](const PlacedArena* a, const PlacedArena* b) {
    return size_of(scene, *a) != size_of(scene, *b) ? size_of(scene, *a) > size_of(scene, *b) : a->number < b->number;
  });
  return arenas;
}

}  // namespace

GainSearch::GainSearch(const Scene& scene, const Stock& stock, Trials& trials, const ExplainOptions& options)
    : scene_(scene), stock_(stock), trials_(trials), options_(options), base_(*trials.without(stock, {})) {}

GainSearch::Families GainSearch::families_at(const Scene& scene, const PlacedArena& arena,
                                             const std::vector<BindingPeak>& peaks) const {
  Families families;
  for (std::size_t p = 0; p < peaks.size(); ++p) {
    for (const Held& held : peaks[p].held) {
      const PlacedItem& item = arena.items[held.item];
      const std::optional<Step> step = arena.look_at(peaks[p].at);
      const Subset numbers = stock_.find(scene, item, step);
      if (numbers.empty()) continue;
      Family& family = families[holder_of(scene, item).family];
      family.members.insert(numbers.begin(), numbers.end());
      family.at.insert(p);
      family.bytes += held.bytes;
    }
  }
  return families;
}

/// Greedy: the family that covers the most remaining peaks; among equals, the one with the most bytes there.
Subset GainSearch::cover(const Scene& scene, const PlacedArena& arena, const std::vector<BindingPeak>& peaks) {
  Subset chosen;
  std::vector<BindingPeak> left = peaks;
  while (!left.empty() && !trials_.time_is_out()) {
    const Families families = families_at(scene, arena, left);
    const auto best = std::max_element(families.begin(), families.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const Family& family) { return std::pair(family.at.size(), family.bytes); };
      return rank(a.second) < rank(b.second);
    });
    if (best == families.end()) break;
    chosen.insert(best->second.members.begin(), best->second.members.end());
    std::vector<BindingPeak> rest;
    for (std::size_t p = 0; p < left.size(); ++p) {
      if (!best->second.at.contains(p)) rest.push_back(std::move(left[p]));
    }
    left = std::move(rest);
  }
  return chosen;
}

std::optional<Subset> GainSearch::grow(Subset subset, const Goal& goal,
                                       const std::function<Subset(const Scene&, const Outcome&)>& next) {
  for (std::size_t round = 0; round < kRounds; ++round) {
    const std::optional<Outcome> known = trials_.without(stock_, subset);
    if (!known) return std::nullopt;
    if (goal(*known)) return subset;
    const std::size_t before = subset.size();
    if (subset.empty()) {
      subset.merge(next(scene_, *known));
    } else {
      const std::optional<Trial> trial = trials_.replan(stock_, subset);
      if (!trial) return std::nullopt;
      subset.merge(next(Scene(trial->planned), trial->outcome));
    }
    if (subset.size() == before) return std::nullopt;
  }
  return std::nullopt;
}

Subset GainSearch::next_for_goal(const Scene& scene, MemoryId memory, ArenaKind kind) {
  const PlacedArena* const arena = find_arena(scene, memory, kind);
  return arena ? cover(scene, *arena, binding_of(scene, *arena, options_.within, stop()).peaks) : Subset{};
}

std::vector<std::size_t> GainSearch::by_size(const Subset& subset) const {
  std::vector<std::size_t> order(subset.begin(), subset.end());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stock_.item(a).size != stock_.item(b).size ? stock_.item(a).size < stock_.item(b).size : a < b;
  });
  return order;
}

bool GainSearch::drop_one(Subset& subset, const Goal& goal, bool& complete) {
  bool dropped = false;
  for (const std::size_t number : by_size(subset)) {
    if (subset.size() == 1) break;
    Subset rest = subset;
    rest.erase(number);
    const std::optional<Outcome> outcome = trials_.without(stock_, rest);
    complete = complete && outcome;
    if (!outcome || !goal(*outcome)) continue;
    subset = std::move(rest);
    dropped = true;
  }
  return dropped;
}

/// A proper subset that reaches the goal.
std::optional<Subset> GainSearch::smaller(const Subset& subset, const Goal& goal, bool& complete) {
  const std::vector<std::size_t> all(subset.begin(), subset.end());
  for (std::size_t mask = 1; mask + 1 < (std::size_t{1} << all.size()); ++mask) {
    Subset part;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (mask >> i & 1) part.insert(all[i]);
    }
    const std::optional<Outcome> outcome = trials_.without(stock_, part);
    complete = complete && outcome;
    if (outcome && goal(*outcome)) return part;
  }
  return std::nullopt;
}

Found GainSearch::prune(Subset subset, const Goal& goal) {
  if (subset.size() > kMaxPruned) return {std::move(subset), false};
  bool complete = true;
  while (true) {
    complete = true;
    if (drop_one(subset, goal, complete)) continue;
    if (subset.size() > kAllSubsets) break;
    const std::optional<Subset> part = smaller(subset, goal, complete);
    if (!part) break;
    subset = *part;
  }
  return {std::move(subset), complete};
}

/// The smallest set found, starting from `from`, whose plan is below a peak.
std::optional<Found> GainSearch::lower(const Subset& from, Bytes below, const PlacedArena& arena) {
  const auto next = [&](const Scene& scene, const Outcome&) {
    return next_for_goal(scene, arena.problem->memory, arena.problem->kind);
  };
  const std::optional<Subset> grown = grow(from, [&](const Outcome& outcome) { return outcome.peak < below; }, next);
  if (!grown) return std::nullopt;
  const Bytes target = trials_.without(stock_, *grown)->peak;
  return prune(*grown, [&](const Outcome& outcome) { return outcome.peak <= target; });
}

std::vector<const GainSearch::Family*> GainSearch::seeds_of(const Families& families) const {
  std::vector<const Family*> seeds;
  for (const auto& [name, family] : families) seeds.push_back(&family);
  std::sort(seeds.begin(), seeds.end(), [](const Family* a, const Family* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->members < b->members;
  });
  if (seeds.size() > options_.top) seeds.resize(options_.top);
  return seeds;
}

std::vector<Gain> GainSearch::gains() {
  std::vector<Gain> list;
  std::set<Subset> known;
  const auto add = [&](const Found& found) {
    if (known.insert(found.subset).second) list.push_back(describe(found));
  };
  for (const PlacedArena* arena : searched_arenas(scene_)) {
    const Families families = families_at(scene_, *arena, binding_of(scene_, *arena, options_.within, stop()).peaks);
    std::optional<Found> best;
    for (const Family* seed : seeds_of(families)) {
      const std::optional<Found> found = lower(seed->members, base_.peak, *arena);
      if (!found) continue;
      add(*found);
      if (!best || trials_.without(stock_, found->subset)->peak < trials_.without(stock_, best->subset)->peak)
        best = found;
    }
    // Continue from the best set: remove what binds next.
    for (std::size_t more = 0; best && more < kFurther; ++more) {
      best = lower(best->subset, trials_.without(stock_, best->subset)->peak, *arena);
      // A graph without most of its holders says nothing about this one.
      if (best && 2 * best->subset.size() > stock_.size()) best.reset();
      if (best) add(*best);
    }
  }
  std::sort(list.begin(), list.end(), [](const Gain& a, const Gain& b) {
    if (a.gain != b.gain) return a.gain > b.gain;
    return a.holders.size() != b.holders.size() ? a.holders.size() < b.holders.size() : a.tensors < b.tensors;
  });
  return list;
}

Subset GainSearch::next_for_budget(const Scene& scene, const Outcome& outcome, const Budget& budget) {
  for (const PlacedArena* arena : searched_arenas(scene)) {
    const std::size_t memory = arena->problem->memory.index();
    const Bytes excess = outcome.by_memory[memory] - outcome.allowed(budget, memory);
    if (excess <= Bytes(0)) continue;
    const Bytes floor = std::max(Bytes(1), size_of(scene, *arena) - excess + Bytes(1));
    std::vector<BindingPeak> peaks = peaks_above(scene, *arena, floor);
    if (peaks.empty() || arena->concurrent()) peaks = binding_of(scene, *arena, options_.within, stop()).peaks;
    const Subset chosen = cover(scene, *arena, peaks);
    if (!chosen.empty()) return chosen;
  }
  return {};
}

std::optional<Found> GainSearch::fit(const Budget& budget) {
  const Goal fits = [&](const Outcome& outcome) { return outcome.fits(budget); };
  const auto next = [&](const Scene& scene, const Outcome& outcome) { return next_for_budget(scene, outcome, budget); };
  const std::optional<Subset> grown = grow({}, fits, next);
  return grown ? std::optional(prune(*grown, fits)) : std::nullopt;
}

std::function<bool()> GainSearch::stop() const {
  return [this] { return trials_.time_is_out(); };
}

std::optional<Bytes> GainSearch::gain_alone(const PlacedItem& item) {
  for (std::size_t number = 0; number < stock_.size(); ++number) {
    if (&stock_.item(number) != &item) continue;
    const std::optional<Outcome> outcome = trials_.without(stock_, {number});
    return outcome ? std::optional(base_.peak - outcome->peak) : std::nullopt;
  }
  return std::nullopt;
}

/// The op at which the largest arena is fullest without that set.
std::string GainSearch::op_that_binds(const Subset& subset) {
  const std::optional<Trial> trial = trials_.replan(stock_, subset);
  if (!trial) return {};
  const Scene scene(trial->planned);
  const std::vector<const PlacedArena*> arenas = searched_arenas(scene);
  if (arenas.empty()) return {};
  const std::vector<BindingPeak> peaks = binding_of(scene, *arenas.front(), options_.within, stop()).peaks;
  const auto fuller = [](const BindingPeak& a, const BindingPeak& b) { return a.live < b.live; };
  const auto fullest = std::max_element(peaks.begin(), peaks.end(), fuller);
  const std::optional<OpId> op = fullest == peaks.end() ? std::nullopt : op_at(scene, fullest->at);
  return op ? name_of(scene.graph(), *op) : std::string();
}

Gain GainSearch::describe(const Found& found) {
  const Outcome outcome = *trials_.without(stock_, found.subset);
  Gain gain;
  gain.peak = outcome.peak;
  gain.gain = base_.peak - outcome.peak;
  gain.proven = base_.proven && outcome.proven;
  gain.smallest = found.smallest;
  std::vector<std::size_t> order = by_size(found.subset);
  std::reverse(order.begin(), order.end());
  for (const std::size_t number : order) {
    const PlacedItem& item = stock_.item(number);
    gain.holders.push_back(holder_of(scene_, item));
    gain.holders.back().bytes = item.size;
    const bool tried = order.size() <= kAlone;
    gain.alone.push_back(tried ? gain_alone(item) : std::nullopt);
  }
  gain.then = op_that_binds(found.subset);
  rewrite::Dropped dropped = closed(scene_.graph(), stock_.dropped(found.subset));
  gain.tensors = std::move(dropped.tensors);
  gain.workspaces = std::move(dropped.workspaces);
  return gain;
}

}  // namespace stowage::report
