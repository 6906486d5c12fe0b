#pragma once

#include <string_view>
#include <vector>

#include "verify/claims.hpp"
#include "verify/order.hpp"

namespace stowage::verification {

/// Which part of a graph exists when one batch is chosen.
class Run {
 public:
  Run(const Case& input, std::string_view batch);

  [[nodiscard]] std::string_view batch() const { return batch_; }
  [[nodiscard]] bool is_active(OpId op) const { return verification::is_active(graph_.op(op), batch_); }
  /// Whether nobody writes the tensor in this run, so that its readers read nothing.
  [[nodiscard]] bool is_absent(TensorId tensor) const {
    return !absent_.empty() && absent_[graph_.root(tensor).tensor.index()] != 0;
  }
  [[nodiscard]] bool accesses(HolderId value) const { return accessed_[value] != 0; }
  /// With several streams, the op that counts as the reader of inputs that nobody reads.
  [[nodiscard]] std::uint32_t first_task() const { return first_task_; }

 private:
  void find_absent(const Values& values);
  void find_accessed(const Values& values);

  const Graph& graph_;
  std::string_view batch_;
  std::vector<std::uint8_t> absent_;    ///< By tensor; empty without batches.
  std::vector<std::uint8_t> accessed_;  ///< By value.
  std::uint32_t first_task_ = 0;
};

}  // namespace stowage::verification
