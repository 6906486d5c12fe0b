#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// An offset of the plan, and who has what begins there.
struct PlannedPlace {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  std::int64_t unit = -1;  ///< The offset in units of the alignment; -1: the entry is empty.
  Bytes requested;         ///< By the owner.
  std::uint32_t owner = kNobody;
};

/// Who has what begins at an offset: a hash table over all offsets of a plan, which is built once and never changes its
/// shape, so that a slot knows its entry by number and only frees have to look. Not thread-safe.
class PlaceTable {
 public:
  static constexpr std::uint32_t kNobody = PlannedPlace::kNobody;

  PlaceTable(const IterationPlan& plan, Bytes alignment)
      : shift_(std::countr_zero(static_cast<std::uint64_t>(alignment.value()))),
        places_(std::bit_ceil(2 * plan.slots.size() + 2)),
        place_of_(plan.slots.size()) {
    for (std::size_t slot = 0; slot < plan.slots.size(); ++slot) {
      if (plan.slots[slot].planned()) place_of_[slot] = insert(plan.slots[slot].offset.value() >> shift_);
    }
    shrink(plan);
  }

  /// The slot's own.
  [[nodiscard]] PlannedPlace& of(std::uint32_t slot) { return places_[place_of_[slot]]; }
  [[nodiscard]] const PlannedPlace& of(std::uint32_t slot) const { return places_[place_of_[slot]]; }

  /// Null where no slot begins.
  [[nodiscard]] PlannedPlace* find(Bytes offset) {
    if ((offset.value() & ((std::int64_t{1} << shift_) - 1)) != 0) return nullptr;
    PlannedPlace& place = places_[index_of(offset.value() >> shift_)];
    return place.unit < 0 ? nullptr : &place;
  }

  [[nodiscard]] const std::vector<PlannedPlace>& places() const { return places_; }

 private:
  /// Where it is, or would be.
  [[nodiscard]] std::uint32_t index_of(std::int64_t unit) const {
    const std::uint64_t mixed = static_cast<std::uint64_t>(unit) * 0x9e3779b97f4a7c15U;
    std::size_t index = (mixed >> 32U) & (places_.size() - 1);
    while (places_[index].unit >= 0 && places_[index].unit != unit) index = (index + 1) & (places_.size() - 1);
    return static_cast<std::uint32_t>(index);
  }

  std::uint32_t insert(std::int64_t unit) {
    const std::uint32_t index = index_of(unit);
    places_[index].unit = unit;
    return index;
  }

  /// Many slots begin at the same offsets: to a table of a size for those, that stays in the cache.
  void shrink(const IterationPlan& plan) {
    const auto used =
        std::count_if(places_.begin(), places_.end(), [](const PlannedPlace& place) { return place.unit >= 0; });
    places_.assign(std::bit_ceil(2 * static_cast<std::size_t>(used) + 2), PlannedPlace{});
    for (std::size_t slot = 0; slot < plan.slots.size(); ++slot) {
      if (plan.slots[slot].planned()) place_of_[slot] = insert(plan.slots[slot].offset.value() >> shift_);
    }
  }

  int shift_;
  std::vector<PlannedPlace> places_;
  std::vector<std::uint32_t> place_of_;  ///< By slot.
};

}  // namespace stowage::runtime
