#include "stowage/graph.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "graph/validation.hpp"

namespace stowage {

Result<Graph> Graph::build(GraphDescription description) {
  if (description.memories.empty()) description.memories.push_back(Memory{.name = "memory"});
  STOWAGE_TRY_STATUS(validation::check_sizes(description));
  STOWAGE_TRY(std::vector<Root> roots, validation::resolve_views(description));
  STOWAGE_TRY_STATUS(validation::check_references(description));
  STOWAGE_TRY_STATUS(validation::check_dataflow(description, roots));
  STOWAGE_TRY_STATUS(validation::check_aliases(description, roots));

  Graph graph;
  for (const Op& op : description.ops) {
    if (!op.no_task) graph.stream_count_ = std::max(graph.stream_count_, op.stream.index() + 1);
  }
  graph.description_ = std::move(description);
  graph.roots_ = std::move(roots);
  return graph;
}

Bytes Graph::alignment(TensorId id) const {
  const Tensor& tensor = this->tensor(id);
  if (tensor.alignment) return *tensor.alignment;
  return tensor.view_of ? Bytes(1) : memory(tensor.memory).alignment;
}

Bytes Graph::alignment(const Workspace& workspace) const {
  return workspace.alignment.value_or(memory(workspace.memory).alignment);
}

std::string describe(const Tensor& tensor, TensorId id) { return fmt::format("tensor '{}' ({})", tensor.name, id.index()); }

std::string describe(const Op& op, OpId id) { return fmt::format("op '{}' ({})", op.name, id.index()); }

}  // namespace stowage
