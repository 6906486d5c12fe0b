#include "pack/greedy/ordered_walk.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "pack/greedy/greedy.hpp"
#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::size_t kItemsBetweenSweeps = 16;

/// The bytes from the end of the previous fragment to `upper`.
struct Fragment {
  std::int64_t upper;
  Step over;  ///< From this step on, its owner comes before every new item.
  /// The last owner, as a number of `Owners`; kNobody: every new item comes after it.
  std::uint32_t owner;
};

/// The best of the gaps considered so far.
class TightestGap {
 public:
  TightestGap(std::int64_t size, Bytes alignment) : size_(size), alignment_(alignment) {}

  void consider(OffsetRange gap) {
    const std::int64_t slack = gap.upper - gap.lower - size_;
    if (slack < 0 || slack >= slack_) return;
    const std::int64_t offset = align_up(Bytes(gap.lower), alignment_).value();
    if (offset + size_ > gap.upper) return;
    offset_ = offset;
    slack_ = slack;
  }

  /// The offset of the best gap; if no gap fits, the first aligned offset after `end`, where there is unlimited room.
  [[nodiscard]] std::int64_t offset_or_behind(std::int64_t end) const {
    return offset_ >= 0 ? offset_ : align_up(Bytes(end), alignment_).value();
  }

 private:
  std::int64_t size_;
  Bytes alignment_;
  std::int64_t offset_ = -1;
  std::int64_t slack_ = INT64_MAX;
};

/// The thresholds of the owners of fragments, by stream. An item asks the same one or two streams about every owner.
/// There are so few owners that this data stays in the cache; in the order's own tables, each access would be a cache
/// miss.
class Owners {
 public:
  explicit Owners(const StreamOrder& order) : order_(order), of_stream_(order.streams) {}

  /// A number for the item, valid as long as it owns fragments.
  std::uint32_t add(std::size_t item) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(fragments_.size()));
      fragments_.push_back(0);
      for (std::vector<Step>& thresholds : of_stream_) thresholds.emplace_back();
    }
    const std::uint32_t owner = unused_.back();
    unused_.pop_back();
    for (std::size_t s = 0; s < of_stream_.size(); ++s)
      of_stream_[s][owner] = order_.threshold[item * order_.streams + s];
    return owner;
  }

  void count(std::uint32_t owner) {
    if (owner != kNobody) ++fragments_[owner];
  }
  void discount(std::uint32_t owner) {
    if (owner != kNobody && --fragments_[owner] == 0) unused_.push_back(owner);
  }

  /// Whether the owner comes before an item with these uses.
  [[nodiscard]] bool before(std::uint32_t owner, std::span<const StreamUses::StreamUse> uses) const {
    return std::all_of(uses.begin(), uses.end(),
                       [&](const StreamUses::StreamUse& use) { return of_stream_[use.stream][owner] <= use.first; });
  }

 private:
  const StreamOrder& order_;
  std::vector<std::vector<Step>> of_stream_;  ///< By stream and owner.
  std::vector<std::uint32_t> fragments_;      ///< By owner: how many it owns.
  std::vector<std::uint32_t> unused_;
};

class OrderedWalk {
 public:
  explicit OrderedWalk(const Problem& problem)
      : problem_(problem),
        uses_(problem.order, problem.items.size()),
        owners_(problem.order),
        positions_(problem.items.size()) {}

  void place(std::size_t index) {
    const Item& item = problem_.items[index];
    if (item.size == Bytes(0)) return;
    if (placed_++ % kItemsBetweenSweeps == 0) forget_who_is_over(item.life().lower);
    const std::int64_t offset = find_gap(index);
    positions_[index].offset = Bytes(offset);
    own({offset, offset + item.size.value()}, latest_threshold(problem_.order, index), owners_.add(index));
  }

  std::vector<Position> take() && { return std::move(positions_); }

 private:
  /// Merges fragments whose owners come before every new item.
  void forget_who_is_over(Step now) {
    std::size_t kept = 0;
    for (Fragment fragment : fragments_) {
      if (fragment.over <= now) {
        owners_.discount(fragment.owner);
        fragment.owner = kNobody;
      }
      if (kept > 0 && fragments_[kept - 1].owner == fragment.owner) {
        owners_.discount(fragment.owner);
      } else {
        ++kept;
      }
      fragments_[kept - 1] = fragment;
    }
    fragments_.resize(kept);
  }

  [[nodiscard]] std::int64_t find_gap(std::size_t index) const {
    const Item& item = problem_.items[index];
    const std::span<const StreamUses::StreamUse> uses = uses_.of(index);
    TightestGap gap(item.size.value(), item.alignment);
    std::int64_t lower = 0;
    std::int64_t free_from = 0;
    for (const Fragment& fragment : fragments_) {
      if (fragment.owner != kNobody && !owners_.before(fragment.owner, uses)) {
        if (lower > free_from) gap.consider({free_from, lower});
        free_from = fragment.upper;
      }
      lower = fragment.upper;
    }
    return gap.offset_or_behind(free_from);
  }

  void own(OffsetRange bytes, Step over, std::uint32_t owner) {
    const auto ends_behind = [](const Fragment& each, std::int64_t offset) { return each.upper <= offset; };
    if (fragments_.empty() || fragments_.back().upper < bytes.upper)
      fragments_.push_back({bytes.upper, Step(0), kNobody});
    auto first = std::lower_bound(fragments_.begin(), fragments_.end(), bytes.lower, ends_behind);
    auto last = std::lower_bound(first, fragments_.end(), bytes.upper, ends_behind);
    std::array<Fragment, 3> parts{};  // the rest of the first, the new one, and the rest of the last
    std::size_t count = 0;
    const std::int64_t lower = first == fragments_.begin() ? 0 : std::prev(first)->upper;
    if (lower < bytes.lower) parts[count++] = {bytes.lower, first->over, first->owner};
    parts[count++] = {bytes.upper, over, owner};
    if (last != fragments_.end() && last->upper > bytes.upper) {
      const bool inside = (last == first ? lower : std::prev(last)->upper) < bytes.upper;
      if (inside) parts[count++] = *last++;
    }
    replace(first, last, std::span(parts).first(count));
  }

  void replace(std::vector<Fragment>::iterator first, std::vector<Fragment>::iterator last,
               std::span<const Fragment> parts) {
    for (const Fragment& part : parts) owners_.count(part.owner);
    for (auto each = first; each != last; ++each) owners_.discount(each->owner);
    const auto old = static_cast<std::size_t>(last - first);
    const std::size_t common = std::min(old, parts.size());
    first = std::copy_n(parts.begin(), common, first);
    if (parts.size() > old) {
      fragments_.insert(first, parts.begin() + static_cast<std::ptrdiff_t>(common), parts.end());
    } else {
      fragments_.erase(first, last);
    }
  }

  const Problem& problem_;
  StreamUses uses_;
  Owners owners_;
  std::vector<Position> positions_;
  std::vector<Fragment> fragments_;  ///< Ascending, contiguous from 0.
  std::size_t placed_ = 0;
};

}  // namespace

bool can_walk_ordered(const Problem& problem) {
  return !problem.order.empty() && problem.regions.size() == 1 && !problem.regions.front().limit &&
         std::none_of(problem.items.begin(), problem.items.end(),
                      [](const Item& item) { return item.pinned.has_value(); });
}

std::vector<Position> walk_ordered(const Problem& problem) {
  OrderedWalk walk(problem);
  for (const std::size_t item : in_order(problem, PlacementOrder::begin)) walk.place(item);
  return std::move(walk).take();
}

}  // namespace stowage::pack
