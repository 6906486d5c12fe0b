#include <algorithm>
#include <numeric>

#include "rewrite/interface/rewrites.hpp"

namespace stowage::rewrite {
namespace {

/// Tensors that can only be dropped together.
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

}  // namespace

Dropped closed(const Graph& graph, Dropped dropped) {
  Ties ties(graph);
  std::vector<char> gone(graph.tensors().size());
  for (const TensorId id : dropped.tensors) gone[ties.find(id)] = 1;
  dropped.tensors.clear();
  for (std::size_t t = 0; t < gone.size(); ++t) {
    if (gone[ties.find(TensorId(t))]) dropped.tensors.push_back(TensorId(t));
  }
  std::sort(dropped.workspaces.begin(), dropped.workspaces.end());
  return dropped;
}

Result<Rewritten> drop_tensors(const Graph& graph, const Dropped& dropped) {
  Editor editor(graph);
  const auto is_gone = [&](TensorId id) {
    return std::binary_search(dropped.tensors.begin(), dropped.tensors.end(), id);
  };
  for (const TensorId id : dropped.tensors) {
    Tensor& tensor = editor.tensor(id);
    tensor.size = Bytes(0);
    if (tensor.view_of) tensor.view_of->offset = Bytes(0);
  }
  for (Op& op : editor.ops()) {
    for (Alias& alias : op.aliases) {
      if (is_gone(op.outputs[alias.output])) alias.offset = Bytes(0);
    }
  }
  std::erase_if(editor.apart(), [&](const ApartTensors& pair) { return is_gone(pair.a) || is_gone(pair.b); });
  for (const WorkspaceId& id : dropped.workspaces) editor.op(id.op).workspaces[id.index].size = Bytes(0);
  return std::move(editor).build();
}

}  // namespace stowage::rewrite
