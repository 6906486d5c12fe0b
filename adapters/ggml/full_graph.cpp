#include <algorithm>
#include <string>
#include <utility>

#include "cgraph_to_graph.hpp"

namespace stowage::ggml {
namespace {

class FullConverter {
 public:
  FullConverter(const GraphWalk& walk, const BufferTypes& types)
      : walk_(walk), types_(types), kept_(kept_to_the_end(walk)), produced_(walk.tensors.size()) {}

  Result<Graph> run(const std::string& name) {
    description_.name = name;
    for (std::size_t i = 0; i < types_.distinct(); ++i) description_.memories.push_back(types_.describe(i));
    for (std::size_t i = 0; i < walk_.tensors.size(); ++i) description_.tensors.push_back(tensor(i));
    for (const WalkedNode& node : walk_.nodes) description_.ops.push_back(op(node));
    return Graph::build(std::move(description_));
  }

 private:
  [[nodiscard]] Tensor tensor(std::size_t index) const {
    const WalkedTensor& walked = walk_.tensors[index];
    const ggml_tensor& t = *walked.tensor;
    Tensor result{.name = t.name,
                  .size = Bytes(static_cast<std::int64_t>(ggml_nbytes(&t))),
                  .dtype = ggml_type_name(t.type),
                  .shape = std::vector<std::int64_t>(std::make_reverse_iterator(t.ne + GGML_MAX_DIMS),
                                                     std::make_reverse_iterator(t.ne))};
    if (walked.holding == Holding::view) {
      place_in_base(result, walked);
    } else if (walked.holding == Holding::own) {
      result.size = size_of(walked, types_);
      result.memory = MemoryId(types_.memory_of(walked.buffer_id));
      if (is_input(walked)) result.flags |= TensorFlag::input;
      if (kept_[index]) result.flags |= TensorFlag::output;
    } else {
      result.flags |= TensorFlag::external;
    }
    return result;
  }

  /// Strides may make a view end after its base; what counts is where it lies.
  void place_in_base(Tensor& view, const WalkedTensor& walked) const {
    const Tensor& base = description_.tensors[walked.root];
    const Bytes offset = std::min(Bytes(static_cast<std::int64_t>(walked.tensor->view_offs)), base.size);
    view.memory = base.memory;
    view.view_of = ViewOf{TensorId(walked.root), offset};
    view.size = std::min(view.size, base.size - offset);
  }

  Op op(const WalkedNode& node) {
    const WalkedTensor& result = walk_.tensors[node.tensor];
    Op op{.name = result.tensor->name, .kind = ggml_op_desc(result.tensor)};
    op.no_task = is_view_op(result.tensor->op);
    const std::span<const std::uint32_t> sources = walk_.sources_of(node);
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (may_overwrite(walk_, node, j)) op.in_place.push_back({0, static_cast<std::uint32_t>(j)});
      const bool read = sources[j] != kNone && sources[j] != kSelf;
      op.inputs.push_back(read ? std::optional(TensorId(sources[j])) : std::nullopt);
    }
    if (result.met == Met::node && !produced_[node.tensor]) {
      produced_[node.tensor] = true;
      op.outputs.emplace_back(node.tensor);
    } else {
      op.in_place.clear();
      op.inputs.emplace_back(TensorId(node.tensor));
    }
    return op;
  }

  const GraphWalk& walk_;
  const BufferTypes& types_;
  std::vector<bool> kept_;
  std::vector<bool> produced_;
  GraphDescription description_;
};

}  // namespace

Result<Graph> to_full_graph(const GraphWalk& walk, const BufferTypes& types, const std::string& name) {
  return FullConverter(walk, types).run(name);
}

}  // namespace stowage::ggml
