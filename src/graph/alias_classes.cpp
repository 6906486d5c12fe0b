#include "graph/alias_classes.hpp"

namespace stowage {

OffsetUnion join_aliases(const Graph& graph) {
  OffsetUnion joined(graph.tensors().size());
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) {
      const Graph::Root output = graph.root(op.outputs[alias.output]);
      const Graph::Root input = graph.root(*op.inputs[alias.input]);
      const bool consistent =
          joined.join(output.tensor.index(), input.tensor.index(), input.offset + alias.offset - output.offset);
      STOWAGE_CHECK(consistent, "a built graph has contradicting aliases");
    }
  }
  return joined;
}

}  // namespace stowage
