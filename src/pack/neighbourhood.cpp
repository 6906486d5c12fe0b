#include <algorithm>
#include <cmath>

#include "pack/ejection_search.hpp"
#include "pack/perturbed.hpp"
#include "pack/solver.hpp"

/// From an answer down, by repairing it: everything that ends above a target is evicted and finds another place below it, at the
/// expense of others (`EjectionSearch`). What lies elsewhere stays, so that a try costs what it changes.
///
/// Targets as in the exact search: the bound, then halves of the range between bound and best peak, each round with twice the
/// nodes. A try that fails goes back to the best answer. Proves nothing. For plain problems; others have the greedy answer.
namespace stowage::pack {
namespace {

constexpr std::uint64_t kFirstBudget = 2'000;  ///< Nodes of a try in the first round.
constexpr std::int64_t kSmallestPart = 64;     ///< Of the range between bound and peak, as a divisor.

class Neighbourhood {
 public:
  explicit Neighbourhood(Bench& bench)
      : bench_(bench), plain_(*bench.plain()), search_(plain_.sections(), boxes(), bench.options().seed) {}

  /// From the bench's best answer on, for so many nodes.
  void run(std::uint64_t nodes) {
    end_ = nodes < bench_.nodes_left() ? bench_.nodes_left() - nodes : 0;
    for (std::uint32_t i = 0; i < plain_.count(); ++i) search_.put(i, bench_.positions()[plain_.item[i]].offset.value());
    search_.commit();
    std::uint64_t budget = kFirstBudget;
    for (std::int64_t part = 1; !over();) {
      if (reach(target(part), budget)) {
        part = std::max<std::int64_t>(1, part / 2);
        continue;
      }
      if (change_costs()) continue;
      part *= 2;
      if (part <= kSmallestPart && !bench_.problem().capacity) continue;
      part = 2;
      budget *= 2;
    }
  }

 private:
  [[nodiscard]] std::vector<EjectionSearch::Box> boxes() const {
    std::vector<EjectionSearch::Box> result;
    result.reserve(plain_.count());
    for (std::uint32_t i = 0; i < plain_.count(); ++i) {
      const auto sections = static_cast<double>(plain_.last[i] - plain_.first[i]);
      const double cost = static_cast<double>(plain_.size[i]) * (by_area_ ? sections : std::sqrt(sections));
      result.push_back({{plain_.first[i], plain_.last[i]}, plain_.size[i], plain_.alignment[i], cost, false});
    }
    return result;
  }

  /// Bytes × sections are right in crowded problems, bytes × √sections in others. False when both have had their turn.
  bool change_costs() {
    by_area_ = !by_area_;
    const std::vector<EjectionSearch::Box> changed = boxes();
    for (std::uint32_t i = 0; i < plain_.count(); ++i) search_.reshape(i, changed[i]);
    return by_area_;
  }

  [[nodiscard]] bool over() const { return bench_.finished() || bench_.nodes_left() <= end_; }

  bool reach(std::int64_t target, std::uint64_t budget) {
    const std::uint64_t before = search_.nodes();
    const bool reached =
        search_.settle(target, std::min(budget, bench_.nodes_left() - end_), [&] { return bench_.stop_requested(); });
    bench_.spend(search_.nodes() - before);
    if (!reached) {
      search_.back();
      return false;
    }
    search_.commit();
    bench_.offer(plain_.positions(bench_.problem(), search_.offsets()), "neighbourhood");
    return true;
  }

  /// Below the best peak by a part of what lies between it and the bound.
  [[nodiscard]] std::int64_t target(std::int64_t part) const {
    if (bench_.problem().capacity) return bench_.problem().capacity->value();
    const std::int64_t peak = bench_.peak().value();
    return peak - std::max<std::int64_t>(1, (peak - bench_.bound().value()) / part);
  }

  Bench& bench_;
  const Plain& plain_;
  bool by_area_ = false;
  EjectionSearch search_;
  std::uint64_t end_ = 0;
};

constexpr std::uint64_t kFirstTurn = 300'000;  ///< Nodes; some tenths of a second.

}  // namespace

void improve_by_neighbourhood(Bench& bench, std::uint64_t nodes) {
  if (bench.plain() && !bench.finished()) Neighbourhood(bench).run(nodes);
}

void solve_neighbourhood(Bench& bench) {
  if (bench.peak() > kMaxBytes) bench.plain() ? solve_skyline(bench) : solve_first_fit_by_size(bench);
  improve_by_neighbourhood(bench, bench.nodes_left());
}

/// In turns that double: each of the two has problems that the other makes nothing of.
void improve_large(Bench& bench) {
  const Plain& plain = *bench.plain();
  Neighbourhood neighbourhood(bench);
  PerturbedSkyline skyline(plain, bench.options().seed);
  for (std::uint64_t turn = kFirstTurn; !bench.finished() && bench.nodes_left() > 0; turn *= 2) {
    neighbourhood.run(turn);
    const std::uint64_t before = skyline.runs();
    skyline.improve(
        1 + std::min(turn, bench.nodes_left()) / std::max(1U, plain.count()), [&] { return bench.finished(); },
        [&](const PerturbedSkyline::Best& best) { bench.offer(plain.positions(bench.problem(), best.offsets), "skyline"); });
    bench.spend((skyline.runs() - before) * plain.count());
  }
}

}  // namespace stowage::pack
