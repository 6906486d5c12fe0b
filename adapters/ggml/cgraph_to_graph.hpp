#pragma once

#include <cstdint>
#include <vector>

#include "buffer_types.hpp"
#include "graph_walk.hpp"
#include "stowage/graph.hpp"

/// Converts a walked ggml graph to a `stowage::Graph`:
///
/// - A tensor that has neither data nor a buffer and is not a view is placed by us, with the size that its buffer type
///   gives. It is an input if it is a leaf, a source that no node computes, or has the INPUT flag: it holds its bytes
///   from the start.
/// - A tensor is an output if it or one of its views has the OUTPUT flag. So is a node, view or not, that no node
///   reads: ggml never frees it, and callers read such results without having set the flag.
/// - An op whose result is only a view accesses nothing. Any other node reads its sources and writes its result; if the
///   result is a view (a copy into a cache, an add in place), it accesses the tensor that contains the view.
/// - The scheduler uses GGML_OP_NONE to control lifetimes: such a node reads its sources if it is a view; otherwise it
///   is written at that point.
/// - In place: if `may_overwrite`, and in the same memory.
namespace stowage::ggml {

/// A graph of only the tensors that must be placed: views are resolved, other tensors are left out.
/// Fast to make and to plan.
struct LeanGraph {
  Graph graph;
  std::vector<std::uint32_t> tensor_of;  ///< By index in the walk: the graph's tensor for its root, or kNone.
};

/// Fails if a tensor to be placed has a buffer id that does not exist, and as `Graph::build` does.
Result<LeanGraph> to_lean_graph(const GraphWalk& walk, const BufferTypes& types);

/// The complete graph, for people and for the verifier: every tensor of the walk, with the same ids, and every node,
/// with names. Views are not resolved, so the verifier judges a plan of the lean graph by ggml's own description. Both
/// graphs use the same functions to decide what may be overwritten, what is kept and what is an input.
Result<Graph> to_full_graph(const GraphWalk& walk, const BufferTypes& types, const std::string& name);

/// By index in the walk: whether the tensor may be read after the last node. Set for roots only.
[[nodiscard]] std::vector<bool> kept_to_the_end(const GraphWalk& walk);

/// Whether the tensor holds its bytes before the first node runs. Precondition: the allocator places it.
[[nodiscard]] bool is_input(const WalkedTensor& tensor);

/// The size of the tensor in its buffer. Precondition: the allocator places it, and its buffer id exists.
[[nodiscard]] Bytes size_of(const WalkedTensor& tensor, const BufferTypes& types);

}  // namespace stowage::ggml
