#include "pack/improve/neighbourhood.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "pack/greedy/skyline.hpp"
#include "pack/improve/core_first.hpp"
#include "pack/improve/perturbed.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint64_t kFirstEffort = 2'000;  ///< Nodes per try in the first round.
constexpr std::int64_t kSmallestPart = 64;     ///< A divisor of the distance to the bound.
constexpr std::uint64_t kFirstTurn = 300'000;  ///< Nodes; a few tenths of a second.

}  // namespace

Neighbourhood::Neighbourhood(Bench& bench)
    : bench_(bench),
      plain_(*bench.plain()),
      search_(plain_.sections(), boxes(), bench.options().seed),
      effort_(kFirstEffort) {}

void Neighbourhood::run(std::uint64_t nodes) {
  const std::uint64_t end = nodes < bench_.nodes_left() ? bench_.nodes_left() - nodes : 0;
  for (std::uint32_t i = 0; i < plain_.count(); ++i) search_.put(i, bench_.positions()[plain_.item[i]].offset.value());
  search_.commit();
  while (!bench_.finished() && bench_.nodes_left() > end) {
    if (reach(target(), std::min(effort_, bench_.nodes_left() - end))) {
      part_ = std::max<std::int64_t>(1, part_ / 2);
    } else if (!change_costs()) {
      try_less();
    }
  }
}

std::vector<EjectionSearch::Box> Neighbourhood::boxes() const {
  std::vector<EjectionSearch::Box> result;
  result.reserve(plain_.count());
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    const auto sections = static_cast<double>(plain_.last[i] - plain_.first[i]);
    const double cost = static_cast<double>(plain_.size[i]) * (by_area_ ? sections : std::sqrt(sections));
    result.push_back({{plain_.first[i], plain_.last[i]}, plain_.size[i], plain_.alignment[i], cost, false});
  }
  return result;
}

/// Costs by bytes × sections suit crowded problems, by bytes × √sections others. Returns false when both have been
/// tried.
bool Neighbourhood::change_costs() {
  by_area_ = !by_area_;
  const std::vector<EjectionSearch::Box> changed = boxes();
  for (std::uint32_t i = 0; i < plain_.count(); ++i) search_.reshape(i, changed[i]);
  return by_area_;
}

void Neighbourhood::try_less() {
  part_ *= 2;
  if (part_ <= kSmallestPart) return;
  part_ = 2;
  effort_ *= 2;
}

std::int64_t Neighbourhood::target() const {
  const std::int64_t peak = bench_.peak().value();
  const Bytes goal = std::max(bench_.bound(), bench_.problem().capacity.value_or(Bytes(0)));
  return peak - std::max<std::int64_t>(1, (peak - goal.value()) / part_);
}

bool Neighbourhood::reach(std::int64_t target, std::uint64_t nodes) {
  const std::uint64_t before = search_.nodes();
  const bool reached = search_.settle(target, nodes, [&] { return bench_.stop_requested(); });
  bench_.spend(search_.nodes() - before);
  if (!reached) {
    search_.back();
    return false;
  }
  search_.commit();
  bench_.offer(plain_.positions(bench_.problem(), search_.offsets()), "neighbourhood");
  return true;
}

void solve_neighbourhood(Bench& bench) {
  solve_at_first(bench);
  if (!bench.finished()) Neighbourhood(bench).run(bench.nodes_left());
}

namespace {

/// Improves by other priorities beside a Neighbourhood, perhaps on a thread of its own, so that it leaves the bench
/// alone until its turn is over.
class SkylineTurns {
 public:
  explicit SkylineTurns(Bench& bench)
      : bench_(bench), plain_(*bench.plain()), skyline_(plain_, bench.options().seed), goal_(goal_of(bench)) {}

  /// Thread-safe with regard to the bench.
  void run(std::uint64_t nodes) {
    skyline_.improve(
        1 + nodes / std::max(1U, plain_.count()),
        [&] { return bench_.stop_requested() || skyline_.best().peak <= goal_; }, [](const PerturbedSkyline::Best&) {});
  }

  /// Offers the best answer and counts the nodes since the last call.
  void report() {
    if (skyline_.runs() == 0) return;
    bench_.offer(plain_.positions(bench_.problem(), skyline_.best().offsets), "skyline");
    bench_.spend((skyline_.runs() - reported_) * plain_.count());
    reported_ = skyline_.runs();
  }

  [[nodiscard]] static std::int64_t goal_of(const Bench& bench) {
    return std::max(bench.bound(), bench.problem().capacity.value_or(Bytes(0))).value();
  }

 private:
  Bench& bench_;
  const Plain& plain_;
  PerturbedSkyline skyline_;
  std::int64_t goal_;
  std::uint64_t reported_ = 0;
};

}  // namespace

/// Alternates in turns of doubling length: each of the three makes progress on problems where the others do not. With
/// several threads, the last two run at the same time; neither sees what the other finds before the end of the turn, so
/// that the answer does not depend on the number of threads.
void improve_large(Bench& bench) {
  Neighbourhood neighbourhood(bench);
  SkylineTurns skyline(bench);
  for (std::uint64_t turn = kFirstTurn; !bench.finished() && bench.nodes_left() > 0; turn *= 2) {
    pack_core_first(bench, std::min(turn, bench.nodes_left()));
    const std::uint64_t nodes = std::min(turn, bench.nodes_left());
    std::jthread beside;
    if (bench.options().threads > 1) beside = std::jthread([&] { skyline.run(nodes); });
    neighbourhood.run(nodes);
    const bool done = bench.peak().value() <= SkylineTurns::goal_of(bench);
    if (beside.joinable()) beside.join();
    if (done) return;
    if (bench.options().threads <= 1) skyline.run(nodes);
    skyline.report();
  }
}

}  // namespace stowage::pack
