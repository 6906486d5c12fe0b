#pragma once

#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage::testing {

/// An op begins or ends. Ops that the graph does not order may overlap in time.
struct Event {
  enum class Phase : std::uint8_t { start, finish };
  OpId op;
  Phase phase = Phase::start;
};

/// Every op but no_task ones, one after the other in the graph's order.
[[nodiscard]] std::vector<Event> linear_schedule(const Graph& graph);

/// A random order of starts and finishes that the graph allows. An op starts after the finish of: the op before it on its stream;
/// the ops it names in `after`; the latest producers of what it reads, where reading a view reads its bases too. no_task ops
/// order nothing: an `after` that names one is void, and reading what one aliases or views is reading what that is made of.
[[nodiscard]] std::vector<Event> random_schedule(const Graph& graph, std::uint64_t seed);

}  // namespace stowage::testing
