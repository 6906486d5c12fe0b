#include "graph_walk.hpp"

#include <algorithm>
#include <bit>

namespace stowage::ggml {
namespace {

/// Maps tensors to indices: open addressing, at most half full.
class TensorIndex {
 public:
  explicit TensorIndex(std::size_t expected) : entries_(std::bit_ceil(2 * expected + 16)) {}

  /// The entry of `tensor`: its index plus one, or 0 for a new tensor; the caller fills it in.
  std::uint32_t& find(const ggml_tensor* tensor, const std::vector<WalkedTensor>& tensors) {
    std::size_t at = home_of(tensor);
    while (entries_[at] != 0 && tensors[entries_[at] - 1].tensor != tensor) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }

  /// Makes room for one more tensor.
  void grow_for(const std::vector<WalkedTensor>& tensors) {
    if (2 * (tensors.size() + 1) <= entries_.size()) return;
    entries_.assign(2 * entries_.size(), 0);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      find(tensors[i].tensor, tensors) = static_cast<std::uint32_t>(i + 1);
  }

 private:
  [[nodiscard]] std::size_t home_of(const ggml_tensor* tensor) const {
    const auto address = reinterpret_cast<std::uintptr_t>(tensor);
    return (address * 0x9E3779B97F4A7C15U) >> (64 - std::countr_zero(entries_.size()));
  }

  std::vector<std::uint32_t> entries_;
};

class Walker {
 public:
  Walker(const ggml_cgraph& graph, BufferIds ids)
      : graph_(graph), ids_(ids), index_(static_cast<std::size_t>(graph.n_nodes + graph.n_leafs)) {
    const auto nodes = static_cast<std::size_t>(graph.n_nodes);
    const auto leafs = static_cast<std::size_t>(graph.n_leafs);
    walk_.tensors.reserve(nodes + leafs);
    walk_.leafs.reserve(leafs);
    walk_.nodes.reserve(nodes);
    walk_.sources.reserve(3 * nodes);
  }

  GraphWalk run() {
    for (int i = 0; i < graph_.n_leafs; ++i)
      walk_.leafs.push_back(meet(graph_.leafs[i], Met::leaf, ids_.leafs ? ids_.leafs[i] : 0));
    for (int i = 0; i < graph_.n_nodes; ++i) visit(graph_.nodes[i], ids_.nodes ? ids_.nodes[i] : 0);
    for (WalkedTensor& each : walk_.tensors) each.holding = holding_of(each);
    return std::move(walk_);
  }

 private:
  void visit(ggml_tensor* node, int buffer_id) {
    WalkedNode walked{.tensor = 0, .first_source = static_cast<std::uint32_t>(walk_.sources.size()), .source_count = 0};
    for (std::uint32_t j = 0; j < GGML_MAX_SRC; ++j) {
      if (!node->src[j]) continue;
      while (walked.source_count < j) add_source(walked, kNone);
      if (node->src[j] == node) {
        add_source(walked, kSelf);
        continue;
      }
      const std::uint32_t source = meet(node->src[j], Met::source, buffer_id);
      ++walk_.tensors[source].consumers;
      add_source(walked, source);
    }
    walked.tensor = meet(node, Met::node, buffer_id);
    walk_.nodes.push_back(walked);
  }

  void add_source(WalkedNode& node, std::uint32_t source) {
    walk_.sources.push_back(source);
    ++node.source_count;
  }

  std::uint32_t meet(ggml_tensor* tensor, Met met, int buffer_id) {
    std::uint32_t known = index_.find(tensor, walk_.tensors);
    if (known == 0) {
      const std::uint32_t base = tensor->view_src ? meet(tensor->view_src, Met::base, kNoId) : kNone;
      known = add(tensor, base);
      walk_.tensors[known - 1].met = met;
    }
    WalkedTensor& walked = walk_.tensors[known - 1];
    if (walked.buffer_id == kNoId) walked.buffer_id = buffer_id;
    return known - 1;
  }

  std::uint32_t add(ggml_tensor* tensor, std::uint32_t base) {
    index_.grow_for(walk_.tensors);
    std::uint32_t& entry = index_.find(tensor, walk_.tensors);
    const auto index = static_cast<std::uint32_t>(walk_.tensors.size());
    walk_.tensors.push_back({.tensor = tensor, .base = base, .root = base == kNone ? index : walk_.tensors[base].root});
    return entry = index + 1;
  }

  static Holding holding_of(const WalkedTensor& walked) {
    if (walked.tensor->view_src) return Holding::view;
    if (walked.tensor->data || walked.tensor->buffer) return Holding::outside;
    return walked.buffer_id == kNoId ? Holding::absent : Holding::own;
  }

  const ggml_cgraph& graph_;
  BufferIds ids_;
  TensorIndex index_;
  GraphWalk walk_;
};

/// For these ops, sources beyond the first do not contain elements of the result, whatever their shape.
bool only_first_source(ggml_op op) { return op == GGML_OP_ADD_ID || op == GGML_OP_ROPE || op == GGML_OP_ROPE_BACK; }

}  // namespace

GraphWalk walk(const ggml_cgraph& graph, BufferIds ids) { return Walker(graph, ids).run(); }

bool is_view_op(ggml_op op) {
  return op == GGML_OP_VIEW || op == GGML_OP_RESHAPE || op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

bool may_overwrite(const ggml_tensor& node, std::size_t j) {
  if (node.view_src || !ggml_op_can_inplace(node.op) || (j > 0 && only_first_source(node.op))) return false;
  return starts_at_root(*node.src[j]) && same_layout(node, *node.src[j]);
}

bool may_overwrite(const GraphWalk& walk, const WalkedNode& node, std::size_t j) {
  const std::span<const std::uint32_t> sources = walk.sources_of(node);
  const WalkedTensor& result = walk.tensors[node.tensor];
  const std::optional<std::uint32_t> root = walk.own_root(sources[j]);
  if (!root || result.holding != Holding::own || !may_overwrite(*result.tensor, j)) return false;
  return std::count_if(sources.begin(), sources.end(),
                       [&](std::uint32_t source) { return walk.own_root(source) == root; }) == 1;
}

}  // namespace stowage::ggml
