#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::layout {

/// Union–find over elements at fixed distances from each other, whose joins can be undone in reverse order.
///
/// The smaller class is attached to the larger one, and paths are not compressed: O(log n) for `find`, O(1) for `join`
/// and `part`.
class RevocableUnion {
 public:
  /// The offset of an element from its representative. May be negative.
  struct MemberPlace {
    std::size_t representative;
    Bytes offset;
  };

  explicit RevocableUnion(std::size_t count) : parent_(count), offset_(count), count_(count, 1) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  [[nodiscard]] std::size_t size() const { return parent_.size(); }

  /// Adds an element in a class by itself.
  std::size_t add() {
    parent_.push_back(parent_.size());
    offset_.emplace_back();
    count_.push_back(1);
    return parent_.size() - 1;
  }
  /// Undoes the last `add`. Precondition: the element is in a class by itself.
  void remove_last() {
    parent_.pop_back();
    offset_.pop_back();
    count_.pop_back();
  }

  [[nodiscard]] MemberPlace find(std::size_t thing) const {
    Bytes distance;
    for (; parent_[thing] != thing; thing = parent_[thing]) distance += offset_[thing];
    return {thing, distance};
  }
  /// The size of the class of a representative.
  [[nodiscard]] std::size_t count(std::size_t representative) const { return count_[representative]; }

  /// Records that `representative` lies `offset` bytes after `base`, which becomes the representative of both classes.
  /// Precondition: the class of `base` is at least as large.
  void join(std::size_t representative, std::size_t base, Bytes offset) {
    parent_[representative] = base;
    offset_[representative] = offset;
    count_[base] += count_[representative];
  }
  /// Undoes the last `join`. Precondition: it attached this representative.
  void part(std::size_t representative) {
    count_[parent_[representative]] -= count_[representative];
    parent_[representative] = representative;
    offset_[representative] = {};
  }

 private:
  std::vector<std::size_t> parent_;
  std::vector<Bytes> offset_;  ///< Relative to the parent.
  std::vector<std::size_t> count_;
};

}  // namespace stowage::layout
