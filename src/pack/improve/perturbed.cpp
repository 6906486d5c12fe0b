#include "pack/improve/perturbed.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "pack/greedy/priority.hpp"

namespace stowage::pack {
namespace {

constexpr double kNearlyFull = 0.95;  ///< As a fraction of the bound.

/// How a run changes priorities: each item of the hard core with probability `chance`, by a factor of up to e^strength
/// in either direction.
struct Change {
  double chance;
  double strength;
};

/// All items a little, a tenth of them much, or very few. The first two make progress on large problems; the last
/// refines small ones.
Change change_of(std::uint64_t choice, std::size_t core) {
  switch (choice % 5) {
    case 0:
      return {20.0 / static_cast<double>(core + 1), 2.0};
    case 1:
    case 2:
      return {0.1, 2.0};
    default:
      return {1.0, 0.6};
  }
}

/// By section: whether something there ends above the bound.
std::vector<std::uint8_t> sections_above_bound(const Plain& plain, std::span<const std::int64_t> offsets) {
  std::vector<std::int32_t> change(std::size_t{plain.sections()} + 1);
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    if (offsets[i] + plain.size[i] <= plain.bound) continue;
    ++change[plain.first[i]];
    --change[plain.last[i]];
  }
  std::vector<std::uint8_t> marked(plain.sections());
  std::int32_t covering = 0;
  for (std::uint32_t s = 0; s < plain.sections(); ++s) marked[s] = (covering += change[s]) > 0 ? 1 : 0;
  return marked;
}

}  // namespace

PerturbedSkyline::PerturbedSkyline(const Plain& plain, std::uint64_t seed)
    : plain_(plain), skyline_(plain), random_(seed) {}

void PerturbedSkyline::find_core() {
  std::vector<std::uint8_t> hard = sections_above_bound(plain_, best_.offsets);
  const double nearly_full = kNearlyFull * static_cast<double>(plain_.bound);
  std::vector<std::uint32_t> hard_before(hard.size() + 1);
  for (std::size_t s = 0; s < hard.size(); ++s) {
    const bool full = static_cast<double>(plain_.total[s]) > nearly_full;
    hard_before[s + 1] = hard_before[s] + (full || hard[s] != 0 ? 1 : 0);
  }
  core_.clear();
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    if (hard_before[plain_.last[i]] > hard_before[plain_.first[i]]) core_.push_back(i);
  }
}

double PerturbedSkyline::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

std::vector<double> PerturbedSkyline::next_priorities() {
  if (runs_ < kStarts) return priorities(plain_, kPriorities[runs_]);
  std::vector<double> result = base_;
  const Change change = change_of(random_(), core_.size());
  for (const std::uint32_t i : core_) {
    if (uniform() < change.chance) result[i] *= std::exp(change.strength * (uniform() + uniform() - 1.0));
  }
  return result;
}

const PerturbedSkyline::Best& PerturbedSkyline::improve(std::uint64_t max_runs, const std::function<bool()>& stop,
                                                        const std::function<void(const Best&)>& on_better) {
  for (const std::uint64_t end = runs_ + max_runs; runs_ < end && best_.peak > plain_.bound; ++runs_) {
    if (runs_ > 0 && stop()) break;
    std::vector<double> priority = next_priorities();
    const std::int64_t peak = skyline_.run(priority, best_.peak, offsets_);
    if (peak > best_.peak) continue;
    const bool better = peak < best_.peak;
    best_.peak = peak;
    best_.offsets.swap(offsets_);
    base_.swap(priority);
    find_core();
    if (better) on_better(best_);
  }
  return best_;
}

}  // namespace stowage::pack
