#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "stowage/base.hpp"

namespace stowage::layout {

/// Union–find over things that lie at fixed distances from each other, whose joins can be taken back, the last one
/// first.
///
/// Whoever has fewer things goes to the other, and paths are not compressed: O(log n) to find, O(1) to join and to
/// part.
class RevocableUnion {
 public:
  /// Where a thing lies, relative to its representative. May be negative.
  struct MemberPlace {
    std::size_t representative;
    Bytes offset;
  };

  explicit RevocableUnion(std::size_t count) : parent_(count), offset_(count), count_(count, 1) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  [[nodiscard]] std::size_t size() const { return parent_.size(); }

  /// A new thing, alone.
  std::size_t add() {
    parent_.push_back(parent_.size());
    offset_.emplace_back();
    count_.push_back(1);
    return parent_.size() - 1;
  }
  /// Takes back the last `add`. Precondition: the thing is alone.
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
  /// How many things a representative stands for.
  [[nodiscard]] std::size_t count(std::size_t representative) const { return count_[representative]; }

  /// States that a representative lies `offset` bytes behind another, which stands for both from now on.
  /// Precondition: `base` stands for at least as many.
  void join(std::size_t representative, std::size_t base, Bytes offset) {
    parent_[representative] = base;
    offset_[representative] = offset;
    count_[base] += count_[representative];
  }
  /// Takes back the last `join`, which was of this one.
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
