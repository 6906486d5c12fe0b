#include "support/judges/shadow/groups.hpp"

#include <algorithm>
#include <utility>

namespace stowage::testing {
namespace {

Bytes padded_alignment(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return tensor.alignment.value_or(graph.memory(tensor.memory).alignment);
}

std::vector<GroupMember> laid_out(const Graph& graph, std::vector<GroupMember> members, Contiguity kind) {
  if (members.size() < 2) return {};
  Bytes end;
  for (GroupMember& member : members) {
    member.offset = kind == Contiguity::padded ? align_up(end, padded_alignment(graph, member.tensor)) : end;
    end = member.offset + graph.tensor(member.tensor).size;
  }
  return members;
}

}  // namespace

std::vector<GroupMember> input_members(const Graph& graph, const Op& op) {
  if (op.no_task || op.contiguous_inputs == Contiguity::none) return {};
  std::vector<GroupMember> members;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i]) members.push_back({i, *op.inputs[i], {}});
  }
  return laid_out(graph, std::move(members), op.contiguous_inputs);
}

std::vector<GroupMember> output_members(const Graph& graph, const Op& op) {
  if (op.no_task || op.contiguous_outputs == Contiguity::none) return {};
  std::vector<GroupMember> members;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    // Their places do not matter here.
    if (graph.tensor(op.outputs[i]).flags.has(TensorFlag::external)) return {};
    members.push_back({i, op.outputs[i], {}});
  }
  return laid_out(graph, std::move(members), op.contiguous_outputs);
}

bool is_concat(const Graph& graph, const Op& op) {
  return op.contiguous_inputs == Contiguity::packed && !input_members(graph, op).empty();
}

bool is_split(const Graph& graph, const Op& op) {
  return op.contiguous_outputs == Contiguity::packed && !output_members(graph, op).empty();
}

bool constants_have_bytes(const Graph& graph) {
  return graph.has_bodies() || std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
           return op.contiguous_inputs != Contiguity::none || op.contiguous_outputs != Contiguity::none;
         });
}

}  // namespace stowage::testing
