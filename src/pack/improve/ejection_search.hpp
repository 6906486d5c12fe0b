#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "pack/index/max_segment_tree.hpp"
#include "pack/index/time_index.hpp"

namespace stowage::pack {

/// A packing of plain items that is repaired where it does not hold, and left alone everywhere else.
///
/// Some items are *homeless*: those that the caller evicted, and those that end above a limit. One after the other, the
/// costliest first, each goes where it is cheapest: the lowest place below the limit that is free, else the one where
/// those in the way cost least together; these are evicted and homeless in turn. Each eviction raises an item's cost,
/// so that no two chase each other for ever, and what is hard to place comes to rest first. It ends when nobody is
/// homeless: a packing below the limit.
///
/// A step looks only at what is live with the item at hand, so that a repair costs what it changes, not what there is.
/// That is what re-planning needs, and what makes it a search of large neighbourhoods on problems of 100,000 items,
/// where a run of the skyline takes a tenth of a second and changes everything. It proves nothing.
///
/// Not tried: freeing a window of time and solving it exactly against fixed obstacles.
///
/// Cost of a step: O(m) in practice for m items that are live with the one at hand. Deterministic. Not thread-safe.
class EjectionSearch {
 public:
  static constexpr std::int64_t kHomeless = -1;

  struct Box {
    TimeSpan when;
    std::int64_t size = 0;  ///< A box of size 0 is in nobody's way and never above a limit.
    std::int64_t alignment = 1;
    double cost = 0;     ///< Of moving it; positive.
    bool fixed = false;  ///< Never evicted, never placed elsewhere than the caller says.
  };

  /// `times` is the length of the time axis. Everything is homeless at first.
  EjectionSearch(std::uint32_t times, std::vector<Box> boxes, std::uint64_t seed);

  [[nodiscard]] const Box& box(std::uint32_t item) const { return boxes_[item]; }
  [[nodiscard]] std::int64_t offset(std::uint32_t item) const { return offsets_[item]; }
  [[nodiscard]] std::span<const std::int64_t> offsets() const { return offsets_; }
  /// The highest end of all that is placed; 0 when nothing is.
  [[nodiscard]] std::int64_t peak() const {
    return tops_.maximum(0, static_cast<std::uint32_t>(offsets_.size() + 1)).value;
  }

  /// Changes a box where it lies, without looking at who is in its way.
  void reshape(std::uint32_t item, const Box& box);
  /// Places an item, without looking at who is in its way; or makes it homeless.
  void put(std::uint32_t item, std::int64_t offset);
  /// Appends the placed items that share time and bytes with `item` at `offset`.
  void find_in_the_way(std::uint32_t item, std::int64_t offset, std::vector<std::uint32_t>& found) const;

  /// Finds a place below `limit` for everybody who has none or ends above it, within about so many nodes (a node is
  /// some 32 items looked at); `stop` is asked now and then. False when it gives up: some are homeless then, and the
  /// caller goes `back`.
  bool settle(std::int64_t limit, std::uint64_t node_limit, const std::function<bool()>& stop);
  /// Nodes spent so far.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

  /// Where an item lay at the last `commit`.
  struct Relocation {
    std::uint32_t item;
    std::int64_t from;
  };
  /// Everything that was put, evicted or settled since the last `commit`, each item once.
  [[nodiscard]] std::span<const Relocation> moves() const { return moves_; }
  /// Makes what is now what `back` goes back to, and forgets the costs that evictions have added.
  void commit();
  /// Every offset as it was at the last `commit`. Boxes stay as they are.
  void back();

 private:
  /// Where the number of those in the way changes, for growing offsets of the item at hand.
  struct Edge {
    std::int64_t at;
    double price;
  };

  [[nodiscard]] std::int64_t top(std::uint32_t item) const;
  void evict(std::uint32_t item);
  void evict_above(std::int64_t limit);
  bool place(std::uint32_t item, std::int64_t limit);
  void find_edges(std::uint32_t item);
  [[nodiscard]] std::int64_t cheapest_offset(std::uint32_t item, std::int64_t limit);
  void sort(std::vector<Edge>& edges);
  [[nodiscard]] bool costs_less(std::uint32_t a, std::uint32_t b) const;

  std::vector<Box> boxes_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> sizes_;  ///< Of the boxes; what is read most lies together.
  std::vector<double> prices_;       ///< Costs, raised by evictions; infinite for what is fixed.
  TimeIndex index_;                  ///< Of all boxes, placed or not.
  MaxSegmentTree tops_;              ///< By item; one number more, for there must be one.
  std::mt19937_64 random_;
  std::uint64_t nodes_ = 0;
  std::vector<std::uint32_t> homeless_;  ///< A heap.
  std::vector<Relocation> moves_;
  std::vector<char> moved_;  ///< By item: whether it is in `moves_`.
  // Of the item at hand.
  std::vector<Edge> enter_, leave_, buffer_;
  std::vector<std::uint32_t> bucket_;
  std::vector<std::uint32_t> in_the_way_;
};

}  // namespace stowage::pack
