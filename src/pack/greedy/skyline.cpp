#include "pack/greedy/skyline.hpp"

#include <algorithm>

#include "pack/greedy/greedy.hpp"
#include "pack/improve/core_first.hpp"
#include "pack/improve/perturbed.hpp"

namespace stowage::pack {
namespace {

/// With more items than this, a run takes so long that one is enough for the start.
constexpr std::uint32_t kHuge = 200'000;

/// Makes runs of one PerturbedSkyline and offers their answers. A run counts one node per item that it places.
void improve(Bench& bench, PerturbedSkyline& skyline, std::uint64_t runs) {
  const Plain& plain = *bench.plain();
  const std::uint64_t before = skyline.runs();
  // The very first run is always made, so that there is an answer even if the deadline has already passed.
  const auto stop = [&] { return bench.finished() && bench.peak() <= kMaxBytes; };
  skyline.improve(runs, stop, [&](const PerturbedSkyline::Best& best) {
    bench.offer(plain.positions(bench.problem(), best.offsets), "skyline");
  });
  bench.spend((skyline.runs() - before) * plain.count());
}

void improve(Bench& bench, std::uint64_t runs) {
  PerturbedSkyline skyline(*bench.plain(), bench.options().seed);
  improve(bench, skyline, runs);
}

}  // namespace

void solve_skyline(Bench& bench) { improve(bench, PerturbedSkyline::kStarts); }

void solve_skyline_and_core(Bench& bench) {
  const std::uint32_t count = bench.plain()->count();
  PerturbedSkyline skyline(*bench.plain(), bench.options().seed);
  improve(bench, skyline, count > kHuge ? 1 : PerturbedSkyline::kStarts);
  if (count <= kHuge || bench.finished()) return;
  pack_core_first(bench, count);
  if (!bench.finished()) improve(bench, skyline, PerturbedSkyline::kStarts - skyline.runs());
}

void solve_at_first(Bench& bench) {
  if (bench.peak() > kMaxBytes) bench.plain() ? solve_skyline(bench) : solve_first_fit_by_size(bench);
}

void solve_perturbed(Bench& bench) {
  const std::uint64_t items = std::max<std::uint64_t>(1, bench.problem().items.size());
  improve(bench, PerturbedSkyline::kStarts + bench.nodes_left() / items);
}

}  // namespace stowage::pack
