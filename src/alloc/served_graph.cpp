#include "alloc/served_graph.hpp"

#include <fmt/format.h>

#include "graph/interface/relations.hpp"
#include "rewrite/interface/rewrites.hpp"

namespace stowage::alloc {

Result<Graph> serve_graph(const Graph& graph, std::span<const ServingType> types,
                          std::span<const std::size_t> type_of) {
  if (graph.memories().size() > type_of.size()) {
    return Error{ErrorCode::invalid,
                 fmt::format("graph '{}' has {} memories, but there are {} buffer types", graph.name(),
                             graph.memories().size(), type_of.size()),
                 {}};
  }
  std::vector<Memory> memories;
  for (const ServingType& each : types) {
    memories.push_back({.name = std::string(each.type->name()),
                        .alignment = each.type->alignment(),
                        .max_size = each.limit,
                        .kind = {}});
  }
  STOWAGE_TRY(rewrite::Rewritten served, rewrite::merge_memories(graph, std::move(memories), type_of));
  return std::move(served.graph);
}

std::vector<std::uint32_t> shared_values(const Graph& graph) {
  std::vector<std::uint32_t> values;
  values.reserve(graph.tensors().size());
  for (const AliasPlace& place : graph.relations().alias_places)
    values.push_back(static_cast<std::uint32_t>(place.representative.index()));
  return values;
}

}  // namespace stowage::alloc
