#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rewrite/interface/origins.hpp"
#include "stowage/graph.hpp"

namespace stowage::rewrite {

/// Edits a graph and keeps track of origins. All rewrites are built on it.
///
/// Ids do not change during editing: everything in the graph keeps its id, in bodies too, and each `add` returns a new
/// one. Only `build` renumbers. So a rewrite may store ids, and read the old graph while it writes the new one:
///
///     Editor editor(graph);
///     const TensorId copy = editor.copy(x, {.name = "x on the host", .size = graph.tensor(x).size, .memory = host});
///     editor.insert_before(reader, {.name = "copy x", .kind = "COPY", .inputs = {x}, .outputs = {copy}});
///     editor.op(reader).inputs[0] = copy;
///     return std::move(editor).build();
///
/// Changing a field of a tensor, an op or a memory does not change its origin. Nothing is checked before `build`. The
/// bodies of an op can be neither added nor removed. A plain value; not thread-safe. It holds a copy of the graph, so
/// it needs memory in proportion to the graph's size. Each `add` and each access is O(1), each
/// insertion O(ops of the scope).
class Editor {
 public:
  explicit Editor(const Graph& graph);

  // -------------------------------------------------------------------------------------------------- existing
  [[nodiscard]] std::string& name() { return name_; }
  [[nodiscard]] std::vector<Memory>& memories() { return memories_; }
  [[nodiscard]] std::vector<Ring>& rings() { return rings_; }
  /// Tensors of the root.
  [[nodiscard]] std::vector<ApartTensors>& apart() { return apart_; }
  /// The ids in a tensor or op are ids of this editor. `Op::bodies` is empty; see `scope`.
  [[nodiscard]] Tensor& tensor(TensorId id) { return tensors_[id.index()]; }
  [[nodiscard]] Op& op(OpId id) { return ops_[id.index()]; }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  [[nodiscard]] const Op& op(OpId id) const { return ops_[id.index()]; }
  /// All tensors or ops, by id. The span is invalid after the next one is added.
  [[nodiscard]] std::span<Tensor> tensors() { return tensors_; }
  [[nodiscard]] std::span<Op> ops() { return ops_; }
  /// The pairs of a body (and the root scope). Its ranges of tensors and ops are those of the original graph.
  [[nodiscard]] Scope& scope(ScopeId id) { return scopes_[id.index()]; }
  /// The ops of a scope in execution order.
  [[nodiscard]] std::span<const OpId> order(ScopeId id) const { return orders_[id.index()]; }

  // ------------------------------------------------------------------------------------------------------- new
  /// Adds a tensor that corresponds to none of the original graph.
  TensorId add(Tensor tensor, ScopeId scope = ScopeId(0));
  /// Adds a tensor that holds the same value as `original` or a part of it; in the same scope.
  TensorId copy(TensorId original, Tensor tensor);
  /// Inserts an op directly before or after another one, in its scope.
  OpId insert_before(OpId where, Op op) { return insert(where, 0, std::move(op), {}); }
  OpId insert_after(OpId where, Op op) { return insert(where, 1, std::move(op), {}); }
  /// Like `insert_before`, for an op that repeats the computation of `original`.
  OpId repeat_before(OpId where, OpId original, Op op) {
    return insert(where, 0, std::move(op), {OriginKind::copy, original});
  }
  /// Adds an op at the end of a scope.
  OpId append(Op op, ScopeId scope = ScopeId(0));

  /// Sets the order of a scope's ops. Ops that are not in `order` are removed; a removed op must not be named in
  /// `after` and must not have bodies. Precondition: `order` contains only ops of the scope, each at most once.
  void set_order(std::vector<OpId> order, ScopeId scope = ScopeId(0));

  /// Builds the edited graph; fails like `Graph::build`. Tensors keep their order in each scope; new ones come last.
  Result<Rewritten> build() &&;
  /// The same without the origins.
  Result<Graph> build_graph() &&;

 private:
  class Composer;

  OpId insert(OpId where, std::size_t behind, Op op, Origin<OpId> origin);
  OpId store(Op op, Origin<OpId> origin, ScopeId scope);

  std::string name_;
  std::vector<Memory> memories_;
  std::vector<Ring> rings_;
  std::vector<ApartTensors> apart_;
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  Origins origins_;                                ///< By this editor's ids.
  std::vector<Scope> scopes_;                      ///< Of the original graph.
  std::vector<std::vector<ScopeId>> bodies_;       ///< By op of the original graph.
  std::vector<std::vector<TensorId>> tensors_of_;  ///< By scope.
  std::vector<std::vector<OpId>> orders_;          ///< By scope.
  std::vector<ScopeId> scope_of_tensor_;           ///< By tensor.
  std::vector<ScopeId> scope_of_op_;               ///< By op.
};

}  // namespace stowage::rewrite
