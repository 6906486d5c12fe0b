#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stowage::pack {

/// Intervals [first, last) with ranks. Answers which interval of best rank covers a section and lies within a window.
/// Intervals can be erased one by one.
///
/// A kd-tree over the points (first, last). Each node holds the bounds and the best rank of the intervals left in its
/// subtree: a query visits the better subtree first and skips those that cannot contain anything better. A range tree
/// would guarantee O(log² n) but needs n log n memory; here a query visits some tens of nodes in practice. The tree is
/// complete, so that nodes need no links; leaves hold up to eight intervals. 25 to 45 bytes per interval. Construction
/// is O(n log n), `reset` O(n), `erase` O(log n).
class IntervalKdTree {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Gap {
    std::uint32_t begin;
    std::uint32_t end;
  };

  /// Keeps references to the spans' data. Preconditions: first < last < 2^32 - 1; fewer than 2^32 - 1 intervals.
  IntervalKdTree(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last);

  /// Restores all intervals. `by_rank` lists them, best first.
  void reset(std::span<const std::uint32_t> by_rank);

  /// Precondition: `interval` has not been erased.
  void erase(std::uint32_t interval);

  /// The best interval with begin <= first <= section < last <= end, or `kNone`.
  [[nodiscard]] std::uint32_t best_covering(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const;

  /// The maximal range of sections around `section` that no interval within [begin, end) covers. Precondition: none of
  /// them covers `section`.
  [[nodiscard]] Gap gap_around(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const;

 private:
  static constexpr std::uint32_t kLeafSize = 8;

  struct Summary {
    std::uint32_t min_first = kNone;
    std::uint32_t max_first = 0;
    std::uint32_t min_last = kNone;
    std::uint32_t max_last = 0;
    std::uint32_t best = kNone;  ///< The smallest rank.
    friend bool operator==(const Summary&, const Summary&) = default;
  };
  /// An interval in its leaf. If it is erased, or the leaf's entry is unused, no window contains it.
  struct RankedInterval {
    std::uint32_t first = 0;
    std::uint32_t last = kNone;
    std::uint32_t rank = kNone;
    std::uint32_t interval = kNone;
  };

  void split(std::uint32_t node, std::span<std::uint32_t> intervals);
  [[nodiscard]] std::span<const RankedInterval, kLeafSize> entries_of(std::uint32_t leaf) const;
  [[nodiscard]] Summary leaf_summary(std::uint32_t leaf) const;
  [[nodiscard]] Summary joined(std::uint32_t node) const;
  template <typename Query>
  void search(Query& query) const;
  [[nodiscard]] std::uint32_t last_end(std::uint32_t section, std::uint32_t begin) const;
  [[nodiscard]] std::uint32_t next_begin(std::uint32_t section, std::uint32_t end) const;

  std::span<const std::uint32_t> first_;
  std::span<const std::uint32_t> last_;
  std::uint32_t leaves_ = 1;
  std::vector<Summary> nodes_;           ///< From 1; the children of k are 2k and 2k + 1; leaves begin at `leaves_`.
  std::vector<RankedInterval> entries_;  ///< `kLeafSize` per leaf.
  std::vector<std::uint32_t> place_;     ///< By interval: the index of its entry.
};

}  // namespace stowage::pack
