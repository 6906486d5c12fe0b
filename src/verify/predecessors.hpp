#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "verify/order.hpp"

namespace stowage::verification {

inline constexpr std::uint32_t kNoOp = std::numeric_limits<std::uint32_t>::max();

/// Finds the task ops that wrote the current value of a tensor, at the point that the walk over the ops has reached.
class Sources {
 public:
  /// What `schedule` refers to must outlive it; the same for `Predecessors`.
  explicit Sources(const Schedule& schedule)
      : graph_(schedule.graph),
        tasks_(schedule.tasks),
        producer_(graph_.tensors().size(), kNoOp),
        visited_by_(graph_.tensors().size(), kNoOp) {}

  /// Calls `f(op)` for each source of the inputs of `reader`. Visits each tensor once, even if views and aliases lead
  /// to it on many paths.
  template <class F>
  void visit(std::uint32_t reader, F&& f) {
    for (const std::optional<TensorId>& input : graph_.ops()[reader].inputs) {
      if (input) push(*input, reader);
    }
    while (!pending_.empty()) {
      const TensorId tensor = pending_.back();
      pending_.pop_back();
      if (const std::optional<ViewOf>& view = graph_.tensor(tensor).view_of) push(view->tensor, reader);
      const std::uint32_t producer = producer_[tensor.index()];
      if (producer == kNoOp) continue;
      if (tasks_[producer]) {
        f(producer);
      } else {
        push_aliased(graph_.ops()[producer], tensor, reader);
      }
    }
  }

  void ran(std::uint32_t op) {
    for (const TensorId output : graph_.ops()[op].outputs) producer_[output.index()] = op;
  }

 private:
  void push(TensorId tensor, std::uint32_t reader) {
    if (visited_by_[tensor.index()] == reader) return;
    visited_by_[tensor.index()] = reader;
    pending_.push_back(tensor);
  }

  void push_aliased(const Op& op, TensorId output, std::uint32_t reader) {
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == output) push(*op.inputs[alias.input], reader);
    }
    if (op.contiguous_inputs != Contiguity::packed && op.contiguous_outputs != Contiguity::packed) return;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) push(*input, reader);
    }
  }

  const Graph& graph_;
  std::span<const std::uint8_t> tasks_;
  std::vector<std::uint32_t> producer_;    ///< By tensor: the latest so far.
  std::vector<std::uint32_t> visited_by_;  ///< By tensor: the last reader for which it was visited.
  std::vector<TensorId> pending_;
};

/// The edges of the plan, sorted by the op that they lead to.
class Incoming {
 public:
  explicit Incoming(std::span<const Edge> edges) : edges_(edges.begin(), edges.end()) {
    std::sort(edges_.begin(), edges_.end(),
              [](Edge a, Edge b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  }

  /// Must be called with ops in ascending order.
  template <class F>
  void visit(std::size_t op, F&& f) {
    for (; next_ < edges_.size() && edges_[next_].to.index() <= op; ++next_) {
      if (edges_[next_].to.index() == op) f(edges_[next_].from.index());
    }
  }

 private:
  std::vector<Edge> edges_;
  std::size_t next_ = 0;
};

/// What must be over when an op starts, the order of its stream apart: ops that it names in `after`, those from which
/// an edge of the plan leads to it, and those whose results it reads.
class Predecessors {
 public:
  explicit Predecessors(const Schedule& schedule)
      : schedule_(schedule), sources_(schedule), incoming_(schedule.edges) {}

  /// Whether the op takes part in the run and accesses memory.
  [[nodiscard]] bool runs(std::size_t op) const {
    return schedule_.tasks[op] != 0 && is_active(schedule_.graph.ops()[op], schedule_.batch);
  }
  /// Calls `f(earlier)` for each; perhaps twice for one. Must be called with ops that run, in ascending order, each
  /// after all ops before it were passed.
  template <class F>
  void visit(std::uint32_t op, F&& f) {
    for (const OpId after : schedule_.graph.ops()[op].after) {
      if (runs(after.index())) f(static_cast<std::uint32_t>(after.index()));
    }
    incoming_.visit(op, [&](std::size_t from) {
      if (runs(from)) f(static_cast<std::uint32_t>(from));
    });
    sources_.visit(op, f);
  }
  void pass(std::uint32_t op) {
    if (is_active(schedule_.graph.ops()[op], schedule_.batch)) sources_.ran(op);
  }

 private:
  Schedule schedule_;
  Sources sources_;
  Incoming incoming_;
};

}  // namespace stowage::verification
