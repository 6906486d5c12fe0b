#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "liveness/interface/timeline.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

class Dependencies;

/// The happens-before relation between the task ops of all streams. Ops of one stream happen in order; so do ops linked
/// by `after` or by data. Data: an op comes after the latest earlier producer of each tensor that it reads, and of the
/// tensors that this one is a view of or, through an op without a task, aliased to. Ops without a task order nothing.
///
/// For each op and stream it stores the first op of that stream that happens after the op: O(ops × streams) memory,
/// built in O(edges × streams). For a graph with one stream it stores nothing, because the order is linear.
///
/// Bodies: ops inside and outside a body are ordered through the op that has the body only, whatever their streams. The
/// bodies of a branch count as running one after another, which has the same effect as excluding each other. Batches:
/// an op of one batch does not order ops of another.
///
/// Immutable; any number of threads may query it.
class HappensBefore {
 public:
  HappensBefore() = default;
  /// For the ops in the order of the graph. Precondition: the graph has no bodies and no batches.
  explicit HappensBefore(const Graph& graph);
  /// For the steps of a timeline. Of `dependencies` (those of the graph) only `after` and `data` are used. `edges` are
  /// additional orderings between root ops.
  HappensBefore(const Graph& graph, const Timeline& timeline, const Dependencies& dependencies,
                std::span<const Edge> edges);

  /// The number of streams of the graph, plus additional ones for bodies and batches whose ops are not ordered with
  /// other ops of their stream.
  [[nodiscard]] std::size_t streams() const { return streams_; }
  /// The first step on `stream` that happens after `step`, or kNever. Precondition: `step` is a task op.
  [[nodiscard]] Step next(Step step, std::size_t stream) const;
  /// True when task op `a` happens before task op `b`.
  [[nodiscard]] bool before(Step a, Step b) const;
  /// The stream of a step.
  [[nodiscard]] std::size_t stream(Step step) const {
    return streams_ == 1 ? 0 : stream_of_[static_cast<std::size_t>(step.value())];
  }

 private:
  std::size_t streams_ = 1;
  std::vector<std::uint32_t> stream_of_;
  std::vector<std::uint32_t> next_;  ///< Row-major, step × stream.
};

}  // namespace stowage
