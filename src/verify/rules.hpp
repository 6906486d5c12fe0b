#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/bindings.hpp"
#include "verify/copies.hpp"
#include "verify/findings.hpp"
#include "verify/places.hpp"
#include "verify/values.hpp"

/// The rules that look at one placement, or one link, at a time. Each call reports what it finds and goes on.
namespace stowage::verification {

/// Everything that the rules look at. Refers to what the caller keeps alive.
struct Case {
  const Graph& graph;
  const Plan& plan;
  const VerifyOptions& options;
  const Values& values;
  const Places& places;
  const Bindings& bindings;
};

/// The plan is for this graph, notes name tensors that exist, and each arena's size and claims agree with each other.
void check_header(const Graph& graph, const Plan& plan, Findings& findings);

struct Links;

/// Everything that needs memory of ours has some, nothing else that must not; each at a good place of the right arena.
void check_placements(const Case& input, const Links& links, Findings& findings);

/// What a copy makes for one op lies in an arena where the op may read it.
void check_copies(const Case& input, const Copies& copies, Findings& findings);

/// Pool arenas are those of the graph's pools, one each.
void check_pools(const Case& input, Findings& findings);

/// The plan's edges lead forward, from one task of the root to another.
void check_edges(const Graph& graph, const Plan& plan, Findings& findings);

}  // namespace stowage::verification
