#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "pack/index/max_segment_tree.hpp"
#include "pack/index/time_index.hpp"

namespace stowage::pack {

/// A packing of plain items that is repaired where it is invalid, and left alone everywhere else.
///
/// Some items are *homeless*: those that the caller evicted, and those that end above a limit. One after the other, the
/// most expensive first, each goes to its cheapest offset: the lowest free one below the limit, or else the one where
/// the items in the way cost least in total. Those items are evicted and become homeless in turn. Each eviction raises
/// an item's cost, so that two items cannot evict each other for ever, and items that are hard to place settle first.
/// It ends when no item is homeless: a packing below the limit.
///
/// A step looks only at items that are live together with the current one, so that the cost of a repair depends on what
/// it changes, not on the size of the problem. Re-planning needs that. It also makes this a large neighbourhood search
/// for problems of 100,000 items, where a run of the skyline takes a tenth of a second and changes everything. It
/// proves nothing.
///
/// Not tried: freeing a window of time and solving it exactly around items that stay.
///
/// Cost of a step: O(m) in practice, where m is the number of items that are live together with the current one.
/// Deterministic. Not thread-safe.
class EjectionSearch {
 public:
  static constexpr std::int64_t kHomeless = -1;

  struct Box {
    TimeSpan when;
    std::int64_t size = 0;  ///< A box of size 0 is never in the way and never above a limit.
    std::int64_t alignment = 1;
    double cost = 0;    ///< Of moving it; positive.
    bool kept = false;  ///< Never evicted; placed only by the caller.
  };

  /// `times` is the length of the time axis. All items are homeless at first.
  EjectionSearch(std::uint32_t times, std::vector<Box> boxes, std::uint64_t seed);

  [[nodiscard]] const Box& box(std::uint32_t item) const { return boxes_[item]; }
  [[nodiscard]] std::int64_t offset(std::uint32_t item) const { return offsets_[item]; }
  [[nodiscard]] std::span<const std::int64_t> offsets() const { return offsets_; }
  /// The highest end of all placed items; 0 when there is none.
  [[nodiscard]] std::int64_t peak() const {
    return tops_.maximum(0, static_cast<std::uint32_t>(offsets_.size() + 1)).value;
  }

  /// Changes a box in place, without checking for overlaps.
  void reshape(std::uint32_t item, const Box& box);
  /// Places an item without checking for overlaps, or makes it homeless (`kHomeless`).
  void put(std::uint32_t item, std::int64_t offset);
  /// Appends the placed items that share time and bytes with `item` at `offset`.
  void find_in_the_way(std::uint32_t item, std::int64_t offset, std::vector<std::uint32_t>& found) const;

  /// Finds an offset below `limit` for every item that is homeless or ends above it, within about `node_limit` nodes (a
  /// node is about 32 items examined); `stop` is polled now and then. Returns false when it gives up: some items are
  /// homeless then, and the caller must call `back`.
  bool settle(std::int64_t limit, std::uint64_t node_limit, const std::function<bool()>& stop);
  /// Nodes spent so far.
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

  /// An item and its offset at the last `commit`.
  struct Relocation {
    std::uint32_t item;
    std::int64_t from;
  };
  /// Every item that was put, evicted or settled since the last `commit`, each once.
  [[nodiscard]] std::span<const Relocation> moves() const { return moves_; }
  /// Makes the present state the one that `back` restores, and resets the costs that evictions have raised.
  void commit();
  /// Restores every offset to what it was at the last `commit`. Boxes are not restored.
  void back();

 private:
  /// An offset of the current item at which the set of items in its way changes.
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
  std::vector<std::int64_t> sizes_;  ///< Of the boxes; stored separately for the cache.
  std::vector<double> prices_;       ///< Costs, raised by evictions; infinite for kept items.
  TimeIndex index_;                  ///< Of all boxes, placed or not.
  MaxSegmentTree tops_;              ///< By item; one extra entry, because it must not be empty.
  std::mt19937_64 random_;
  std::uint64_t nodes_ = 0;
  std::vector<std::uint32_t> homeless_;  ///< A heap.
  std::vector<Relocation> moves_;
  std::vector<char> moved_;  ///< By item: whether it is in `moves_`.
  // Scratch for the current item.
  std::vector<Edge> enter_, leave_, buffer_;
  std::vector<std::uint32_t> bucket_;
  std::vector<std::uint32_t> in_the_way_;
};

}  // namespace stowage::pack
