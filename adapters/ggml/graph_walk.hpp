#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "ggml_headers.hpp"

/// A ggml graph in the order in which the allocator visits it.
namespace stowage::ggml {

inline constexpr std::uint32_t kNone = UINT32_MAX;
/// A source that is the node itself: a cast lists itself as a source, although it does not read itself.
inline constexpr std::uint32_t kSelf = UINT32_MAX - 1;

/// No buffer id: the caller did not give one for the tensor.
/// Differs from every id that a caller can give, valid or not.
inline constexpr int kNoId = INT_MIN;

/// In which role a tensor was first visited.
enum class Met : std::uint8_t {
  leaf,
  source,  ///< Of a node, and neither a leaf nor an earlier node.
  base,    ///< Of a view, and nothing else so far.
  node,
};

/// Who is responsible for a tensor's memory.
enum class Holding : std::uint8_t {
  own,      ///< The allocator places it.
  outside,  ///< It already has data or a buffer.
  view,     ///< It lies where its base lies.
  absent,   ///< Only views of it are in the graph; it has no data, and will get none.
};

/// One distinct tensor of the graph.
struct WalkedTensor {
  ggml_tensor* tensor = nullptr;
  std::uint32_t base = kNone;  ///< For a view: index of the tensor that it names as its source.
  /// For a view: its base, or the root of the base if that is a view too; for others, the tensor's own index.
  std::uint32_t root = 0;
  std::uint32_t consumers = 0;  ///< Edges to nodes, except from a node to itself.
  int buffer_id = kNoId;        ///< The buffer that the caller wants; kNoId: only its views were visited.
  Met met = Met::node;
  Holding holding = Holding::own;
};

/// A node, its tensor and its sources.
struct WalkedNode {
  std::uint32_t tensor = 0;
  std::uint32_t first_source = 0;  ///< Index into `GraphWalk::sources`.
  std::uint32_t source_count = 0;  ///< Up to the last source that is not null.
};

/// Every tensor once, in the order in which it is first visited: leafs; then for each node its sources, then the node;
/// the base of a view comes right before the view. The hot path visits tensors in the same order, so it recognises a
/// source by its index alone.
///
/// ggml's own marks (`visited_hash_set`, `use_counts`) are not used, because the scheduler passes graphs without them.
struct GraphWalk {
  std::vector<WalkedTensor> tensors;
  std::vector<std::uint32_t> leafs;    ///< By position in the graph.
  std::vector<WalkedNode> nodes;       ///< By position in the graph.
  std::vector<std::uint32_t> sources;  ///< Indices, `kNone` or `kSelf`.

  [[nodiscard]] std::span<const std::uint32_t> sources_of(const WalkedNode& node) const {
    return std::span(sources).subspan(node.first_source, node.source_count);
  }
  /// The root of source `source` if the allocator places it. Planning ignores all other sources.
  [[nodiscard]] std::optional<std::uint32_t> own_root(std::uint32_t source) const {
    if (source == kNone || source == kSelf || tensors[tensors[source].root].holding != Holding::own)
      return std::nullopt;
    return tensors[source].root;
  }
};

/// The buffer id of each tensor, as given by the caller of `ggml_gallocr_reserve_n`: by position in the graph; null
/// means 0 for all.
struct BufferIds {
  const int* nodes = nullptr;
  const int* leafs = nullptr;
};

/// Visits the graph without modifying it. O(nodes + leafs + sources).
[[nodiscard]] GraphWalk walk(const ggml_cgraph& graph, BufferIds ids);

/// Ops that touch no memory: their result is a view.
[[nodiscard]] bool is_view_op(ggml_op op);

/// Whether type, shape and strides are the same. Called in every evaluation.
[[nodiscard]] inline bool same_layout(const ggml_tensor& a, const ggml_tensor& b) {
  return a.type == b.type && std::memcmp(a.ne, b.ne, sizeof(a.ne)) == 0 && std::memcmp(a.nb, b.nb, sizeof(a.nb)) == 0;
}

/// Whether the tensor's bytes begin where those of its root begin. ggml resolves views of views to views of the base;
/// for views that are not resolved this returns false.
[[nodiscard]] inline bool starts_at_root(const ggml_tensor& tensor) {
  return tensor.view_offs == 0 && (!tensor.view_src || !tensor.view_src->view_src);
}

/// Whether the node's result may overwrite source `j`, judging from the two tensors alone: ggml says that the op can
/// work in place, and both have the same layout and start.
[[nodiscard]] bool may_overwrite(const ggml_tensor& node, std::size_t j);

/// Whether the walked node may overwrite its source `j`: in addition, the allocator places both, and the node does not
/// read the source's memory through another source. The planner decides whether the source is still needed, and whether
/// both are in the same memory.
[[nodiscard]] bool may_overwrite(const GraphWalk& walk, const WalkedNode& node, std::size_t j);

}  // namespace stowage::ggml
