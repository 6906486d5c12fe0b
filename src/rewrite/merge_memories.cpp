#include <algorithm>

#include "graph/interface/relations.hpp"
#include "rewrite/interface/rewrites.hpp"

namespace stowage::rewrite {
namespace {

bool has_aliases(const Graph& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.aliases.empty(); });
}

/// Gives every tensor whose offset is determined by an alias its present alignment explicitly.
void keep_alignments(const Graph& graph, Editor& editor) {
  const Relations& relations = graph.relations();
  std::vector<Bytes> lowest(graph.tensors().size(), kMaxBytes);
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (graph.tensors()[t].view_of) continue;
    const auto [representative, offset] = relations.place(TensorId(t));
    lowest[representative.index()] = std::min(lowest[representative.index()], offset);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const auto [representative, offset] = relations.place(TensorId(t));
    if (!graph.tensors()[t].view_of && offset != lowest[representative.index()])
      editor.tensor(TensorId(t)).alignment = graph.alignment(TensorId(t));
  }
}

}  // namespace

Result<Rewritten> merge_memories(const Graph& graph, std::vector<Memory> into, std::span<const std::size_t> target) {
  for (std::size_t m = 0; m < graph.memories().size(); ++m) {
    const Memory& from = graph.memories()[m];
    Memory& to = into[target[m]];
    to.alignment = std::max(to.alignment, from.alignment);
    if (from.max_size) to.max_size = std::min(to.max_size.value_or(kMaxBytes), *from.max_size);
    if (from.bandwidth) to.bandwidth = std::min(to.bandwidth.value_or(*from.bandwidth), *from.bandwidth);
    if (to.kind.empty()) to.kind = from.kind;
  }
  Editor editor(graph);
  if (has_aliases(graph)) keep_alignments(graph, editor);
  const auto move = [&](MemoryId& memory) { memory = MemoryId(target[memory.index()]); };
  for (Tensor& tensor : editor.tensors()) move(tensor.memory);
  for (Op& op : editor.ops()) {
    for (Workspace& workspace : op.workspaces) move(workspace.memory);
  }
  for (Ring& ring : editor.rings()) move(ring.memory);
  editor.memories() = std::move(into);
  return std::move(editor).build();
}

}  // namespace stowage::rewrite
