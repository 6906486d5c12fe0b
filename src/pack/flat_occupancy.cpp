#include <algorithm>

#include "pack/occupancy.hpp"

namespace stowage::pack {
namespace {

/// A piece that was placed.
struct Placed {
  std::int64_t lower;  ///< Bytes.
  std::int64_t upper;
  Step begin;
  Step end;
};

class FlatOccupancy final : public Occupancy {
 public:
  explicit FlatOccupancy(const Problem& problem) : problem_(problem), placed_(problem.regions.size()) {}

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    for (const Piece& piece : problem_.items[item].pieces) {
      if (!piece.bytes.empty()) blocked_for(piece, placed_[region], ranges);
    }
  }

  void place(std::size_t item, Position at) override {
    std::vector<Placed>& placed = placed_[at.region];
    for (const Piece& piece : problem_.items[item].pieces) {
      if (piece.bytes.empty()) continue;
      const Placed entry{(piece.bytes.lower + at.offset).value(), (piece.bytes.upper + at.offset).value(), piece.when.lower,
                         piece.when.upper};
      const auto behind = std::upper_bound(placed.begin(), placed.end(), entry.lower,
                                           [](std::int64_t lower, const Placed& each) { return lower < each.lower; });
      placed.insert(behind, entry);
    }
  }

 private:
  /// In ascending order, so that ranges that touch can be joined as they come.
  static void blocked_for(const Piece& piece, const std::vector<Placed>& placed, std::vector<OffsetRange>& ranges) {
    const std::int64_t below = piece.bytes.upper.value() - 1;
    const std::int64_t above = piece.bytes.lower.value();
    const std::size_t first = ranges.size();
    for (const Placed& other : placed) {
      if (other.end <= piece.when.lower || piece.when.upper <= other.begin) continue;
      const OffsetRange range{other.lower - below, other.upper - above};
      if (ranges.size() > first && range.lower <= ranges.back().upper) {
        ranges.back().upper = std::max(ranges.back().upper, range.upper);
      } else {
        ranges.push_back(range);
      }
    }
  }

  const Problem& problem_;
  std::vector<std::vector<Placed>> placed_;  ///< By region; ascending by lower byte.
};

}  // namespace

std::unique_ptr<Occupancy> make_flat_occupancy(const Problem& problem) { return std::make_unique<FlatOccupancy>(problem); }

}  // namespace stowage::pack
