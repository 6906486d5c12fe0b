#pragma once

#include <cstdint>
#include <vector>

#include "chunk_buffers.hpp"
#include "graph_walk.hpp"
#include "planning.hpp"

namespace stowage::ggml {

/// A description of a planned graph in the order of the walk, and where its tensors go: the hot path.
///
/// A graph matches if the plan is safe for it:
/// - it has the same nodes, leafs and sources by position, and distinct tensors where they were distinct;
/// - it has the same ops, types, views and INPUT/OUTPUT flags;
/// - every tensor that had data still has data;
/// - every tensor that the allocator places needs no more bytes than planned, and has the layout of the source that it
///   is placed over, if any. If it has been given data meanwhile, it is left alone, as in ggml.
///
/// So shapes may be smaller.
///
/// Matching is one walk that visits each tensor once, without hashing or allocation: the tensors visited so far are in
/// an array by index, so that a source is compared by one load. Tensors are bound during the walk; a mismatch unbinds
/// them again.
class RecordedGraph {
 public:
  RecordedGraph(const GraphWalk& walk, const WalkPlan& plan, const BufferTypes& types);

  /// Looks up the addresses. Must be called whenever the buffers have changed.
  void resolve(const ChunkBuffers& buffers);
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  /// Whether the graph matches. Does not modify it.
  [[nodiscard]] bool matches(const ggml_cgraph& graph);
  /// Whether every tensor of the last matching graph needs exactly the planned size.
  [[nodiscard]] bool was_exact() const { return exact_; }
  /// Matches the graph and binds every tensor. Returns false and leaves the graph unchanged if it does not match, or if
  /// a backend refuses a tensor. Precondition: resolved.
  [[nodiscard]] bool bind(const ggml_cgraph& graph);

 private:
  enum class Purpose : std::uint8_t { match, bind };
  struct RecordedTensor {
    ggml_op op;
    ggml_type type;
    std::int32_t flags;        ///< INPUT and OUTPUT.
    std::uint32_t base;        ///< For a view.
    std::uint32_t overwrites;  ///< The source that it is placed over.
    Holding holding;
    bool new_base;  ///< The base is first visited through this view.
    bool late;      ///< First visited as a source or a base, so only the walk can tell it from the other tensors.
    std::uint32_t block_size;  ///< Of the type, in elements and in bytes.
    std::uint32_t block_bytes;
    std::uint64_t size;                         ///< Planned.
    ggml_backend_buffer_type_t asked_for_size;  ///< Null if its sizes are simply ggml_nbytes.
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
    void* data;  ///< Its previous value; a view of allocated memory has data, but no buffer.
  };
  std::vector<ggml_tensor*> met_;   ///< By index.
  std::vector<ggml_tensor*> late_;  ///< The first `late_count_` are those visited so far.
  std::size_t late_count_ = 0;
  std::vector<Bound> bound_;  ///< The first `bound_count_` were bound in this walk.
  std::size_t bound_count_ = 0;
  std::uint32_t seen_ = 0;
  bool exact_ = false;
};

}  // namespace stowage::ggml
