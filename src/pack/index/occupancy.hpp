#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Offsets, as plain numbers for the inner loops. Half-open.
using OffsetRange = Range<std::int64_t>;

/// What has been placed so far, as seen by an item that has not: at which offsets would it be in conflict?
///
/// Three implementations with the same answers and different costs; `Bench::new_occupancy` chooses. Not thread-safe.
class Occupancy {
 public:
  virtual ~Occupancy() = default;

  /// Appends ranges of offsets that are not free for `item` in `region`: in no order, possibly overlapping, possibly
  /// negative.
  virtual void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const = 0;
  virtual void place(std::size_t item, Position at) = 0;
};

/// The offsets of an item at which its bytes `mine` would meet the placed bytes `theirs`.
[[nodiscard]] inline OffsetRange blocked_offsets(ByteRange mine, ByteRange theirs) {
  return {(theirs.lower - mine.upper).value() + 1, (theirs.upper - mine.lower).value()};
}

/// From where on everything, on any stream, comes after the item. Precondition: the problem has a stream order.
[[nodiscard]] Step latest_threshold(const StreamOrder& order, std::size_t item);

/// Every two pieces of different items that meet in time (with stream order: every two items of which neither comes
/// before the other), as compressed rows. Built once for a problem, used by every solver.
class Meetings {
 public:
  struct Meeting {
    std::uint32_t other;   ///< Item.
    std::uint32_t mine;    ///< Piece of the row's item. With stream order: 0, and the whole item is meant.
    std::uint32_t theirs;  ///< Piece of the other.
  };

  /// Nothing when there are more than `limit` of them, found out without listing them. O(n log n + meetings).
  static std::optional<Meetings> find(const Problem& problem, std::size_t limit);

  [[nodiscard]] std::size_t size() const { return meetings_.size(); }
  [[nodiscard]] const Meeting* begin(std::size_t item) const { return meetings_.data() + begin_[item]; }
  [[nodiscard]] const Meeting* end(std::size_t item) const { return meetings_.data() + begin_[item + 1]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Meeting> meetings_;
};

/// For problems with few meetings: looks at an item's own. O(meetings of the item) a query.
std::unique_ptr<Occupancy> make_list_occupancy(const Problem& problem, const Meetings& meetings);
/// For crowded problems of some thousand items: everything placed, by offset. O(n) a query, but little of it.
std::unique_ptr<Occupancy> make_flat_occupancy(const Problem& problem);
/// For larger ones without stream order: a segment tree over time. O(log n × fragments) a query.
std::unique_ptr<Occupancy> make_tree_occupancy(const Problem& problem);

}  // namespace stowage::pack
