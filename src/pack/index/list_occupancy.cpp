#include <algorithm>
#include <utility>

#include "pack/index/occupancy.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kUnplaced = UINT32_MAX;

ByteRange shifted(ByteRange bytes, Bytes offset) { return {bytes.lower + offset, bytes.upper + offset}; }

class ListOccupancy final : public Occupancy {
 public:
  ListOccupancy(const Problem& problem, const Meetings& meetings)
      : problem_(problem), meetings_(meetings), at_(problem.items.size(), Position{kUnplaced, {}}) {}

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    if (problem_.regions.size() == 1) {
      for_each_blocked(item, [&](std::uint32_t, const OffsetRange& range) { ranges.push_back(range); });
      return;
    }
    if (sorted_ != item) sort_by_region(item);
    const auto first = std::lower_bound(by_region_.begin(), by_region_.end(), region,
                                        [](const Blocked& each, std::uint32_t wanted) { return each.region < wanted; });
    for (auto each = first; each != by_region_.end() && each->region == region; ++each) ranges.push_back(each->range);
  }

  void place(std::size_t item, Position at) override {
    at_[item] = at;
    sorted_ = kNobody;
  }

 private:
  struct Blocked {
    std::uint32_t region;
    OffsetRange range;
  };
  static constexpr std::size_t kNobody = SIZE_MAX;

  template <class F>
  void for_each_blocked(std::size_t item, F&& f) const {
    for (const Meetings::Meeting* meeting = meetings_.begin(item); meeting != meetings_.end(item); ++meeting) {
      const Position at = at_[meeting->other];
      if (at.region == kUnplaced) continue;
      const ByteRange mine = Meetings::bytes_of(problem_, item, meeting->mine);
      const ByteRange theirs = Meetings::bytes_of(problem_, meeting->other, meeting->theirs);
      if (!mine.empty() && !theirs.empty()) f(at.region, blocked_offsets(mine, shifted(theirs, at.offset)));
    }
  }

  /// The same item is queried in one region after the other; its meetings are read only once.
  void sort_by_region(std::size_t item) const {
    by_region_.clear();
    for_each_blocked(item,
                     [&](std::uint32_t region, const OffsetRange& range) { by_region_.push_back({region, range}); });
    std::sort(by_region_.begin(), by_region_.end(), [](const Blocked& a, const Blocked& b) {
      return std::pair(a.region, a.range) < std::pair(b.region, b.range);
    });
    sorted_ = item;
  }

  const Problem& problem_;
  const Meetings& meetings_;
  std::vector<Position> at_;
  mutable std::vector<Blocked> by_region_;  ///< Of item `sorted_`.
  mutable std::size_t sorted_ = kNobody;
};

}  // namespace

std::unique_ptr<Occupancy> make_list_occupancy(const Problem& problem, const Meetings& meetings) {
  return std::make_unique<ListOccupancy>(problem, meetings);
}

}  // namespace stowage::pack
