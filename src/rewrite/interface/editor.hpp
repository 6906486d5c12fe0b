#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rewrite/interface/origins.hpp"
#include "stowage/graph.hpp"

namespace stowage::rewrite {

/// Changes a graph and remembers what came from where: the tool that rewrites are made with.
///
/// Ids do not change while one edits. Everything of the graph keeps its id, in bodies too, and each `add` returns a new
/// one; `build` numbers anew. So a rewrite may keep ids, read the old graph and write the new one side by side:
///
///     Editor editor(graph);
///     const TensorId copy = editor.copy(x, {.name = "x on the host", .size = graph.tensor(x).size, .memory = host});
///     editor.insert_before(reader, {.name = "copy x", .kind = "COPY", .inputs = {x}, .outputs = {copy}});
///     editor.op(reader).inputs[0] = copy;
///     return std::move(editor).build();
///
/// Changing a field of a tensor, an op or a memory leaves its origin as it is. Nothing is checked before `build`. Which
/// bodies an op has cannot be changed. A plain value; not thread-safe. Keeps a copy of the graph, O(its size); each
/// `add` and each access O(1), each insertion O(ops of the scope).
class Editor {
 public:
  explicit Editor(const Graph& graph);

  // ---------------------------------------------------------------------------------------------- what is there
  [[nodiscard]] std::string& name() { return name_; }
  [[nodiscard]] std::vector<Memory>& memories() { return memories_; }
  [[nodiscard]] std::vector<Ring>& rings() { return rings_; }
  /// Ids inside are this editor's. `Op::bodies` is empty: see `scope`.
  [[nodiscard]] Tensor& tensor(TensorId id) { return tensors_[id.index()]; }
  [[nodiscard]] Op& op(OpId id) { return ops_[id.index()]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  [[nodiscard]] const Op& op(OpId id) const { return ops_[id.index()]; }
  /// All of them, by id. Invalid after the next `add`.
  [[nodiscard]] std::span<Tensor> tensors() { return tensors_; }
  [[nodiscard]] std::span<Op> ops() { return ops_; }
  /// What goes into a body and comes out of it. Its ranges are those of the graph before.
  [[nodiscard]] Scope& scope(ScopeId id) { return scopes_[id.index()]; }
  /// The ops of a scope in execution order.
  [[nodiscard]] std::span<const OpId> order(ScopeId id) const { return orders_[id.index()]; }

  // ------------------------------------------------------------------------------------------------- what is new
  /// A tensor that has nothing to do with the graph before.
  TensorId add(Tensor tensor, ScopeId scope = ScopeId(0));
  /// A tensor that holds what `original`, or a part of it, does; in the same scope.
  TensorId copy(TensorId original, Tensor tensor);
  /// An op right before, or right after, another one, in its scope.
  OpId insert_before(OpId where, Op op) { return insert(where, 0, std::move(op), {}); }
  OpId insert_after(OpId where, Op op) { return insert(where, 1, std::move(op), {}); }
  /// The same for one that computes what `original` does, once more.
  OpId repeat_before(OpId where, OpId original, Op op) {
    return insert(where, 0, std::move(op), {OriginKind::copy, original});
  }
  /// An op at the end of a scope.
  OpId append(Op op, ScopeId scope = ScopeId(0));

  /// Gives a scope another order. What is left out is removed; nobody may name it then, neither in `after` nor as the
  /// owner of a scope. Precondition: `order` has ops of the scope only, each at most once.
  void set_order(std::vector<OpId> order, ScopeId scope = ScopeId(0));

  /// `Graph::build` of all this; fails as that does. Tensors keep their order in each scope, new ones come last.
  Result<Rewritten> build() &&;
  /// The same for those who do not ask where things came from.
  Result<Graph> build_graph() &&;

 private:
  class Composer;

  OpId insert(OpId where, std::size_t behind, Op op, Origin<OpId> origin);
  OpId store(Op op, Origin<OpId> origin, ScopeId scope);

  std::string name_;
  std::vector<Memory> memories_;
  std::vector<Ring> rings_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  Origins origins_;                                ///< By id here.
  std::vector<Scope> scopes_;                      ///< Of the graph before.
  std::vector<std::vector<ScopeId>> bodies_;       ///< By op of the graph before.
  std::vector<std::vector<TensorId>> tensors_of_;  ///< By scope.
  std::vector<std::vector<OpId>> orders_;          ///< By scope.
  std::vector<ScopeId> scope_of_tensor_;           ///< By id here,
  std::vector<ScopeId> scope_of_op_;               ///< and by op.
};

}  // namespace stowage::rewrite
