#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "stowage/graph.hpp"
#include "stowage/planner.hpp"

/// What the handles of the C API are, except for allocators.

struct stowage_text {
  std::string text;
};

struct stowage_graph {
  stowage::Graph graph;
};

struct stowage_plan {
  stowage::Planned planned;
  bool from_file = false;
  // By tensor of the graph.
  std::vector<int64_t> offsets = {};
  std::vector<uint32_t> arenas = {};
  std::vector<uint32_t> regions = {};
};
