#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stowage::pack {

/// Intervals [first, last) with ranks, to be asked for the best one that covers a section within a window, and to be
/// erased one by one.
///
/// A kd-tree over the points (first, last), with the bounds and the best rank of what is left in each subtree: a query
/// goes to the better subtree first and skips those that cannot contain anything better. A range tree would promise
/// O(log² n) but needs n log n memory; here a query visits some tens of nodes in practice. The tree is complete, so
/// that nodes need no links; leaves hold up to eight intervals. 25 to 45 bytes per interval. Building O(n log n);
/// `reset` O(n); `erase` O(log n).
class IntervalKdTree {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Gap {
    std::uint32_t begin;
    std::uint32_t end;
  };

  /// Keeps the spans. Preconditions: first < last < 2^32 - 1; fewer than 2^32 - 1 intervals.
  IntervalKdTree(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last);

  /// Everything is there again. `by_rank` lists the intervals, best first.
  void reset(std::span<const std::uint32_t> by_rank);

  /// Precondition: `interval` is there.
  void erase(std::uint32_t interval);

  /// The best interval with begin <= first <= section < last <= end, or `kNone`.
  [[nodiscard]] std::uint32_t best_covering(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const;

  /// When no interval within [begin, end) covers `section`: the sections around it that none of them covers.
  [[nodiscard]] Gap gap_around(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const;

 private:
  static constexpr std::uint32_t kLeafSize = 8;

  struct Summary {
    std::uint32_t min_first = kNone;
    std::uint32_t max_first = 0;
    std::uint32_t min_last = kNone;
    std::uint32_t max_last = 0;
    std::uint32_t best = kNone;  ///< The least rank.
    friend bool operator==(const Summary&, const Summary&) = default;
  };
  /// An interval in its leaf. Erased, or a leaf's free place: no window contains it.
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
  std::vector<Summary> nodes_;           ///< From 1; the children of k are 2k and 2k + 1; leaves from `leaves_`.
  std::vector<RankedInterval> entries_;  ///< `kLeafSize` per leaf.
  std::vector<std::uint32_t> place_;     ///< By interval: its entry.
};

}  // namespace stowage::pack
