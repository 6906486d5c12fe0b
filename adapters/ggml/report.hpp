#pragma once

#include "buffer_types.hpp"
#include "cgraph_to_graph.hpp"
#include "graph_walk.hpp"
#include "settings.hpp"
#include "stowage/plan.hpp"

namespace stowage::ggml {

/// A plan, and the graph, buffer types and settings that it was made for.
struct PlannedWalk {
  const GraphWalk& walk;
  const BufferTypes& types;
  const LeanGraph& lean;
  const Plan& plan;
  const Settings& settings;
};

/// Translates the plan to the full graph; writes both to files, and lets the verifier judge the plan, if the settings
/// ask for it. Files are written first, so that a plan that fails can be examined. If a file cannot be written, that is
/// logged and is not a failure. Fails with the first finding.
Status judge_and_report(const PlannedWalk& planned);

/// The plan with a placement for every tensor of the full graph that the allocator is responsible for, including views.
[[nodiscard]] Plan in_words_of_full_graph(const PlannedWalk& planned, const Graph& full);

}  // namespace stowage::ggml
