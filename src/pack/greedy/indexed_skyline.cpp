#include "pack/greedy/indexed_skyline.hpp"

#include <algorithm>
#include <numeric>

#include "pack/rounding.hpp"

namespace stowage::pack {

namespace {

/// The items in order of their first section. O(n + sections).
std::vector<std::uint32_t> in_order_of_time(const Plain& plain) {
  std::vector<std::uint32_t> next(std::size_t{plain.sections()} + 1);
  for (const std::uint32_t first : plain.first) ++next[first + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> result(plain.count());
  for (std::uint32_t i = 0; i < plain.count(); ++i) result[next[plain.first[i]]++] = i;
  return result;
}

template <typename T>
std::vector<T> gathered(const std::vector<T>& values, const std::vector<std::uint32_t>& indices) {
  std::vector<T> result;
  result.reserve(indices.size());
  for (const std::uint32_t i : indices) result.push_back(values[i]);
  return result;
}

}  // namespace

IndexedSkyline::IndexedSkyline(const Plain& plain)
    : plain_(plain),
      item_(in_order_of_time(plain)),
      first_(gathered(plain.first, item_)),
      last_(gathered(plain.last, item_)),
      size_(gathered(plain.size, item_)),
      alignment_(gathered(plain.alignment, item_)),
      unplaced_(first_, last_) {}

void IndexedSkyline::reset(std::span<const double> priority) {
  struct Ranked {
    double priority;
    std::uint32_t item;
    std::uint32_t own;
  };
  std::vector<Ranked> ranked(item_.size());
  for (std::uint32_t i = 0; i < item_.size(); ++i) ranked[i] = {priority[item_[i]], item_[i], i};
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.item < b.item;
  });
  std::vector<std::uint32_t> by_rank(item_.size());
  std::transform(ranked.begin(), ranked.end(), by_rank.begin(), [](const Ranked& each) { return each.own; });
  unplaced_.reset(by_rank);
  remaining_.reset(plain_.total);
  valleys_.reset(plain_.sections());
}

std::int64_t IndexedSkyline::run(std::span<const double> priority, std::int64_t limit,
                                 std::vector<std::int64_t>& offsets) {
  offsets.assign(plain_.count(), 0);
  if (plain_.count() == 0) return 0;
  reset(priority);
  std::int64_t peak = 0;
  for (std::uint32_t left = plain_.count(); left > 0;) {
    const ValleyList::Valley valley = valleys_.find();
    const MaxSegmentTree::Maximum urgent = remaining_.maximum(valley.begin, valley.end);
    if (urgent.value == 0) {
      valleys_.lift(valley, valley.begin, valley.end, valley.brim);
      continue;
    }
    if (urgent.value > limit - valley.level) return valley.level + urgent.value;
    const std::uint32_t item = unplaced_.best_covering(urgent.index, valley.begin, valley.end);
    if (item == IntervalKdTree::kNone) {
      const IntervalKdTree::Gap gap = unplaced_.gap_around(urgent.index, valley.begin, valley.end);
      valleys_.lift(valley, gap.begin, gap.end, valley.brim);
      continue;
    }
    const std::int64_t offset = round_up(valley.level, alignment_[item]);
    const std::int64_t top = offset + size_[item];
    peak = std::max(peak, top);
    if (peak > limit) return peak;
    offsets[item_[item]] = offset;
    --left;
    unplaced_.erase(item);
    remaining_.add(first_[item], last_[item], -size_[item]);
    valleys_.lift(valley, first_[item], last_[item], top);
  }
  return peak;
}

}  // namespace stowage::pack
