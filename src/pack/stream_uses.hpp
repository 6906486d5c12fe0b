#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stowage/plan.hpp"

namespace stowage::pack {

/// `StreamOrder::before` for many queries: stores only the streams that each item uses, usually one or two. The order
/// must outlive it. O(items × streams) to construct; empty for an empty order.
class StreamUses {
 public:
  struct StreamUse {
    std::uint32_t stream;
    Step first;  ///< The item's first step on it.
  };

  StreamUses(const StreamOrder& order, std::size_t items) : order_(order), begin_(items + 1) {
    for (std::size_t i = 0; i < items; ++i) {
      begin_[i] = uses_.size();
      for (std::uint32_t s = 0; s < order.streams; ++s) {
        if (const Step first = order.first[i * order.streams + s]; first != kNever) uses_.push_back({s, first});
      }
    }
    begin_[items] = uses_.size();
  }

  [[nodiscard]] std::span<const StreamUse> of(std::size_t item) const {
    return std::span(uses_).subspan(begin_[item], begin_[item + 1] - begin_[item]);
  }

  /// Whether `item` comes before `other`. O(streams that `other` uses). Precondition: the order is not empty.
  [[nodiscard]] bool before(std::size_t item, std::size_t other) const {
    const Step* const threshold = &order_.threshold[item * order_.streams];
    for (std::size_t u = begin_[other]; u < begin_[other + 1]; ++u) {
      if (uses_[u].first < threshold[uses_[u].stream]) return false;
    }
    return true;
  }

 private:
  const StreamOrder& order_;
  std::vector<std::size_t> begin_;  ///< By item, plus one.
  std::vector<StreamUse> uses_;
};

}  // namespace stowage::pack
