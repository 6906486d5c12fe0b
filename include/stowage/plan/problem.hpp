#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"

/// Pure geometry for the solvers: things to be placed, and the rules that answers keep.
namespace stowage {

/// Bytes that an item occupies during some steps, relative to the item's offset.
struct Piece {
  Interval when;
  ByteRange bytes;

  friend auto operator<=>(const Piece&, const Piece&) = default;
};

/// Something to be placed: rigid, one offset for all of its pieces.
struct STOWAGE_EXPORT Item {
  std::vector<Piece> pieces;  ///< At least one; no two of one item overlap; bytes within [0, size).
  Bytes size;
  Bytes alignment{1};  ///< Of the offset; a power of two.
  std::optional<Bytes> pinned =
      {};  ///< The offset is given; the item then has exactly one allowed region.
  std::vector<std::uint32_t> allowed = {};  ///< Regions, ascending; empty: every region.

  /// From the first step of any piece to the last.
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

/// For work on several streams: which items are over before others begin. Empty for one stream,
/// where pieces say it all.
///
/// Row-major tables, item × stream. An item comes before another iff on every stream that the other
/// uses, the other's first step is not before the item's threshold. Two items of which neither
/// comes before the other conflict as a whole (size × for ever). "Comes before" must be a strict
/// partial order that implies disjoint lives in the linear order.
struct STOWAGE_EXPORT StreamOrder {
  std::size_t streams = 0;
  std::vector<Step> threshold =
      {};  ///< The first step on the stream that is after all of the item's accesses, or kNever.
  std::vector<Step> first =
      {};  ///< The item's first step on the stream, or kNever where it uses it not at all.

  [[nodiscard]] bool empty() const { return streams == 0; }
  /// Takes over the row of an item of another order of as many streams, for the next item of this
  /// one.
  void append_row(const StreamOrder& from, std::size_t item);
  /// O(streams). Precondition: not empty.
  [[nodiscard]] bool before(std::size_t item, std::size_t other) const;
  friend bool operator==(const StreamOrder&, const StreamOrder&) = default;
};

/// One packing problem: place every item in a region so that no two conflict; least sum of the tops
/// of paid regions.
struct Problem {
  std::vector<Item> items;
  std::vector<Region> regions = {Region{}};
  StreamOrder order = {};
  std::optional<Bytes> capacity = {};  ///< Of the peak. An answer above it is not an answer.

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Where an item lies.
struct Position {
  std::uint32_t region = 0;
  Bytes offset;

  friend auto operator<=>(const Position&, const Position&) = default;
};

/// Fails with `ErrorCode::invalid`, with the path `items[index]` where it is about one, unless
/// `problem` keeps the rules stated at its types and all its numbers are within `kMaxBytes`, sums
/// included. Solvers may assume a problem that passed.
STOWAGE_EXPORT Status check_problem(const Problem& problem);
/// What `check_problem` says about one item, but for sums over several. O(its pieces).
STOWAGE_EXPORT Status check_item(const Problem& problem, std::size_t item);

/// True when the two items may not share bytes at these positions: exact, straight from the
/// definition. O(pieces²).
[[nodiscard]] STOWAGE_EXPORT bool in_conflict(const Problem& problem, std::size_t a, Position at_a,
                                              std::size_t b, Position at_b);

/// What is wrong with an answer.
struct Violation {
  enum class Kind : std::uint8_t {
    count,      ///< Not one position an item.
    region,     ///< A region that does not exist or that the item may not go to.
    offset,     ///< Negative, beyond `kMaxBytes`, or above the region's limit.
    alignment,  ///< Not a multiple of the item's alignment.
    pin,        ///< Not where the item is pinned.
    conflict,   ///< Two items that may not share bytes do.
  };
  Kind kind;
  std::size_t item = 0;
  std::size_t other = 0;  ///< For conflict: who had the bytes.
  std::string message;    ///< A sentence that names the items by index.

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// The first thing wrong with an answer; nothing when it is right: one position an item, alignment,
/// pins, allowed regions, region limits, and no conflict. Does not look at the capacity. O(n log n)
/// for n pieces, plus O(streams) for each meeting of two items. Precondition: `check_problem`
/// passed.
[[nodiscard]] STOWAGE_EXPORT std::optional<Violation> validate(const Problem& problem,
                                                               std::span<const Position> positions);

/// The sum of the tops of the paid regions. `positions` has one entry an item.
[[nodiscard]] STOWAGE_EXPORT Bytes peak_of(const Problem& problem,
                                           std::span<const Position> positions);
/// The top of each region: the largest offset + size of an item in it.
[[nodiscard]] STOWAGE_EXPORT std::vector<Bytes> tops_of(const Problem& problem,
                                                        std::span<const Position> positions);

/// Why no answer can have a peak below `bytes`.
struct Certificate {
  enum class Argument : std::uint8_t {
    trivial,          ///< A peak is never negative.
    live_bytes,       ///< These bytes are occupied at `step`, less what unpaid regions can hold.
    aligned_offsets,  ///< At `step` what is aligned like `item`, or more, takes whole multiples of
                      ///< that alignment.
    pinned_item,      ///< Item `item` is pinned in a paid region and ends there.
    pinned_gaps,  ///< At `step` what is as large as `item`, or larger, must fit between the pinned
                  ///< items.
    offset_sums,  ///< Below, no order of the largest items at `step` agrees with what lies under
                  ///< each of them, step by step.
    unordered_items,   ///< With stream order: none of `items` comes before another, and all of them
                       ///< are paid for.
    exhausted_search,  ///< A search went through everything below and found nothing.
  };
  Argument argument = Argument::trivial;
  Bytes bytes;
  Step step = {};        ///< For live_bytes, aligned_offsets, pinned_gaps and offset_sums.
  std::size_t item = 0;  ///< For aligned_offsets, pinned_item and pinned_gaps.
  std::vector<std::size_t> items = {};  ///< For unordered_items; ascending.

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// True when `certificate` indeed proves its bytes for `problem`; recomputed from the definition.
/// O(pieces log pieces), but for unordered_items (O(its items²)) and offset_sums, which takes
/// O(items × steps × units of the common divisor) and is only looked at up to 65,536 units. An
/// exhausted search cannot be checked without repeating it, so that this says false; its argument
/// says what it is. Precondition: `check_problem` passed.
[[nodiscard]] STOWAGE_EXPORT bool check_bound(const Problem& problem,
                                              const Certificate& certificate);

}  // namespace stowage
