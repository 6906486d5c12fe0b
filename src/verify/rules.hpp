#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/bindings.hpp"
#include "verify/copies.hpp"
#include "verify/findings.hpp"
#include "verify/places.hpp"
#include "verify/values.hpp"

/// The rules about a single placement or link. Each function reports all findings and continues.
namespace stowage::verification {

/// The input of the rules. All references must outlive it.
struct Case {
  const Graph& graph;
  const Plan& plan;
  const VerifyOptions& options;
  const Values& values;
  const Places& places;
  const Bindings& bindings;
  Padding padding;
};

/// The plan is for this graph, notes name tensors that exist, and each arena's size and claims agree with each other.
void check_header(const Graph& graph, const Plan& plan, Findings& findings);

struct Links;

/// Why a value must not lie in a caller's buffer; null if it may.
[[nodiscard]] const char* why_unwelcome(const Value& value);

/// Everything that needs a placement has one, nothing that must not have one does, and each is aligned, within its
/// region, and in an arena of the right kind. Under a refreshable base, only what needs a fixed address, or is tied to
/// something that does (`Links::tied`), lies in a fixed arena.
void check_placements(const Case& input, const Links& links, const Copies& copies, Findings& findings);

/// The result of a copy for one op lies in an arena from which the op may read it.
void check_copies(const Case& input, const Links& links, const Copies& copies, Findings& findings);

/// Each ring of the graph has one arena of kind `pool`, of its size.
void check_pools(const Case& input, Findings& findings);

/// The edges of the plan lead forward, from one task op of the root to another.
void check_edges(const Graph& graph, const Plan& plan, Findings& findings);

}  // namespace stowage::verification
