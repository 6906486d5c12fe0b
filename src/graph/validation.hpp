#pragma once

#include <string>
#include <vector>

#include "graph/interface/offset_union.hpp"
#include "graph/interface/relations.hpp"
#include "stowage/graph.hpp"

/// The rules of `Graph::build`, in the order in which they are checked: each may assume that the earlier ones hold.
namespace stowage::validation {

/// Memories: alignments and limits. Tensors and workspaces: sizes, alignments, memories, and that all sizes sum to at
/// most 2^62.
Status check_sizes(const GraphDescription& description);

/// Costs, numbers of operations, trip counts and bandwidths are in range; only loops have a trip count.
Status check_costs(const GraphDescription& description);

/// The root of every tensor; fails on views that are out of range, circular, in another memory, or break an alignment.
Result<std::vector<ViewOf>> resolve_views(const GraphDescription& description);

/// For one scope, whose path is `prefix`: every id and position in the ops and views exists, and `after` names earlier
/// ops only.
Status check_references(const GraphDescription& scope, const std::string& prefix);

/// Checks that each tensor has one writer (variables may have several), that no constant is written, and that nothing
/// is read before it is written. Inputs of a body count as written outside.
Status check_dataflow(const GraphDescription& description, const std::vector<ViewOf>& roots,
                      const std::vector<Scope>& scopes);

/// The roots of views, by tensor, joined by the ops' aliases. Fails if aliases contradict each other or break the
/// alignment of a member.
Result<OffsetUnion> join_aliases(const GraphDescription& description, const std::vector<ViewOf>& roots);

/// All remaining rules: groups, fills, zero copy, bodies, batches, rings, tensors kept apart. Precondition: the rules
/// above hold. `aliases` is the result of `join_aliases`. Returns the relations found during the checks.
Result<Relations> check_constraints(const Graph& graph, OffsetUnion aliases);

/// The parts of `check_constraints`, in this order. The first adds to `aliases` what bodies require at one address, the
/// last but one places the rings.
Status check_bodies(const Graph& graph, OffsetUnion& aliases);
Status check_groups(const Graph& graph, const Relations& relations);
Status check_fills(const Graph& graph, const Relations& relations);
Status check_flags(const Graph& graph);
Status check_batches(const Graph& graph, const Relations& relations);
Status check_rings(const Graph& graph, Relations& relations);
Status check_apart(const Graph& graph, const Relations& relations);

/// An error about the element at `path` in the graph's flat lists ("ops[3].alias[0]").
[[nodiscard]] Error fault_at(std::string path, std::string message);

}  // namespace stowage::validation
