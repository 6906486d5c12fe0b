#include "verify/values.hpp"

#include <algorithm>
#include <optional>

namespace stowage::verification {
namespace {

/// An input that nobody reads holds the first step. With streams it counts as read by the first task: overwriting what the caller
/// wrote is then only safe behind something that runs.
Step end_of_unread_inputs(const Graph& graph) {
  if (graph.stream_count() == 1) return Step(0);
  const auto task = std::find_if(graph.ops().begin(), graph.ops().end(), [](const Op& op) { return !op.no_task; });
  return Step(task - graph.ops().begin());
}

}  // namespace

Values::Values(const Graph& graph, const Order& order, bool keep_inputs) {
  std::size_t count = graph.tensors().size();
  first_workspace_.reserve(graph.ops().size());
  for (const Op& op : graph.ops()) {
    first_workspace_.push_back(count);
    count += op.workspaces.size();
  }
  values_.resize(count);
  join(graph);
  collect_flags(graph);
  collect_accesses(graph, order);
  const Step unread_end = end_of_unread_inputs(graph);
  for (Value& value : values_) settle(value, unread_end, keep_inputs);
}

void Values::join(const Graph& graph) {
  value_of_.reserve(graph.tensors().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    value_of_.push_back(static_cast<std::uint32_t>(graph.root(TensorId(t)).tensor.index()));
  }
  bool joined = false;
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) {
      const auto output = static_cast<std::uint32_t>(op.outputs[alias.output].index());
      const auto input = static_cast<std::uint32_t>(op.inputs[alias.input]->index());
      value_of_[find(output)] = find(input);
      joined = true;
    }
  }
  if (!joined) return;
  for (std::uint32_t t = 0; t < value_of_.size(); ++t) value_of_[t] = find(t);
}

std::uint32_t Values::find(std::uint32_t tensor) {
  while (value_of_[tensor] != tensor) {
    value_of_[tensor] = value_of_[value_of_[tensor]];
    tensor = value_of_[tensor];
  }
  return tensor;
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

void Values::collect_accesses(const Graph& graph, const Order& order) {
  uses_.reserve(values_.size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    const Step step(static_cast<std::int64_t>(k));
    const auto stream = static_cast<std::uint32_t>(order.stream(step));
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) touch(of(*input).index(), stream, step);
    }
    for (const TensorId output : op.outputs) touch(of(output).index(), stream, step);
    for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
      if (op.workspaces[w].size > Bytes(0)) touch(of(OpId(k), w).index(), stream, step);
    }
  }
}

/// Steps come in execution order. A value has at most as many uses as there are streams, so the walk is short.
void Values::touch(std::size_t id, std::uint32_t stream, Step step) {
  Value& value = values_[id];
  if (!value.accessed()) value.begin = step;
  value.end = step;
  for (std::uint32_t at = value.first_use; at != kNoUse; at = uses_[at].next) {
    if (uses_[at].stream != stream) continue;
    uses_[at].last = step;
    return;
  }
  uses_.push_back({stream, value.first_use, step, step});
  value.first_use = static_cast<std::uint32_t>(uses_.size() - 1);
}

/// Turns the span of accesses into the span of need.
void Values::settle(Value& value, Step unread_end, bool keep_inputs) {
  const bool input = value.flags.has(TensorFlag::input);
  const bool output = value.flags.has(TensorFlag::output);
  const bool accessed = value.accessed();
  if (value.persistent() || (value.flags.has(TensorFlag::no_reuse) && (accessed || input || output))) {
    value.begin = kStart;
    value.end = kNever;
    return;
  }
  // Stream 0 is the one of the first task, see Order.
  if (input && !accessed) touch(static_cast<std::size_t>(&value - values_.data()), 0, unread_end);
  if (input || (output && !accessed)) value.begin = kStart;
  if (output || (input && keep_inputs)) value.end = kNever;
}

}  // namespace stowage::verification
