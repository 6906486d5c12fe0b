#include "alloc/partition/whole.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "rewrite/interface/editor.hpp"

namespace stowage::partitioning {
namespace {

/// What keeps the graph in one piece: "op 'while' (3) has bodies".
std::string indivisible_part(const Graph& graph) {
  for (std::size_t k = 0; k < graph.scope(ScopeId(0)).op_count; ++k) {
    if (!graph.bodies(OpId(k)).empty()) return describe(graph, OpId(k)) + " has bodies";
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (graph.ops()[k].prefetch) return describe(graph, OpId(k)) + " prefetches into a ring";
  }
  return "a ring";
}

/// Why the backend cannot run the whole graph; nothing if it can. `supported` is the number of ops before the reason.
std::optional<std::string> obstacle(const Graph& graph, std::span<const Backend> backends,
                                    const PartitionOptions& options, std::size_t backend, std::size_t& supported) {
  const Backend& each = backends[backend];
  for (const OpPin& pin : options.pins) {
    if (pin.backend != backend)
      return fmt::format("{} is pinned to '{}'", describe(graph, pin.op), backends[pin.backend].name);
  }
  for (const TensorHome& home : options.homes) {
    if (backends[home.backend].memory != each.memory)
      return fmt::format("{} has its home at '{}'", describe(graph, home.tensor), backends[home.backend].name);
  }
  for (supported = 0; supported < graph.ops().size(); ++supported) {
    const OpId op(supported);
    if (graph.op(op).no_task || !each.supports || each.supports(graph, op)) continue;
    return fmt::format("'{}' does not support {} of kind {}", each.name, describe(graph, op), graph.op(op).kind);
  }
  return std::nullopt;
}

Result<Partition> place(const Graph& graph, std::span<const Backend> backends, std::size_t backend) {
  rewrite::Editor editor(graph);
  editor.memories().clear();
  // Distances between members of groups depend on alignments, so these stay.
  Bytes alignment{1};
  for (const Memory& memory : graph.memories()) alignment = std::max(alignment, memory.alignment);
  for (const Backend& each : backends) {
    editor.memories().push_back(
        {each.name, alignment, each.memory->max_size(), each.memory->host_visible() ? "host" : "device"});
  }
  for (Tensor& tensor : editor.tensors()) tensor.memory = MemoryId(backend);
  for (Op& op : editor.ops()) {
    for (Workspace& workspace : op.workspaces) workspace.memory = MemoryId(backend);
  }
  for (Ring& ring : editor.rings()) ring.memory = MemoryId(backend);
  STOWAGE_TRY(rewrite::Rewritten built, std::move(editor).build());
  Partition result{std::move(built.graph), {}, {}, {}, {}, {}, {}};
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    result.backends.push_back(backend);
    result.origins.emplace_back(OpId(k));
    result.ops.emplace_back(k);
  }
  const std::size_t ops = graph.scope(ScopeId(0)).op_count;
  if (ops > 0) result.splits.push_back({.backend = backend, .begin = OpId(0), .end = OpId(ops)});
  return result;
}

}  // namespace

Result<Partition> partition_whole(const Graph& graph, std::span<const Backend> backends,
                                  const PartitionOptions& options) {
  std::string reason;
  std::size_t furthest = 0;
  for (std::size_t b = 0; b < backends.size(); ++b) {
    std::size_t supported = 0;
    const std::optional<std::string> why = obstacle(graph, backends, options, b, supported);
    if (!why && options.input_sets == 1) return place(graph, backends, b);
    if (!reason.empty() && supported <= furthest) continue;
    reason = why.value_or("it can have one input set only");
    furthest = supported;
  }
  return Error{ErrorCode::unsupported,
               fmt::format("{}, so that graph '{}' can only be on one backend as a whole, but {}",
                           indivisible_part(graph), graph.name(), reason),
               {}};
}

}  // namespace stowage::partitioning
