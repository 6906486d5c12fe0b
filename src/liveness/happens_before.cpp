#include "liveness/interface/happens_before.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "graph/interface/dependencies.hpp"

/// Vector clocks, computed backwards. The ops are walked from last to first. When an op is reached, its row is
/// complete, because everything that happens after it comes later in the linear order; the row is then merged into the
/// rows of its direct predecessors. A forward clock ("how much of stream t happened before me") could be turned into
/// thresholds only by a search; the entries of a backward clock are the thresholds.
///
/// Bodies and batches: an op that might not run must not order other ops. So the ops of a body that uses other streams
/// than its op get their own columns, and so do the ops of each batch. Body ops are ordered with the rest by the steps
/// at which their op starts and ends, batch ops by the order of their batch's run. Each batch is walked separately; two
/// steps that are common to all batches are ordered only if they are ordered in every run.
namespace stowage {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A stream of the graph, or its substitute in a batch or a body.
struct Column {
  std::uint32_t batch = 0;
};

/// For each step of one run its direct predecessors.
struct RunSteps {
  std::vector<std::uint32_t> steps;  ///< Ascending.
  std::vector<std::size_t> begin;    ///< By position in `steps`, and the end: where its predecessors begin.
  std::vector<std::uint32_t> predecessors;
};

/// Walks the timeline and finds columns and predecessors.
class Walk {
 public:
  Walk(const Graph& graph, const Timeline& timeline, const Dependencies& dependencies, std::span<const Edge> edges)
      : graph_(graph),
        timeline_(timeline),
        dependencies_(dependencies),
        edges_(edges.begin(), edges.end()),
        column_of_(timeline.moments.size()) {
    std::sort(edges_.begin(), edges_.end(), [](Edge a, Edge b) { return a.to < b.to; });
    number_columns();
    // A graph with several streams counts as such even if only one of them has task ops.
    while (columns_.size() < 2) columns_.emplace_back();
  }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::uint32_t>& column_of() const { return column_of_; }

  /// The steps that are common to all batches and those of `batch`.
  [[nodiscard]] RunSteps run(std::uint32_t batch) const {
    RunSteps run;
    State state(graph_, columns_.size(), batch);
    for (std::size_t k = 0; k < timeline_.moments.size(); ++k) {
      const Moment& moment = timeline_.moments[k];
      if (moment.batch != 0 && moment.batch != batch) continue;
      if (moment.kind == Moment::Kind::start) continue;
      const bool task = moment.kind != Moment::Kind::op || !graph_.op(moment.op).no_task;
      if (task) {
        run.steps.push_back(static_cast<std::uint32_t>(k));
        run.begin.push_back(run.predecessors.size());
        follow(moment, k, state, run.predecessors);
      }
    }
    run.begin.push_back(run.predecessors.size());
    return run;
  }

 private:
  /// An op with bodies that has started.
  struct OpenOp {
    std::uint32_t gate;               ///< The step that the ops of the current body come after.
    std::vector<std::uint32_t> ends;  ///< The steps at which ops of the current body ended so far.
  };

  struct State {
    State(const Graph& graph, std::size_t columns, std::uint32_t of_batch)
        : batch(of_batch),
          last_on_column(columns, kNone),
          last_on_stream(graph.stream_count(), kNone),
          step_of(graph.ops().size(), kNone) {}

    std::uint32_t batch;
    std::vector<std::uint32_t> last_on_column;
    std::vector<std::uint32_t> last_on_stream;  ///< The op outside of bodies that ended last there, of any batch.
    std::vector<std::uint32_t> step_of;         ///< By op: the step at which it ended.
    std::vector<OpenOp> open;
  };

  void follow(const Moment& moment, std::size_t k, State& state, std::vector<std::uint32_t>& predecessors) const {
    const auto step = static_cast<std::uint32_t>(k);
    const auto after = [&](std::uint32_t earlier) {
      if (earlier != kNone) predecessors.push_back(earlier);
    };
    std::uint32_t& last = state.last_on_column[column_of_[k]];
    after(last);
    last = step;
    const bool begins = moment.kind == Moment::Kind::op || moment.kind == Moment::Kind::enter;
    if (begins || moment.kind == Moment::Kind::copy) {
      begin(moment, state, after);
      if (moment.kind == Moment::Kind::enter) state.open.push_back({step, {}});
      if (moment.kind == Moment::Kind::op) end(moment.op, step, state);
    } else if (moment.kind == Moment::Kind::body_end) {
      OpenOp& open = state.open.back();
      after(open.gate);
      for (const std::uint32_t inside : open.ends) after(inside);
      open = {step, {}};
    } else {
      after(state.open.back().gate);
      state.open.pop_back();
      end(moment.op, step, state);
    }
  }

  template <class After>
  void begin(const Moment& moment, const State& state, const After& after) const {
    after(state.open.empty() ? state.last_on_stream[graph_.op(moment.op).stream.index()] : state.open.back().gate);
    for (const Dependency& each : dependencies_.of(moment.op)) {
      // What orders the ops of a stream is known already; in bodies it is their columns.
      if (each.kind != DependencyKind::after && each.kind != DependencyKind::data) continue;
      if (each.batch == 0 || each.batch == state.batch) after(state.step_of[each.from.index()]);
    }
    for (auto edge =
             std::lower_bound(edges_.begin(), edges_.end(), moment.op, [](Edge each, OpId to) { return each.to < to; });
         edge != edges_.end() && edge->to == moment.op; ++edge) {
      after(state.step_of[edge->from.index()]);
    }
  }

  void end(OpId op, std::uint32_t step, State& state) const {
    state.step_of[op.index()] = step;
    if (state.open.empty())
      state.last_on_stream[graph_.op(op).stream.index()] = step;
    else
      state.open.back().ends.push_back(step);
  }

  // ---------------------------------------------------------------------------------------------------------- columns

  /// The columns of a scope's streams, created when they are needed.
  struct Frame {
    std::optional<std::uint32_t> shared;  ///< Set if all its ops are on its op's stream.
    std::map<std::size_t, std::uint32_t> own = {};
  };

  void number_columns() {
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> roots;  // by batch and stream
    std::vector<Frame> frames;
    for (std::size_t k = 0; k < timeline_.moments.size(); ++k) {
      const Moment& moment = timeline_.moments[k];
      if (moment.kind == Moment::Kind::start) continue;
      if (moment.kind == Moment::Kind::body_end || moment.kind == Moment::Kind::exit) {
        column_of_[k] = open_columns_.back();
        if (moment.kind == Moment::Kind::exit) {
          open_columns_.pop_back();
          frames.pop_back();
        } else {  // the next body of a branch is another frame
          frames.back() = frame_of(next_body(moment), open_columns_.back());
        }
        continue;
      }
      if (moment.kind == Moment::Kind::op && graph_.op(moment.op).no_task) continue;
      const std::size_t stream = graph_.op(moment.op).stream.index();
      if (frames.empty()) {
        column_of_[k] =
            roots.try_emplace({moment.batch, stream}, static_cast<std::uint32_t>(columns_.size())).first->second;
      } else {
        column_of_[k] = column_in(frames.back(), stream);
      }
      while (column_of_[k] >= columns_.size()) columns_.push_back({moment.batch});
      if (moment.kind != Moment::Kind::enter) continue;
      open_columns_.push_back(column_of_[k]);
      frames.push_back(frame_of(graph_.bodies(moment.op).front(), column_of_[k]));
    }
  }

  [[nodiscard]] std::uint32_t column_in(Frame& frame, std::size_t stream) const {
    if (frame.shared) return *frame.shared;
    return frame.own.try_emplace(stream, static_cast<std::uint32_t>(columns_.size())).first->second;
  }

  [[nodiscard]] std::optional<ScopeId> next_body(const Moment& moment) const {
    const std::span<const ScopeId> bodies = graph_.bodies(moment.op);
    const std::size_t next = graph_.scope(moment.scope).body + 1;
    return next < bodies.size() ? std::optional(bodies[next]) : std::nullopt;
  }

  [[nodiscard]] Frame frame_of(std::optional<ScopeId> id, std::uint32_t column) const {
    if (!id) return {column};
    const Scope& scope = graph_.scope(*id);
    const StreamId owner = graph_.op(scope.op).stream;
    for (std::size_t k = 0; k < scope.op_count; ++k) {
      const Op& op = graph_.op(OpId(scope.first_op.index() + k));
      if (!op.no_task && op.stream != owner) return {std::nullopt};
    }
    return {column};
  }

  const Graph& graph_;
  const Timeline& timeline_;
  const Dependencies& dependencies_;
  std::vector<Edge> edges_;  ///< Ascending by `to`.
  std::vector<Column> columns_;
  std::vector<std::uint32_t> column_of_;  ///< By step.
  std::vector<std::uint32_t> open_columns_;
};

/// For each step of one run, the first step on each column that comes after it. Filled from last to first.
class Rows {
 public:
  Rows(std::size_t steps, std::size_t columns) : columns_(columns), next_(steps * columns, kNone) {}

  void fill(const RunSteps& run, const std::vector<std::uint32_t>& column_of) {
    for (std::size_t i = run.steps.size(); i-- > 0;) {
      for (std::size_t p = run.begin[i]; p < run.begin[i + 1]; ++p)
        link(run.predecessors[p], run.steps[i], column_of[run.steps[i]]);
    }
  }

  [[nodiscard]] std::uint32_t* row(std::size_t step) { return &next_[step * columns_]; }
  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(next_); }

 private:
  void link(std::uint32_t earlier, std::uint32_t later, std::uint32_t column) {
    std::uint32_t* const to = row(earlier);
    const std::uint32_t* const from = row(later);
    for (std::size_t c = 0; c < columns_; ++c) to[c] = std::min(to[c], from[c]);
    to[column] = std::min(to[column], later);
  }

  std::size_t columns_;
  std::vector<std::uint32_t> next_;  ///< Row-major, step × column.
};

/// Where the batches lie on the timeline.
struct BatchSteps {
  std::vector<std::uint32_t> begin;  ///< By batch, from 1.
  std::uint32_t first = kNone;       ///< The first step of any batch.
  std::uint32_t end = 0;             ///< One past the last step of any batch.
};

BatchSteps find_batches(const Timeline& timeline, std::size_t batches) {
  BatchSteps result{std::vector<std::uint32_t>(batches + 1, kNone)};
  for (std::size_t k = timeline.moments.size(); k-- > 0;) {
    const std::uint32_t batch = timeline.moments[k].batch;
    if (batch == 0) continue;
    const auto step = static_cast<std::uint32_t>(k);
    result.begin[batch] = step;
    result.first = std::min(result.first, step);
    result.end = std::max(result.end, step + 1);
  }
  return result;
}

/// Merges the rows of the runs of all batches.
///
/// Batches exclude each other; the one that is later on the timeline counts as coming after. But the relation must be
/// transitive although nothing really orders two batches: what comes before one must come before the other, and the
/// same for what comes after. So a step of one batch counts as before a step of a later batch only from the point where
/// the latter is after everything in front of the batches, and as before a common step only from the point where that
/// is after everything up to the end of the batches.
class BatchMerge {
 public:
  BatchMerge(const Graph& graph, const Timeline& timeline, const Walk& walk)
      : timeline_(timeline),
        walk_(walk),
        batches_(find_batches(timeline, graph.batches().size())),
        settled_(walk.columns().size(), 0),
        merged_(timeline.moments.size(), walk.columns().size()) {}

  std::vector<std::uint32_t> run() {
    for (std::size_t c = 0; c < settled_.size(); ++c) {
      const std::uint32_t batch = walk_.columns()[c].batch;
      settled_[c] = batch == 0 ? batches_.end : batches_.begin[batch];
    }
    for (std::uint32_t batch = 1; batch < batches_.begin.size(); ++batch) add(batch);
    const bool excluding = batches_.begin.size() > 2;  // there are at least two
    for (std::size_t k = 0; k < timeline_.moments.size() && excluding; ++k) {
      if (const std::uint32_t of = timeline_.moments[k].batch; of != 0) settle(k, of);
    }
    return merged_.take();
  }

 private:
  void add(std::uint32_t batch) {
    Rows rows(timeline_.moments.size(), settled_.size());
    const RunSteps run = walk_.run(batch);
    rows.fill(run, walk_.column_of());
    for (const std::uint32_t step : run.steps) {
      for (std::size_t c = 0; c < settled_.size(); ++c) {
        const std::uint32_t target = walk_.columns()[c].batch;
        if (target != 0 && target != batch) continue;
        const std::uint32_t found = rows.row(step)[c];
        const bool before = step < (target == 0 ? batches_.end : batches_.first);
        if (before) settled_[c] = std::max(settled_[c], found);
        std::uint32_t& cell = merged_.row(step)[c];
        const bool common = timeline_.moments[step].batch == 0 && target == 0;
        cell = common && batch > 1 ? std::max(cell, found) : found;
      }
    }
  }

  /// Fills the row of a step of one batch for the columns of other batches and for the common columns.
  void settle(std::size_t step, std::uint32_t of) {
    for (std::size_t c = 0; c < settled_.size(); ++c) {
      const std::uint32_t target = walk_.columns()[c].batch;
      if (target == of) continue;
      merged_.row(step)[c] = target == 0 || target > of ? settled_[c] : kNone;
    }
  }

  const Timeline& timeline_;
  const Walk& walk_;
  BatchSteps batches_;
  std::vector<std::uint32_t> settled_;  ///< By column: the step from which on it is after everything in front.
  Rows merged_;
};

bool has_batches(const Timeline& timeline) {
  return std::any_of(timeline.moments.begin(), timeline.moments.end(),
                     [](const Moment& moment) { return moment.batch != 0; });
}

Timeline plain_timeline(const Graph& graph) {
  Timeline timeline;
  for (std::size_t k = 0; k < graph.ops().size(); ++k)
    timeline.moments.push_back({Moment::Kind::op, OpId(k), ScopeId(0), 0});
  return timeline;
}

}  // namespace

HappensBefore::HappensBefore(const Graph& graph)
    : HappensBefore(graph, plain_timeline(graph), find_dependencies(graph, WantedDependencies::waited_for), {}) {}

HappensBefore::HappensBefore(const Graph& graph, const Timeline& timeline, const Dependencies& dependencies,
                             std::span<const Edge> edges) {
  if (graph.stream_count() == 1) return;
  const Walk walk(graph, timeline, dependencies, edges);
  streams_ = walk.columns().size();
  stream_of_ = walk.column_of();
  if (has_batches(timeline)) {
    next_ = BatchMerge(graph, timeline, walk).run();
    return;
  }
  Rows rows(timeline.moments.size(), streams_);
  rows.fill(walk.run(0), walk.column_of());
  next_ = rows.take();
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
