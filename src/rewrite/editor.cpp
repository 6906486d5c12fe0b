#include "rewrite/interface/editor.hpp"

#include <algorithm>
#include <utility>

namespace stowage::rewrite {

Editor::Editor(const Graph& graph)
    : name_(graph.name()),
      memories_(graph.memories().begin(), graph.memories().end()),
      rings_(graph.rings().begin(), graph.rings().end()),
      apart_(graph.apart().begin(), graph.apart().end()),
      tensors_(graph.tensors().begin(), graph.tensors().end()),
      scopes_(graph.scopes().begin(), graph.scopes().end()),
      bodies_(graph.ops().size()),
      tensors_of_(graph.scopes().size()),
      orders_(graph.scopes().size()) {
  ops_.reserve(graph.ops().size());
  for (std::size_t s = 0; s < scopes_.size(); ++s) {
    for (std::size_t t = 0; t < scopes_[s].tensor_count; ++t) {
      tensors_of_[s].emplace_back(scopes_[s].first_tensor.index() + t);
      origins_.tensors.push_back({OriginKind::same, tensors_of_[s].back()});
      scope_of_tensor_.emplace_back(s);
    }
    for (std::size_t k = 0; k < scopes_[s].op_count; ++k) {
      const OpId id(scopes_[s].first_op.index() + k);
      bodies_[id.index()].assign(graph.bodies(id).begin(), graph.bodies(id).end());
      orders_[s].push_back(store(graph.op(id), {OriginKind::same, id}, ScopeId(s)));
    }
  }
}

TensorId Editor::add(Tensor tensor, ScopeId scope) {
  const TensorId id(tensors_.size());
  tensors_.push_back(std::move(tensor));
  origins_.tensors.emplace_back();
  scope_of_tensor_.push_back(scope);
  tensors_of_[scope.index()].push_back(id);
  return id;
}

TensorId Editor::copy(TensorId original, Tensor tensor) {
  const Origin<TensorId> of = origins_.tensors[original.index()];
  const TensorId id = add(std::move(tensor), scope_of_tensor_[original.index()]);
  if (of.kind != OriginKind::added) origins_.tensors.back() = {OriginKind::copy, of.id};
  return id;
}

OpId Editor::store(Op op, Origin<OpId> origin, ScopeId scope) {
  ops_.push_back(std::move(op));
  origins_.ops.push_back(origin);
  scope_of_op_.push_back(scope);
  return OpId(ops_.size() - 1);
}

OpId Editor::insert(OpId where, std::size_t behind, Op op, Origin<OpId> origin) {
  if (origin.kind == OriginKind::copy) {
    const Origin<OpId>& of = origins_.ops[origin.id.index()];
    origin = of.kind == OriginKind::added ? Origin<OpId>{} : Origin<OpId>{OriginKind::copy, of.id};
  }
  const ScopeId scope = scope_of_op_[where.index()];
  std::vector<OpId>& order = orders_[scope.index()];
  const auto at = std::find(order.begin(), order.end(), where);
  STOWAGE_CHECK(at != order.end(), "an op is inserted next to one that was removed");
  const OpId id = store(std::move(op), origin, scope);
  order.insert(at + static_cast<std::ptrdiff_t>(behind), id);
  return id;
}

OpId Editor::append(Op op, ScopeId scope) {
  const OpId id = store(std::move(op), {}, scope);
  orders_[scope.index()].push_back(id);
  return id;
}

void Editor::set_order(std::vector<OpId> order, ScopeId scope) { orders_[scope.index()] = std::move(order); }

/// Reassembles the scopes in the order in which `Graph::build` numbers them: each scope with its own tensors and ops,
/// then the bodies of its ops.
class Editor::Composer {
 public:
  explicit Composer(Editor& editor)
      : editor_(editor), local_tensor_(editor.tensors_.size()), local_op_(editor.ops_.size()) {
    for (const std::vector<TensorId>& list : editor.tensors_of_) {
      for (std::size_t i = 0; i < list.size(); ++i) local_tensor_[list[i].index()] = TensorId(i);
    }
    for (const std::vector<OpId>& list : editor.orders_) {
      for (std::size_t i = 0; i < list.size(); ++i) local_op_[list[i].index()] = OpId(i);
    }
  }

  GraphDescription run() {
    GraphDescription result{std::move(editor_.name_), std::move(editor_.memories_), {}, {}, std::move(editor_.rings_)};
    compose(ScopeId(0), result.tensors, result.ops);
    for (const ApartTensors& pair : editor_.apart_) result.apart.push_back({local(pair.a), local(pair.b)});
    return result;
  }

  [[nodiscard]] Origins take_origins() { return std::move(origins_); }

 private:
  void compose(ScopeId scope, std::vector<Tensor>& tensors, std::vector<Op>& ops) {
    for (const TensorId id : editor_.tensors_of_[scope.index()]) {
      Tensor& tensor = tensors.emplace_back(std::move(editor_.tensors_[id.index()]));
      if (tensor.view_of) tensor.view_of->tensor = local(tensor.view_of->tensor);
      origins_.tensors.push_back(editor_.origins_.tensors[id.index()]);
    }
    const std::vector<OpId>& order = editor_.orders_[scope.index()];
    for (const OpId id : order) {
      Op& op = ops.emplace_back(std::move(editor_.ops_[id.index()]));
      for (std::optional<TensorId>& input : op.inputs) {
        if (input) input = local(*input);
      }
      for (TensorId& output : op.outputs) output = local(output);
      for (OpId& after : op.after) after = local_op_[after.index()];
      origins_.ops.push_back(editor_.origins_.ops[id.index()]);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (order[k].index() >= editor_.bodies_.size()) continue;
      for (const ScopeId body : editor_.bodies_[order[k].index()]) compose_body(body, ops[k].bodies.emplace_back());
    }
  }

  void compose_body(ScopeId id, Body& body) {
    const Scope& scope = editor_.scopes_[id.index()];
    for (const BodyInput& pair : scope.inputs) body.inputs.push_back({local(pair.outer), local(pair.inner)});
    for (const BodyOutput& pair : scope.outputs) body.outputs.push_back({local(pair.inner), local(pair.outer)});
    for (const Carried& pair : scope.carried) body.carried.push_back({local(pair.out), local(pair.in)});
    compose(id, body.tensors, body.ops);
  }

  [[nodiscard]] TensorId local(TensorId id) const { return local_tensor_[id.index()]; }

  Editor& editor_;
  std::vector<TensorId> local_tensor_;
  std::vector<OpId> local_op_;
  Origins origins_;
};

Result<Rewritten> Editor::build() && {
  Composer composer(*this);
  STOWAGE_TRY(Graph graph, Graph::build(composer.run()));
  return Rewritten{std::move(graph), composer.take_origins()};
}

Result<Graph> Editor::build_graph() && { return Graph::build(Composer(*this).run()); }

}  // namespace stowage::rewrite
