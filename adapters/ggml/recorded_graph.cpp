#include "recorded_graph.hpp"

#include <algorithm>

namespace stowage::ggml {
namespace {

// Indices here are those of the walk plus two. The first two entries are not tensors: they stand for a missing source
// and for the node itself.
constexpr std::uint32_t kNothing = 0;
constexpr std::uint32_t kItself = 1;
constexpr std::uint32_t kFirst = 2;

constexpr std::int32_t kFlags = GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_OUTPUT;

std::uint32_t shifted(std::uint32_t index) {
  if (index == kNone) return kNothing;
  return index == kSelf ? kItself : index + kFirst;
}

/// The source that the plan places the node's result over.
std::uint32_t overwritten_source(const GraphWalk& walk, const WalkedNode& node, const WalkPlan& plan) {
  const std::span<const std::uint32_t> sources = walk.sources_of(node);
  for (std::size_t j = 0; j < sources.size(); ++j) {
    if (!may_overwrite(walk, node, j)) continue;
    const ChunkPlace& result = plan.places[node.tensor];
    const ChunkPlace& source = plan.places[walk.tensors[sources[j]].root];
    if (result.memory == source.memory && result.chunk == source.chunk && result.offset == source.offset)
      return sources[j];
  }
  return kNone;
}

/// Like ggml_nbytes, but with the type's block size given.
std::int64_t bytes_of(const ggml_tensor& tensor, std::int64_t block_size, std::int64_t block_bytes) {
  if (tensor.ne[0] <= 0 || tensor.ne[1] <= 0 || tensor.ne[2] <= 0 || tensor.ne[3] <= 0) return 0;
  const auto stride = [&](int i) { return static_cast<std::int64_t>(tensor.nb[i]); };
  const std::int64_t rest =
      (tensor.ne[1] - 1) * stride(1) + (tensor.ne[2] - 1) * stride(2) + (tensor.ne[3] - 1) * stride(3);
  if (block_size == 1) return block_bytes + (tensor.ne[0] - 1) * stride(0) + rest;
  return tensor.ne[0] * stride(0) / block_size + rest;
}

}  // namespace

RecordedGraph::RecordedGraph(const GraphWalk& walk, const WalkPlan& plan, const BufferTypes& types)
    : places_(plan.places) {
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
        .late = walked.met == Met::source || walked.met == Met::base,
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
  late_.resize(static_cast<std::size_t>(
      std::count_if(tensors_.begin() + kFirst, tensors_.end(), [](const RecordedTensor& each) { return each.late; })));
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
  late_count_ = 0;
  bound_count_ = 0;
  exact_ = true;
  if (static_cast<std::size_t>(graph.n_nodes) != nodes_.size() ||
      static_cast<std::size_t>(graph.n_leafs) != leafs_.size())
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
  if (!is_new(recorded, tensor) || !fits(recorded, *tensor)) return false;
  met_[index] = tensor;
  seen_ = index + 1;
  if (recorded.late) late_[late_count_++] = tensor;
  if constexpr (purpose == Purpose::match) return true;
  if (recorded.holding == Holding::own) {
    if (tensor->data || tensor->buffer) return !was_bound(tensor);
    return bind_own(recorded, *tensor);
  }
  return recorded.holding != Holding::view || tensor->buffer || bind_view(*tensor);
}

/// If one tensor took the place of two, it would have only the life of the first. Nodes and leafs of a graph are
/// distinct from each other; a tensor first visited as a source or a base is compared with all others. Most graphs have
/// no such tensors.
inline bool RecordedGraph::is_new(const RecordedTensor& recorded, const ggml_tensor* tensor) const {
  if (recorded.late) return std::find(met_.begin() + kFirst, met_.begin() + seen_, tensor) == met_.begin() + seen_;
  const auto end = late_.begin() + static_cast<std::ptrdiff_t>(late_count_);
  return late_count_ == 0 || std::find(late_.begin(), end, tensor) == end;
}

/// For a list of nodes that contains one twice.
inline bool RecordedGraph::was_bound(const ggml_tensor* tensor) const {
  return std::any_of(bound_.begin(), bound_.begin() + static_cast<std::ptrdiff_t>(bound_count_),
                     [&](const Bound& each) { return each.tensor == tensor; });
}

inline bool RecordedGraph::fits(const RecordedTensor& recorded, const ggml_tensor& tensor) {
  if (tensor.op != recorded.op || tensor.type != recorded.type || (tensor.flags & kFlags) != recorded.flags)
    return false;
  if (tensor.view_src != met_[recorded.base]) return false;
  const bool placed = tensor.data || tensor.buffer;
  if (recorded.holding == Holding::outside) return placed;
  if (recorded.holding != Holding::own || placed) return true;
  const ggml_tensor* const source = met_[recorded.overwrites];
  if (source && (!starts_at_root(*source) || !same_layout(tensor, *source))) return false;
  const auto size = recorded.asked_for_size
                        ? static_cast<std::uint64_t>(ggml_backend_buft_get_alloc_size(recorded.asked_for_size, &tensor))
                        : static_cast<std::uint64_t>(bytes_of(tensor, recorded.block_size, recorded.block_bytes));
  exact_ = exact_ && size == recorded.size;
  return size <= recorded.size;
}

inline bool RecordedGraph::bind_own(const RecordedTensor& recorded, ggml_tensor& tensor) {
  bound_[bound_count_++] = {&tensor, tensor.data};
  if (recorded.buffer->iface.init_tensor) {
    return ggml_backend_tensor_alloc(recorded.buffer, &tensor, recorded.data) == GGML_STATUS_SUCCESS;
  }
  tensor.buffer = recorded.buffer;
  tensor.data = recorded.data;
  return true;
}

/// A base without a buffer was allocated without ggml-backend, or not at all; its views stay unchanged.
inline bool RecordedGraph::bind_view(ggml_tensor& tensor) {
  const ggml_tensor& base = *tensor.view_src;
  if (!base.buffer) return true;
  bound_[bound_count_++] = {&tensor, tensor.data};
  if (base.buffer->iface.init_tensor && base.data) return ggml_backend_view_init(&tensor) == GGML_STATUS_SUCCESS;
  tensor.buffer = base.buffer;
  tensor.data = base.data ? static_cast<char*>(base.data) + tensor.view_offs : nullptr;
  return true;
}

void RecordedGraph::unbind() {
  for (std::size_t i = 0; i < bound_count_; ++i) {
    bound_[i].tensor->buffer = nullptr;
    bound_[i].tensor->data = bound_[i].data;
  }
  bound_count_ = 0;
}

}  // namespace stowage::ggml
