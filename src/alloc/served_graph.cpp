#include "alloc/served_graph.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "graph/interface/relations.hpp"

namespace stowage::alloc {
namespace {

bool has_aliases(const Graph& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.aliases.empty(); });
}

/// States the alignment, as it was, of every tensor that has its place by an alias.
void keep_alignments(const Graph& graph, std::vector<Tensor>& tensors) {
  const Relations& relations = graph.relations();
  std::vector<Bytes> lowest(tensors.size(), kMaxBytes);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].view_of) continue;
    const auto [representative, offset] = relations.place(TensorId(t));
    lowest[representative.index()] = std::min(lowest[representative.index()], offset);
  }
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const auto [representative, offset] = relations.place(TensorId(t));
    if (!tensors[t].view_of && offset != lowest[representative.index()]) tensors[t].alignment = graph.alignment(TensorId(t));
  }
}

std::vector<Memory> memories_of(const Graph& graph, std::span<const ServingType> types, std::span<const std::size_t> type_of) {
  std::vector<Memory> memories;
  for (const ServingType& each : types) {
    memories.push_back(
        {.name = std::string(each.type->name()), .alignment = each.type->alignment(), .max_size = each.limit, .kind = {}});
  }
  for (std::size_t m = 0; m < graph.memories().size(); ++m) {
    const Memory& from = graph.memories()[m];
    Memory& to = memories[type_of[m]];
    to.alignment = std::max(to.alignment, from.alignment);
    if (from.max_size) to.max_size = std::min(to.max_size.value_or(kMaxBytes), *from.max_size);
    if (to.kind.empty()) to.kind = from.kind;
  }
  return memories;
}

}  // namespace

Result<Graph> serve_graph(const Graph& graph, std::span<const ServingType> types, std::span<const std::size_t> type_of) {
  if (graph.memories().size() > type_of.size()) {
    return Error{ErrorCode::invalid,
                 fmt::format("graph '{}' has {} memories, but there are {} buffer types", graph.name(), graph.memories().size(),
                             type_of.size()),
                 {}};
  }
  GraphDescription served = graph.description();
  served.memories = memories_of(graph, types, type_of);
  if (has_aliases(graph)) keep_alignments(graph, served.tensors);
  for (Tensor& tensor : served.tensors) tensor.memory = MemoryId(type_of[tensor.memory.index()]);
  for (Op& op : served.ops) {
    for (Workspace& workspace : op.workspaces) workspace.memory = MemoryId(type_of[workspace.memory.index()]);
  }
  return Graph::build(std::move(served));
}

std::vector<std::uint32_t> shared_values(const Graph& graph) {
  std::vector<std::uint32_t> values;
  values.reserve(graph.tensors().size());
  for (const AliasPlace& place : graph.relations().alias_places)
    values.push_back(static_cast<std::uint32_t>(place.representative.index()));
  return values;
}

}  // namespace stowage::alloc
