#include "verify/findings.hpp"

namespace stowage::verification {
namespace {

struct Describer {
  const Graph& graph;

  std::string operator()(TensorId id) const { return describe(graph, id); }
  std::string operator()(WorkspaceId id) const {
    return fmt::format("workspace {} of {}", id.index, describe(graph, id.op));
  }
  std::string operator()(CopyId id) const { return fmt::format("copy {} of the plan", id.index); }
  std::string operator()(ClearId id) const { return fmt::format("clear {} of the plan", id.index); }
};

}  // namespace

std::string describe(const Graph& graph, const Subject& subject) { return std::visit(Describer{graph}, subject); }

std::string describe_step(const Graph& graph, OpId op) {
  const Scope& scope = graph.scope(graph.scope_of(op));
  return fmt::format("step {} ({})", op.index() - scope.first_op.index(), describe(graph, op));
}

std::string describe(ByteRange bytes) { return fmt::format("[{}, {})", bytes.lower.value(), bytes.upper.value()); }

std::string describe(const Plan& plan, ArenaId id) {
  return fmt::format("arena '{}' ({})", plan.arenas[id.index()].name, id.index());
}

}  // namespace stowage::verification
