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

}  // namespace

std::unique_ptr<Occupancy> make_list_occupancy(const Problem& problem, const Meetings& meetings) {
  return std::make_unique<ListOccupancy>(problem, meetings);
}

}  // namespace stowage::pack
