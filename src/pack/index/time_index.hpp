#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::pack {

/// A span of places on a time axis that begins at 0. Half-open.
using TimeSpan = Range<std::uint32_t>;

/// Spans that come and go, and which of them meet a given one.
///
/// Who meets [first, last) either is there at `first` or begins later, before `last`. A segment tree over time knows
/// the former: each span stands at the O(log n) nodes that make it up, of which exactly one is above any time within
/// it. A chain for each time knows the latter; chains, because a long span passes many times at which little begins.
/// Pairs are never stored, so that crowded problems cost no more memory than others.
///
/// Insertion and removal O(log n × spans at a node), a query O(log n + answers + times passed). Not thread-safe.
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
  Items begins_;              ///< By time: the head of the chain of those that begin then.
  Items next_, before_;       ///< By item: the links of its chain.
};

}  // namespace stowage::pack
