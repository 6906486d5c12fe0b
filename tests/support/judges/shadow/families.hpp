#pragma once

#include <cstddef>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::testing {

/// Tensors that share bytes because the graph demands it, in every plan: joined by views, by mandatory aliases, and by
/// inputs of bodies (except for values that a loop carries). Everything else that a plan may join (packed groups,
/// results of bodies, carried values) has separate bytes here.
struct Family {
  std::size_t cells = 0;
  TensorFlags flags = {};  ///< Of any member.
  ScopeId home = {};       ///< The outermost scope of its members; its value is lost when that scope is entered again.
};

/// Where a tensor lies in its family, in cells of `granularity` bytes. A cell that it covers in part is its own as a
/// whole.
struct Seat {
  std::size_t family = 0;
  std::size_t first = 0;
  std::size_t count = 0;
};

struct Families {
  std::vector<Family> families;
  std::vector<Seat> seats;  ///< One per tensor.
};

[[nodiscard]] Families find_families(const Graph& graph, Bytes granularity);

}  // namespace stowage::testing
