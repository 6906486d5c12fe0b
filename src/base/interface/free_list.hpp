#pragma once

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stowage/base.hpp"

namespace stowage {

/// The free ranges of an unbounded address space, allocated online by best fit: the smallest free range that can hold
/// the bytes (the lowest offset among equals), or, if there is none, the unbounded range after the last byte in use.
/// Freed ranges are merged with their neighbours.
///
/// O(log n) per call for n free ranges, plus one step for each range that is large enough but does not fit because of
/// the alignment. Not thread-safe.
class FreeList {
 public:
  /// Allocates `size` bytes and returns their offset. Preconditions: size > 0, alignment is a power of two.
  Bytes allocate(Bytes size, Bytes alignment) {
    for (auto entry = by_size_.lower_bound({size, Bytes(0)}); entry != by_size_.end(); ++entry) {
      const ByteRange range{entry->second, entry->second + entry->first};
      const Bytes offset = align_up(range.lower, alignment);
      if (offset + size > range.upper) continue;
      remove(range);
      insert({range.lower, offset});
      insert({offset + size, range.upper});
      return offset;
    }
    const Bytes offset = align_up(end_, alignment);
    insert({end_, offset});
    end_ = offset + size;
    return offset;
  }

  /// Frees `range`. Precondition: all of it is allocated.
  void release(ByteRange range) {
    if (range.empty()) return;
    const auto after = by_offset_.find(range.upper);
    if (after != by_offset_.end()) {
      range.upper = after->second;
      remove({after->first, after->second});
    }
    const auto behind = by_offset_.lower_bound(range.lower);
    if (behind != by_offset_.begin() && std::prev(behind)->second == range.lower) {
      const ByteRange before{std::prev(behind)->first, std::prev(behind)->second};
      range.lower = before.lower;
      remove(before);
    }
    if (range.upper == end_) {
      end_ = range.lower;
    } else {
      insert(range);
    }
  }

 private:
  void insert(ByteRange range) {
    if (range.empty()) return;
    by_offset_.emplace(range.lower, range.upper);
    by_size_.emplace(range.length(), range.lower);
  }

  void remove(ByteRange range) {
    by_offset_.erase(range.lower);
    by_size_.erase({range.length(), range.lower});
  }

  std::map<Bytes, Bytes> by_offset_;           ///< Lower bound to upper bound.
  std::set<std::pair<Bytes, Bytes>> by_size_;  ///< (length, lower bound).
  Bytes end_;                                  ///< Everything from here on is free.
};

}  // namespace stowage
