#pragma once

#include <string>
#include <vector>

#include "rewrite/interface/editor.hpp"
#include "stowage/graph.hpp"
#include "stowage/planner.hpp"

namespace stowage::report {

/// A graph and options without one of their constraints.
struct Relaxed {
  std::string constraint;  ///< What the graph or the options ask for.
  std::string without;     ///< What is asked for instead.
  rewrite::Editor graph;
  PlanOptions options;
};

/// One entry per kind of constraint that the graph has or the options ask for. `graph` differs only where the
/// constraint is the graph's; it may be an error, which the caller must check.
[[nodiscard]] std::vector<Relaxed> relaxed(const Graph& graph, const PlanOptions& options);

/// Drops all of the named constraints at once.
[[nodiscard]] Relaxed relaxed_together(const Graph& graph, const PlanOptions& options,
                                       const std::vector<std::string>& constraints);

}  // namespace stowage::report
