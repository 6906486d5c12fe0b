#include "shadow/schedule.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace stowage::testing {
namespace {

class Predecessors {
 public:
  explicit Predecessors(const Graph& graph) : graph_(graph), producers_(graph.tensors().size()) {
    for (std::size_t op = 0; op < graph.ops().size(); ++op) {
      for (const TensorId output : graph.ops()[op].outputs) producers_[output.index()].push_back(op);
    }
  }

  /// What must have finished before `op` starts, the order of its stream apart.
  [[nodiscard]] std::vector<std::size_t> of(std::size_t op) const {
    std::vector<std::size_t> result;
    for (const OpId other : graph_.ops()[op].after) {
      if (!graph_.op(other).no_task) result.push_back(other.index());
    }
    std::vector<TensorId> pending;
    for (const std::optional<TensorId>& input : graph_.ops()[op].inputs) {
      if (input) pending.push_back(*input);
    }
    std::vector<bool> seen(graph_.tensors().size(), false);
    while (!pending.empty()) {
      const TensorId tensor = pending.back();
      pending.pop_back();
      if (seen[tensor.index()]) continue;
      seen[tensor.index()] = true;
      visit(tensor, op, result, pending);
    }
    return result;
  }

 private:
  void visit(TensorId tensor, std::size_t reader, std::vector<std::size_t>& result, std::vector<TensorId>& pending) const {
    if (const std::optional<ViewOf>& view = graph_.tensor(tensor).view_of) pending.push_back(view->tensor);
    const std::vector<std::size_t>& producers = producers_[tensor.index()];
    const auto later = std::lower_bound(producers.begin(), producers.end(), reader);
    if (later == producers.begin()) return;
    const std::size_t producer = *(later - 1);
    const Op& op = graph_.ops()[producer];
    if (!op.no_task) {
      result.push_back(producer);
      return;
    }
    for (const Alias& alias : op.aliases) {
      if (op.outputs[alias.output] == tensor && op.inputs[alias.input]) pending.push_back(*op.inputs[alias.input]);
    }
  }

  const Graph& graph_;
  std::vector<std::vector<std::size_t>> producers_;  ///< By tensor, ascending.
};

/// One stream's ops, as far as they have come.
struct Stream {
  std::vector<std::size_t> ops = {};
  std::size_t next = 0;
  bool running = false;
  std::uint64_t weight = 1;

  [[nodiscard]] bool done() const { return next == ops.size(); }
};

class Interleaving {
 public:
  Interleaving(const Graph& graph, std::uint64_t seed)
      : random_(seed), streams_(graph.stream_count()), finished_(graph.ops().size(), false), waits_(graph.ops().size()) {
    const Predecessors predecessors(graph);
    for (std::size_t op = 0; op < graph.ops().size(); ++op) {
      if (graph.ops()[op].no_task) continue;
      streams_[graph.ops()[op].stream.index()].ops.push_back(op);
      waits_[op] = predecessors.of(op);
    }
    // Uneven speeds, so that one stream may run far ahead of another.
    for (Stream& stream : streams_) stream.weight = std::uint64_t{1} << (2 * (random_() % 4));
  }

  [[nodiscard]] std::vector<Event> draw() {
    std::vector<Event> events;
    while (Stream* stream = pick()) {
      const std::size_t op = stream->ops[stream->next];
      events.push_back({OpId(op), stream->running ? Event::Phase::finish : Event::Phase::start});
      if (stream->running) {
        finished_[op] = true;
        ++stream->next;
      }
      stream->running = !stream->running;
    }
    return events;
  }

 private:
  [[nodiscard]] bool can_move(const Stream& stream) const {
    if (stream.done()) return false;
    const std::vector<std::size_t>& waits = waits_[stream.ops[stream.next]];
    return std::all_of(waits.begin(), waits.end(), [&](std::size_t op) { return finished_[op]; });
  }

  [[nodiscard]] Stream* pick() {
    std::vector<Stream*> ready;
    std::uint64_t total = 0;
    for (Stream& stream : streams_) {
      if (!can_move(stream)) continue;
      ready.push_back(&stream);
      total += stream.weight;
    }
    if (ready.empty()) return nullptr;
    std::uint64_t ticket = random_() % total;
    for (Stream* stream : ready) {
      if (ticket < stream->weight) return stream;
      ticket -= stream->weight;
    }
    return ready.back();
  }

  std::mt19937_64 random_;
  std::vector<Stream> streams_;
  std::vector<bool> finished_;
  std::vector<std::vector<std::size_t>> waits_;
};

}  // namespace

std::vector<Event> linear_schedule(const Graph& graph) {
  std::vector<Event> events;
  for (std::size_t op = 0; op < graph.ops().size(); ++op) {
    if (graph.ops()[op].no_task) continue;
    events.push_back({OpId(op), Event::Phase::start});
    events.push_back({OpId(op), Event::Phase::finish});
  }
  return events;
}

std::vector<Event> random_schedule(const Graph& graph, std::uint64_t seed) { return Interleaving(graph, seed).draw(); }

}  // namespace stowage::testing
