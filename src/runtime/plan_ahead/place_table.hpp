#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// An offset at which slots of the plan begin, and the slot that is live there.
struct PlannedPlace {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  std::int64_t unit = -1;  ///< The offset in units of the alignment; -1: the entry is empty.
  Bytes requested;         ///< The size that the owner requested.
  std::uint32_t owner = kNobody;
};

/// Finds the live slot that begins at an offset. A hash table over all offsets of a plan, which is built once and never
/// rehashed. A slot stores the index of its entry, so that only frees have to search. Not thread-safe.
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

  /// The entry of the slot's offset.
  [[nodiscard]] PlannedPlace& of(std::uint32_t slot) { return places_[place_of_[slot]]; }
  [[nodiscard]] const PlannedPlace& of(std::uint32_t slot) const { return places_[place_of_[slot]]; }

  /// Null if no slot begins at this offset.
  [[nodiscard]] PlannedPlace* find(Bytes offset) {
    if ((offset.value() & ((std::int64_t{1} << shift_) - 1)) != 0) return nullptr;
    PlannedPlace& place = places_[index_of(offset.value() >> shift_)];
    return place.unit < 0 ? nullptr : &place;
  }

  [[nodiscard]] const std::vector<PlannedPlace>& places() const { return places_; }

 private:
  /// The index of the entry, or the index where it would be inserted.
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

  /// Rebuilds the table for the number of distinct offsets. Many slots share an offset, so the table becomes small
  /// enough to stay in the cache.
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
  std::vector<std::uint32_t> place_of_;  ///< Per slot.
};

}  // namespace stowage::runtime
