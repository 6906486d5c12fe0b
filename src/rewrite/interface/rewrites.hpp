#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rewrite/interface/editor.hpp"
#include "rewrite/interface/origins.hpp"
#include "stowage/graph.hpp"

/// All rewrites that know nothing but a graph, each in a source of its own. Each takes a graph and returns another one
/// with the origins of everything in it; it fails where the new one breaks a rule of graphs. Thread-safe.
///
/// A further one is one new source with an `Editor` in it, its test, its declaration here and its line in
/// CMakeLists.txt.
namespace stowage::rewrite {

/// Every memory has this alignment. (with_alignment.cpp)
Result<Rewritten> with_alignment(const Graph& graph, Bytes alignment);

/// One memory for each of `into`; memory i becomes memory `target[i]`, with the stricter of both alignments and largest
/// sizes, and the first kind where `into` says none. Of tensors that aliases hold together only the lowest gets the new
/// alignment: the others have their places by it, and keep the alignment that they had. Precondition: `target` has an
/// entry for each memory of the graph, each below the size of `into`. (merge_memories.cpp)
Result<Rewritten> merge_memories(const Graph& graph, std::vector<Memory> into, std::span<const std::size_t> target);

/// What is to be thought away: tensors and workspaces by the graph's own ids, ascending.
struct Dropped {
  std::vector<TensorId> tensors;
  std::vector<WorkspaceId> workspaces;
};

/// Adds the tensors that must be of the same size as one that is dropped, or are its parts or its whole: inner and
/// outer ends of body pairs, carried pairs, packed groups, and all tensors at fixed distances from these.
/// (drop_tensors.cpp)
[[nodiscard]] Dropped closed(const Graph& graph, Dropped dropped);

/// Everything dropped has size 0; views and aliases of it have offset 0. Precondition: `dropped` is closed.
/// (drop_tensors.cpp)
Result<Rewritten> drop_tensors(const Graph& graph, const Dropped& dropped);

/// A kind of thing that a graph asks of its plans, and that it can do without.
enum class Constraint : std::uint8_t {
  padded_groups,       ///< Dropped, members lie anywhere.
  packed_groups,       ///< Dropped, those ops copy.
  kept_outputs,        ///< Dropped, outputs live to their last use. Those with zero copy stay.
  no_reuse,            ///< Of tensors, ops and workspaces.
  fixed_addresses,     ///< Of ops.
  alignments,          ///< Dropped, all are 1.
  streams,             ///< Dropped, all ops are on stream 0.
  largest_buffers,     ///< Of memories.
  batches,             ///< Dropped, all of them run.
  zero_copy,           ///< Dropped, callers' tensors lie in our memory.
  rings,               ///< Dropped, prefetched tensors are like any other.
  session_workspaces,  ///< Dropped, they live during their op.
};

/// Drops one kind of constraint; whether there was any. For several: one after the other, then `Editor::build`.
/// (relax.cpp)
bool relax(Editor& editor, Constraint constraint);

}  // namespace stowage::rewrite
