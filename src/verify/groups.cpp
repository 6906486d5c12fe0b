#include "verify/groups.hpp"

#include <algorithm>

namespace stowage::verification {
namespace {

void append(const Graph& graph, Group& group, TensorId tensor) {
  Bytes offset;
  if (!group.members.empty()) offset = group.members.back().offset + graph.tensor(group.members.back().tensor).size;
  if (group.kind == Contiguity::padded) {
    const Bytes alignment =
        graph.tensor(tensor).alignment.value_or(graph.memory(graph.tensor(tensor).memory).alignment);
    offset = align_up(offset, alignment);
    group.alignment = std::max(group.alignment, alignment);
  }
  group.members.push_back({tensor, offset});
}

bool lies_elsewhere(const Graph& graph, const Op& op, std::size_t output) {
  const Tensor& tensor = graph.tensor(op.outputs[output]);
  return tensor.view_of || tensor.flags.any_of(kOwnAddress) ||
         std::any_of(op.aliases.begin(), op.aliases.end(), [&](const Alias& alias) { return alias.output == output; });
}

bool all_lie_elsewhere(const Graph& graph, const Op& op) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (!lies_elsewhere(graph, op, i)) return false;
  }
  return true;
}

}  // namespace

std::vector<Group> groups_of(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  std::vector<Group> groups;
  if (op.contiguous_inputs != Contiguity::none) {
    Group group{.op = id, .of_inputs = true, .kind = op.contiguous_inputs};
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) append(graph, group, *input);
    }
    if (group.kind == Contiguity::packed && !op.outputs.empty()) group.whole = op.outputs.front();
    if (group.members.size() > 1) groups.push_back(std::move(group));
  }
  if (op.contiguous_outputs != Contiguity::none) {
    Group group{.op = id, .of_inputs = false, .kind = op.contiguous_outputs, .given = all_lie_elsewhere(graph, op)};
    for (const TensorId output : op.outputs) append(graph, group, output);
    const auto input =
        std::find_if(op.inputs.begin(), op.inputs.end(), [](const auto& each) { return each.has_value(); });
    if (group.kind == Contiguity::packed && input != op.inputs.end()) group.whole = *input;
    if (group.members.size() > 1) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace stowage::verification
