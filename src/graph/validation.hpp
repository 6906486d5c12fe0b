#pragma once

#include <vector>

#include "stowage/graph.hpp"

/// The rules of `Graph::build`, in the order in which they run: each may assume that the earlier ones hold.
namespace stowage::validation {

/// Memories: alignments and limits. Tensors: sizes, alignments, memories, and that all of it sums to at most 2^62.
Status check_sizes(const GraphDescription& description);

/// The root of every tensor; fails on views that are out of range, circular, in another memory, or break an alignment.
Result<std::vector<Graph::Root>> resolve_views(const GraphDescription& description);

/// Every id and position in the ops exists, and `after` names earlier ops only.
Status check_references(const GraphDescription& description);

/// Who writes what, and that nothing is read before it was written.
Status check_dataflow(const GraphDescription& description, const std::vector<Graph::Root>& roots);

/// Aliases can all hold at the same time, and no member's alignment is broken by one.
Status check_aliases(const GraphDescription& description, const std::vector<Graph::Root>& roots);

}  // namespace stowage::validation
