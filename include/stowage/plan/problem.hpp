#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"

/// Packing problems, the input of the solvers: the items to be placed, and the rules that answers
/// must obey. Independent of tensors.
namespace stowage {

/// A range of bytes, relative to the item's offset, that an item occupies during some steps.
struct Piece {
  static constexpr std::uint32_t kOwnRow = 0xffffffff;

  Interval when;
  ByteRange bytes;
  /// The row of `StreamOrder` that says when it comes before and after others. By default that of
  /// its item.
  std::uint32_t row = kOwnRow;

  friend auto operator<=>(const Piece&, const Piece&) = default;
};

/// Something to be placed as a whole: one offset for all of its pieces.
struct STOWAGE_EXPORT Item {
  /// At least one. They do not overlap, and their bytes are within [0, size).
  std::vector<Piece> pieces;
  Bytes size;
  Bytes alignment{1};  ///< Of the offset; a power of two.
  /// A given offset. The item must then have exactly one allowed region.
  std::optional<Bytes> pinned = {};
  std::vector<std::uint32_t> allowed = {};  ///< Regions, ascending; empty: every region.

  /// From the first step of any piece to the end of the last.
  [[nodiscard]] Interval life() const;
  [[nodiscard]] bool may_lie_in(std::size_t region) const;
  friend bool operator==(const Item&, const Item&) = default;
};

/// A contiguous address range that starts at 0.
struct Region {
  std::optional<Bytes> limit = {};  ///< No item may end above it.
  bool paid = true;                 ///< Whether its top counts towards the peak.

  friend bool operator==(const Region&, const Region&) = default;
};

/// For work on several streams: which items end before others begin. Empty for one stream, where
/// the pieces are sufficient.
///
/// Row-major tables, row × stream. The first rows are those of the items; pieces may have rows of
/// their own after these. A comes before B iff on every stream that B uses, B's first step is not
/// before A's threshold. Two pieces of which neither comes before the other may not share any byte
/// at any time. "Comes before" must be a strict partial order, and it must imply disjoint lifetimes
/// in the linear order. The row of an item covers those of its pieces: when it comes before
/// another, all its pieces do.
struct STOWAGE_EXPORT StreamOrder {
  std::size_t streams = 0;
  /// The first step on the stream that happens after all accesses, or kNever.
  std::vector<Step> threshold = {};
  /// The first step of an access on the stream, or kNever if it does not use the stream.
  std::vector<Step> first = {};

  [[nodiscard]] bool empty() const { return streams == 0; }
  [[nodiscard]] std::size_t rows() const { return empty() ? 0 : threshold.size() / streams; }
  /// Appends a copy of a row of another order, which must have the same number of streams.
  void append_row(const StreamOrder& from, std::size_t row);
  /// Whether one row comes before another. O(streams). Precondition: not empty.
  [[nodiscard]] bool before(std::size_t row, std::size_t other) const;
  friend bool operator==(const StreamOrder&, const StreamOrder&) = default;
};

/// Two items that lie in one place or apart: if `b` begins `distance` bytes after `a` in the same
/// region, they do not conflict; anywhere else they do as usual. A solver chooses. That is how an
/// output may overwrite an input.
///
/// With a stream order, a piece that begins later and shares bytes there must take them over: what
/// it comes before, the other must come before too.
struct Join {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Bytes distance;

  friend auto operator<=>(const Join&, const Join&) = default;
};

/// Two items, or bytes of two items, that must never be the same bytes, whenever the items live,
/// and even if a join would allow it.
struct ApartPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::optional<ByteRange> of_a = {};  ///< From the start of `a`; absent: all its bytes.
  std::optional<ByteRange> of_b = {};

  friend auto operator<=>(const ApartPair&, const ApartPair&) = default;
};

/// Place every item in a region so that no two items conflict, minimizing the sum of the tops of
/// all paid regions.
struct Problem {
  std::vector<Item> items;
  std::vector<Region> regions = {Region{}};
  StreamOrder order = {};
  std::vector<Join> joins = {};        ///< Ascending, without duplicates; a < b.
  std::vector<ApartPair> apart = {};   ///< Ascending, without duplicates; a < b.
  std::optional<Bytes> capacity = {};  ///< The largest acceptable peak.

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The position of an item.
struct Position {
  std::uint32_t region = 0;
  Bytes offset;

  friend auto operator<=>(const Position&, const Position&) = default;
};

/// Checks that `problem` obeys the rules stated at its types and that all its numbers and their
/// sums are within `kMaxBytes`. Fails with `ErrorCode::invalid`, and the path `items[index]` if a
/// single item is at fault. Solvers may assume a problem that passed.
STOWAGE_EXPORT Status check_problem(const Problem& problem);
/// The part of `check_problem` that concerns one item, without sums over several. O(its pieces).
STOWAGE_EXPORT Status check_item(const Problem& problem, std::size_t item);

/// Whether a join obeys the rule stated at its type. O(pieces² × streams).
[[nodiscard]] STOWAGE_EXPORT bool is_possible(const Problem& problem, const Join& join);

/// The bytes that the pair names in `item`, one of its two.
[[nodiscard]] STOWAGE_EXPORT ByteRange bytes_in(const Problem& problem, const ApartPair& pair,
                                                std::size_t item);
/// Whether bytes that are kept apart meet if item `b` begins `distance` bytes after item `a`.
/// Precondition: `a` < `b`. O(log pairs).
[[nodiscard]] STOWAGE_EXPORT bool are_too_close(const Problem& problem, std::uint32_t a,
                                                std::uint32_t b, Bytes distance);

/// Whether two items conflict at these positions, by definition. O(pieces² + log joins).
[[nodiscard]] STOWAGE_EXPORT bool in_conflict(const Problem& problem, std::size_t a, Position at_a,
                                              std::size_t b, Position at_b);

/// What is wrong with an answer.
struct Violation {
  enum class Kind : std::uint8_t {
    count,      ///< The number of positions differs from the number of items.
    region,     ///< A region that does not exist or is not allowed for the item.
    offset,     ///< Negative, beyond `kMaxBytes`, or above the region's limit.
    alignment,  ///< Not a multiple of the item's alignment.
    pin,        ///< Not where the item is pinned.
    conflict,   ///< Two items conflict.
  };
  Kind kind;
  std::size_t item = 0;
  std::size_t other = 0;  ///< For conflict: the other item.
  std::string message;    ///< A sentence that names the items by index.

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// The first violation in an answer, or nothing if it is valid: one position per item, alignment,
/// pins, allowed regions, region limits, and no conflicts. Does not check the capacity. O(n log n)
/// for n pieces, plus O(streams) for each two items that meet. Precondition: `check_problem`
/// passed.
[[nodiscard]] STOWAGE_EXPORT std::optional<Violation> validate(const Problem& problem,
                                                               std::span<const Position> positions);

/// The sum of the tops of the paid regions. `positions` has one entry per item.
[[nodiscard]] STOWAGE_EXPORT Bytes peak_of(const Problem& problem,
                                           std::span<const Position> positions);
/// The top of each region: the largest offset + size of an item in it.
[[nodiscard]] STOWAGE_EXPORT std::vector<Bytes> tops_of(const Problem& problem,
                                                        std::span<const Position> positions);

/// Why no answer can have a peak below `bytes`.
struct Certificate {
  enum class Argument : std::uint8_t {
    trivial,  ///< A peak is never negative.
    /// These bytes are occupied at `step`, minus what unpaid regions can hold and joins can save.
    live_bytes,
    /// At `step`, items with at least the alignment of `item` occupy whole multiples of it. Here
    /// and in pinned_gaps, of two joined items that share a step the later does not count at it.
    aligned_offsets,
    pinned_item,  ///< Item `item` is pinned in a paid region and ends at this offset.
    /// At `step`, items at least as large as `item` must fit between the pinned items.
    pinned_gaps,
    /// With a lower peak, no order of the largest items at `step` is consistent with the sizes that
    /// can lie below each of them, step by step.
    offset_sums,
    /// With a stream order: no piece of one of `items` comes before one of another, no two are
    /// joined, and all must lie in paid regions.
    unordered_items,
    exhausted_search,  ///< An exhaustive search found no answer with a lower peak.
  };
  Argument argument = Argument::trivial;
  Bytes bytes;
  Step step = {};        ///< For live_bytes, aligned_offsets, pinned_gaps and offset_sums.
  std::size_t item = 0;  ///< For aligned_offsets, pinned_item and pinned_gaps.
  std::vector<std::size_t> items = {};  ///< For unordered_items; ascending.

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// Whether `certificate` proves its bytes for `problem`, recomputed from the definition. O(pieces
/// log pieces), except for unordered_items, O(its items²), and offset_sums, O(items × steps × units
/// of the common divisor), which is checked only up to 65,536 units. An exhausted search cannot be
/// checked without repeating it, so the result is false. Precondition: `check_problem` passed.
[[nodiscard]] STOWAGE_EXPORT bool check_bound(const Problem& problem,
                                              const Certificate& certificate);

}  // namespace stowage
