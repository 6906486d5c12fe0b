#pragma once

#include "buffer_types.hpp"
#include "graph_walk.hpp"

namespace stowage::ggml {

/// Allows a node to overwrite a source in another memory if both memories are host memory, where the difference does
/// not matter.
///
/// ggml places a node over a source without considering which buffer the caller wants for the node, so the node can end
/// up in memory that its backend cannot use. We do this only for host memory, because llama.cpp's tests rely on the
/// bytes that it saves. Such a node gets the buffer id of the first source that it may overwrite, that no other node
/// reads and that has no views, unless a source in its own memory would do. Ids that do not exist are ignored.
void share_host_memory(GraphWalk& walk, const BufferTypes& types);

}  // namespace stowage::ggml
