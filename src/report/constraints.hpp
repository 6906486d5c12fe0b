#pragma once

#include <string>
#include <vector>

#include "rewrite/interface/editor.hpp"
#include "stowage/graph.hpp"
#include "stowage/planner.hpp"

namespace stowage::report {

/// A graph and options with one constraint less.
struct Relaxed {
  std::string constraint;  ///< What the graph or the options ask for.
  std::string without;     ///< What is asked for instead.
  rewrite::Editor graph;
  PlanOptions options;
};

/// One entry per kind of constraint that the graph has or the options ask for. `graph` differs only where the
/// constraint is the graph's; whether it can be built is for the caller to see.
[[nodiscard]] std::vector<Relaxed> relaxed(const Graph& graph, const PlanOptions& options);

/// All of the named ones dropped at the same time.
[[nodiscard]] Relaxed relaxed_together(const Graph& graph, const PlanOptions& options,
                                       const std::vector<std::string>& constraints);

}  // namespace stowage::report
