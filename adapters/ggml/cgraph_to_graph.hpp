#pragma once

#include <cstdint>
#include <vector>

#include "buffer_types.hpp"
#include "graph_walk.hpp"
#include "stowage/graph.hpp"

/// From a walked ggml graph to a `stowage::Graph`.
///
/// What becomes of what:
/// - A tensor without data and buffer that is no view is ours to place, with the size that its buffer type says. A
/// leaf, a source that
///   no node makes and whatever has the INPUT flag is an input: it has its bytes from the start.
/// - OUTPUT on a tensor or one of its views makes it an output. So does a node, view or not, that no node reads: ggml
/// never frees it, and
///   callers read such results without having set the flag.
/// - An op whose result is a mere view touches nothing. Any other node reads its sources and writes its result; where
/// that is a view
///   (a copy into a cache, an add in place) it accesses what the view lies in.
/// - GGML_OP_NONE is how the scheduler controls lives: such a node that is a view reads its sources; one that is not is
/// written there.
/// - In place: `may_overwrite`, in one memory.
namespace stowage::ggml {

/// A graph of what must be placed, and nothing else: views are resolved, tensors of others left out. Fast to make and
/// to plan.
struct LeanGraph {
  Graph graph;
  std::vector<std::uint32_t> tensor_of;  ///< By index in the walk: the graph's tensor of its root, or kNone.
};

/// Fails when a tensor to be placed has a buffer id that does not exist, and as `Graph::build` does.
Result<LeanGraph> to_lean_graph(const GraphWalk& walk, const BufferTypes& types);

/// The whole graph for people and for the verifier: every tensor of the walk, with the same ids, and every node, with
/// names. Views are views here and not resolved, so that a plan of the lean graph is judged by how ggml says it. What
/// may be overwritten, what is kept and what is an input is decided in one place for both.
Result<Graph> to_full_graph(const GraphWalk& walk, const BufferTypes& types, const std::string& name);

/// By index in the walk: somebody looks at the tensor after the last node. Set for roots only.
[[nodiscard]] std::vector<bool> kept_to_the_end(const GraphWalk& walk);

/// The tensor has its bytes before the first node runs. Precondition: the allocator's own.
[[nodiscard]] bool is_input(const WalkedTensor& tensor);

/// What the tensor takes in its buffer. Precondition: the allocator's own, with a buffer id that exists.
[[nodiscard]] Bytes size_of(const WalkedTensor& tensor, const BufferTypes& types);

}  // namespace stowage::ggml
