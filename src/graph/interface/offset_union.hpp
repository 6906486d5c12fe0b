#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "stowage/base.hpp"

namespace stowage {

/// Union–find over elements at fixed distances from each other.
///
/// Near-constant amortised time per call. Not thread-safe: queries compress paths.
class OffsetUnion {
 public:
  /// The offset of an element from the start of the representative of its class. May be negative.
  struct MemberPlace {
    std::size_t representative;
    Bytes offset;
  };

  explicit OffsetUnion(std::size_t count) : parent_(count), offset_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  [[nodiscard]] MemberPlace find(std::size_t thing) {
    std::size_t top = thing;
    Bytes distance;
    while (parent_[top] != top) {
      distance += offset_[top];
      top = parent_[top];
    }
    const MemberPlace place{top, distance};
    while (parent_[thing] != top && thing != top) {
      const std::size_t next = parent_[thing];
      const Bytes step = offset_[thing];
      parent_[thing] = top;
      offset_[thing] = distance;
      distance -= step;
      thing = next;
    }
    return place;
  }

  /// Records that `thing` lies `offset` bytes after `base`. Returns false, and changes nothing, if that contradicts
  /// earlier joins.
  [[nodiscard]] bool join(std::size_t thing, std::size_t base, Bytes offset) {
    const MemberPlace a = find(thing);
    const MemberPlace b = find(base);
    const Bytes wanted = b.offset + offset - a.offset;  // of a's representative, relative to b's
    if (a.representative == b.representative) return wanted == Bytes(0);
    parent_[a.representative] = b.representative;
    offset_[a.representative] = wanted;
    return true;
  }

 private:
  std::vector<std::size_t> parent_;
  std::vector<Bytes> offset_;  ///< Relative to the parent.
};

}  // namespace stowage
