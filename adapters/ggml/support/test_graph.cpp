#include "support/test_graph.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace stowage::ggml {
namespace {

const ggml_tensor* root_of(const ggml_tensor* tensor) {
  while (tensor->view_src) tensor = tensor->view_src;
  return tensor;
}

class Shadow {
 public:
  explicit Shadow(const ggml_cgraph& graph) : graph_(graph) {}

  std::string run() {
    write_inputs();
    for (int i = 0; i < graph_.n_nodes; ++i) step(graph_.nodes[i]);
    for (const ggml_tensor* kept : kept_to_the_end()) read(kept, "at the end");
    return trouble_;
  }

 private:
  /// Tensors that no node computes, and those with the INPUT flag, are written in advance.
  void write_inputs() {
    std::unordered_set<const ggml_tensor*> made(graph_.nodes, graph_.nodes + graph_.n_nodes);
    const auto write_input = [&](const ggml_tensor* tensor) {
      const ggml_tensor* const root = root_of(tensor);
      const bool first = !made.contains(root) || (root->flags & GGML_TENSOR_FLAG_INPUT) != 0;
      if (first && !marks_.contains(root)) write(root);
    };
    for (int i = 0; i < graph_.n_leafs; ++i) write_input(graph_.leafs[i]);
    for (int i = 0; i < graph_.n_nodes; ++i) {
      write_input(graph_.nodes[i]);
      for (const ggml_tensor* source : graph_.nodes[i]->src) {
        if (source) write_input(source);
      }
    }
  }

  void step(const ggml_tensor* node) {
    const bool view_op = node->view_src && (node->op == GGML_OP_VIEW || node->op == GGML_OP_RESHAPE ||
                                            node->op == GGML_OP_PERMUTE || node->op == GGML_OP_TRANSPOSE);
    if (view_op) return;
    for (const ggml_tensor* source : node->src) {
      if (source && source != node) read(source, node->name);
    }
    if (node->view_src) {
      if (node->op != GGML_OP_NONE) read(node, node->name);  // it writes a part of an existing tensor
    } else {
      write(node);
    }
  }

  void write(const ggml_tensor* root) {
    const std::uint32_t mark = ++last_mark_;
    marks_[root] = mark;
    if (!root->buffer || !root->data) return;
    auto* const words = static_cast<std::uint32_t*>(root->data);
    std::fill(words, words + ggml_nbytes(root) / sizeof(mark), mark);
  }

  void read(const ggml_tensor* tensor, const std::string& when) {
    const ggml_tensor* const root = root_of(tensor);
    const auto mark = marks_.find(root);
    if (!trouble_.empty() || !root->buffer || !root->data) return;
    const auto* const begin =
        reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(root->data) + tensor->view_offs);
    const auto* const end = begin + ggml_nbytes(tensor) / sizeof(std::uint32_t);
    if (!tensor->buffer || tensor->data != begin) trouble_ = fmt::format("{} is not bound ({})", tensor->name, when);
    const bool intact =
        mark != marks_.end() && std::all_of(begin, end, [&](std::uint32_t word) { return word == mark->second; });
    if (!intact) trouble_ = fmt::format("{} was overwritten ({})", tensor->name, when);
  }

  /// Tensors with the OUTPUT flag, and those that no node reads.
  std::vector<const ggml_tensor*> kept_to_the_end() const {
    std::unordered_set<const ggml_tensor*> read;
    for (int i = 0; i < graph_.n_nodes; ++i) {
      for (const ggml_tensor* source : graph_.nodes[i]->src) {
        if (source != graph_.nodes[i]) read.insert(source);
      }
    }
    std::vector<const ggml_tensor*> kept;
    for (int i = 0; i < graph_.n_nodes; ++i) {
      const ggml_tensor* const node = graph_.nodes[i];
      const bool dependency = node->view_src && node->op == GGML_OP_NONE;
      const bool wanted = (node->flags & GGML_TENSOR_FLAG_OUTPUT) != 0 || (!read.contains(node) && !dependency);
      if (wanted) kept.push_back(node);
    }
    return kept;
  }

  const ggml_cgraph& graph_;
  std::unordered_map<const ggml_tensor*, std::uint32_t> marks_;
  std::uint32_t last_mark_ = 0x5700;
  std::string trouble_;
};

}  // namespace

TestGraph::TestGraph(std::size_t most_tensors) {
  const ggml_init_params parameters{
      .mem_size = most_tensors * ggml_tensor_overhead() + ggml_graph_overhead_custom(most_tensors, false),
      .mem_buffer = nullptr,
      .no_alloc = true};
  context_.reset(ggml_init(parameters));
  graph_ = ggml_new_graph_custom(context_.get(), most_tensors, false);
}

ggml_tensor* TestGraph::input(std::int64_t floats) {
  ggml_tensor* const tensor = ggml_new_tensor_1d(context(), GGML_TYPE_F32, floats);
  ggml_set_input(tensor);
  return tensor;
}

TestGraph& TestGraph::compute(ggml_tensor* result) {
  ggml_build_forward_expand(graph_, result);
  return *this;
}

TestGraph& TestGraph::output(ggml_tensor* result) {
  ggml_set_output(result);
  return compute(result);
}

void TestGraph::forget_memory() {
  for (ggml_tensor* t = ggml_get_first_tensor(context()); t; t = ggml_get_next_tensor(context(), t)) {
    t->data = nullptr;
    t->buffer = nullptr;
  }
}

bool TestGraph::is_untouched() const {
  for (ggml_tensor* t = ggml_get_first_tensor(context()); t; t = ggml_get_next_tensor(context(), t)) {
    if (t->data || t->buffer) return false;
  }
  return true;
}

std::string shadow_run(const ggml_cgraph& graph) { return Shadow(graph).run(); }

}  // namespace stowage::ggml
