#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/plan_ahead/iteration_plan.hpp"

namespace stowage::runtime {

/// A stream's position in the plan: which slot its next allocation gets. Moves forward only.
///
/// If the sizes are equal, the next allocation gets the next slot. Otherwise, in this order:
///
/// 1. If the last three sizes are those of three consecutive slots within the window, the sequence has been found
///    again.
/// 2. After u allocations that matched nothing, try the u-th slot after the next: those u may have been the skipped
///    slots, with other sizes.
/// 3. Unplanned slots are skipped: allocations that outlive an iteration may have happened only once.
/// 4. An allocation that is smaller, but not below `least_share` of the slot, takes the slot: shapes vary.
/// 5. The allocation is something extra, or the first of a new sequence: it gets no slot. The next slot stays the same.
///
/// So one odd allocation costs only itself; a part that is left out costs two more. O(1) while the sizes are equal,
/// else O(window).
class PlanCursor {
 public:
  struct Options {
    std::uint32_t window = 0;
    double least_share = 0.75;
  };
  /// For `slots[first, end)`.
  PlanCursor(std::uint32_t first, std::uint32_t end, const Options& options)
      : first_(first), end_(end), options_(options), next_(first) {}

  void restart() { *this = PlanCursor(first_, end_, options_); }

  /// The slot for an allocation of that rounded size. It is not before `next`; the caller moves the cursor.
  [[nodiscard]] std::optional<std::uint32_t> match(std::span<const PlannedSlot> slots, Bytes size) {
    if (next_ < end_ && slots[next_].size == size) return found(next_);
    return match_odd(slots, size);
  }

  [[nodiscard]] std::uint32_t next() const { return next_; }
  void move_to(std::uint32_t next) { next_ = next; }
  /// Counts that many of the allocations without a slot as the next slots. Returns false if there were fewer.
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
  std::uint32_t unmatched_ = 0;   ///< Allocations without a slot since the last one that had one.
  std::uint32_t remembered_ = 0;  ///< Valid entries of `recent_`; none after an equal size.
  std::array<Bytes, 2> recent_ = {};
};

}  // namespace stowage::runtime
