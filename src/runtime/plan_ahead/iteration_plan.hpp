#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan_ahead/recording.hpp"
#include "stowage/base.hpp"

namespace stowage::runtime {

/// Where one allocation of the iteration goes.
struct PlannedSlot {
  Bytes size;                           ///< Rounded to the alignment.
  Bytes offset;                         ///< `kUnplanned` for what outlives the iteration.
  std::uint32_t stream = 0;             ///< A position in `IterationPlan::streams`.
  std::uint32_t first_predecessor = 0;  ///< In `IterationPlan::predecessors`, up to the next slot's.
  bool first_user = false;              ///< Nobody has some of its bytes before it in the iteration.
  bool marks = false;                   ///< When it is freed, its stream shall record an event: another stream follows.

  [[nodiscard]] bool planned() const { return offset >= Bytes(0); }
  [[nodiscard]] ByteRange bytes() const { return {offset, offset + size}; }
};

inline constexpr Bytes kUnplanned{-1};

/// Offsets for an iteration. Slots are grouped by stream, within a stream in the order of allocation.
struct IterationPlan {
  std::vector<StreamId> streams;          ///< Ascending.
  std::vector<std::uint32_t> first_slot;  ///< By stream, and the number of slots at the end.
  std::vector<PlannedSlot> slots;
  /// For each slot those that had one of its bytes directly before it. Where slots lie in bytes and time is planar, so
  /// that there are fewer than three per slot.
  std::vector<std::uint32_t> predecessors;
  Bytes size;
  Bytes bound;

  [[nodiscard]] std::span<const std::uint32_t> predecessors_of(std::uint32_t slot) const {
    const std::uint32_t first = slots[slot].first_predecessor;
    const bool last = slot + 1 == slots.size();
    const std::size_t end = last ? predecessors.size() : slots[slot + 1].first_predecessor;
    return std::span(predecessors).subspan(first, end - first);
  }
};

struct PlanningOptions {
  Bytes alignment{1};
  std::string solver = "auto";
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::optional<std::uint64_t> node_budget = {};
  Step handover_distance{0};
};

/// Plans what a recording has of allocations that end within it. Fails as `solve` does, and with `out_of_memory` when
/// it came back without an answer.
Result<IterationPlan> plan_iteration(std::span<const RecordedAllocation> recorded, const PlanningOptions& options);

}  // namespace stowage::runtime
