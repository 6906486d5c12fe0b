#include "recorded_graph.hpp"

#include <algorithm>

namespace stowage::ggml {
namespace {

// Indices here are those of the walk behind two that are no tensors: what a missing source and what the node itself compare with.
constexpr std::uint32_t kNothing = 0;
constexpr std::uint32_t kItself = 1;
constexpr std::uint32_t kFirst = 2;

constexpr std::int32_t kFlags = GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_OUTPUT;

std::uint32_t shifted(std::uint32_t index) {
  if (index == kNone) return kNothing;
  return index == kSelf ? kItself : index + kFirst;
}

/// The source in whose place the plan puts the node's result.
std::uint32_t overwritten_source(const GraphWalk& walk, const WalkedNode& node, const WalkPlan& plan) {
  const std::span<const std::uint32_t> sources = walk.sources_of(node);
  for (std::size_t j = 0; j < sources.size(); ++j) {
    if (!may_overwrite(walk, node, j)) continue;
    const ChunkPlace& result = plan.places[node.tensor];
    const ChunkPlace& source = plan.places[walk.tensors[sources[j]].root];
    if (result.memory == source.memory && result.chunk == source.chunk && result.offset == source.offset) return sources[j];
  }
  return kNone;
}

/// As ggml_nbytes, with the type's figures at hand. A dimension of 0 makes it too small, never too large by itself.
std::int64_t bytes_of(const ggml_tensor& tensor, std::int64_t block_size, std::int64_t block_bytes) {
  const auto stride = [&](int i) { return static_cast<std::int64_t>(tensor.nb[i]); };
  const std::int64_t rest = (tensor.ne[1] - 1) * stride(1) + (tensor.ne[2] - 1) * stride(2) + (tensor.ne[3] - 1) * stride(3);
  if (block_size == 1) return block_bytes + (tensor.ne[0] - 1) * stride(0) + rest;
  return tensor.ne[0] * stride(0) / block_size + rest;
}

}  // namespace

RecordedGraph::RecordedGraph(const GraphWalk& walk, const WalkPlan& plan, const BufferTypes& types) : places_(plan.places) {
  tensors_.resize(walk.tensors.size() + kFirst);
  for (std::uint32_t i = 0; i < walk.tensors.size(); ++i) {
    const WalkedTensor& walked = walk.tensors[i];
    const ggml_tensor& t = *walked.tensor;
    const bool own = walked.holding == Holding::own;
    const ggml_backend_buffer_type_t type = own ? types.type(plan.places[i].memory) : nullptr;
    tensors_[i + kFirst] = {
        .op = t.op,
        .type = t.type,
        .flags = t.flags & kFlags,
        .base = shifted(walked.base),
        .overwrites = kNothing,
        .holding = walked.holding,
        .new_base = walked.base != kNone && walked.base + 1 == i && walk.tensors[walked.base].met == Met::base,
        .block_size = static_cast<std::uint32_t>(ggml_blck_size(t.type)),
        .block_bytes = static_cast<std::uint32_t>(ggml_type_size(t.type)),
        .size = plan.places[i].size,
        .asked_for_size = type && type->iface.get_alloc_size ? type : nullptr,
        .buffer = nullptr,
        .data = nullptr};
  }
  for (const std::uint32_t leaf : walk.leafs) leafs_.push_back(shifted(leaf));
  for (const WalkedNode& node : walk.nodes) {
    nodes_.push_back({shifted(node.tensor), node.source_count});
    tensors_[shifted(node.tensor)].overwrites = shifted(overwritten_source(walk, node, plan));
  }
  sources_.reserve(walk.sources.size());
  for (const std::uint32_t source : walk.sources) sources_.push_back(shifted(source));
  met_.resize(tensors_.size());
  bound_.resize(tensors_.size());
}

void RecordedGraph::resolve(const ChunkBuffers& buffers) {
  generation_ = buffers.generation();
  for (std::size_t i = kFirst; i < tensors_.size(); ++i) {
    if (tensors_[i].holding != Holding::own) continue;
    tensors_[i].buffer = buffers.buffer(places_[i - kFirst]);
    tensors_[i].data = buffers.address(places_[i - kFirst]);
  }
}

bool RecordedGraph::matches(const ggml_cgraph& graph) { return go_through<Purpose::match>(graph); }

bool RecordedGraph::bind(const ggml_cgraph& graph) {
  if (go_through<Purpose::bind>(graph)) return true;
  unbind();
  return false;
}

template <RecordedGraph::Purpose purpose>
bool RecordedGraph::go_through(const ggml_cgraph& graph) {
  seen_ = kFirst;
  bound_count_ = 0;
  if (static_cast<std::size_t>(graph.n_nodes) != nodes_.size() || static_cast<std::size_t>(graph.n_leafs) != leafs_.size())
    return false;
  for (std::size_t i = 0; i < leafs_.size(); ++i) {
    if (!visit<purpose>(leafs_[i], graph.leafs[i])) return false;
  }
  const std::uint32_t* source = sources_.data();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    ggml_tensor* const node = graph.nodes[i];
    met_[kItself] = node;
    std::uint32_t j = 0;
    for (; j < nodes_[i].source_count; ++j, ++source) {
      if (!visit<purpose>(*source, node->src[j])) return false;
    }
    for (; j < GGML_MAX_SRC; ++j) {
      if (node->src[j]) return false;
    }
    if (!visit<purpose>(nodes_[i].tensor, node)) return false;
  }
  return true;
}

template <RecordedGraph::Purpose purpose>
inline bool RecordedGraph::visit(std::uint32_t index, ggml_tensor* tensor) {
  if (index < seen_) return met_[index] == tensor;
  return tensor && visit_new<purpose>(index, tensor);
}

template <RecordedGraph::Purpose purpose>
inline bool RecordedGraph::visit_new(std::uint32_t index, ggml_tensor* tensor) {
  const RecordedTensor& recorded = tensors_[index];
  if (recorded.new_base && recorded.base >= seen_) {
    if (!tensor->view_src || !visit_new<purpose>(recorded.base, tensor->view_src)) return false;
  }
  if (!fits(recorded, *tensor)) return false;
  met_[index] = tensor;
  seen_ = index + 1;
  if constexpr (purpose == Purpose::match) return true;
  if (recorded.holding == Holding::own) return tensor->data || tensor->buffer || bind_own(recorded, *tensor);
  return recorded.holding != Holding::view || tensor->buffer || bind_view(*tensor);
}

inline bool RecordedGraph::fits(const RecordedTensor& recorded, const ggml_tensor& tensor) const {
  if (tensor.op != recorded.op || tensor.type != recorded.type || (tensor.flags & kFlags) != recorded.flags) return false;
  if (tensor.view_src != met_[recorded.base]) return false;
  const bool placed = tensor.data || tensor.buffer;
  if (recorded.holding == Holding::outside) return placed;
  if (recorded.holding != Holding::own || placed) return true;
  const ggml_tensor* const source = met_[recorded.overwrites];
  if (source && (source->view_offs != 0 || !same_layout(tensor, *source))) return false;
  if (recorded.asked_for_size) return ggml_backend_buft_get_alloc_size(recorded.asked_for_size, &tensor) <= recorded.size;
  return bytes_of(tensor, recorded.block_size, recorded.block_bytes) <= static_cast<std::int64_t>(recorded.size);
}

inline bool RecordedGraph::bind_own(const RecordedTensor& recorded, ggml_tensor& tensor) {
  bound_[bound_count_++] = &tensor;
  if (recorded.buffer->iface.init_tensor) {
    return ggml_backend_tensor_alloc(recorded.buffer, &tensor, recorded.data) == GGML_STATUS_SUCCESS;
  }
  tensor.buffer = recorded.buffer;
  tensor.data = recorded.data;
  return true;
}

/// A base without a buffer was allocated without ggml-backend, or by nobody; its views stay as they are.
inline bool RecordedGraph::bind_view(ggml_tensor& tensor) {
  const ggml_tensor& base = *tensor.view_src;
  if (!base.buffer) return true;
  bound_[bound_count_++] = &tensor;
  if (base.buffer->iface.init_tensor && base.data) return ggml_backend_view_init(&tensor) == GGML_STATUS_SUCCESS;
  tensor.buffer = base.buffer;
  tensor.data = base.data ? static_cast<char*>(base.data) + tensor.view_offs : nullptr;
  return true;
}

/// Bases were bound before their views, so that here a base without data is one that this walk had bound.
void RecordedGraph::unbind() {
  for (std::size_t i = 0; i < bound_count_; ++i) {
    bound_[i]->buffer = nullptr;
    if (!bound_[i]->view_src || !bound_[i]->view_src->data) bound_[i]->data = nullptr;
  }
  bound_count_ = 0;
}

}  // namespace stowage::ggml
