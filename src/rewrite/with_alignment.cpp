#include "rewrite/interface/rewrites.hpp"

namespace stowage::rewrite {

Result<Rewritten> with_alignment(const Graph& graph, Bytes alignment) {
  Editor editor(graph);
  for (Memory& memory : editor.memories()) memory.alignment = alignment;
  return std::move(editor).build();
}

}  // namespace stowage::rewrite
