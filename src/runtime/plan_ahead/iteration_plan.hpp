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
  Bytes offset;                         ///< `kUnplanned` if it outlives the iteration.
  std::uint32_t stream = 0;             ///< Index into `IterationPlan::streams`.
  std::uint32_t first_predecessor = 0;  ///< Index into `IterationPlan::predecessors`; they end at the next slot's.
  bool first_user = false;              ///< Some of its bytes have no earlier user in the iteration.
  bool marks = false;                   ///< Its free records an event, because another stream gets the bytes next.

  [[nodiscard]] bool planned() const { return offset >= Bytes(0); }
  [[nodiscard]] ByteRange bytes() const { return {offset, offset + size}; }
};

inline constexpr Bytes kUnplanned{-1};

/// Offsets for the allocations of an iteration. Slots are grouped by stream;
/// within a stream, they are in allocation order.
struct IterationPlan {
  std::vector<StreamId> streams;          ///< Ascending.
  std::vector<std::uint32_t> first_slot;  ///< Per stream; the last entry is the number of slots.
  std::vector<PlannedSlot> slots;
  /// For each slot, the last earlier users of its bytes. The slots form a planar graph in (bytes × time), so there are
  /// fewer than three predecessors per slot on average.
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
  Step handover_distance = {};
};

/// Plans the recorded allocations that end within the iteration. Fails as `solve` does, and with `out_of_memory` if the
/// solver found no answer.
Result<IterationPlan> plan_iteration(std::span<const RecordedAllocation> recorded, const PlanningOptions& options);

}  // namespace stowage::runtime
