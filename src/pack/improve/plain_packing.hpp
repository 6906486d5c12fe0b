#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/improve/ejection_search.hpp"
#include "pack/index/max_segment_tree.hpp"
#include "stowage/plan.hpp"

namespace stowage::pack {

/// The items of a plain problem on a time axis, with the bytes live at each time, so that the bound can be updated in
/// O(log n) after every change of an item.
///
/// The axis consists of the steps at which items begin or end; if these are dense, it consists of every step of the
/// range, so that lives can change within it. A life that extends beyond the axis needs a new packing. Not thread-safe.
class PlainPacking {
 public:
  /// All items are homeless at first.
  PlainPacking(const Problem& problem, std::span<const std::size_t> kept, std::uint64_t seed);

  /// Whether both ends are on the axis.
  [[nodiscard]] bool covers(Interval life) const;
  /// Tells that the item has changed. Precondition: `covers` its life.
  void reshape(std::size_t index, const Item& item);

  [[nodiscard]] Certificate bound() const;
  [[nodiscard]] EjectionSearch& search() { return search_; }

 private:
  [[nodiscard]] std::uint32_t place_of(Step step) const;
  [[nodiscard]] EjectionSearch::Box box_of(const Item& item) const;
  [[nodiscard]] std::vector<EjectionSearch::Box> boxes_of(const Problem& problem,
                                                          std::span<const std::size_t> kept) const;

  std::vector<Step> axis_;
  EjectionSearch search_;
  MaxSegmentTree live_;  ///< Live bytes, by time.
};

}  // namespace stowage::pack
