#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "ggml_headers.hpp"

/// A ggml graph as the allocator goes through it.
namespace stowage::ggml {

inline constexpr std::uint32_t kNone = UINT32_MAX;
/// A source that is the node itself: a cast lists itself, though it does not read itself.
inline constexpr std::uint32_t kSelf = UINT32_MAX - 1;

/// No buffer id: the caller has said nothing about the tensor. Whatever a caller says, also what makes no sense, is
/// something else.
inline constexpr int kNoId = INT_MIN;

/// As what a tensor was met first.
enum class Met : std::uint8_t {
  leaf,
  source,  ///< Of a node, being neither a leaf nor an earlier node.
  base,    ///< Of a view, and nothing else so far.
  node,
};

/// Whose business a tensor's memory is.
enum class Holding : std::uint8_t {
  own,      ///< The allocator places it.
  outside,  ///< It has data or a buffer already.
  view,     ///< It lies where its base lies.
  absent,   ///< Only views of it are in the graph; it has no data, and nobody gives it any.
};

/// One distinct tensor of the graph.
struct WalkedTensor {
  ggml_tensor* tensor = nullptr;
  std::uint32_t base = kNone;  ///< Of a view: index of the tensor that it names as its source.
  std::uint32_t root = 0;  ///< The base, or where that is a view itself, its root; for others the tensor's own index.
  std::uint32_t consumers = 0;  ///< Edges to nodes, without those from a node to itself.
  int buffer_id = kNoId;        ///< Where the caller wants it; kNoId: only its views were met.
  Met met = Met::node;
  Holding holding = Holding::own;
};

/// One node: which tensors it is and reads.
struct WalkedNode {
  std::uint32_t tensor = 0;
  std::uint32_t first_source = 0;  ///< In `GraphWalk::sources`.
  std::uint32_t source_count = 0;  ///< Up to the last source that is there.
};

/// Every tensor once, in the order in which it is met: leafs; then for each node its sources, then the node; the base
/// of a view right before the view. The hot path goes the same way, so that an index is all it needs to recognise a
/// source.
///
/// ggml's own marks (`visited_hash_set`, `use_counts`) are not used: the scheduler passes graphs without them.
struct GraphWalk {
  std::vector<WalkedTensor> tensors;
  std::vector<std::uint32_t> leafs;    ///< By position in the graph.
  std::vector<WalkedNode> nodes;       ///< The same.
  std::vector<std::uint32_t> sources;  ///< Indices, `kNone` or `kSelf`.

  [[nodiscard]] std::span<const std::uint32_t> sources_of(const WalkedNode& node) const {
    return std::span(sources).subspan(node.first_source, node.source_count);
  }
  /// The root of source `source` when its memory is the allocator's; nothing else is anybody's concern in planning.
  [[nodiscard]] std::optional<std::uint32_t> own_root(std::uint32_t source) const {
    if (source == kNone || source == kSelf || tensors[tensors[source].root].holding != Holding::own)
      return std::nullopt;
    return tensors[source].root;
  }
};

/// Which buffer each tensor goes to, as the caller of `ggml_gallocr_reserve_n` says: by position in the graph; null
/// means 0.
struct BufferIds {
  const int* nodes = nullptr;
  const int* leafs = nullptr;
};

/// O(nodes + leafs + sources). Changes nothing.
[[nodiscard]] GraphWalk walk(const ggml_cgraph& graph, BufferIds ids);

/// Ops that touch no memory: their result is a view.
[[nodiscard]] bool is_view_op(ggml_op op);

/// Type, shape and strides are the same. On every evaluation's path.
[[nodiscard]] inline bool same_layout(const ggml_tensor& a, const ggml_tensor& b) {
  return a.type == b.type && std::memcmp(a.ne, b.ne, sizeof(a.ne)) == 0 && std::memcmp(a.nb, b.nb, sizeof(a.nb)) == 0;
}

/// Its bytes begin where those of the tensor begin that it is, in the end, a view of. ggml makes views of views views
/// of their base; of others this says no.
[[nodiscard]] inline bool starts_at_root(const ggml_tensor& tensor) {
  return tensor.view_offs == 0 && (!tensor.view_src || !tensor.view_src->view_src);
}

/// The node's source `j` may be overwritten by the node's result, as far as the two alone are concerned: ggml says that
/// the op can work in place, and they have the same layout and start.
[[nodiscard]] bool may_overwrite(const ggml_tensor& node, std::size_t j);

/// The walked node may overwrite its source `j`: besides, both are the allocator's, and the node reads the source's
/// memory through no other source. Whether the source is still needed, and in the same memory, is for the planner to
/// say.
[[nodiscard]] bool may_overwrite(const GraphWalk& walk, const WalkedNode& node, std::size_t j);

}  // namespace stowage::ggml
