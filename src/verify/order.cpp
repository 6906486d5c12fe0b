#include "verify/order.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace stowage::verification {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Finds the task ops that wrote the current value of a tensor, at the point that the walk over the ops has reached.
class Sources {
 public:
  explicit Sources(const Schedule& schedule)
      : graph_(schedule.graph),
        tasks_(schedule.tasks),
        producer_(graph_.tensors().size(), kNone),
        visited_by_(graph_.tensors().size(), kNone) {}

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
      if (producer == kNone) continue;
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

}  // namespace

Order::Order(const Schedule& schedule) {
  if (schedule.graph.has_bodies()) find_scopes(schedule.graph);
  number_streams(schedule);
  if (streams_ > 1) run_clocks(schedule);
}

void Order::find_scopes(const Graph& graph) {
  scope_of_.resize(graph.ops().size());
  for (std::uint32_t s = 0; s < graph.scopes().size(); ++s) {
    const Scope& scope = graph.scopes()[s];
    owner_.push_back(static_cast<std::uint32_t>(scope.op.index()));
    depth_.push_back(s == 0 ? 0 : depth_[scope.parent.index()] + 1);
    std::fill_n(scope_of_.begin() + static_cast<std::ptrdiff_t>(scope.first_op.index()), scope.op_count, s);
  }
}

void Order::number_streams(const Schedule& schedule) {
  const Graph& graph = schedule.graph;
  streams_ = 1;
  if (graph.stream_count() == 1) return;
  streams_ = 0;
  std::vector<std::uint32_t> number(graph.stream_count(), kNone);
  stream_of_.resize(graph.ops().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (!schedule.tasks[k] || !is_active(op, schedule.batch)) continue;
    // `stream_count` does not include streams that only copies use.
    if (op.stream.index() >= number.size()) number.resize(op.stream.index() + 1, kNone);
    std::uint32_t& own = number[op.stream.index()];
    if (own == kNone) own = static_cast<std::uint32_t>(streams_++);
    stream_of_[k] = own;
  }
  streams_ = std::max<std::size_t>(streams_, 1);
}

void Order::run_clocks(const Schedule& schedule) {
  const Graph& graph = schedule.graph;
  const auto runs = [&](std::size_t k) { return schedule.tasks[k] && is_active(graph.ops()[k], schedule.batch); };
  clocks_.assign(graph.ops().size() * streams_, -1);
  Sources sources(schedule);
  Incoming incoming(schedule.edges);
  for (const Scope& scope : graph.scopes()) {
    std::vector<std::uint32_t> last_on(streams_, kNone);
    const auto first = static_cast<std::uint32_t>(scope.first_op.index());
    for (std::uint32_t k = first; k < first + scope.op_count; ++k) {
      const Op& op = graph.ops()[k];
      if (!is_active(op, schedule.batch)) continue;
      if (runs(k)) {
        std::uint32_t& last = last_on[stream_of_[k]];
        if (last != kNone) follow(k, last);
        last = k;
        for (const OpId after : op.after) {
          if (runs(after.index())) follow(k, after.index());
        }
        incoming.visit(k, [&](std::size_t from) {
          if (runs(from)) follow(k, from);
        });
        sources.visit(k, [&](std::uint32_t source) { follow(k, source); });
      }
      sources.ran(k);
    }
  }
}

void Order::follow(std::size_t later, std::size_t earlier) {
  std::int64_t* const clock = &clocks_[later * streams_];
  const std::int64_t* const from = &clocks_[earlier * streams_];
  for (std::size_t s = 0; s < streams_; ++s) clock[s] = std::max(clock[s], from[s]);
  std::int64_t& on_its_stream = clock[stream_of_[earlier]];
  on_its_stream = std::max(on_its_stream, static_cast<std::int64_t>(earlier));
}

bool Order::in_one_scope(Moment a, Moment b) const {
  if (a.op == b.op)
    return a.phase < b.phase || (a.phase == b.phase && (a.phase == Phase::before || a.phase == Phase::inside));
  if (streams_ == 1) return a.op < b.op;
  return clocks_[b.op * streams_ + stream_of_[a.op]] >= static_cast<std::int64_t>(a.op);
}

bool Order::happens_before(Moment a, Moment b) const {
  if (!scope_of_.empty()) {
    while (depth_[scope_of_[a.op]] > depth_[scope_of_[b.op]]) a = outside(a);
    while (depth_[scope_of_[b.op]] > depth_[scope_of_[a.op]]) b = outside(b);
    while (scope_of_[a.op] != scope_of_[b.op]) {
      a = outside(a);
      b = outside(b);
    }
  }
  return in_one_scope(a, b);
}

bool Order::is_within(std::uint32_t op, std::uint32_t scope) const {
  if (scope == 0) return true;
  std::uint32_t at = scope_of_[op];
  while (depth_[at] > depth_[scope]) at = scope_of_[owner_[at]];
  return at == scope;
}

}  // namespace stowage::verification
