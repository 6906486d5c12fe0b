#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "liveness/interface/timeline.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"

namespace stowage {

class Dependencies;

/// Which ops happen before which, over streams. Ops of one stream happen in order; so do ops linked by `after` or by
/// data: an op comes after the latest earlier producer of each tensor that it reads, and of the tensors that this one
/// is a view of or, through an op without task, aliased to. Ops without a task order nothing.
///
/// Holds for each op and stream the first op of that stream that happens after it: O(ops × streams) memory, built in
/// O(edges × streams). Holds nothing for graphs of one stream, where the linear order is all there is.
///
/// Bodies: order into and out of a body goes through its op only, whatever streams its ops are on. Bodies of a branch
/// follow each other, which is as good as excluding each other. Batches: an op of one batch orders nothing for another.
///
/// A plain value that does not change: any number of threads may ask one.
class HappensBefore {
 public:
  HappensBefore() = default;
  /// Of the ops in the order of the graph. Precondition: no bodies and no batches.
  explicit HappensBefore(const Graph& graph);
  /// Of the steps of a timeline. `dependencies` are those of the graph that somebody waits for; more are not looked at.
  /// `edges` are further orderings between root ops.
  HappensBefore(const Graph& graph, const Timeline& timeline, const Dependencies& dependencies,
                std::span<const Edge> edges);

  /// The streams of the graph, and further ones for bodies and batches, whose ops are in no order with others of their
  /// stream.
  [[nodiscard]] std::size_t streams() const { return streams_; }
  /// The first step on `stream` that happens after `step`, or kNever. Precondition: `step` is a task op.
  [[nodiscard]] Step next(Step step, std::size_t stream) const;
  /// True when task op `a` happens before task op `b`.
  [[nodiscard]] bool before(Step a, Step b) const;
  /// Of a step.
  [[nodiscard]] std::size_t stream(Step step) const {
    return streams_ == 1 ? 0 : stream_of_[static_cast<std::size_t>(step.value())];
  }

 private:
  std::size_t streams_ = 1;
  std::vector<std::uint32_t> stream_of_;
  std::vector<std::uint32_t> next_;  ///< Row-major, step × stream.
};

}  // namespace stowage
