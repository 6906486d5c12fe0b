#include "alloc/scheduler/unserved.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stowage::scheduling {
namespace {

/// The first input, or else output, of an op.
std::optional<TensorId> first_tensor(const Op& op) {
  for (const std::optional<TensorId>& input : op.inputs)
    if (input) return input;
  return op.outputs.empty() ? std::nullopt : std::optional(op.outputs.front());
}

std::string name(const Graph& graph, std::optional<TensorId> tensor) {
  return tensor ? describe(graph, *tensor) : "no tensor";
}

std::string describe_fill(const Graph& graph, const Op& op) {
  if (!op.zero_fill.outputs.empty())
    return fmt::format("needs {} filled with {} when it starts (zero_fill)",
                       describe(graph, op.outputs[op.zero_fill.outputs.front()]), op.zero_fill.value);
  return fmt::format("needs workspace {}, beside {}, filled with {} when it starts (zero_fill)",
                     op.zero_fill.workspaces.front(), name(graph, first_tensor(op)), op.zero_fill.value);
}

/// What the op asks for, as the end of a sentence.
std::optional<std::string> describe_need(const Graph& graph, const Op& op) {
  const std::string of = name(graph, first_tensor(op));
  if (op.contiguous_inputs != Contiguity::none)
    return fmt::format("needs its inputs from {} on next to each other (contiguous_inputs)", of);
  if (op.contiguous_outputs != Contiguity::none)
    return fmt::format("needs its outputs from {} on next to each other (contiguous_outputs)",
                       describe(graph, op.outputs.front()));
  if (!op.zero_fill.empty()) return describe_fill(graph, op);
  if (op.fixed_address) return fmt::format("needs {} at the same address in every run (fixed_address)", of);
  if (!op.batch.empty()) return fmt::format("accesses {} in the runs of batch '{}' only (batch)", of, op.batch);
  if (op.control != Control::none) return fmt::format("has bodies, which get {} (control)", of);
  if (op.prefetch) return fmt::format("fetches {} through a ring (prefetch)", of);
  const auto kept = std::find_if(op.workspaces.begin(), op.workspaces.end(),
                                 [](const Workspace& workspace) { return workspace.scope == WorkspaceScope::session; });
  if (kept == op.workspaces.end()) return std::nullopt;
  return fmt::format("keeps workspace {}, beside {}, from run to run (scope \"session\")", kept - op.workspaces.begin(),
                     of);
}

/// An op that has the tensor as an operand.
std::optional<OpId> user_of(const Graph& graph, TensorId tensor) {
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    const bool used = std::find(op.inputs.begin(), op.inputs.end(), tensor) != op.inputs.end() ||
                      std::find(op.outputs.begin(), op.outputs.end(), tensor) != op.outputs.end();
    if (used) return OpId(k);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> describe_unserved(const Graph& graph) {
  if (graph.needs_addresses_only()) return std::nullopt;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (const std::optional<std::string> need = describe_need(graph, graph.ops()[k]))
      return fmt::format("{} {}", describe(graph, OpId(k)), *need);
  }
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    if (!graph.tensors()[t].flags.has(TensorFlag::zero_copy)) continue;
    const std::optional<OpId> user = user_of(graph, TensorId(t));
    return fmt::format("{}{} lies in a buffer of the caller (zero_copy)", describe(graph, TensorId(t)),
                       user ? ", which " + describe(graph, *user) + " accesses," : "");
  }
  return fmt::format("graph '{}' needs more than addresses", graph.name());
}

}  // namespace stowage::scheduling
