#include "plan/interface/offset_check.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace stowage::plan {
namespace {

constexpr std::int64_t kMaxUnits = 65'536;

bool applies_to(const Problem& problem) {
  if (problem.regions.size() != 1 || !problem.regions.front().paid || !problem.order.empty()) return false;
  if (!problem.joins.empty()) return false;
  return std::all_of(problem.items.begin(), problem.items.end(), [](const Item& item) {
    return !item.pinned && item.pieces.size() == 1 && item.pieces.front().bytes == ByteRange{Bytes(0), item.size};
  });
}

Bytes common_divisor(const Problem& problem) {
  std::int64_t divisor = 0;
  for (const Item& item : problem.items) {
    if (item.size == Bytes(0)) continue;  // may lie anywhere
    divisor = std::gcd(divisor, item.size.value());
    if (item.alignment > Bytes(1)) divisor = std::gcd(divisor, item.alignment.value());
  }
  return Bytes(std::max<std::int64_t>(1, divisor));
}

/// The problem in units of the common divisor.
class Units {
 public:
  Units(const Problem& problem, Bytes unit, std::size_t target) : problem_(problem), unit_(unit), target_(target) {}

  [[nodiscard]] std::size_t size(std::size_t item) const {
    return static_cast<std::size_t>(problem_.items[item].size.value() / unit_.value());
  }
  [[nodiscard]] bool live(std::size_t item, Step step) const {
    return problem_.items[item].pieces.front().when.contains(step);
  }

  /// The offsets that are possible at every step of the item's life; it is enough to check the steps
  /// at which an item begins.
  [[nodiscard]] std::set<std::size_t> offsets(std::size_t item) const {
    std::set<std::size_t> offsets;
    for (std::size_t x = 0; x + size(item) <= target_; ++x) {
      if (is_aligned(Bytes(static_cast<std::int64_t>(x) * unit_.value()), problem_.items[item].alignment))
        offsets.insert(x);
    }
    std::set<Step> steps;
    for (const Item& other : problem_.items) steps.insert(other.pieces.front().when.lower);
    for (const Step step : steps) {
      if (live(item, step)) keep_possible(item, step, offsets);
    }
    return offsets;
  }

 private:
  void keep_possible(std::size_t item, Step step, std::set<std::size_t>& offsets) const {
    std::vector<bool> is_sum(target_ + 1);
    is_sum[0] = true;
    std::size_t others = 0;
    for (std::size_t other = 0; other < problem_.items.size(); ++other) {
      if (other == item || !live(other, step)) continue;
      others += size(other);
      for (std::size_t x = target_ + 1; x-- > size(other);) is_sum[x] = is_sum[x] || is_sum[x - size(other)];
    }
    if (others + size(item) > target_) {
      offsets.clear();
      return;
    }
    const std::size_t free = target_ - others - size(item);
    std::vector<std::size_t> nearest(target_ + 1);  // the largest sum that is not above the index
    for (std::size_t x = 1; x <= target_; ++x) nearest[x] = is_sum[x] ? x : nearest[x - 1];
    std::erase_if(offsets, [&](std::size_t x) { return x - nearest[x] > free; });
  }

  const Problem& problem_;
  Bytes unit_;
  std::size_t target_;
};

std::vector<std::size_t> largest_at(const Problem& problem, Step step) {
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    if (problem.items[i].pieces.front().when.contains(step) && problem.items[i].size > Bytes(0)) items.push_back(i);
  }
  std::sort(items.begin(), items.end(), [&](std::size_t a, std::size_t b) {
    return problem.items[a].size != problem.items[b].size ? problem.items[a].size > problem.items[b].size : a < b;
  });
  if (items.size() > kOrderedItems) items.resize(kOrderedItems);
  return items;
}

/// Whether the items can be stacked in some order, each at one of its offsets. Dynamic programming over subsets: of all
/// ways to stack the same items, the one that ends lowest leaves the most room for the others.
bool has_order(const Units& units, const std::vector<std::size_t>& items) {
  constexpr std::size_t kNowhere = SIZE_MAX;
  std::vector<std::set<std::size_t>> offsets;
  for (const std::size_t item : items) offsets.push_back(units.offsets(item));
  std::vector<std::size_t> lowest_end(std::size_t{1} << items.size(), kNowhere);
  lowest_end[0] = 0;
  for (std::size_t below = 0; below + 1 < lowest_end.size(); ++below) {
    if (lowest_end[below] == kNowhere) continue;
    for (std::size_t next = 0; next < items.size(); ++next) {
      if (below >> next & 1U) continue;
      const auto offset = offsets[next].lower_bound(lowest_end[below]);
      if (offset == offsets[next].end()) continue;
      std::size_t& end = lowest_end[below | std::size_t{1} << next];
      end = std::min(end, *offset + units.size(items[next]));
    }
  }
  return lowest_end.back() != kNowhere;
}

}  // namespace

bool check_offset_sums(const Problem& problem, const Certificate& certificate) {
  if (certificate.bytes <= Bytes(0)) return true;
  if (!applies_to(problem)) return false;
  const Bytes unit = common_divisor(problem);
  const std::int64_t target = (certificate.bytes.value() - 1) / unit.value();  // the largest grid point below
  if (target > kMaxUnits) return false;
  const Units units(problem, unit, static_cast<std::size_t>(target));
  return !has_order(units, largest_at(problem, certificate.step));
}

}  // namespace stowage::plan
