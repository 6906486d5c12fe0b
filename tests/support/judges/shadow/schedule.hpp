#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage::testing {

/// An op begins or ends, or its body does. Ops that the graph does not order may overlap in time.
struct Event {
  enum class Phase : std::uint8_t {
    start,   ///< Of an op. One with bodies reads its own inputs here.
    finish,  ///< Of an op, after everything in its bodies.
    enter,   ///< A body of the op, or an iteration, begins.
    leave,   ///< It is over.
  };
  OpId op;
  Phase phase = Phase::start;
  ScopeId scope = {};  ///< For enter and leave.
};

/// The choices of a run, and orderings in addition to the graph's.
struct RunChoice {
  std::uint64_t seed = 0;  ///< Says which body a branch runs, how many trips a loop makes (0 to 3), and the order.
  std::string batch = {};  ///< Ops with another label do not run.
  std::span<const Edge> edges = {};  ///< Of the plan.
};

/// What must have finished before each op starts, the order of its stream apart. As `random_schedule` has it.
[[nodiscard]] std::vector<std::vector<std::size_t>> predecessors(const Graph& graph, const RunChoice& choice = {});

/// Every op that runs but no_task ones, one after the other in the graph's order, bodies inside.
[[nodiscard]] std::vector<Event> linear_schedule(const Graph& graph, const RunChoice& choice = {});

/// A random order of starts and finishes that the graph allows. An op starts after the finish of: the op before it on
/// its stream; the ops it names in `after`; the latest producers of what it reads, where reading a view reads its bases
/// too; what `edges` say. no_task ops order nothing: an `after` that names one is void, and reading what one aliases or
/// views is reading what that is made of. Nor do ops that do not run.
/// The ops of a body run between the start and the finish of their op, on separate streams; ops that run outside at
/// that time are unordered with them. An iteration begins when the previous one is over.
[[nodiscard]] std::vector<Event> random_schedule(const Graph& graph, const RunChoice& choice);
[[nodiscard]] inline std::vector<Event> random_schedule(const Graph& graph, std::uint64_t seed) {
  return random_schedule(graph, RunChoice{.seed = seed});
}

}  // namespace stowage::testing
