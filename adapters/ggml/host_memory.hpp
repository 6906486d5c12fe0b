#pragma once

#include "buffer_types.hpp"
#include "graph_walk.hpp"

namespace stowage::ggml {

/// Lets a node lie in place of a source in another memory where it makes no difference in which: both are the host's.
///
/// ggml puts a node in place of a source without looking where the caller wants the node, so that it can end up in
/// memory that its backend cannot use. We do not, but for host memory, where llama.cpp's tests count on the bytes that
/// this saves. Such a node gets the buffer id of the first source that it may overwrite, that nobody else reads and
/// nobody looks into, if no source in its own memory would do. Ids that do not exist are left alone.
void share_host_memory(GraphWalk& walk, const BufferTypes& types);

}  // namespace stowage::ggml
