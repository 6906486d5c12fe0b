#include "support/judges/oracle/graph_facts.hpp"

#include <algorithm>
#include <numeric>

namespace stowage::oracle {

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
}

void unite(std::vector<std::size_t>& numbers, std::size_t a, std::size_t b) {
  const std::size_t from = numbers[a];
  const std::size_t to = numbers[b];
  if (from != to) std::replace(numbers.begin(), numbers.end(), from, to);
}

GraphFacts::GraphFacts(const Graph& of) : graph(of) {
  std::size_t next = graph.tensors().size();
  for (const Op& op : graph.ops()) {
    first_workspace.push_back(next);
    next += op.workspaces.size();
  }
  owners.resize(next);
  std::iota(owners.begin(), owners.end(), std::size_t{0});
  find_owners();
  flags.resize(next);
  home.resize(next, graph.scopes().size());
  filled.resize(next);
  session.resize(next);
  touched.resize(next);
  find_flags_and_homes();
  for (std::size_t k = 0; k < graph.ops().size(); ++k) look_at_op(OpId(k));
}

void GraphFacts::find_owners() {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) owners[t] = graph.root(TensorId(t)).tensor.index();
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases)
      unite(owners, op.outputs[alias.output].index(), op.inputs[alias.input]->index());
  }
  for (std::size_t s = 1; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    for (const BodyInput& pair : scope.inputs) {
      if (!is_carried(scope, pair.inner)) unite(owners, pair.inner.index(), pair.outer.index());
    }
    if (graph.op(scope.op).control != Control::loop) continue;
    for (const BodyOutput& pair : scope.outputs) {
      TensorId incoming = pair.inner;
      for (const Carried& each : scope.carried) {
        if (each.out == pair.inner) {
          incoming = each.in;
          break;
        }
      }
      unite(owners, incoming.index(), pair.outer.index());
    }
  }
}

void GraphFacts::find_flags_and_homes() {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    flags[owners[t]] |= graph.tensors()[t].flags;
    home[owners[t]] = std::min(home[owners[t]], graph.scope_of(TensorId(t)).index());
  }
  for (const Scope& scope : graph.scopes()) {
    for (const Carried& pair : scope.carried)
      home[owner(pair.in)] = std::min(home[owner(pair.in)], scope.parent.index());
  }
}

void GraphFacts::look_at_op(OpId id) {
  const Op& op = graph.op(id);
  for (const std::uint32_t output : op.zero_fill.outputs) filled[owner(op.outputs[output])] = true;
  for (const std::uint32_t workspace : op.zero_fill.workspaces) filled[owner(id, workspace)] = true;
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
    const std::size_t number = owner(id, w);
    home[number] = graph.scope_of(id).index();
    touched[number] = !op.no_task;
    session[number] = !op.no_task && op.workspaces[w].scope == WorkspaceScope::session;
    if (op.no_reuse || op.workspaces[w].no_reuse) flags[number] |= TensorFlag::no_reuse;
  }
  for (const TensorId output : op.outputs) {
    if (op.no_reuse) flags[owner(output)] |= TensorFlag::no_reuse;
    if (!op.no_task) touched[owner(output)] = true;
  }
  for (const auto& input : op.inputs) {
    if (input && !op.no_task) touched[owner(*input)] = true;
  }
}

}  // namespace stowage::oracle
