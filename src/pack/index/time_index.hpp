#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::pack {

/// A half-open interval on a time axis that begins at 0.
using TimeSpan = Range<std::uint32_t>;

/// A dynamic set of spans that answers which of them overlap a given one.
///
/// A span overlaps [first, last) if it either contains `first` or begins later, before `last`. A segment tree over time
/// answers the former: each span is stored at the O(log n) nodes that make it up, and exactly one of these is on the
/// path to the root from any time within it. A linked list per time answers the latter; linked lists, because a long
/// span passes many times at which few spans begin. Pairs are never stored, so that crowded problems need no more
/// memory than others.
///
/// Insertion and removal are O(log n × spans at a node); a query is O(log n + answers + times passed). Not thread-safe.
class TimeIndex {
 public:
  TimeIndex(std::uint32_t times, std::size_t items)
      : leaves_(std::bit_ceil(std::size_t{times} + 1)),
        nodes_(2 * leaves_),
        begins_(times, kNone),
        next_(items),
        before_(items) {}

  /// Precondition: not empty, within the axis, the item is not in the index.
  void insert(std::uint32_t item, TimeSpan span);
  /// Precondition: the item is in the index with this span.
  void erase(std::uint32_t item, TimeSpan span);

  /// Calls `visit` with each item whose span overlaps `span`, each once, in no particular order.
  template <class Visit>
  void visit_meeting(TimeSpan span, Visit&& visit) const {
    for (std::size_t node = leaves_ + span.lower; node > 0; node >>= 1) {
      for (const std::uint32_t item : nodes_[node]) visit(item);
    }
    for (std::uint32_t time = span.lower + 1; time < span.upper; ++time) {
      for (std::uint32_t item = begins_[time]; item != kNone; item = next_[item]) visit(item);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Items = std::vector<std::uint32_t>;

  template <class Change>
  void change_nodes(TimeSpan span, Change&& change);

  std::size_t leaves_;
  std::vector<Items> nodes_;  ///< By node of the tree; 1 is the root.
  Items begins_;              ///< By time: the head of the list of items that begin then.
  Items next_, before_;       ///< By item: the links of its list.
};

}  // namespace stowage::pack
