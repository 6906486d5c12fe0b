#include "pack/greedy/ordered_walk.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "pack/greedy/greedy.hpp"
#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

/// The owner of bytes that any new item may take.
constexpr std::uint32_t kNoOwner = UINT32_MAX;

/// How many items are placed between two merges of fragments. A merge visits every fragment; it saves time later and
/// does not change the answer.
constexpr std::size_t kItemsBetweenMerges = 16;

/// The bytes from the end of the previous fragment to `upper`.
struct Fragment {
  std::int64_t upper;
  Step over;            ///< The owner comes before every item that begins at this step or later.
  std::uint32_t owner;  ///< The last owner, as a number of `Owners`, or kNoOwner.
};

/// The smallest gap that fits, of those considered so far; of equal ones, the first.
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

  /// The item's offset in that gap; if no gap fits, the first aligned offset from `end` on, where nothing lies.
  [[nodiscard]] std::int64_t offset_or_after(std::int64_t end) const {
    return offset_ >= 0 ? offset_ : align_up(Bytes(end), alignment_).value();
  }

 private:
  std::int64_t size_;
  Bytes alignment_;
  std::int64_t offset_ = -1;  ///< Negative: no gap fits.
  std::int64_t slack_ = INT64_MAX;
};

/// The items that own fragments, with their thresholds (`StreamOrder`) by stream.
///
/// The thresholds are copied because every new item compares those of all owners, on the one or two streams that it
/// uses. There are so few owners that the copies stay in the cache; in the order's own tables, each access would be a
/// cache miss.
class Owners {
 public:
  explicit Owners(const StreamOrder& order) : order_(order), of_stream_(order.streams) {}

  /// A number for the item, valid until its last fragment is removed.
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

  void add_fragment(std::uint32_t owner) {
    if (owner != kNoOwner) ++fragments_[owner];
  }
  void remove_fragment(std::uint32_t owner) {
    if (owner != kNoOwner && --fragments_[owner] == 0) unused_.push_back(owner);
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
  std::vector<std::uint32_t> unused_;         ///< Numbers without an owner.
};

/// Places items, which must come in order of begin.
class OrderedWalk {
 public:
  explicit OrderedWalk(const Problem& problem)
      : problem_(problem), uses_(problem.order), owners_(problem.order), positions_(problem.items.size()) {}

  void place(std::size_t index) {
    const Item& item = problem_.items[index];
    if (item.size == Bytes(0)) return;
    if (placed_++ % kItemsBetweenMerges == 0) merge_fragments(item.life().lower);
    const std::int64_t offset = find_offset(index);
    positions_[index].offset = Bytes(offset);
    assign({offset, offset + item.size.value()}, latest_threshold(problem_.order, index), owners_.add(index));
  }

  std::vector<Position> take() && { return std::move(positions_); }

 private:
  /// Drops the owners that come before every item that begins at `now` or later, then merges adjacent fragments that
  /// have the same owner.
  void merge_fragments(Step now) {
    std::size_t kept = 0;
    for (Fragment fragment : fragments_) {
      if (fragment.over <= now) {
        owners_.remove_fragment(fragment.owner);
        fragment.owner = kNoOwner;
      }
      if (kept > 0 && fragments_[kept - 1].owner == fragment.owner) {
        owners_.remove_fragment(fragment.owner);
      } else {
        ++kept;
      }
      fragments_[kept - 1] = fragment;
    }
    fragments_.resize(kept);
  }

  [[nodiscard]] std::int64_t find_offset(std::size_t index) const {
    const Item& item = problem_.items[index];
    const std::span<const StreamUses::StreamUse> uses = uses_.of(index);
    TightestGap gap(item.size.value(), item.alignment);
    std::int64_t lower = 0;      // of the fragment
    std::int64_t free_from = 0;  // end of the last fragment that the item cannot take
    for (const Fragment& fragment : fragments_) {
      if (fragment.owner != kNoOwner && !owners_.before(fragment.owner, uses)) {
        if (lower > free_from) gap.consider({free_from, lower});
        free_from = fragment.upper;
      }
      lower = fragment.upper;
    }
    return gap.offset_or_after(free_from);
  }

  /// Makes `owner` the last owner of the bytes.
  void assign(OffsetRange bytes, Step over, std::uint32_t owner) {
    if (fragments_.empty() || fragments_.back().upper < bytes.upper)
      fragments_.push_back({bytes.upper, Step(0), kNoOwner});
    const auto first = fragment_at(bytes.lower);
    const auto last = fragment_at(bytes.upper - 1);
    const std::int64_t lower = first == fragments_.begin() ? 0 : std::prev(first)->upper;
    std::array<Fragment, 3> parts{};  // the rest of the first, the new one, and the rest of the last
    std::size_t count = 0;
    if (lower < bytes.lower) parts[count++] = {bytes.lower, first->over, first->owner};
    parts[count++] = {bytes.upper, over, owner};
    if (bytes.upper < last->upper) parts[count++] = *last;
    replace(first, last + 1, std::span(parts).first(count));
  }

  /// The fragment that contains the offset. Precondition: there is one.
  std::vector<Fragment>::iterator fragment_at(std::int64_t offset) {
    return std::upper_bound(fragments_.begin(), fragments_.end(), offset,
                            [](std::int64_t value, const Fragment& each) { return value < each.upper; });
  }

  /// Puts `parts` in the place of the fragments from `first` to `last`.
  void replace(std::vector<Fragment>::iterator first, std::vector<Fragment>::iterator last,
               std::span<const Fragment> parts) {
    // New ones first, so that an owner that keeps a part keeps its number.
    for (const Fragment& part : parts) owners_.add_fragment(part.owner);
    for (auto each = first; each != last; ++each) owners_.remove_fragment(each->owner);
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
         problem.apart.empty() && std::none_of(problem.items.begin(), problem.items.end(), [](const Item& item) {
           return item.pinned.has_value();
         });
}

std::vector<Position> walk_ordered(const Problem& problem) {
  OrderedWalk walk(problem);
  for (const std::size_t item : in_order(problem, PlacementOrder::begin)) walk.place(item);
  return std::move(walk).take();
}

}  // namespace stowage::pack
