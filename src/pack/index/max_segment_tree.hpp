#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stowage::pack {

/// An array of numbers that answers "which is the largest in this range" while whole ranges change. Every operation is
/// O(log n), bottom-up.
///
/// Each node holds one number: by how much the maximum of its subtree exceeds the sum over its ancestors. So one of two
/// siblings always holds 0, which leads down to the maximum without comparisons, and a change of a range touches only
/// the nodes along its two edges. A tree with separate maxima and pending sums needs twice the memory.
class MaxSegmentTree {
 public:
  struct Maximum {
    std::uint32_t index;  ///< The first of equal numbers.
    std::int64_t value;
  };

  /// All numbers must stay within [0, 2^62] at all times, or within half of that on both sides of 0.
  void reset(std::span<const std::int64_t> values) {
    // One leaf at each end stays unused, because ranges are walked from outside.
    leaves_ = std::bit_ceil(values.size() + 2);
    nodes_.assign(2 * leaves_, 0);
    for (std::size_t i = 0; i < values.size(); ++i) nodes_[leaves_ + 1 + i] = values[i];
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      nodes_[node] = 0;
      settle(node);
    }
  }

  /// Adds `value` to each number in [begin, end). Precondition: the range is not empty.
  void add(std::uint32_t begin, std::uint32_t end, std::int64_t value) {
    std::size_t left = leaves_ + begin;
    std::size_t right = leaves_ + end + 1;
    while ((left ^ right) != 1) {
      if ((left & 1) == 0) nodes_[left ^ 1] += value;
      if ((right & 1) == 1) nodes_[right ^ 1] += value;
      left >>= 1;
      right >>= 1;
      settle(left);
      settle(right);
    }
    // Nothing changes above a node whose maximum did not change.
    while ((left >>= 1) != 0 && settle(left)) {
    }
  }

  /// The largest number in [begin, end). Precondition: the range is not empty.
  [[nodiscard]] Maximum maximum(std::uint32_t begin, std::uint32_t end) const {
    std::size_t left = leaves_ + begin;
    std::size_t right = leaves_ + end + 1;
    Found low{kNowhere, 0};
    Found high{kNowhere, 0};
    while ((left ^ right) != 1) {
      if ((left & 1) == 0 && (low.node == kNowhere || nodes_[left ^ 1] > low.value)) low = {left ^ 1, nodes_[left ^ 1]};
      if ((right & 1) == 1 && (high.node == kNowhere || nodes_[right ^ 1] >= high.value))
        high = {right ^ 1, nodes_[right ^ 1]};
      left >>= 1;
      right >>= 1;
      low.value += nodes_[left];
      high.value += nodes_[right];
    }
    Found best = high.node == kNowhere || (low.node != kNowhere && low.value >= high.value) ? low : high;
    while ((left >>= 1) != 0) best.value += nodes_[left];
    while (best.node < leaves_) best.node = 2 * best.node + (nodes_[2 * best.node] == 0 ? 0 : 1);
    return {static_cast<std::uint32_t>(best.node - leaves_ - 1), best.value};
  }

 private:
  static constexpr std::size_t kNowhere = 0;  ///< No node: the root is 1.

  struct Found {
    std::size_t node;
    std::int64_t value;
  };

  /// Moves the maximum of the children up into the node. Returns false if it was 0.
  bool settle(std::size_t node) {
    std::int64_t& a = nodes_[2 * node];
    std::int64_t& b = nodes_[2 * node + 1];
    const std::int64_t most = a > b ? a : b;
    if (most == 0) return false;
    a -= most;
    b -= most;
    nodes_[node] += most;
    return true;
  }

  std::size_t leaves_ = 0;
  std::vector<std::int64_t> nodes_;
};

}  // namespace stowage::pack
