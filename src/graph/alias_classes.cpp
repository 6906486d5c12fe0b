#include "graph/alias_classes.hpp"

#include <algorithm>

namespace stowage {
namespace {

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
}

/// The tensor at whose address a loop's result lies: the carried value that comes in, or `inner` itself.
TensorId incoming_of(const Scope& scope, TensorId inner) {
  const auto pair =
      std::find_if(scope.carried.begin(), scope.carried.end(), [&](Carried each) { return each.out == inner; });
  return pair == scope.carried.end() ? inner : pair->in;
}

}  // namespace

void join_bodies(const Graph& graph, OffsetUnion& joined, const OnContradiction& contradiction) {
  const auto join = [&](TensorId inner, TensorId outer) {
    const ViewOf in = graph.root(inner);
    const ViewOf out = graph.root(outer);
    return joined.join(in.tensor.index(), out.tensor.index(), out.offset - in.offset);
  };
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    for (const BodyInput& pair : scope.inputs) {
      if (is_carried(scope, pair.inner) || join(pair.inner, pair.outer)) continue;
      contradiction(ScopeId(s), pair.inner, pair.outer);
    }
    if (graph.op(scope.op).control != Control::loop) continue;
    for (const BodyOutput& pair : scope.outputs) {
      const TensorId incoming = incoming_of(scope, pair.inner);
      if (join(incoming, pair.outer)) continue;
      contradiction(ScopeId(s), incoming, pair.outer);
    }
  }
}

std::vector<AliasPlace> alias_places(const Graph& graph, OffsetUnion& joined) {
  std::vector<AliasPlace> places;
  places.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const ViewOf root = graph.root(TensorId(t));
    const auto [representative, offset] = joined.find(root.tensor.index());
    places.push_back({TensorId(representative), offset + root.offset});
  }
  return places;
}

OffsetUnion Relations::to_union() const {
  OffsetUnion joined(alias_places.size());
  for (std::size_t t = 0; t < alias_places.size(); ++t) {
    const bool consistent = joined.join(t, alias_places[t].representative.index(), alias_places[t].offset);
    STOWAGE_CHECK(consistent, "alias places contradict each other");
  }
  return joined;
}

}  // namespace stowage
