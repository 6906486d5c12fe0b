#include "verify/findings.hpp"

namespace stowage::verification {

std::string describe(const Graph& graph, const Subject& subject) {
  if (const TensorId* tensor = std::get_if<TensorId>(&subject)) return stowage::describe(graph.tensor(*tensor), *tensor);
  const WorkspaceId& workspace = *std::get_if<WorkspaceId>(&subject);
  return fmt::format("workspace {} of {}", workspace.index, stowage::describe(graph.op(workspace.op), workspace.op));
}

std::string describe(const Graph& graph, Step step) {
  if (step < Step(0)) return "the start";
  const auto index = static_cast<std::size_t>(step.value());
  if (index >= graph.ops().size()) return "the end";
  return fmt::format("step {} ({})", index, stowage::describe(graph.ops()[index], OpId(index)));
}

std::string describe(ByteRange bytes) { return fmt::format("[{}, {})", bytes.lower.value(), bytes.upper.value()); }

}  // namespace stowage::verification
