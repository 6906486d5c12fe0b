#include <algorithm>

#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

/// Placed bytes: those of a piece or, with stream order, of an item.
struct Placed {
  std::int64_t lower;
  std::int64_t upper;
  Step begin;
  /// With stream order: the step from which on everything on any stream comes after it.
  Step end;
  std::size_t item;
};

class FlatOccupancy final : public Occupancy {
 public:
  explicit FlatOccupancy(const Problem& problem)
      : problem_(problem), uses_(problem.order, problem.items.size()), placed_(problem.regions.size()) {}

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    for_each_block(item, Bytes(0), [&](const Placed& block) {
      if (problem_.order.empty()) {
        collect(block, region, ranges, [](const Placed&) { return true; });
      } else {
        collect(block, region, ranges, [&](const Placed& other) { return unordered(block, other); });
      }
    });
  }

  void place(std::size_t item, Position at) override {
    std::vector<Placed>& placed = placed_[at.region];
    for_each_block(item, at.offset, [&](const Placed& block) {
      const auto behind = std::upper_bound(placed.begin(), placed.end(), block.lower,
                                           [](std::int64_t lower, const Placed& each) { return lower < each.lower; });
      placed.insert(behind, block);
    });
  }

 private:
  template <class F>
  void for_each_block(std::size_t index, Bytes offset, F&& f) const {
    const Item& item = problem_.items[index];
    if (!problem_.order.empty()) {
      const Placed whole{offset.value(), (offset + item.size).value(), item.life().lower,
                         latest_threshold(problem_.order, index), index};
      if (item.size > Bytes(0)) f(whole);
      return;
    }
    for (const Piece& piece : item.pieces) {
      if (piece.bytes.empty()) continue;
      f(Placed{(piece.bytes.lower + offset).value(), (piece.bytes.upper + offset).value(), piece.when.lower,
               piece.when.upper, index});
    }
  }

  /// Collects the offsets at which `block` would conflict with placed bytes, in ascending order, so that touching
  /// ranges can be merged immediately. Skips bytes whose lifetimes do not overlap; `conflicts` decides about the
  /// others.
  template <class Conflicts>
  void collect(const Placed& block, std::uint32_t region, std::vector<OffsetRange>& ranges,
               Conflicts&& conflicts) const {
    const std::size_t first = ranges.size();
    for (const Placed& other : placed_[region]) {
      if (other.end <= block.begin || block.end <= other.begin || !conflicts(other)) continue;
      const OffsetRange range{other.lower - block.upper + 1, other.upper - block.lower};
      if (ranges.size() > first && range.lower <= ranges.back().upper) {
        ranges.back().upper = std::max(ranges.back().upper, range.upper);
      } else {
        ranges.push_back(range);
      }
    }
  }

  /// Only the one that begins first can come before the other.
  [[nodiscard]] bool unordered(const Placed& a, const Placed& b) const {
    return a.begin < b.begin ? !uses_.before(a.item, b.item) : !uses_.before(b.item, a.item);
  }

  const Problem& problem_;
  StreamUses uses_;
  std::vector<std::vector<Placed>> placed_;  ///< By region; ascending by lower byte.
};

}  // namespace

std::unique_ptr<Occupancy> make_flat_occupancy(const Problem& problem) {
  return std::make_unique<FlatOccupancy>(problem);
}

}  // namespace stowage::pack
