#include "verify/order.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace stowage::verification {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Finds the task ops whose work a tensor shows, at the point that the walk over the ops has reached.
class Sources {
 public:
  explicit Sources(const Graph& graph)
      : graph_(graph), producer_(graph.tensors().size(), kNone), visited_by_(graph.tensors().size(), kNone) {}

  /// Calls `f(op)` for each source of the inputs of `reader`. Each tensor on the way is looked at once: views and aliases may
  /// lead to the same one on very many paths.
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
      if (producer == kNone) continue;
      if (!graph_.ops()[producer].no_task) {
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
  }

  const Graph& graph_;
  std::vector<std::uint32_t> producer_;    ///< By tensor; the latest so far.
  std::vector<std::uint32_t> visited_by_;  ///< By tensor; the last reader whose walk came here.
  std::vector<TensorId> pending_;
};

}  // namespace

Order::Order(const Graph& graph) {
  number_streams(graph);
  if (streams_ > 1) run_clocks(graph);
}

void Order::number_streams(const Graph& graph) {
  std::vector<std::uint32_t> number(graph.stream_count(), kNone);
  stream_of_.resize(graph.ops().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    std::uint32_t& own = number[op.stream.index()];
    if (own == kNone) own = static_cast<std::uint32_t>(streams_++);
    stream_of_[k] = own;
  }
  streams_ = std::max<std::size_t>(streams_, 1);
}

void Order::run_clocks(const Graph& graph) {
  clocks_.assign(graph.ops().size() * streams_, kStart);
  std::vector<std::uint32_t> last_on(streams_, kNone);
  Sources sources(graph);
  for (std::uint32_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!op.no_task) {
      std::uint32_t& last = last_on[stream_of_[k]];
      if (last != kNone) follow(k, last);
      last = k;
      for (const OpId after : op.after) {
        if (!graph.op(after).no_task) follow(k, after.index());
      }
      sources.visit(k, [&](std::uint32_t source) { follow(k, source); });
    }
    sources.ran(k);
  }
}

void Order::follow(std::size_t later, std::size_t earlier) {
  Step* const clock = &clocks_[later * streams_];
  const Step* const from = &clocks_[earlier * streams_];
  for (std::size_t s = 0; s < streams_; ++s) clock[s] = std::max(clock[s], from[s]);
  Step& on_its_stream = clock[stream_of_[earlier]];
  on_its_stream = std::max(on_its_stream, Step(static_cast<std::int64_t>(earlier)));
}

}  // namespace stowage::verification
