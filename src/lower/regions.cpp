#include "lower/regions.hpp"

#include <algorithm>
#include <numeric>

#include "base/interface/sort_stably.hpp"

namespace stowage {
namespace {

/// How many pairs of larger items are compared.
constexpr std::size_t kEffort = 1'000'000;

std::uint32_t add_region(Problem& problem, Bytes limit) {
  problem.regions.push_back({limit, true});
  return static_cast<std::uint32_t>(problem.regions.size() - 1);
}

/// Decides which of the larger items must lie in regions of their own.
class Larger {
 public:
  explicit Larger(const Problem& problem) : problem_(problem), allowed_(problem.items.size()) {}

  /// Adds the regions that others may use, which come first.
  void add_open_regions(Problem& target) {
    std::size_t effort = kEffort;
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      for (std::uint32_t r = 0; r < owners_.size() && effort > 0; ++r, --effort) {
        if (!in_conflict(problem_, owners_[r], {}, i, {})) allowed_[i].push_back(r);
      }
      if (!allowed_[i].empty()) continue;
      owners_.push_back(i);
      allowed_[i] = {add_region(target, problem_.items[i].size)};
    }
    const bool all = owners_.size() == problem_.items.size() && effort > 0;
    const bool solid = std::all_of(problem_.items.begin(), problem_.items.end(),
                                   [](const Item& item) { return item.pieces.size() == 1; });
    // One alone, or items that conflict wherever they lie in one region.
    complete_ = problem_.items.size() == 1 || (all && solid);
  }

  /// Adds those that nothing else may use, and returns all regions that `item` may lie in.
  std::vector<std::uint32_t> take_regions(Problem& target, std::size_t item) {
    std::vector<std::uint32_t> regions = std::move(allowed_[item]);
    const bool is_owner = std::find(owners_.begin(), owners_.end(), item) != owners_.end();
    if (!is_owner) regions.push_back(add_region(target, problem_.items[item].size));
    return regions;
  }

  [[nodiscard]] RegionChoice choice() const { return complete_ ? RegionChoice::complete : RegionChoice::some; }

 private:
  const Problem& problem_;
  std::vector<std::size_t> owners_;  ///< By open region.
  std::vector<std::vector<std::uint32_t>> allowed_;
  bool complete_ = true;
};

}  // namespace

std::vector<std::size_t> find_oversize(const Problem& problem, Bytes max_size) {
  std::vector<std::size_t> oversize;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    if (problem.items[i].size > max_size) oversize.push_back(i);
  }
  sort_stably(oversize, [&](std::size_t a, std::size_t b) { return problem.items[a].size > problem.items[b].size; });
  return oversize;
}

RegionChoice split_at(Problem& problem, Bytes max_size, const std::vector<std::size_t>& oversize,
                      const Problem& larger) {
  Bytes total;  // including padding for every alignment
  for (const Item& item : problem.items) {
    if (item.size <= max_size) total += item.size + item.alignment;
  }
  if (oversize.empty() && total <= max_size) return RegionChoice::complete;
  problem.regions.clear();
  Larger regions(larger);
  if (!oversize.empty()) regions.add_open_regions(problem);
  const auto usual = static_cast<std::size_t>(2 * (total.value() / max_size.value()) + 2);
  const std::size_t count = std::clamp<std::size_t>(problem.items.size() - oversize.size(), 1, usual);
  for (std::size_t r = 0; r < count; ++r) add_region(problem, max_size);
  const std::size_t common = problem.regions.size();
  for (std::size_t i = 0; i < oversize.size(); ++i)
    problem.items[oversize[i]].allowed = regions.take_regions(problem, i);
  if (problem.regions.size() == common) return regions.choice();  // an empty list allows all
  std::vector<std::uint32_t> ordinary(common);
  std::iota(ordinary.begin(), ordinary.end(), 0U);
  for (Item& item : problem.items) {
    if (item.size <= max_size) item.allowed = ordinary;
  }
  return regions.choice();
}

}  // namespace stowage
