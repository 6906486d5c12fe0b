#include <algorithm>
#include <limits>
#include <optional>

#include "stowage/liveness.hpp"

/// Vector clocks, backwards. Walking the ops from last to first, each op's row is complete when it is reached (everything that
/// happens after it comes later in the linear order), and is then merged into the rows of its direct predecessors. What a forward
/// clock says ("how much of stream t happened before me") cannot be turned into thresholds without a search; this one is the
/// threshold.
namespace stowage {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Finds, while the ops are walked in order, the ops whose results another op reads.
class DataEdges {
 public:
  explicit DataEdges(const Graph& graph)
      : graph_(graph), producer_(graph.tensors().size(), kNone), seen_(graph.tensors().size()) {}

  /// Calls `f(op index)` for each task op that wrote what `tensor` shows at this point. Visits a tensor once, by however many
  /// views and aliases it is reached.
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
      if (graph_.ops()[producer].no_task) {
        reach_through(graph_.ops()[producer], at);
      } else {
        f(producer);
      }
    }
  }

  void executed(std::size_t op) {
    for (const TensorId output : graph_.ops()[op].outputs) producer_[output.index()] = static_cast<std::uint32_t>(op);
  }

 private:
  void reach(TensorId tensor) {
    if (seen_[tensor.index()] == visit_) return;
    seen_[tensor.index()] = visit_;
    pending_.push_back(tensor);
  }

  /// Behind an op without a task stands whoever wrote what it passes on.
  void reach_through(const Op& op, TensorId output) {
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == output) reach(*op.inputs[alias.input]);
    }
  }

  const Graph& graph_;
  std::vector<std::uint32_t> producer_;
  std::vector<std::uint64_t> seen_;  ///< By tensor: the visit that saw it last.
  std::uint64_t visit_ = 0;
  std::vector<TensorId> pending_;
};

/// For each task op the task ops that it directly follows, in compressed rows.
struct Predecessors {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> ops;
};

Predecessors find_predecessors(const Graph& graph) {
  Predecessors result;
  DataEdges edges(graph);
  std::vector<std::uint32_t> last_on_stream(graph.stream_count(), kNone);
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    result.begin.push_back(result.ops.size());
    if (!op.no_task) {
      if (const std::uint32_t last = last_on_stream[op.stream.index()]; last != kNone) result.ops.push_back(last);
      last_on_stream[op.stream.index()] = static_cast<std::uint32_t>(k);
      for (const OpId after : op.after) {
        if (!graph.op(after).no_task) result.ops.push_back(static_cast<std::uint32_t>(after.index()));
      }
      for (const std::optional<TensorId>& input : op.inputs) {
        if (input) edges.writers(*input, [&](std::uint32_t writer) { result.ops.push_back(writer); });
      }
    }
    edges.executed(k);
  }
  result.begin.push_back(result.ops.size());
  return result;
}

}  // namespace

HappensBefore::HappensBefore(const Graph& graph) : streams_(graph.stream_count()) {
  if (streams_ == 1) return;
  const std::size_t count = graph.ops().size();
  stream_of_.resize(count);
  for (std::size_t k = 0; k < count; ++k) stream_of_[k] = static_cast<std::uint32_t>(graph.ops()[k].stream.index());
  next_.assign(count * streams_, kNone);
  const Predecessors predecessors = find_predecessors(graph);
  for (std::size_t k = count; k-- > 0;) {
    for (std::size_t i = predecessors.begin[k]; i < predecessors.begin[k + 1]; ++i) link(predecessors.ops[i], k);
  }
}

void HappensBefore::link(std::size_t earlier, std::size_t later) {
  std::uint32_t* const row = &next_[earlier * streams_];
  const std::uint32_t* const from = &next_[later * streams_];
  for (std::size_t stream = 0; stream < streams_; ++stream) row[stream] = std::min(row[stream], from[stream]);
  row[stream_of_[later]] = std::min(row[stream_of_[later]], static_cast<std::uint32_t>(later));
}

Step HappensBefore::next(Step step, std::size_t stream) const {
  if (streams_ == 1) return step + Step(1);
  const std::uint32_t next = next_[static_cast<std::size_t>(step.value()) * streams_ + stream];
  return next == kNone ? kNever : Step(next);
}

bool HappensBefore::before(Step a, Step b) const {
  if (streams_ == 1) return a < b;
  return next(a, stream_of_[static_cast<std::size_t>(b.value())]) <= b;
}

}  // namespace stowage
