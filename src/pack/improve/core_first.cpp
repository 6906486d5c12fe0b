#include "pack/improve/core_first.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "pack/exact/exact.hpp"
#include "pack/improve/ejection_search.hpp"

namespace stowage::pack {
namespace {

/// How full a section of the core is at least, as a fraction of the target.
constexpr std::array kFullness = {0.98, 0.95, 0.92, 0.89, 0.86, 0.83, 0.8};
/// The largest core: this many items, or this share of all.
constexpr std::size_t kMaxCore = 4'096;
constexpr std::size_t kCoreShare = 16;
/// Up to this many pairs of a core item and another one are looked at.
constexpr double kMaxPairs = 3e7;
/// A node of the exact search costs about as much as this many nodes of a repair.
constexpr std::uint64_t kNodeCost = 4;
/// Targets above the goal, as fractions of the distance to the best peak.
constexpr std::array kTargets = {0.0, 0.125, 0.5};

class CoreFirst {
 public:
  /// `nodes` for each repair.
  CoreFirst(Bench& bench, std::uint64_t nodes) : bench_(bench), plain_(*bench.plain()), nodes_(nodes) {}

  /// The larger the core, the more room the rest has; so the largest core that is solved is taken.
  bool run(std::int64_t target) {
    target_ = target;
    std::vector<std::uint32_t> solved;
    std::vector<Position> positions;
    for (const double fullness : kFullness) {
      if (!find_core(fullness)) break;
      std::vector<Position> found = pack_core();
      if (found.empty()) break;
      positions = std::move(found);
      solved = core_;
    }
    core_ = std::move(solved);
    return !core_.empty() && pairs() <= kMaxPairs && pack_rest(positions);
  }

 private:
  /// About how many pairs of a core item and another one meet.
  [[nodiscard]] double pairs() const {
    double live = 0;  // over all sections
    for (std::uint32_t i = 0; i < plain_.count(); ++i) live += plain_.last[i] - plain_.first[i];
    return live / plain_.sections() * static_cast<double>(core_.size());
  }

  /// Returns false when the core is too large, or everything.
  bool find_core(double fullness) {
    const auto least = static_cast<std::int64_t>(fullness * static_cast<double>(target_));
    std::vector<std::uint32_t> full_before(std::size_t{plain_.sections()} + 1);
    for (std::uint32_t s = 0; s < plain_.sections(); ++s)
      full_before[s + 1] = full_before[s] + (plain_.total[s] > least ? 1 : 0);
    core_.clear();
    for (std::uint32_t i = 0; i < plain_.count(); ++i) {
      if (full_before[plain_.last[i]] > full_before[plain_.first[i]]) core_.push_back(i);
    }
    // A core of everything would be solved by its own core, and so on.
    return core_.size() < plain_.count() &&
           core_.size() <= std::max(kMaxCore, std::size_t{plain_.count()} / kCoreShare);
  }

  /// Empty if there is no answer at the target.
  std::vector<Position> pack_core() {
    const Problem& whole = bench_.problem();
    Problem problem{.items = {}, .regions = whole.regions, .order = {}, .capacity = Bytes(target_)};
    for (const std::uint32_t i : core_) problem.items.push_back(whole.items[plain_.item[i]]);
    SolveOptions options = bench_.options();
    options.on_better = {};
    options.node_budget = std::min(nodes_ / kNodeCost, bench_.nodes_left());
    Bench alone(problem, options, lower_bound(problem));
    if (!alone.finished()) solve_exact(alone);
    const SolveOutcome outcome = alone.outcome();
    bench_.spend(outcome.nodes);
    return outcome.has_answer() ? outcome.positions : std::vector<Position>{};
  }

  bool pack_rest(const std::vector<Position>& positions) {
    EjectionSearch& search = repairs();
    for (const std::uint32_t i : core_) {
      set_kept(search, i, true);
      search.put(i, EjectionSearch::kHomeless);
    }
    std::vector<std::uint32_t> in_the_way;
    for (std::size_t k = 0; k < core_.size() && !bench_.stop_requested(); ++k) {
      in_the_way.clear();
      search.find_in_the_way(core_[k], positions[k].offset.value(), in_the_way);
      for (const std::uint32_t other : in_the_way) search.put(other, EjectionSearch::kHomeless);
      search.put(core_[k], positions[k].offset.value());
    }
    const std::uint64_t before = search.nodes();
    const bool settled = search.settle(target_, nodes_, [&] { return bench_.stop_requested(); });
    bench_.spend(search.nodes() - before);
    if (settled) return bench_.offer(plain_.positions(bench_.problem(), search.offsets()), "core_first");
    search.back();
    for (const std::uint32_t i : core_) set_kept(search, i, false);
    return false;
  }

  static void set_kept(EjectionSearch& search, std::uint32_t i, bool kept) {
    EjectionSearch::Box box = search.box(i);
    box.kept = kept;
    search.reshape(i, box);
  }

  /// With the best answer; made on first use, because that takes as long as a run of the skyline.
  EjectionSearch& repairs() {
    if (repairs_) return *repairs_;
    std::vector<EjectionSearch::Box> boxes;
    boxes.reserve(plain_.count());
    for (std::uint32_t i = 0; i < plain_.count(); ++i) {
      const auto sections = static_cast<double>(plain_.last[i] - plain_.first[i]);
      const double cost = static_cast<double>(plain_.size[i]) * std::sqrt(sections);
      boxes.push_back({{plain_.first[i], plain_.last[i]}, plain_.size[i], plain_.alignment[i], cost, false});
    }
    repairs_.emplace(plain_.sections(), std::move(boxes), bench_.options().seed);
    for (std::uint32_t i = 0; i < plain_.count(); ++i)
      repairs_->put(i, bench_.positions()[plain_.item[i]].offset.value());
    repairs_->commit();
    return *repairs_;
  }

  Bench& bench_;
  const Plain& plain_;
  std::uint64_t nodes_;
  std::int64_t target_ = 0;
  std::vector<std::uint32_t> core_;
  std::optional<EjectionSearch> repairs_;
};

}  // namespace

bool pack_core_first(Bench& bench, std::uint64_t nodes) {
  const std::int64_t goal = std::max(bench.bound(), bench.problem().capacity.value_or(Bytes(0))).value();
  const auto gap = static_cast<double>(bench.peak().value() - goal);
  CoreFirst core(bench, nodes / kTargets.size());
  return std::any_of(kTargets.begin(), kTargets.end(), [&](double part) {
    return !bench.stop_requested() && bench.nodes_left() > 0 && core.run(goal + static_cast<std::int64_t>(part * gap));
  });
}

}  // namespace stowage::pack
