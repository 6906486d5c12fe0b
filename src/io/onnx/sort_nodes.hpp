#pragma once

#include <string>
#include <vector>

#include "io/onnx/model.hpp"

namespace stowage::io::onnx {

/// Puts the nodes of a graph and of every body in it into an order in which values are written before they are read.
/// Stable: of the nodes that could come next, always the first in the file; a graph that is sorted is not changed. ONNX
/// demands sorted nodes, but runtimes load models without them. Nodes that wait for a value that nothing writes, and a
/// cycle with all that follows from it, remain where they are, behind the others, so that the importer reports them.
///
/// O((n + e) log n), with e as the number of names that nodes and the bodies in them read.
void sort_nodes(Graph& graph);

/// What the bodies of a node read from around it, each name once, sorted.
[[nodiscard]] std::vector<std::string> reads_in_bodies(const Node& node);

}  // namespace stowage::io::onnx
