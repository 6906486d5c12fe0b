#pragma once

#include <optional>
#include <string>

#include "graph_pools.hpp"
#include "stowage/runtime/plan_ahead.hpp"

namespace stowage::torch {

/// Where a device stands.
struct Figures {
  int device = 0;
  AllocatorStats ordinary;  ///< All but graph pools.
  GraphPools::Figures pools;
  std::optional<PhysicalPool::Counts> pages = {};  ///< Absent without virtual memory.
  std::optional<PlanAheadCounts> ahead = {};
};

/// As docs/torch.md has it.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace stowage::torch
