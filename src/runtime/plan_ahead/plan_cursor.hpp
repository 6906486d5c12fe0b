#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// Where a stream stands in the plan: which slot its next allocation is. Moves forward only.
///
/// The next allocation is the next slot when the sizes are equal. Otherwise, in this order:
///
/// 1. The last three sizes are those of three slots in a row within the window: the sequence is found again.
/// 2. After u allocations that matched nothing it is the u-th slot after the next: those were there, in other sizes.
/// 3. Slots that were never planned are left out: what outlives an iteration may have been allocated once for all.
/// 4. A smaller allocation, down to a share of the slot, takes it: shapes vary.
/// 5. It is something extra, or the first of a new sequence: no slot. The next slot stays the next.
///
/// One odd allocation thus costs itself; a part that is left out costs two more. O(1) while the sizes are equal,
/// O(window) when not.
class PlanCursor {
 public:
  struct Options {
    std::uint32_t window = 0;
    double least_share = 0.75;
  };
  /// Over `slots[first, end)`.
  PlanCursor(std::uint32_t first, std::uint32_t end, const Options& options)
      : first_(first), end_(end), options_(options), next_(first) {}

  void restart() { *this = PlanCursor(first_, end_, options_); }

  /// The slot for an allocation of that size, rounded. It is not before `next`; the caller moves on.
  [[nodiscard]] std::optional<std::uint32_t> match(std::span<const PlannedSlot> slots, Bytes size) {
    if (next_ < end_ && slots[next_].size == size) return found(next_);
    return match_odd(slots, size);
  }

  [[nodiscard]] std::uint32_t next() const { return next_; }
  void move_to(std::uint32_t next) { next_ = next; }
  /// Takes so many of the allocations without a slot for the next slots. False when there were not as many.
  [[nodiscard]] bool forgive(std::uint32_t count) {
    if (count > unmatched_) return false;
    unmatched_ -= count;
    return true;
  }

 private:
  std::uint32_t found(std::uint32_t slot) {
    unmatched_ = 0;
    remembered_ = 0;
    return slot;
  }

  std::optional<std::uint32_t> match_odd(std::span<const PlannedSlot> slots, Bytes size);
  [[nodiscard]] std::optional<std::uint32_t> find_run(std::span<const PlannedSlot> slots, Bytes size) const;
  [[nodiscard]] std::optional<std::uint32_t> next_planned(std::span<const PlannedSlot> slots) const;
  [[nodiscard]] bool fits(Bytes size, Bytes planned) const;
  void remember(Bytes size);

  std::uint32_t first_;
  std::uint32_t end_;
  Options options_;
  std::uint32_t next_;
  std::uint32_t unmatched_ = 0;   ///< Allocations without a slot since the last one with.
  std::uint32_t remembered_ = 0;  ///< Of `recent_`, since sizes were equal.
  std::array<Bytes, 2> recent_ = {};
};

}  // namespace stowage::runtime
