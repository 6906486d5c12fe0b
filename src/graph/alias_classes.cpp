#include "graph/alias_classes.hpp"

#include <algorithm>

namespace stowage {
namespace {

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
}

/// Where a loop's result lies: at the value that comes in.
TensorId incoming_of(const Scope& scope, TensorId inner) {
  const auto pair = std::find_if(scope.carried.begin(), scope.carried.end(), [&](Carried each) { return each.out == inner; });
  return pair == scope.carried.end() ? inner : pair->in;
}

}  // namespace

OffsetUnion join_aliases(const Graph& graph, const OnContradiction& contradiction) {
  OffsetUnion joined(graph.tensors().size());
  const auto join = [&](TensorId inner, TensorId outer, Bytes offset) {
    const Graph::Root in = graph.root(inner);
    const Graph::Root out = graph.root(outer);
    return joined.join(in.tensor.index(), out.tensor.index(), out.offset + offset - in.offset);
  };
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) {
      const bool consistent = join(op.outputs[alias.output], *op.inputs[alias.input], alias.offset);
      STOWAGE_CHECK(consistent, "a built graph has contradicting aliases");
    }
  }
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    for (const BodyInput& pair : scope.inputs) {
      if (is_carried(scope, pair.inner) || join(pair.inner, pair.outer, Bytes(0))) continue;
      STOWAGE_CHECK(contradiction, "a built graph has contradicting body inputs");
      contradiction(ScopeId(s), pair.inner, pair.outer);
    }
    if (graph.op(scope.op).control != Control::loop) continue;
    for (const BodyOutput& pair : scope.outputs) {
      const TensorId incoming = incoming_of(scope, pair.inner);
      if (join(incoming, pair.outer, Bytes(0))) continue;
      STOWAGE_CHECK(contradiction, "a built graph has contradicting body outputs");
      contradiction(ScopeId(s), incoming, pair.outer);
    }
  }
  return joined;
}

}  // namespace stowage
