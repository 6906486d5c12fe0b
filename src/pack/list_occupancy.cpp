#include "pack/occupancy.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint32_t kUnplaced = UINT32_MAX;

ByteRange shifted(ByteRange bytes, Bytes offset) { return {bytes.lower + offset, bytes.upper + offset}; }

class ListOccupancy final : public Occupancy {
 public:
  ListOccupancy(const Problem& problem, const Meetings& meetings)
      : problem_(problem), meetings_(meetings), at_(problem.items.size(), Position{kUnplaced, {}}) {}

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    for (const Meetings::Meeting* meeting = meetings_.begin(item); meeting != meetings_.end(item); ++meeting) {
      const Position at = at_[meeting->other];
      if (at.region != region) continue;
      const ByteRange mine = bytes(item, meeting->mine);
      const ByteRange theirs = bytes(meeting->other, meeting->theirs);
      if (!mine.empty() && !theirs.empty()) ranges.push_back(blocked_offsets(mine, shifted(theirs, at.offset)));
    }
  }

  void place(std::size_t item, Position at) override { at_[item] = at; }

 private:
  [[nodiscard]] ByteRange bytes(std::size_t item, std::uint32_t piece) const {
    const Item& each = problem_.items[item];
    return problem_.order.empty() ? each.pieces[piece].bytes : ByteRange{Bytes(0), each.size};
  }

  const Problem& problem_;
  const Meetings& meetings_;
  std::vector<Position> at_;
};

class ScanOccupancy final : public Occupancy {
 public:
  explicit ScanOccupancy(const Problem& problem) : problem_(problem), placed_(problem.regions.size()) {}

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    const ByteRange mine{Bytes(0), problem_.items[item].size};
    if (mine.empty()) return;
    for (const Placed& other : placed_[region]) {
      if (problem_.order.before(item, other.item) || problem_.order.before(other.item, item)) continue;
      ranges.push_back(blocked_offsets(mine, other.bytes));
    }
  }

  void place(std::size_t item, Position at) override {
    const Bytes size = problem_.items[item].size;
    if (size > Bytes(0)) placed_[at.region].push_back({item, {at.offset, at.offset + size}});
  }

 private:
  struct Placed {
    std::size_t item;
    ByteRange bytes;
  };
  const Problem& problem_;
  std::vector<std::vector<Placed>> placed_;  ///< By region.
};

}  // namespace

std::unique_ptr<Occupancy> make_list_occupancy(const Problem& problem, const Meetings& meetings) {
  return std::make_unique<ListOccupancy>(problem, meetings);
}

std::unique_ptr<Occupancy> make_scan_occupancy(const Problem& problem) { return std::make_unique<ScanOccupancy>(problem); }

}  // namespace stowage::pack
