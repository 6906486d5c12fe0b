#include "support/judges/shadow/groups.hpp"

#include <algorithm>
#include <utility>

namespace stowage::testing {
namespace {

Bytes padded_alignment(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  return tensor.alignment.value_or(graph.memory(tensor.memory).alignment);
}

std::vector<Slot> laid_out(const Graph& graph, std::vector<Slot> slots, Contiguity kind) {
  if (slots.size() < 2) return {};
  Bytes end;
  for (Slot& slot : slots) {
    slot.offset = kind == Contiguity::padded ? align_up(end, padded_alignment(graph, slot.tensor)) : end;
    end = slot.offset + graph.tensor(slot.tensor).size;
  }
  return slots;
}

}  // namespace

std::vector<Slot> input_slots(const Graph& graph, const Op& op) {
  if (op.no_task || op.contiguous_inputs == Contiguity::none) return {};
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i]) slots.push_back({i, *op.inputs[i], {}});
  }
  return laid_out(graph, std::move(slots), op.contiguous_inputs);
}

std::vector<Slot> output_slots(const Graph& graph, const Op& op) {
  if (op.no_task || op.contiguous_outputs == Contiguity::none) return {};
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    // Their places do not matter here.
    if (graph.tensor(op.outputs[i]).flags.has(TensorFlag::external)) return {};
    slots.push_back({i, op.outputs[i], {}});
  }
  return laid_out(graph, std::move(slots), op.contiguous_outputs);
}

bool is_concat(const Graph& graph, const Op& op) {
  return op.contiguous_inputs == Contiguity::packed && !input_slots(graph, op).empty();
}

bool is_split(const Graph& graph, const Op& op) {
  return op.contiguous_outputs == Contiguity::packed && !output_slots(graph, op).empty();
}

bool constants_have_bytes(const Graph& graph) {
  return graph.has_bodies() || std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
           return op.contiguous_inputs != Contiguity::none || op.contiguous_outputs != Contiguity::none;
         });
}

}  // namespace stowage::testing
