#include <algorithm>

#include "rewrite/interface/rewrites.hpp"

namespace stowage::rewrite {
namespace {

/// Finds what can be folded, and what nothing needs afterwards. Facts are kept by root: a view is what its root is.
class Folding {
 public:
  Folding(const Graph& graph, FoldFilter filter)
      : graph_(graph),
        filter_(filter),
        constant_(graph.tensors().size()),
        barred_(graph.tensors().size()),
        needed_(graph.tensors().size()),
        writers_(graph.tensors().size()),
        ordered_(graph.ops().size()),
        folded_(graph.ops().size()) {
    bar_tensors();
    bar_by_ops();
    bar_by_bodies();
  }

  Result<Rewritten> run() && {
    for (const Scope& scope : graph_.scopes()) fold(scope);
    find_needed();
    Editor editor(graph_);
    for (std::size_t k = 0; k < folded_.size(); ++k) {
      if (folded_[k]) edit(OpId(k), editor);
    }
    return std::move(editor).build();
  }

 private:
  [[nodiscard]] std::size_t root(TensorId id) const { return graph_.root(id).tensor.index(); }

  void bar(const Op& op, std::vector<bool>& facts) {
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) facts[root(*input)] = true;
    }
    for (const TensorId output : op.outputs) facts[root(output)] = true;
  }

  void bar_tensors() {
    constexpr TensorFlags kAsked{TensorFlag::input,    TensorFlag::output,    TensorFlag::variable,
                                 TensorFlag::external, TensorFlag::zero_copy, TensorFlag::no_reuse};
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorFlags flags = graph_.tensors()[t].flags;
      if (flags.any_of(kAsked)) barred_[root(TensorId(t))] = true;
      if (flags.has(TensorFlag::output)) needed_[root(TensorId(t))] = true;
      if (flags.has(TensorFlag::constant) && !flags.any_of({TensorFlag::input, TensorFlag::variable}))
        constant_[root(TensorId(t))] = true;
    }
    for (const ApartTensors& pair : graph_.apart()) barred_[root(pair.a)] = barred_[root(pair.b)] = true;
  }

  void bar_by_ops() {
    for (const Op& op : graph_.ops()) {
      const bool fixed = op.contiguous_inputs != Contiguity::none || op.contiguous_outputs != Contiguity::none ||
                         !op.aliases.empty() || op.prefetch;
      if (fixed) bar(op, barred_);
      if (fixed) bar(op, needed_);
      for (const OpId after : op.after) ordered_[after.index()] = true;
      for (const TensorId output : op.outputs) writers_[root(output)] += op.no_task ? 0 : 1;
    }
  }

  /// What leaves a body, or goes around a loop, has to lie where others expect it.
  void bar_by_bodies() {
    for (const Scope& scope : graph_.scopes()) {
      for (const BodyInput& pair : scope.inputs) {
        needed_[root(pair.outer)] = true;
        if (is_carried(scope, pair.inner)) barred_[root(pair.outer)] = true;
      }
      for (const BodyOutput& pair : scope.outputs) barred_[root(pair.inner)] = needed_[root(pair.inner)] = true;
      for (const Carried& pair : scope.carried) barred_[root(pair.out)] = needed_[root(pair.out)] = true;
    }
  }

  [[nodiscard]] static bool is_carried(const Scope& scope, TensorId inner) {
    return std::any_of(scope.carried.begin(), scope.carried.end(),
                       [&](const Carried& pair) { return pair.in == inner; });
  }

  void fold(const Scope& scope) {
    for (const BodyInput& pair : scope.inputs) {
      if (constant_[root(pair.outer)] && !is_carried(scope, pair.inner)) constant_[root(pair.inner)] = true;
    }
    for (std::size_t k = scope.first_op.index(); k < scope.first_op.index() + scope.op_count; ++k) {
      const Op& op = graph_.ops()[k];
      if (!is_plain(op) || ordered_[k] || !reads_constants(op) || !writes_freely(op)) continue;
      if (filter_ != nullptr && !filter_(op)) continue;
      folded_[k] = true;
      for (const TensorId output : op.outputs) constant_[root(output)] = true;
    }
  }

  [[nodiscard]] static bool is_plain(const Op& op) {
    return !op.no_task && op.recompute && op.control == Control::none && op.aliases.empty() && op.after.empty() &&
           op.zero_fill.empty() && !op.prefetch && op.batch.empty() && !op.no_reuse && !op.fixed_address &&
           op.contiguous_inputs == Contiguity::none && op.contiguous_outputs == Contiguity::none;
  }

  [[nodiscard]] bool reads_constants(const Op& op) const {
    const auto varies = [&](const std::optional<TensorId>& input) { return input && !constant_[root(*input)]; };
    const auto is_given = [](const std::optional<TensorId>& input) { return input.has_value(); };
    return std::any_of(op.inputs.begin(), op.inputs.end(), is_given) &&
           std::none_of(op.inputs.begin(), op.inputs.end(), varies);
  }

  /// Whether each output is a tensor of its own that nobody else writes.
  [[nodiscard]] bool writes_freely(const Op& op) const {
    return !op.outputs.empty() && std::all_of(op.outputs.begin(), op.outputs.end(), [&](TensorId output) {
      return !graph_.tensor(output).view_of && !barred_[output.index()] && writers_[output.index()] == 1;
    });
  }

  void find_needed() {
    for (std::size_t k = 0; k < folded_.size(); ++k) {
      if (!folded_[k] && !graph_.ops()[k].no_task) bar(graph_.ops()[k], needed_);
    }
  }

  void edit(OpId id, Editor& editor) const {
    Op& op = editor.op(id);
    op.no_task = true;
    op.in_place.clear();
    op.workspaces.clear();
    for (const TensorId output : op.outputs) editor.tensor(output).flags |= TensorFlag::constant;
    for (const TensorId output : op.outputs) leave_out(output, editor);
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) leave_out(TensorId(root(*input)), editor);
    }
  }

  /// Nothing that is left reads it.
  void leave_out(TensorId id, Editor& editor) const {
    if (editor.tensor(id).flags.has(TensorFlag::constant) && !needed_[id.index()])
      editor.tensor(id).flags |= TensorFlag::external;
  }

  const Graph& graph_;
  FoldFilter filter_;
  std::vector<bool> constant_;  ///< By root: the same in every run.
  std::vector<bool> barred_;    ///< By root: what is asked of its memory rules out an address of its own.
  std::vector<bool> needed_;    ///< By root: a run reads it, or its memory is part of other memory.
  std::vector<int> writers_;    ///< By root.
  std::vector<bool> ordered_;   ///< By op: others name it in `after`.
  std::vector<bool> folded_;    ///< By op.
};

}  // namespace

Result<Rewritten> fold_constants(const Graph& graph, FoldFilter filter) { return Folding(graph, filter).run(); }

}  // namespace stowage::rewrite
