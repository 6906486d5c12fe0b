#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"
#include "verify/places.hpp"
#include "verify/values.hpp"

/// The rules that look at one placement, or one link, at a time. Each call reports what it finds and goes on.
namespace stowage::verification {

/// Everything that the rules look at. Refers to what the caller keeps alive.
struct Case {
  const Graph& graph;
  const Plan& plan;
  const Values& values;
  const Places& places;
};

/// The plan is for this graph, notes name tensors that exist, and each arena's size and claims agree with each other.
void check_header(const Graph& graph, const Plan& plan, Findings& findings);

/// Everything that needs memory of ours has some, nothing else that must not; each at a good place of the right arena.
void check_placements(const Case& input, Findings& findings);

/// Views and aliases lie where their bases say.
void check_layout(const Case& input, Findings& findings);

/// No region is larger than its memory's largest buffer, unless for something that is so itself.
void check_region_limits(const Case& input, Findings& findings);

}  // namespace stowage::verification
