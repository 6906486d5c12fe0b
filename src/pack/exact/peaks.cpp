#include "pack/exact/peaks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "pack/grain.hpp"

namespace stowage::pack {
namespace {

bool only_sizes_matter(const Problem& problem) {
  return problem.regions.size() == 1 && problem.regions.front().paid &&
         std::none_of(problem.items.begin(), problem.items.end(),
                      [](const Item& item) { return item.pinned.has_value(); });
}

}  // namespace

Peaks::Peaks(const Problem& problem) {
  const std::int64_t grain = grain_of(problem);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> smallest;  // by distance and remainder
  if (only_sizes_matter(problem)) {
    for (const Item& item : problem.items) {
      if (item.size == Bytes(0)) continue;
      const std::int64_t distance = item.alignment > Bytes(1) ? item.alignment.value() : grain;
      const std::int64_t size = item.size.value();
      std::int64_t& least = smallest.try_emplace({distance, size % distance}, size).first->second;
      least = std::min(least, size);
    }
  }
  if (smallest.empty()) smallest[{grain, 0}] = 0;
  for (const auto& [key, least] : smallest) series_.push_back({key.first, least});
}

std::int64_t Peaks::at_least(std::int64_t from) const {
  const auto of = [&](const Series& series) {
    const std::int64_t steps = (std::max(from, series.first) - series.first + series.distance - 1) / series.distance;
    return series.first + steps * series.distance;
  };
  std::int64_t least = of(series_.front());
  for (const Series& series : series_) least = std::min(least, of(series));
  return least;
}

std::int64_t Peaks::at_most(std::int64_t to) const {
  std::int64_t most = -1;
  for (const Series& series : series_) {
    if (series.first <= to)
      most = std::max(most, series.first + (to - series.first) / series.distance * series.distance);
  }
  return most;
}

}  // namespace stowage::pack
