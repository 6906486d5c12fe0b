#pragma once

#include <optional>
#include <string>

#include "graph_pools.hpp"
#include "stowage/runtime/plan_ahead.hpp"

namespace stowage::torch {

/// The state of a device.
struct Figures {
  int device = 0;
  AllocatorStats ordinary;  ///< Everything except graph pools.
  GraphPools::Figures pools;
  std::optional<PhysicalPool::Counts> pages = {};  ///< Absent without virtual memory.
  std::optional<PlanAheadCounts> ahead = {};
};

/// The format is described in docs/torch.md.
[[nodiscard]] std::string to_json(const Figures& figures);

}  // namespace stowage::torch
