#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ggml_headers.hpp"

namespace stowage::ggml {

/// A ggml graph under construction, with the memory for its tensors' descriptions but none for their data.
class TestGraph {
 public:
  explicit TestGraph(std::size_t most_tensors = 256);
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;

  [[nodiscard]] ggml_context* context() const { return context_.get(); }
  [[nodiscard]] ggml_cgraph* get() const { return graph_; }
  /// So many floats, with the INPUT flag.
  ggml_tensor* input(std::int64_t floats);
  /// Makes the graph compute it, after what it computes already.
  TestGraph& compute(ggml_tensor* result);
  /// The same, with the OUTPUT flag.
  TestGraph& output(ggml_tensor* result);
  /// Takes the memory away from every tensor that was made with this graph, as if it had been built anew.
  void forget_memory();
  /// Not one tensor that was made with this graph has data or a buffer.
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

/// Runs an allocated graph with marks in place of numbers: each node finds in its sources what was last written there,
/// by whoever made them, and writes its own mark; what is kept to the end is there at the end. Returns the first tensor
/// whose bytes somebody else had overwritten, with a word on when, or "" when all went well. Tensors must lie in memory
/// that the host can touch; those without a buffer are not looked at.
[[nodiscard]] std::string shadow_run(const ggml_cgraph& graph);

}  // namespace stowage::ggml
