#include "runtime/plan_ahead/plan_cursor.hpp"

#include <algorithm>

namespace stowage::runtime {

/// A much smaller allocation is probably something else, and would block a recorded one.
bool PlanCursor::fits(Bytes size, Bytes planned) const {
  return size <= planned &&
         static_cast<double>(size.value()) >= options_.least_share * static_cast<double>(planned.value());
}

std::optional<std::uint32_t> PlanCursor::match_odd(std::span<const PlannedSlot> slots, Bytes size) {
  if (const auto slot = find_run(slots, size)) return found(*slot);
  const bool in_step = unmatched_ < end_ - next_;
  const std::uint32_t same_position = next_ + unmatched_;
  if (in_step && slots[same_position].size == size) return found(same_position);
  if (const auto slot = next_planned(slots); slot && slots[*slot].size == size) return found(*slot);

  remember(size);
  if (in_step && fits(size, slots[same_position].size)) {
    unmatched_ = 0;
    return same_position;
  }
  ++unmatched_;
  return std::nullopt;
}

std::optional<std::uint32_t> PlanCursor::find_run(std::span<const PlannedSlot> slots, Bytes size) const {
  if (remembered_ < recent_.size()) return std::nullopt;
  const std::uint32_t last = next_ + std::min(options_.window, end_ - next_);
  for (std::uint32_t slot = std::max(next_, first_ + 2); slot < last; ++slot) {
    if (slots[slot].size == size && slots[slot - 1].size == recent_[1] && slots[slot - 2].size == recent_[0])
      return slot;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> PlanCursor::next_planned(std::span<const PlannedSlot> slots) const {
  for (std::uint32_t slot = next_; slot < next_ + std::min(options_.window, end_ - next_); ++slot) {
    if (slots[slot].planned()) return slot;
  }
  return std::nullopt;
}

void PlanCursor::remember(Bytes size) {
  recent_ = {recent_[1], size};
  if (remembered_ < recent_.size()) ++remembered_;
}

}  // namespace stowage::runtime
