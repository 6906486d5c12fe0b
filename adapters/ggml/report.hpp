#pragma once

#include "buffer_types.hpp"
#include "cgraph_to_graph.hpp"
#include "graph_walk.hpp"
#include "settings.hpp"
#include "stowage/plan.hpp"

namespace stowage::ggml {

/// A plan and everything that it is about.
struct PlannedWalk {
  const GraphWalk& walk;
  const BufferTypes& types;
  const LeanGraph& lean;
  const Plan& plan;
  const Settings& settings;
};

/// Puts the plan in the words of the full graph, has the verifier judge it if that is asked for, and writes both to
/// files if that is: before judging, so that a plan that does not pass can be looked at. A file that cannot be written
/// is said on ggml's log and no failure. Fails with the first finding.
Status judge_and_report(const PlannedWalk& planned);

/// The plan with a placement for every tensor of the full graph that the allocator is responsible for, views included.
[[nodiscard]] Plan in_words_of_full_graph(const PlannedWalk& planned, const Graph& full);

}  // namespace stowage::ggml
