#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "stowage/graph.hpp"

namespace stowage {

/// Finds the task ops whose results an op reads, while the caller walks the ops in order. O(tensors) memory.
class DataSources {
 public:
  explicit DataSources(const Graph& graph)
      : graph_(graph), producer_(graph.tensors().size(), kNone), seen_(graph.tensors().size()) {}
  /// `tasks`, by op, says which ops count as task ops. It must outlive this object.
  DataSources(const Graph& graph, const std::vector<std::uint8_t>& tasks) : DataSources(graph) { tasks_ = &tasks; }

  /// Calls `f(op)` for each task op that wrote the current value of `tensor`. Visits a tensor once, even if several
  /// views and aliases lead to it.
  template <class F>
  void writers(TensorId tensor, F&& f) {
    ++visit_;
    reach(tensor);
    while (!pending_.empty()) {
      const TensorId at = pending_.back();
      pending_.pop_back();
      if (const std::optional<ViewOf>& view = graph_.tensor(at).view_of) reach(view->tensor);
      const std::uint32_t producer = producer_[at.index()];
      if (producer == kNone) continue;
      if (is_task(producer)) {
        f(OpId(producer));
      } else {
        reach_through(graph_.ops()[producer], at);
      }
    }
  }

  void executed(OpId op) {
    for (const TensorId output : graph_.op(op).outputs)
      producer_[output.index()] = static_cast<std::uint32_t>(op.index());
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] bool is_task(std::uint32_t op) const { return tasks_ ? (*tasks_)[op] != 0 : !graph_.ops()[op].no_task; }

  void reach(TensorId tensor) {
    if (seen_[tensor.index()] == visit_) return;
    seen_[tensor.index()] = visit_;
    pending_.push_back(tensor);
  }

  /// An op without a task passes on what other ops wrote: continues with its inputs.
  void reach_through(const Op& op, TensorId output) {
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == output) reach(*op.inputs[alias.input]);
    }
    if (op.contiguous_inputs != Contiguity::packed && op.contiguous_outputs != Contiguity::packed) return;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) reach(*input);
    }
  }

  const Graph& graph_;
  const std::vector<std::uint8_t>* tasks_ = nullptr;
  std::vector<std::uint32_t> producer_;  ///< By tensor: the op that wrote it last.
  std::vector<std::uint64_t> seen_;      ///< By tensor: the visit that saw it last.
  std::uint64_t visit_ = 0;
  std::vector<TensorId> pending_;
};

}  // namespace stowage
