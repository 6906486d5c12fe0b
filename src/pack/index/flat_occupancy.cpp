#include <algorithm>
#include <optional>

#include "pack/index/occupancy.hpp"
#include "pack/stream_uses.hpp"

namespace stowage::pack {
namespace {

/// The placed bytes of a piece.
struct Placed {
  std::int64_t lower;
  std::int64_t upper;
  Interval span;  ///< See `span_of`.
  std::size_t row;
};

class FlatOccupancy final : public Occupancy {
 public:
  explicit FlatOccupancy(const Problem& problem)
      : problem_(problem), uses_(problem.order), placed_(problem.regions.size()), apart_(problem.items.size()) {
    for (const ApartPair& pair : problem.apart) {
      apart_[pair.a].push_back(&pair);
      apart_[pair.b].push_back(&pair);
    }
    if (!problem.apart.empty()) positions_.resize(problem.items.size());
  }

  void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const override {
    for_each_block(item, Bytes(0), [&](const Placed& block) {
      if (problem_.order.empty()) {
        collect(block, region, ranges, [](const Placed&) { return true; });
      } else {
        collect(block, region, ranges, [&](const Placed& other) { return unordered(block, other); });
      }
    });
    for (const ApartPair* const pair : apart_[item]) {
      const std::size_t other = pair->a == item ? pair->b : pair->a;
      const std::optional<Position>& at = positions_[other];
      const ByteRange mine = bytes_in(problem_, *pair, item);
      const ByteRange theirs = bytes_in(problem_, *pair, other);
      if (!at || at->region != region || mine.empty() || theirs.empty()) continue;
      ranges.push_back(blocked_offsets(mine, {theirs.lower + at->offset, theirs.upper + at->offset}));
    }
  }

  void place(std::size_t item, Position at) override {
    if (!positions_.empty()) positions_[item] = at;
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
    for (const Piece& piece : problem_.items[index].pieces) {
      if (piece.bytes.empty()) continue;
      f(Placed{(piece.bytes.lower + offset).value(), (piece.bytes.upper + offset).value(),
               span_of(problem_, index, piece), row_of(piece, index)});
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
      if (!other.span.overlaps(block.span) || !conflicts(other)) continue;
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
    return a.span.lower < b.span.lower ? !uses_.before(a.row, b.row) : !uses_.before(b.row, a.row);
  }

  const Problem& problem_;
  StreamUses uses_;
  std::vector<std::vector<Placed>> placed_;           ///< By region; ascending by lower byte.
  std::vector<std::vector<const ApartPair*>> apart_;  ///< By item: the pairs that it is in.
  std::vector<std::optional<Position>> positions_;    ///< By item; only if some are kept apart.
};

}  // namespace

std::unique_ptr<Occupancy> make_flat_occupancy(const Problem& problem) {
  return std::make_unique<FlatOccupancy>(problem);
}

}  // namespace stowage::pack
