#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "stowage/base.hpp"

namespace stowage {

/// A partial function from bytes to values, stored as disjoint ranges. It answers: who claimed this byte last?
///
/// `assign` removes the ranges that it covers and splits those that it partly covers. It adds at most two ranges, so a
/// sequence of n assignments, each preceded by a visit of the same range, costs O(n log n) in total. Not thread-safe.
template <class Value>
class IntervalMap {
 public:
  /// Calls `visitor(ByteRange, const Value&)` for the part of every range that lies within `range`, in ascending order.
  /// The visitor returns nothing, and may not change the map.
  template <class Visitor>
  void visit(ByteRange range, Visitor&& visitor) const {
    if (range.empty()) return;
    for (auto entry = first_overlapping(range.lower); entry != entries_.end() && entry->first < range.upper; ++entry) {
      visitor(ByteRange{std::max(entry->first, range.lower), std::min(entry->second.upper, range.upper)},
              entry->second.value);
    }
  }

  /// Sets the value of all of `range`. An empty range changes nothing.
  void assign(ByteRange range, Value value) {
    if (range.empty()) return;
    split_at(range.lower);
    split_at(range.upper);
    const auto first = entries_.lower_bound(range.lower);
    const auto last = entries_.lower_bound(range.upper);
    const auto hint = entries_.erase(first, last);
    entries_.emplace_hint(hint, range.lower, Entry{range.upper, std::move(value)});
  }

  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Bytes upper;
    Value value;
  };
  using Entries = std::map<Bytes, Entry>;

  typename Entries::const_iterator first_overlapping(Bytes lower) const {
    auto entry = entries_.upper_bound(lower);
    if (entry != entries_.begin() && std::prev(entry)->second.upper > lower) --entry;
    return entry;
  }

  void split_at(Bytes at) {
    auto entry = entries_.lower_bound(at);
    if (entry == entries_.begin()) return;
    --entry;
    if (entry->second.upper <= at) return;
    entries_.emplace_hint(std::next(entry), at, Entry{entry->second.upper, entry->second.value});
    entry->second.upper = at;
  }

  Entries entries_;
};

}  // namespace stowage
