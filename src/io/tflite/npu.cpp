#include "io/tflite/npu.hpp"

#include <algorithm>

#include "io/tflite/metadata.hpp"

namespace stowage::io::tflite {
namespace {

/// Tensors that have no value before the first operator.
std::vector<bool> unwritten(const SubgraphInfo& subgraph) {
  std::vector<bool> marks;
  for (const TensorInfo& tensor : subgraph.tensors) marks.push_back(tensor.holding == Holding::computed);
  for (const std::uint32_t input : subgraph.inputs) marks[input] = false;
  for (const OperatorInfo& op : subgraph.operators) {
    for (const std::uint32_t output : op.outputs) marks[output] = false;
  }
  return marks;
}

std::vector<std::uint32_t> scratch_of(const SubgraphInfo& subgraph) {
  std::vector<bool> left = unwritten(subgraph);
  std::vector<std::uint32_t> scratch;
  for (const OperatorInfo& op : subgraph.operators) {
    if (!op.custom || op.kind != kNpuOperator) continue;
    for (const std::optional<std::uint32_t>& input : op.inputs) {
      if (!input || !left[*input]) continue;
      scratch.push_back(*input);
      left[*input] = false;
    }
  }
  return scratch;
}

/// Where a tensor lies according to the plan in the file.
struct Place {
  Bytes begin{0};
  Bytes end{0};
};

std::optional<Place> place_of(const TensorInfo& tensor, std::int32_t offset) {
  if (tensor.holding != Holding::computed || offset == kNoOffset || !tensor.size) return std::nullopt;
  return Place{Bytes(offset), Bytes(offset) + *tensor.size};
}

}  // namespace

NpuMemory npu_memory(const File& file, const ModelInfo& model) {
  const SubgraphInfo& subgraph = model.subgraphs[0];
  NpuMemory memory{.scratch = scratch_of(subgraph)};
  if (memory.scratch.empty()) return memory;
  const Result<OfflinePlan> offline = read_plan(file, model);
  if (!offline) return memory;
  const auto place = [&](std::uint32_t tensor) {
    return place_of(subgraph.tensors[tensor], offline->offsets[0][tensor]);
  };
  std::optional<Place> whole;
  for (const std::uint32_t tensor : memory.scratch) {
    const std::optional<Place> found = place(tensor);
    if (!found || (whole && found->end - found->begin <= whole->end - whole->begin)) continue;
    whole = found;
    memory.whole = tensor;
  }
  if (!whole) return memory;
  memory.inside.resize(subgraph.tensors.size());
  for (std::uint32_t t = 0; t < subgraph.tensors.size(); ++t) {
    const std::optional<Place> found = place(t);
    if (t != *memory.whole && found && found->begin >= whole->begin && found->end <= whole->end)
      memory.inside[t] = found->begin - whole->begin;
  }
  return memory;
}

}  // namespace stowage::io::tflite
