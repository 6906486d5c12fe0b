#include "graph/groups.hpp"

#include <algorithm>

namespace stowage {
namespace {

std::vector<TensorId> present(const std::vector<std::optional<TensorId>>& inputs) {
  std::vector<TensorId> result;
  for (const std::optional<TensorId>& input : inputs) {
    if (input) result.push_back(*input);
  }
  return result;
}

void lay_out(const Graph& graph, Group& group) {
  for (GroupMember& member : group.members) {
    const bool padded = group.kind == Contiguity::padded;
    member.offset = padded ? align_up(group.size, padded_alignment(graph, member.tensor)) : group.size;
    group.size = member.offset + graph.tensor(member.tensor).size;
  }
}

void add_inputs(const Graph& graph, OpId id, std::vector<Group>& groups) {
  const Op& op = graph.op(id);
  if (op.contiguous_inputs == Contiguity::none) return;
  Group group{id, GroupSide::inputs, op.contiguous_inputs, {}, {}, {}};
  for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i]) group.members.push_back({*op.inputs[i], i, {}});
  }
  if (group.members.size() < 2) return;
  if (group.kind == Contiguity::packed && op.outputs.size() == 1) group.whole = op.outputs.front();
  lay_out(graph, group);
  groups.push_back(std::move(group));
}

void add_outputs(const Graph& graph, OpId id, std::vector<Group>& groups) {
  const Op& op = graph.op(id);
  if (op.contiguous_outputs == Contiguity::none || op.outputs.size() < 2) return;
  Group group{id, GroupSide::outputs, op.contiguous_outputs, {}, {}, {}};
  for (std::uint32_t i = 0; i < op.outputs.size(); ++i) group.members.push_back({op.outputs[i], i, {}});
  const std::vector<TensorId> inputs = present(op.inputs);
  if (group.kind == Contiguity::packed && inputs.size() == 1) group.whole = inputs.front();
  lay_out(graph, group);
  groups.push_back(std::move(group));
}

}  // namespace

Bytes padded_alignment(const Graph& graph, TensorId tensor) {
  return graph.tensor(tensor).alignment.value_or(graph.memory(graph.tensor(tensor).memory).alignment);
}

std::vector<Group> find_groups(const Graph& graph) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    add_inputs(graph, OpId(k), groups);
    add_outputs(graph, OpId(k), groups);
  }
  return groups;
}

}  // namespace stowage
