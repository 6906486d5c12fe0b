#include "pack/perturbed.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stowage::pack {
namespace {

/// Marks every section that one of the items chosen by `wanted` covers. O(n + sections).
template <typename Wanted>
std::vector<std::uint8_t> sections_of(const Plain& plain, Wanted wanted) {
  std::vector<std::int32_t> change(std::size_t{plain.sections()} + 1);
  for (std::uint32_t i = 0; i < plain.count(); ++i) {
    if (!wanted(i)) continue;
    ++change[plain.first[i]];
    --change[plain.last[i]];
  }
  std::vector<std::uint8_t> marked(plain.sections());
  std::int32_t covering = 0;
  for (std::uint32_t s = 0; s < plain.sections(); ++s) marked[s] = (covering += change[s]) > 0 ? 1 : 0;
  return marked;
}

}  // namespace

PerturbedSkyline::PerturbedSkyline(const Plain& plain, std::uint64_t seed) : plain_(plain), skyline_(plain), random_(seed) {
  const double fullest = static_cast<double>(plain.bound);
  std::vector<std::uint8_t> nearly(plain.sections());
  double fr=getenv("FULL")?atof(getenv("FULL")):0.95;
  std::transform(plain.total.begin(), plain.total.end(), nearly.begin(),
                 [&](std::int64_t total) { return static_cast<double>(total) > fr * fullest ? 1 : 0; });
  full_ = items_touching(nearly);
}

std::vector<std::uint32_t> PerturbedSkyline::items_touching(const std::vector<std::uint8_t>& sections) const {
  std::vector<std::uint32_t> before(sections.size() + 1);
  for (std::size_t s = 0; s < sections.size(); ++s) before[s + 1] = before[s] + sections[s];
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < plain_.count(); ++i) {
    if (before[plain_.last[i]] > before[plain_.first[i]]) items.push_back(i);
  }
  return items;
}

void PerturbedSkyline::find_core() {
  above_ = items_touching(sections_of(plain_, [&](std::uint32_t i) { return best_.offsets[i] + plain_.size[i] > plain_.bound; }));
}

double PerturbedSkyline::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

std::vector<double> PerturbedSkyline::next_priorities() {
  if (runs_ < std::size(kPriorities)) return priorities(plain_, kPriorities[runs_]);
  std::vector<double> result = base_;
  static int cm=getenv("CORE")?atoi(getenv("CORE")):2;
  const std::vector<std::uint32_t>& core = cm==3? full_ : cm==0||(cm==2&&runs_ % 2 == 0) ? above_ : full_;
  static double few=getenv("FEW")?atof(getenv("FEW")):20;
  static double sg=getenv("SG")?atof(getenv("SG")):1;
  static int mask=getenv("MASK")?atoi(getenv("MASK")):7;
  int kind; do kind=random_()%3; while(!(mask>>kind&1));
  const double share[] = {1.0, 0.1, few / static_cast<double>(core.size())};
  const double chance = share[kind];
  const double strength = sg*(chance < 1.0 ? 2.0 : 0.6);
  for (const std::uint32_t i : core) {
    if (uniform() < chance) result[i] *= std::exp(strength * (uniform() + uniform() - 1.0));
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
