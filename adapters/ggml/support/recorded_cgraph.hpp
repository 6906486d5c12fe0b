#pragma once

#include <vector>

#include "ggml_headers.hpp"
#include "stowage/graph.hpp"

namespace stowage::ggml {

/// A graph file that was recorded from ggml, converted back to a ggml graph, as far as an allocator needs it.
/// Constants, variables and external tensors have data, all others have none. It cannot be computed.
///
/// The file has no strides. Tensors are contiguous. A view is made contiguous only if the file says that it may be
/// overwritten in place, so that ggml's own choices are the same as when the graph was recorded.
class RecordedCgraph {
 public:
  explicit RecordedCgraph(const Graph& graph);
  RecordedCgraph(const RecordedCgraph&) = delete;
  RecordedCgraph& operator=(const RecordedCgraph&) = delete;

  [[nodiscard]] ggml_cgraph* get() { return &cgraph_; }
  [[nodiscard]] ggml_tensor& tensor(TensorId id) { return tensors_[id.index()]; }
  /// Removes the memory again from all tensors that had none.
  void forget_memory() { tensors_ = fresh_; }

 private:
  void fill_tensor(const Graph& graph, TensorId id);
  void add_node(const Op& op);
  void set_shape(const Tensor& from, ggml_tensor& to) const;
  void make_odd(ggml_tensor& view) const;

  std::vector<ggml_tensor> tensors_;
  std::vector<ggml_tensor> fresh_;
  std::vector<ggml_tensor*> nodes_;
  std::vector<ggml_tensor*> leafs_;
  ggml_cgraph cgraph_{};
};

}  // namespace stowage::ggml
