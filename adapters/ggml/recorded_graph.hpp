#pragma once

#include <cstdint>
#include <vector>

#include "chunk_buffers.hpp"
#include "graph_walk.hpp"
#include "planning.hpp"

namespace stowage::ggml {

/// What a planned graph looked like, in the order of the walk, and where its tensors go: the hot path.
///
/// A graph matches when the plan is safe for it: the same nodes, leafs and sources by position, different tensors where
/// they were different; the same ops, types, views and INPUT/OUTPUT flags; every tensor that is ours still has no data
/// and takes no more bytes than planned; whatever lies in place of a source has the same layout as that source; what
/// had data still has. Shapes may be smaller. Tensors of ours that have got data meanwhile are left alone, as ggml
/// does.
///
/// One walk, each tensor visited once, no hashing and no allocation: the tensors met so far stand in an array by index,
/// so that a source is compared by one load. Tensors are bound as the walk goes; a mismatch unbinds them again.
class RecordedGraph {
 public:
  RecordedGraph(const GraphWalk& walk, const WalkPlan& plan, const BufferTypes& types);

  /// Looks up the addresses. To be called whenever the buffers have changed.
  void resolve(const ChunkBuffers& buffers);
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  /// The graph matches. Touches nothing of it.
  [[nodiscard]] bool matches(const ggml_cgraph& graph);
  /// Of the last graph that matched: every tensor takes what was planned, none less.
  [[nodiscard]] bool was_exact() const { return exact_; }
  /// Matches and binds every tensor. False, with the graph as it was, when it does not match or a backend refuses a
  /// tensor. Precondition: resolved.
  [[nodiscard]] bool bind(const ggml_cgraph& graph);

 private:
  enum class Purpose : std::uint8_t { match, bind };
  struct RecordedTensor {
    ggml_op op;
    ggml_type type;
    std::int32_t flags;        ///< INPUT and OUTPUT.
    std::uint32_t base;        ///< Of a view.
    std::uint32_t overwrites;  ///< The source in whose place it lies.
    Holding holding;
    bool new_base;  ///< The base is met through this view.
    bool late;      ///< Met first as a source or a base. Nobody but the walk knows that it is not one of the others.
    std::uint32_t block_size;  ///< Of the type, in elements and in bytes.
    std::uint32_t block_bytes;
    std::uint64_t size;                         ///< Planned.
    ggml_backend_buffer_type_t asked_for_size;  ///< Whose sizes are not plain ggml_nbytes; else null.
    ggml_backend_buffer_t buffer;
    void* data;
  };
  struct RecordedNode {
    std::uint32_t tensor;
    std::uint32_t source_count;
  };

  template <Purpose purpose>
  bool go_through(const ggml_cgraph& graph);
  template <Purpose purpose>
  bool visit(std::uint32_t index, ggml_tensor* tensor);
  template <Purpose purpose>
  bool visit_new(std::uint32_t index, ggml_tensor* tensor);
  [[nodiscard]] bool is_new(const RecordedTensor& recorded, const ggml_tensor* tensor) const;
  [[nodiscard]] bool was_bound(const ggml_tensor* tensor) const;
  [[nodiscard]] bool fits(const RecordedTensor& recorded, const ggml_tensor& tensor);
  bool bind_own(const RecordedTensor& recorded, ggml_tensor& tensor);
  bool bind_view(ggml_tensor& tensor);
  void unbind();

  std::vector<RecordedTensor> tensors_;
  std::vector<std::uint32_t> leafs_;
  std::vector<RecordedNode> nodes_;
  std::vector<std::uint32_t> sources_;
  std::vector<ChunkPlace> places_;
  std::uint64_t generation_ = 0;

  // During a walk:
  struct Bound {
    ggml_tensor* tensor;
    void* data;  ///< Before; a view of allocated memory has some without a buffer.
  };
  std::vector<ggml_tensor*> met_;   ///< By index.
  std::vector<ggml_tensor*> late_;  ///< Of those met, the first `late_count_`.
  std::size_t late_count_ = 0;
  std::vector<Bound> bound_;  ///< The first `bound_count_` were bound in this walk.
  std::size_t bound_count_ = 0;
  std::uint32_t seen_ = 0;
  bool exact_ = false;
};

}  // namespace stowage::ggml
