#include "alloc/served_graph.hpp"

#include <fmt/format.h>

#include "graph/interface/relations.hpp"
#include "rewrite/interface/rewrites.hpp"

namespace stowage::alloc {

namespace {

Memory memory_of(const ServingType& each, Bytes alignment) {
  return {.name = std::string(each.type->name()), .alignment = alignment, .max_size = each.limit, .kind = {}};
}

/// The memories of the served graph, and which of them each memory of the graph becomes.
struct Merging {
  std::vector<Memory> memories = {};
  std::vector<std::size_t> type_of = {};  ///< By memory of the served graph.
  std::vector<std::size_t> target = {};   ///< By memory of the graph.
};

Merging merge_by_type(std::span<const ServingType> types, std::span<const std::size_t> type_of) {
  Merging merging;
  for (const ServingType& each : types) {
    merging.type_of.push_back(merging.memories.size());
    merging.memories.push_back(memory_of(each, each.type->alignment()));
  }
  merging.target.assign(type_of.begin(), type_of.end());
  return merging;
}

Merging merge_equal_ones(const Graph& graph, std::span<const ServingType> types, std::span<const std::size_t> type_of) {
  Merging merging;
  for (std::size_t m = 0; m < graph.memories().size(); ++m) {
    const auto agrees = [&](std::size_t other) {
      const Memory& a = graph.memories()[m];
      const Memory& b = graph.memories()[other];
      return type_of[m] == type_of[other] && a.alignment == b.alignment && (a.kind == "p2p") == (b.kind == "p2p");
    };
    std::size_t first = 0;
    while (!agrees(first)) ++first;
    merging.target.push_back(first < m ? merging.target[first] : merging.memories.size());
    if (first < m) continue;
    merging.type_of.push_back(type_of[m]);
    merging.memories.push_back(memory_of(types[type_of[m]], Bytes(1)));
  }
  return merging;
}

}  // namespace

Result<ServedGraph> serve_graph(const Graph& graph, std::span<const ServingType> types,
                                std::span<const std::size_t> type_of) {
  if (graph.memories().size() > type_of.size()) {
    return Error{ErrorCode::invalid,
                 fmt::format("graph '{}' has {} memories, but there are {} buffer types", graph.name(),
                             graph.memories().size(), type_of.size()),
                 {}};
  }
  Merging merging =
      graph.needs_addresses_only() ? merge_by_type(types, type_of) : merge_equal_ones(graph, types, type_of);
  STOWAGE_TRY(rewrite::Rewritten served, rewrite::merge_memories(graph, std::move(merging.memories), merging.target));
  return ServedGraph{std::move(served.graph), std::move(merging.type_of)};
}

std::vector<std::uint32_t> shared_values(const Graph& graph) {
  std::vector<std::uint32_t> values;
  values.reserve(graph.tensors().size());
  for (const AliasPlace& place : graph.relations().alias_places)
    values.push_back(static_cast<std::uint32_t>(place.representative.index()));
  return values;
}

}  // namespace stowage::alloc
