#include "verify/values.hpp"

#include <algorithm>

namespace stowage::verification {
namespace {

/// An input that nobody reads lives at the first step only. With several streams it counts as read by the first task
/// op, because overwriting the caller's value is then only safe after something that runs.
Step end_of_unread_inputs(const Graph& graph) {
  if (graph.stream_count() == 1) return Step(0);
  const auto task = std::find_if(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.no_task; });
  return Step(task - graph.ops().begin());
}

/// The tensor with which a loop's result shares its value: the incoming one.
TensorId incoming_of(const Scope& scope, TensorId inner) {
  const auto pair =
      std::find_if(scope.carried.begin(), scope.carried.end(), [&](Carried each) { return each.out == inner; });
  return pair == scope.carried.end() ? inner : pair->in;
}

}  // namespace

bool is_carried(const Scope& scope, TensorId inner) {
  return std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried pair) { return pair.in == inner; });
}

Values::Values(const Graph& graph, bool keep_inputs) {
  std::size_t count = graph.tensors().size();
  first_workspace_.reserve(graph.ops().size());
  for (const Op& op : graph.ops()) {
    first_workspace_.push_back(count);
    count += op.workspaces.size();
  }
  values_.resize(count);
  sequence_.reserve(graph.ops().size());
  join(graph);
  put_in_order(graph, ScopeId(0));
  collect_flags(graph);
  if (graph.has_bodies()) collect_bodies(graph);
  for (std::size_t step = 0; step < sequence_.size(); ++step) {
    const OpId id = sequence_[step];
    collect_groups(graph, id);
    if (graph.op(id).no_task) continue;
    collect_uses(graph, id);
    const Op& op = graph.op(id);
    const Step at(static_cast<std::int64_t>(step));
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) touch(of(*input).index(), at);
    }
    for (const TensorId output : op.outputs) touch(of(output).index(), at);
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
      if (op.workspaces[w].size > Bytes(0)) touch(of(id, w).index(), at);
    }
  }
  const Step unread_end = end_of_unread_inputs(graph);
  for (Value& value : values_) settle(value, unread_end, keep_inputs);
}

void Values::join(const Graph& graph) {
  value_of_.reserve(graph.tensors().size());
  offset_.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const ViewOf root = graph.root(TensorId(t));
    value_of_.push_back(static_cast<std::uint32_t>(root.tensor.index()));
    offset_.push_back(root.offset);
  }
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) link(op.outputs[alias.output], *op.inputs[alias.input], alias.offset);
  }
  if (graph.has_bodies()) join_bodies(graph);
  for (std::uint32_t t = 0; t < value_of_.size(); ++t) find(t);
}

void Values::join_bodies(const Graph& graph) {
  for (const Scope& scope : graph.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      if (!is_carried(scope, pair.inner)) link(pair.inner, pair.outer, Bytes(0));
    }
    if (&scope == graph.scopes().data() || graph.op(scope.op).control != Control::loop) continue;
    for (const BodyOutput& pair : scope.outputs) link(incoming_of(scope, pair.inner), pair.outer, Bytes(0));
  }
}

/// Records that `inner` lies `offset` bytes into `outer`. A built graph has no contradictions.
void Values::link(TensorId inner, TensorId outer, Bytes offset) {
  const Root a = find(static_cast<std::uint32_t>(inner.index()));
  const Root b = find(static_cast<std::uint32_t>(outer.index()));
  if (a.tensor == b.tensor) return;
  value_of_[a.tensor] = b.tensor;
  offset_[a.tensor] = b.offset + offset - a.offset;
}

/// Compresses the path, so that value_of_ names the representative directly afterwards.
Values::Root Values::find(std::uint32_t tensor) {
  std::uint32_t top = tensor;
  Bytes distance;
  while (value_of_[top] != top) {
    distance += offset_[top];
    top = value_of_[top];
  }
  const Root root{top, distance};
  while (tensor != top) {
    const std::uint32_t next = value_of_[tensor];
    const Bytes step = offset_[tensor];
    value_of_[tensor] = top;
    offset_[tensor] = distance;
    distance -= step;
    tensor = next;
  }
  return root;
}

void Values::put_in_order(const Graph& graph, ScopeId scope) {
  for (std::size_t k = 0; k < graph.scope(scope).op_count; ++k) {
    const OpId id(graph.scope(scope).first_op.index() + k);
    sequence_.push_back(id);
    for (const ScopeId body : graph.bodies(id)) put_in_order(graph, body);
  }
}

void Values::collect_flags(const Graph& graph) {
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) values_[value_of_[t]].flags |= graph.tensors()[t].flags;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
      if (op.no_reuse || op.workspaces[w].no_reuse) values_[of(OpId(k), w).index()].flags |= TensorFlag::no_reuse;
    }
    if (!op.no_reuse) continue;
    for (const TensorId output : op.outputs) values_[of(output).index()].flags |= TensorFlag::no_reuse;
  }
}

/// Collects what a task op requires of the values that it accesses.
void Values::collect_uses(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  for (const std::uint32_t output : op.zero_fill.outputs) values_[of(op.outputs[output]).index()].filled = true;
  for (const std::uint32_t w : op.zero_fill.workspaces) values_[of(id, w).index()].filled = true;
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
    Value& value = values_[of(id, w).index()];
    value.session = op.workspaces[w].scope == WorkspaceScope::session;
    value.fixed = op.fixed_address;
    value.home = graph.scope_of(id);
  }
  if (op.prefetch) {
    for (const TensorId output : op.outputs) values_[of(output).index()].ring = op.prefetch;
  }
  if (!op.fixed_address) return;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) values_[of(*input).index()].fixed = true;
  }
  for (const TensorId output : op.outputs) values_[of(output).index()].fixed = true;
}

void Values::collect_groups(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const auto present =
      std::count_if(op.inputs.begin(), op.inputs.end(), [](const auto& input) { return input.has_value(); });
  const bool inputs = op.contiguous_inputs != Contiguity::none && present > 1;
  const bool outputs = op.contiguous_outputs != Contiguity::none && op.outputs.size() > 1;
  const bool whole_output = inputs && op.contiguous_inputs == Contiguity::packed;
  const bool whole_input = outputs && op.contiguous_outputs == Contiguity::packed;
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input && (inputs || whole_input)) values_[of(*input).index()].grouped = true;
  }
  for (const TensorId output : op.outputs) {
    if (outputs || whole_output) values_[of(output).index()].grouped = true;
  }
}

void Values::collect_bodies(const Graph& graph) {
  std::vector<bool> seen(values_.size());
  const auto settle_home = [&](TensorId tensor, ScopeId scope) {
    Value& value = values_[of(tensor).index()];
    if (!seen[of(tensor).index()]) value.home = scope;
    seen[of(tensor).index()] = true;
  };
  // Scopes come before the scopes inside them, so the first scope that names a value is its outermost.
  for (std::size_t s = 0; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    for (const Carried& pair : scope.carried) {
      settle_home(pair.in, scope.parent);
      values_[of(pair.in).index()].handed = true;
      values_[of(pair.out).index()].handed = true;
    }
    for (const BodyOutput& pair : scope.outputs) values_[of(pair.inner).index()].handed = true;
    for (std::size_t i = 0; i < scope.tensor_count; ++i) {
      const TensorId tensor(scope.first_tensor.index() + i);
      settle_home(tensor, ScopeId(s));
      if (s > 0) values_[of(tensor).index()].passed = true;
    }
    for (const BodyInput& pair : scope.inputs) values_[of(pair.outer).index()].passed = true;
    for (const BodyOutput& pair : scope.outputs) values_[of(pair.outer).index()].passed = true;
  }
}

/// Must be called with steps in execution order.
void Values::touch(std::size_t id, Step step) {
  Value& value = values_[id];
  if (!value.accessed) value.begin = step;
  value.accessed = true;
  value.end = step;
}

/// Extends the span of accesses to the span during which the value is needed.
void Values::settle(Value& value, Step unread_end, bool keep_inputs) {
  const bool input = value.flags.has(TensorFlag::input);
  const bool output = value.flags.has(TensorFlag::output);
  const bool alone = value.session || value.flags.has(TensorFlag::no_reuse);
  if (value.persistent() || (alone && (value.accessed || input || output))) {
    value.begin = kStart;
    value.end = kNever;
    return;
  }
  if (input && !value.accessed) value.end = unread_end;
  if (input || (output && !value.accessed)) value.begin = kStart;
  if (output || (input && keep_inputs)) value.end = kNever;
}

}  // namespace stowage::verification
