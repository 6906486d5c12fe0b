#include "host_memory.hpp"

#include <vector>

#include "cgraph_to_graph.hpp"

namespace stowage::ggml {
namespace {

/// By index in the walk: at most one reader, no views, not needed afterwards. These are ggml's own conditions for
/// overwriting a tensor.
std::vector<bool> overwritable(const GraphWalk& walk) {
  std::vector<bool> result = kept_to_the_end(walk);
  result.flip();
  for (std::size_t i = 0; i < walk.tensors.size(); ++i) {
    if (walk.tensors[i].holding != Holding::own || walk.tensors[i].consumers != 1) result[i] = false;
    if (walk.tensors[i].holding == Holding::view) result[walk.tensors[i].root] = false;
  }
  return result;
}

bool is_host(const BufferTypes& types, int id) {
  return types.has(id) && ggml_backend_buft_is_host(types.type(types.memory_of(id)));
}

}  // namespace

void share_host_memory(GraphWalk& walk, const BufferTypes& types) {
  if (types.distinct() == 1) return;
  const std::vector<bool> candidates = overwritable(walk);
  for (const WalkedNode& node : walk.nodes) {
    WalkedTensor& result = walk.tensors[node.tensor];
    if (result.holding != Holding::own || result.met != Met::node || !is_host(types, result.buffer_id)) continue;
    const std::span<const std::uint32_t> sources = walk.sources_of(node);
    int elsewhere = -1;
    bool here = false;
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (sources[j] == kNone || sources[j] == kSelf || !candidates[sources[j]] || !may_overwrite(walk, node, j))
        continue;
      const int id = walk.tensors[sources[j]].buffer_id;
      if (!is_host(types, id)) continue;
      here = here || types.memory_of(id) == types.memory_of(result.buffer_id);
      if (elsewhere < 0) elsewhere = id;
    }
    if (!here && elsewhere >= 0) result.buffer_id = elsewhere;
  }
}

}  // namespace stowage::ggml
