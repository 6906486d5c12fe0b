#include "cgraph_to_graph.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stowage::ggml {
namespace {

class LeanConverter {
 public:
  LeanConverter(const GraphWalk& walk, const BufferTypes& types) : walk_(walk), types_(types) {}

  Result<LeanGraph> run() {
    for (std::size_t i = 0; i < types_.distinct(); ++i) description_.memories.push_back(types_.describe(i));
    STOWAGE_TRY_STATUS(add_tensors());
    description_.ops.reserve(walk_.nodes.size());
    produced_.assign(description_.tensors.size(), false);
    for (const WalkedNode& node : walk_.nodes) add_op(node);
    STOWAGE_TRY(Graph graph, Graph::build(std::move(description_)));
    return LeanGraph{std::move(graph), std::move(tensor_of_)};
  }

 private:
  Status add_tensors() {
    const std::vector<bool> kept = kept_to_the_end(walk_);
    tensor_of_.assign(walk_.tensors.size(), kNone);
    description_.tensors.reserve(walk_.tensors.size());
    for (std::size_t i = 0; i < walk_.tensors.size(); ++i) {
      const WalkedTensor& walked = walk_.tensors[i];
      if (walked.holding == Holding::view) tensor_of_[i] = tensor_of_[walked.root];
      if (walked.holding != Holding::own) continue;
      if (!types_.has(walked.buffer_id)) {
        return Error{ErrorCode::invalid,
                     fmt::format("tensor '{}' has the buffer id {}, which does not exist", walked.tensor->name,
                                 walked.buffer_id),
                     {}};
      }
      tensor_of_[i] = static_cast<std::uint32_t>(description_.tensors.size());
      Tensor& tensor = description_.tensors.emplace_back();
      tensor.size = size_of(walked, types_);
      tensor.memory = MemoryId(types_.memory_of(walked.buffer_id));
      if (is_input(walked)) tensor.flags |= TensorFlag::input;
      if (kept[i]) tensor.flags |= TensorFlag::output;
    }
    return Done{};
  }

  void add_op(const WalkedNode& node) {
    const WalkedTensor& result = walk_.tensors[node.tensor];
    if (is_view_op(result.tensor->op)) return;
    Op op;
    const std::span<const std::uint32_t> sources = walk_.sources_of(node);
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (!walk_.own_root(sources[j])) continue;
      if (may_overwrite(walk_, node, j)) op.in_place.push_back({0, static_cast<std::uint32_t>(op.inputs.size())});
      op.inputs.emplace_back(TensorId(tensor_of_[sources[j]]));
    }
    const bool dependency = result.holding == Holding::view && result.tensor->op == GGML_OP_NONE;
    if (tensor_of_[node.tensor] != kNone && !dependency) add_result(op, result, TensorId(tensor_of_[node.tensor]));
    if (!op.inputs.empty() || !op.outputs.empty()) description_.ops.push_back(std::move(op));
  }

  /// If the tensor existed before its node, or the node writes it through a view,
  /// it already has a producer or an owner.
  void add_result(Op& op, const WalkedTensor& result, TensorId tensor) {
    if (result.holding == Holding::own && result.met == Met::node && !produced_[tensor.index()]) {
      produced_[tensor.index()] = true;
      op.outputs.push_back(tensor);
    } else {
      op.in_place.clear();
      op.inputs.emplace_back(tensor);
    }
  }

  const GraphWalk& walk_;
  const BufferTypes& types_;
  GraphDescription description_;
  std::vector<std::uint32_t> tensor_of_;
  std::vector<bool> produced_;
};

}  // namespace

std::vector<bool> kept_to_the_end(const GraphWalk& walk) {
  std::vector<bool> kept(walk.tensors.size());
  for (const WalkedTensor& each : walk.tensors) {
    if ((each.tensor->flags & GGML_TENSOR_FLAG_OUTPUT) != 0) kept[each.root] = true;
  }
  for (const WalkedNode& node : walk.nodes) {
    const WalkedTensor& result = walk.tensors[node.tensor];
    const bool dependency = result.holding == Holding::view && result.tensor->op == GGML_OP_NONE;
    if (result.consumers == 0 && !dependency) kept[result.root] = true;
  }
  return kept;
}

bool is_input(const WalkedTensor& tensor) {
  return tensor.met != Met::node || (tensor.tensor->flags & GGML_TENSOR_FLAG_INPUT) != 0;
}

Bytes size_of(const WalkedTensor& tensor, const BufferTypes& types) {
  const ggml_backend_buffer_type_t type = types.type(types.memory_of(tensor.buffer_id));
  return Bytes(static_cast<std::int64_t>(ggml_backend_buft_get_alloc_size(type, tensor.tensor)));
}

Result<LeanGraph> to_lean_graph(const GraphWalk& walk, const BufferTypes& types) {
  return LeanConverter(walk, types).run();
}

}  // namespace stowage::ggml
