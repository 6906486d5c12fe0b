#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ggml_headers.hpp"

namespace stowage::ggml {

/// A ggml graph under construction, with memory for the descriptions of its tensors but not for their data.
class TestGraph {
 public:
  explicit TestGraph(std::size_t most_tensors = 256);
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;

  [[nodiscard]] ggml_context* context() const { return context_.get(); }
  [[nodiscard]] ggml_cgraph* get() const { return graph_; }
  /// A tensor with this many floats and the INPUT flag.
  ggml_tensor* input(std::int64_t floats);
  /// Adds the computation of `result` at the end of the graph.
  TestGraph& compute(ggml_tensor* result);
  /// The same, with the OUTPUT flag.
  TestGraph& output(ggml_tensor* result);
  /// Removes the memory of every tensor that was made with this graph, as if it had just been built.
  void forget_memory();
  /// Whether no tensor that was made with this graph has data or a buffer.
  [[nodiscard]] bool is_untouched() const;

 private:
  struct Free {
    void operator()(ggml_context* context) const { ggml_free(context); }
  };
  std::unique_ptr<ggml_context, Free> context_;
  ggml_cgraph* graph_;
};

struct GallocrFree {
  void operator()(ggml_gallocr* allocator) const { ggml_gallocr_free(allocator); }
};
using GallocrOwner = std::unique_ptr<ggml_gallocr, GallocrFree>;

/// Runs an allocated graph with marks instead of numbers: each node checks that its sources contain what their
/// producers wrote, and writes its own mark; tensors that are kept to the end are checked at the end. Returns the first
/// tensor whose bytes were overwritten, and when, or "" if there is none. Tensors must be in host-visible memory; those
/// without a buffer are not checked.
[[nodiscard]] std::string shadow_run(const ggml_cgraph& graph);

}  // namespace stowage::ggml
