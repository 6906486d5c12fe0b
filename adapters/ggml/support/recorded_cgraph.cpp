#include "support/recorded_cgraph.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace stowage::ggml {
namespace {

/// Represents memory that is not the allocator's; never accessed.
ggml_backend_buffer outside_buffer{};
std::byte outside_data[64];

ggml_op op_named(std::string_view kind) {
  for (int op = 0; op < GGML_OP_COUNT; ++op) {
    if (kind == ggml_op_name(static_cast<ggml_op>(op))) return static_cast<ggml_op>(op);
  }
  return GGML_OP_CUSTOM;
}

ggml_type type_named(std::string_view dtype) {
  for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
    const char* const name = ggml_type_name(static_cast<ggml_type>(type));
    if (name && dtype == name) return static_cast<ggml_type>(type);
  }
  return GGML_TYPE_F32;
}

std::int32_t flags_of(const Tensor& tensor) {
  std::int32_t flags = 0;
  if (tensor.flags.has(TensorFlag::input)) flags |= GGML_TENSOR_FLAG_INPUT;
  if (tensor.flags.has(TensorFlag::output)) flags |= GGML_TENSOR_FLAG_OUTPUT;
  return flags;
}

}  // namespace

RecordedCgraph::RecordedCgraph(const Graph& graph) : tensors_(graph.tensors().size()) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) fill_tensor(graph, TensorId(i));
  std::vector<bool> produced(tensors_.size());
  for (const Op& op : graph.ops()) {
    add_node(op);
    produced[op.outputs.front().index()] = true;
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!produced[i]) leafs_.push_back(&tensors_[i]);
  }
  cgraph_.n_nodes = static_cast<int>(nodes_.size());
  cgraph_.n_leafs = static_cast<int>(leafs_.size());
  cgraph_.size = std::max(cgraph_.n_nodes, cgraph_.n_leafs);
  cgraph_.nodes = nodes_.data();
  cgraph_.leafs = leafs_.data();
  fresh_ = tensors_;
}

void RecordedCgraph::fill_tensor(const Graph& graph, TensorId id) {
  const Tensor& from = graph.tensor(id);
  ggml_tensor& to = tensors_[id.index()];
  set_shape(from, to);
  to.flags = flags_of(from);
  std::strncpy(to.name, from.name.c_str(), GGML_MAX_NAME - 1);
  if (from.flags.any_of(kOwnAddress)) {
    to.buffer = &outside_buffer;
    to.data = outside_data;
  }
  if (!from.view_of) return;
  const ViewOf root = graph.root(id);
  to.view_src = &tensors_[root.tensor.index()];
  to.view_offs = static_cast<std::size_t>(root.offset.value());
  make_odd(to);
}

void RecordedCgraph::add_node(const Op& op) {
  ggml_tensor& node = tensors_[op.outputs.front().index()];
  node.op = op_named(op.kind);
  for (std::size_t j = 0; j < op.inputs.size(); ++j)
    node.src[j] = op.inputs[j] ? &tensors_[op.inputs[j]->index()] : nullptr;
  for (const InPlacePair pair : op.in_place) std::copy(node.nb, node.nb + GGML_MAX_DIMS, node.src[pair.input]->nb);
  nodes_.push_back(&node);
}

/// The file's shape is outermost first. A tensor whose shape does not match its size becomes a row of bytes.
void RecordedCgraph::set_shape(const Tensor& from, ggml_tensor& to) const {
  to.type = type_named(from.dtype);
  for (std::size_t i = 0; i < GGML_MAX_DIMS; ++i)
    to.ne[i] = i < from.shape.size() ? from.shape[from.shape.size() - 1 - i] : 1;
  to.nb[0] = ggml_type_size(to.type);
  to.nb[1] = ggml_row_size(to.type, to.ne[0]);
  for (std::size_t i = 2; i < GGML_MAX_DIMS; ++i) to.nb[i] = to.nb[i - 1] * static_cast<std::size_t>(to.ne[i - 1]);
  if (from.view_of || ggml_nbytes(&to) == static_cast<std::size_t>(from.size.value())) return;
  to.type = GGML_TYPE_I8;
  to.ne[0] = from.size.value();
  std::fill(to.ne + 1, to.ne + GGML_MAX_DIMS, 1);
  to.nb[0] = 1;
  std::fill(to.nb + 1, to.nb + GGML_MAX_DIMS, static_cast<std::size_t>(from.size.value()));
}

/// A stride that no tensor of the same shape has.
void RecordedCgraph::make_odd(ggml_tensor& view) const { ++view.nb[GGML_MAX_DIMS - 1]; }

}  // namespace stowage::ggml
