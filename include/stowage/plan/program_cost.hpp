#pragma once

#include <cstddef>

#include "stowage/base.hpp"
#include "stowage/plan/plan.hpp"

/// What a run costs besides its ops.
namespace stowage {

/// Of a run, with each body performed once. Of several batches, the largest number of each.
struct ProgramCost {
  std::size_t waits = 0;  ///< Of streams for each other.
  std::size_t fills = 0;
  Bytes filled = {};
  std::size_t copies = 0;
  Bytes copied = {};

  friend bool operator==(const ProgramCost&, const ProgramCost&) = default;
};

/// The cost of a plan's program; nothing costs anything without one. Precondition: the clears and
/// copies that its steps name exist. O(steps). Thread-safe.
[[nodiscard]] STOWAGE_EXPORT ProgramCost cost_of(const Plan& plan);

}  // namespace stowage
