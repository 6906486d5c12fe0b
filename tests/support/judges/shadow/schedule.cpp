#include "support/judges/shadow/schedule.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace stowage::testing {
namespace {

bool runs(const Op& op, const RunChoice& choice) {
  return !op.no_task && (op.batch.empty() || op.batch == choice.batch);
}

class Predecessors {
 public:
  Predecessors(const Graph& graph, const RunChoice& choice)
      : graph_(graph), choice_(choice), producers_(graph.tensors().size()) {
    for (std::size_t op = 0; op < graph.ops().size(); ++op) {
      if (!graph.ops()[op].no_task && !runs(graph.ops()[op], choice)) continue;
      for (const TensorId output : graph.ops()[op].outputs) producers_[output.index()].push_back(op);
    }
  }

  /// What must have finished before `op` starts, the order of its stream apart.
  [[nodiscard]] std::vector<std::size_t> of(std::size_t op) const {
    std::vector<std::size_t> result;
    for (const OpId other : graph_.ops()[op].after) {
      if (runs(graph_.op(other), choice_)) result.push_back(other.index());
    }
    for (const Edge& edge : choice_.edges) {
      if (edge.to.index() == op && runs(graph_.op(edge.from), choice_)) result.push_back(edge.from.index());
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
  void visit(TensorId tensor, std::size_t reader, std::vector<std::size_t>& result,
             std::vector<TensorId>& pending) const {
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
  const RunChoice& choice_;
  std::vector<std::vector<std::size_t>> producers_;  ///< By tensor, ascending; ops that run, and no_task ones.
};

/// One stream's ops in one scope, as far as they have come.
struct Stream {
  std::vector<std::size_t> ops = {};
  std::size_t next = 0;
  bool running = false;
  std::uint64_t weight = 1;

  [[nodiscard]] bool done() const { return next == ops.size(); }
};

/// A scope that is being run.
struct Activity {
  ScopeId scope;
  std::size_t trips = 1;  ///< With this one.
  std::vector<Stream> streams;

  [[nodiscard]] bool done() const {
    return std::all_of(streams.begin(), streams.end(), [](const Stream& stream) { return stream.done(); });
  }
};

/// What can happen next: an op starts or finishes on a stream of an activity, or (no stream) a body ends.
struct Move {
  std::size_t activity = 0;
  std::optional<std::size_t> stream = {};
  std::uint64_t weight = 1;
};

class Interleaving {
 public:
  Interleaving(const Graph& graph, const RunChoice& choice)
      : graph_(graph),
        choice_(choice),
        random_(choice.seed),
        finished_(graph.ops().size(), false),
        body_runs_(graph.ops().size(), false),
        waits_(predecessors(graph, choice)) {}

  [[nodiscard]] std::vector<Event> draw() {
    activities_.push_back(activity(ScopeId(0), 1));
    while (const std::optional<Move> move = pick()) move->stream ? advance(*move) : leave(move->activity);
    return std::move(events_);
  }

 private:
  [[nodiscard]] Activity activity(ScopeId scope, std::size_t trips) {
    Activity result{scope, trips, std::vector<Stream>(graph_.stream_count())};
    const Scope& of = graph_.scope(scope);
    for (std::size_t op = of.first_op.index(); op < of.first_op.index() + of.op_count; ++op) {
      finished_[op] = false;
      if (runs(graph_.ops()[op], choice_)) result.streams[graph_.ops()[op].stream.index()].ops.push_back(op);
    }
    // Uneven speeds, so that one stream may run far ahead of another.
    for (Stream& stream : result.streams) stream.weight = std::uint64_t{1} << (2 * (random_() % 4));
    return result;
  }

  void advance(const Move& move) {
    Stream& stream = activities_[move.activity].streams[*move.stream];
    const std::size_t op = stream.ops[stream.next];
    events_.push_back({OpId(op), stream.running ? Event::Phase::finish : Event::Phase::start});
    if (stream.running) {
      finished_[op] = true;
      ++stream.next;
    }
    stream.running = !stream.running;
    if (stream.running && graph_.ops()[op].control != Control::none) start_body(OpId(op));
  }

  void start_body(OpId op) {
    const std::span<const ScopeId> bodies = graph_.bodies(op);
    const std::size_t trips = graph_.op(op).control == Control::loop ? random_() % 4 : 1;
    if (trips != 0) enter(bodies[random_() % bodies.size()], trips);
  }

  void enter(ScopeId scope, std::size_t trips) {
    const OpId op = graph_.scope(scope).op;
    body_runs_[op.index()] = true;
    events_.push_back({op, Event::Phase::enter, scope});
    activities_.push_back(activity(scope, trips));
  }

  void leave(std::size_t index) {
    const Activity over = std::move(activities_[index]);
    activities_.erase(activities_.begin() + static_cast<std::ptrdiff_t>(index));
    const OpId op = graph_.scope(over.scope).op;
    events_.push_back({op, Event::Phase::leave, over.scope});
    body_runs_[op.index()] = false;
    if (over.trips > 1) enter(over.scope, over.trips - 1);
  }

  [[nodiscard]] bool can_move(const Stream& stream) const {
    if (stream.done()) return false;
    const std::size_t op = stream.ops[stream.next];
    if (stream.running) return !body_runs_[op];
    const std::vector<std::size_t>& waits = waits_[op];
    return std::all_of(waits.begin(), waits.end(), [&](std::size_t other) { return finished_[other]; });
  }

  [[nodiscard]] std::vector<Move> moves() const {
    std::vector<Move> result;
    for (std::size_t a = 0; a < activities_.size(); ++a) {
      const std::vector<Stream>& streams = activities_[a].streams;
      for (std::size_t s = 0; s < streams.size(); ++s) {
        if (can_move(streams[s])) result.push_back({a, s, streams[s].weight});
      }
      if (a != 0 && activities_[a].done()) result.push_back({a, std::nullopt, 8});
    }
    return result;
  }

  [[nodiscard]] std::optional<Move> pick() {
    const std::vector<Move> ready = moves();
    if (ready.empty()) return std::nullopt;
    std::uint64_t total = 0;
    for (const Move& move : ready) total += move.weight;
    std::uint64_t ticket = random_() % total;
    for (const Move& move : ready) {
      if (ticket < move.weight) return move;
      ticket -= move.weight;
    }
    return ready.back();
  }

  const Graph& graph_;
  const RunChoice& choice_;
  std::mt19937_64 random_;
  std::vector<Activity> activities_;  ///< The root first.
  std::vector<bool> finished_;
  std::vector<bool> body_runs_;  ///< By op.
  std::vector<std::vector<std::size_t>> waits_;
  std::vector<Event> events_;
};

class Linear {
 public:
  Linear(const Graph& graph, const RunChoice& choice) : graph_(graph), choice_(choice), random_(choice.seed) {}

  [[nodiscard]] std::vector<Event> draw() {
    run(ScopeId(0));
    return std::move(events_);
  }

 private:
  void run(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    for (std::size_t op = scope.first_op.index(); op < scope.first_op.index() + scope.op_count; ++op) {
      if (!runs(graph_.ops()[op], choice_)) continue;
      events_.push_back({OpId(op), Event::Phase::start});
      if (graph_.ops()[op].control != Control::none) run_bodies(OpId(op));
      events_.push_back({OpId(op), Event::Phase::finish});
    }
  }

  void run_bodies(OpId op) {
    const std::span<const ScopeId> bodies = graph_.bodies(op);
    const std::size_t trips = graph_.op(op).control == Control::loop ? random_() % 4 : 1;
    const ScopeId body = bodies[random_() % bodies.size()];
    for (std::size_t trip = 0; trip < trips; ++trip) {
      events_.push_back({op, Event::Phase::enter, body});
      run(body);
      events_.push_back({op, Event::Phase::leave, body});
    }
  }

  const Graph& graph_;
  const RunChoice& choice_;
  std::mt19937_64 random_;
  std::vector<Event> events_;
};

}  // namespace

std::vector<std::vector<std::size_t>> predecessors(const Graph& graph, const RunChoice& choice) {
  const Predecessors of_graph(graph, choice);
  std::vector<std::vector<std::size_t>> all(graph.ops().size());
  for (std::size_t op = 0; op < graph.ops().size(); ++op) {
    if (runs(graph.ops()[op], choice)) all[op] = of_graph.of(op);
  }
  return all;
}

std::vector<Event> linear_schedule(const Graph& graph, const RunChoice& choice) { return Linear(graph, choice).draw(); }

std::vector<Event> random_schedule(const Graph& graph, const RunChoice& choice) {
  return Interleaving(graph, choice).draw();
}

}  // namespace stowage::testing
