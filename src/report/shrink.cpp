#include "report/shrink.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace stowage::report {
namespace {

/// Tensors that can only be absent together.
class Ties {
 public:
  explicit Ties(const Graph& graph) : parent_(graph.tensors().size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (std::size_t t = 0; t < parent_.size(); ++t) tie(TensorId(t), graph.root(TensorId(t)).tensor);
    for (const Op& op : graph.ops()) tie_op(op);
    for (const Scope& scope : graph.scopes()) {
      for (const BodyInput& pair : scope.inputs) tie(pair.outer, pair.inner);
      for (const BodyOutput& pair : scope.outputs) tie(pair.outer, pair.inner);
      for (const Carried& pair : scope.carried) tie(pair.out, pair.in);
    }
  }

  std::size_t find(TensorId id) {
    std::size_t at = id.index();
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

 private:
  void tie(TensorId a, TensorId b) { parent_[find(a)] = find(b); }

  void tie_op(const Op& op) {
    for (const Alias& alias : op.aliases) {
      if (op.inputs[alias.input]) tie(op.outputs[alias.output], *op.inputs[alias.input]);
    }
    const bool packs = op.contiguous_inputs == Contiguity::packed && op.outputs.size() == 1;
    const bool splits = op.contiguous_outputs == Contiguity::packed && op.inputs.size() == 1 && op.inputs.front();
    for (std::size_t i = 0; packs && i < op.inputs.size(); ++i) {
      if (op.inputs[i]) tie(*op.inputs[i], op.outputs.front());
    }
    for (std::size_t i = 0; splits && i < op.outputs.size(); ++i) tie(op.outputs[i], *op.inputs.front());
  }

  std::vector<std::size_t> parent_;
};

/// Changes the description in the order in which the graph numbers the tensors and ops of its scopes.
class Eraser {
 public:
  Eraser(const Graph& graph, const Absent& absent) : graph_(graph), gone_(graph.tensors().size()) {
    for (const TensorId id : absent.tensors) gone_[id.index()] = 1;
    workspaces_.resize(graph.ops().size());
    for (const WorkspaceId& ref : absent.workspaces) workspaces_[ref.op.index()].push_back(ref.index);
  }

  GraphDescription run() {
    GraphDescription description = graph_.description();
    erase(ScopeId(0), description.tensors, description.ops);
    return description;
  }

 private:
  void erase(ScopeId id, std::vector<Tensor>& tensors, std::vector<Op>& ops) {
    const Scope& scope = graph_.scope(id);
    const auto gone = [&](TensorId local) { return gone_[scope.first_tensor.index() + local.index()] != 0; };
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (!gone(TensorId(t))) continue;
      tensors[t].size = Bytes(0);
      if (tensors[t].view_of) tensors[t].view_of->offset = Bytes(0);
    }
    for (std::size_t k = 0; k < ops.size(); ++k) {
      Op& op = ops[k];
      const OpId number(scope.first_op.index() + k);
      for (Alias& alias : op.aliases) {
        if (gone(op.outputs[alias.output])) alias.offset = Bytes(0);
      }
      for (const std::uint32_t index : workspaces_[number.index()]) op.workspaces[index].size = Bytes(0);
      for (std::size_t b = 0; b < op.bodies.size(); ++b) erase(graph_.bodies(number)[b], op.bodies[b].tensors, op.bodies[b].ops);
    }
  }

  const Graph& graph_;
  std::vector<char> gone_;                              ///< By tensor.
  std::vector<std::vector<std::uint32_t>> workspaces_;  ///< By op.
};

}  // namespace

Absent closed(const Graph& graph, Absent absent) {
  Ties ties(graph);
  std::vector<char> gone(graph.tensors().size());
  for (const TensorId id : absent.tensors) gone[ties.find(id)] = 1;
  absent.tensors.clear();
  for (std::size_t t = 0; t < gone.size(); ++t) {
    if (gone[ties.find(TensorId(t))]) absent.tensors.push_back(TensorId(t));
  }
  std::sort(absent.workspaces.begin(), absent.workspaces.end());
  return absent;
}

Result<Graph> without(const Graph& graph, const Absent& absent) { return Graph::build(Eraser(graph, absent).run()); }

}  // namespace stowage::report
