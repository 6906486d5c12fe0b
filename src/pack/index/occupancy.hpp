#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// Offsets as built-in integers, for the inner loops. Half-open.
using OffsetRange = Range<std::int64_t>;

/// What has been placed so far. Answers at which offsets an unplaced item would conflict with it. Joins are ignored:
/// two joined items count as in conflict wherever they share bytes.
///
/// There are three implementations with the same answers and different costs; `Bench::new_occupancy` chooses. Not
/// thread-safe.
class Occupancy {
 public:
  virtual ~Occupancy() = default;

  /// Appends ranges of offsets that are not free for `item` in `region`. They are unordered, may overlap and may be
  /// negative.
  virtual void blocked(std::size_t item, std::uint32_t region, std::vector<OffsetRange>& ranges) const = 0;
  virtual void place(std::size_t item, Position at) = 0;
};

/// The offsets of an item at which its bytes `mine` would overlap the placed bytes `theirs`.
[[nodiscard]] inline OffsetRange blocked_offsets(ByteRange mine, ByteRange theirs) {
  return {(theirs.lower - mine.upper).value() + 1, (theirs.upper - mine.lower).value()};
}

/// The row of a piece in the stream order.
[[nodiscard]] inline std::size_t row_of(const Piece& piece, std::size_t item) {
  return piece.row == Piece::kOwnRow ? item : piece.row;
}

/// The first step from which on everything, on any stream, comes after the row. Precondition: the problem has a stream
/// order.
[[nodiscard]] Step latest_threshold(const StreamOrder& order, std::size_t row);

/// When something may meet a piece: its steps. With a stream order: from its row's first step to the step from which on
/// everything on any stream comes after it.
[[nodiscard]] Interval span_of(const Problem& problem, std::size_t item, const Piece& piece);

/// All pairs of pieces of different items that meet in time (with stream order: of which neither comes before the
/// other), and the pairs of items that are kept apart, in compressed rows. Joins are ignored. Built once per problem
/// and used by every solver.
class Meetings {
 public:
  struct Meeting {
    static constexpr std::uint32_t kApart = 1U << 31;

    std::uint32_t other;   ///< The other item.
    std::uint32_t mine;    ///< Piece of the row's item; kApart + i: its bytes in the problem's apart pair i.
    std::uint32_t theirs;  ///< Piece of the other item; the same.
  };
  /// The bytes of an item that a meeting is about.
  [[nodiscard]] static ByteRange bytes_of(const Problem& problem, std::size_t item, std::uint32_t piece) {
    return piece < Meeting::kApart ? problem.items[item].pieces[piece].bytes
                                   : bytes_in(problem, problem.apart[piece - Meeting::kApart], item);
  }

  /// Nothing when there are more than `limit` meetings, which is determined without listing them. O(n log n +
  /// meetings).
  static std::optional<Meetings> find(const Problem& problem, std::size_t limit);

  [[nodiscard]] std::size_t size() const { return meetings_.size(); }
  [[nodiscard]] const Meeting* begin(std::size_t item) const { return meetings_.data() + begin_[item]; }
  [[nodiscard]] const Meeting* end(std::size_t item) const { return meetings_.data() + begin_[item + 1]; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<Meeting> meetings_;
};

/// For problems with few meetings: reads the item's own meetings. O(meetings of the item) per query.
std::unique_ptr<Occupancy> make_list_occupancy(const Problem& problem, const Meetings& meetings);
/// For crowded problems with some thousand items: everything that is placed, by offset. O(n) per query, with a small
/// constant.
std::unique_ptr<Occupancy> make_flat_occupancy(const Problem& problem);
/// For larger problems without stream order and without items to keep apart: a segment tree over time. O(log n ×
/// fragments) per query.
std::unique_ptr<Occupancy> make_tree_occupancy(const Problem& problem);

}  // namespace stowage::pack
