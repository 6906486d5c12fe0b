#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// `StreamOrder::before` for many queries: stores only the streams that each row uses, usually one or two. The order
/// must outlive it. O(rows × streams) to construct; empty for an empty order.
class StreamUses {
 public:
  struct StreamUse {
    std::uint32_t stream;
    Step first;  ///< The row's first step on it.
  };

  explicit StreamUses(const StreamOrder& order) : order_(order), begin_(order.rows() + 1) {
    for (std::size_t row = 0; row < order.rows(); ++row) {
      begin_[row] = uses_.size();
      for (std::uint32_t s = 0; s < order.streams; ++s) {
        if (const Step first = order.first[row * order.streams + s]; first != kNever) uses_.push_back({s, first});
      }
    }
    begin_.back() = uses_.size();
  }

  [[nodiscard]] std::span<const StreamUse> of(std::size_t row) const {
    return std::span(uses_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }

  /// Whether `row` comes before `other`. O(streams that `other` uses). Precondition: the order is not empty.
  [[nodiscard]] bool before(std::size_t row, std::size_t other) const {
    const Step* const threshold = &order_.threshold[row * order_.streams];
    for (std::size_t u = begin_[other]; u < begin_[other + 1]; ++u) {
      if (uses_[u].first < threshold[uses_[u].stream]) return false;
    }
    return true;
  }

 private:
  const StreamOrder& order_;
  std::vector<std::size_t> begin_;  ///< By row, plus one.
  std::vector<StreamUse> uses_;
};

}  // namespace stowage::pack
