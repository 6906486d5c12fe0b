#include "lower/interface/program.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "lower/duties.hpp"
#include "lower/start_fills.hpp"
#include "lower/uses.hpp"
#include "lower/waits.hpp"

/// 1. `Duties` says which fills and copies are made when, and in which batches; `StartFills` on which streams.
/// 2. `WaitFinder` finds the waits of each batch (numbered from 1; without batches there is one, 0).
/// 3. What is the same in all batches becomes one step; of anything else, each batch that needs it gets its own.
/// 4. The steps are written out in the order of the ops, and events are numbered on the way.
namespace stowage {
namespace {

/// A wait, and the label (`ProgramStep::batch`) of its step.
struct LabelledWait {
  NodeId to;
  NodeId from;
  std::uint32_t batch;

  friend auto operator<=>(const LabelledWait&, const LabelledWait&) = default;
};

/// The event that waits of one label for one node wait for. If some wait is for all batches, so is the only event.
struct NodeEvent {
  NodeId from;
  std::uint32_t batch;
  std::uint32_t number = 0;

  [[nodiscard]] std::pair<NodeId, std::uint32_t> key() const { return {from, batch}; }
};

class Writer {
 public:
  Writer(const Graph& graph, const Plan& plan)
      : graph_(graph),
        plan_(plan),
        duties_(graph, plan),
        fills_(graph, plan, duties_),
        nodes_(graph, plan),
        batches_(static_cast<std::uint32_t>(graph.batches().size())) {}

  Program run() {
    find_waits();
    find_events();
    program_.steps.reserve(graph_.ops().size() + plan_.clears.size() + plan_.copies.size() + waits_.size() +
                           events_.size() + plan_.bindings.size());
    write_bindings();
    write_start_fills();
    write_scope(ScopeId(0));
    return std::move(program_);
  }

 private:
  using Kind = ProgramStep::Kind;

  /// Calls `f(batch)` for each number that steps of one batch have in this graph.
  template <class F>
  void for_each_batch(F&& f) const {
    for (std::uint32_t batch = batches_ == 0 ? 0 : 1; batch <= batches_; ++batch) f(batch);
  }

  /// Calls `f(label)` for the labels of the steps of something that is done in the batches for which `is_done` holds:
  /// once if that is all in which `common` (the label of the op that it belongs to, or 0) runs.
  template <class IsDone, class F>
  void for_each_label(std::uint32_t common, IsDone&& is_done, F&& f) const {
    std::uint32_t of = 0;
    std::uint32_t done = 0;
    for_each_batch([&](std::uint32_t batch) {
      if (common != 0 && batch != common) return;
      ++of;
      if (is_done(batch)) ++done;
    });
    if (of == done) return f(common);
    for_each_batch([&](std::uint32_t batch) {
      if ((common == 0 || batch == common) && is_done(batch)) f(batch);
    });
  }

  // --------------------------------------------------------------------------------------------------------------
  // waits

  void find_waits() {
    std::vector<LabelledWait> found;
    WaitFinder finder(graph_, plan_, duties_, fills_);
    for_each_batch([&](std::uint32_t batch) {
      for (const NodeWait& wait : finder.run(batch)) found.push_back({wait.to, wait.from, batch});
    });
    std::sort(found.begin(), found.end());
    for (std::size_t begin = 0, end = 0; begin < found.size(); begin = end) {
      const LabelledWait& first = found[begin];
      while (end < found.size() && found[end].to == first.to && found[end].from == first.from) ++end;
      const std::uint32_t common = std::max(label_of(first.to), label_of(first.from));
      const auto is_found = [&](std::uint32_t batch) {
        return std::any_of(&found[begin], &found[end - 1] + 1,
                           [&](const LabelledWait& each) { return each.batch == batch; });
      };
      for_each_label(common, is_found, [&](std::uint32_t label) { waits_.push_back({first.to, first.from, label}); });
    }
  }

  void find_events() {
    for (const LabelledWait& wait : waits_) events_.push_back({wait.from, wait.batch});
    const auto by_key = [](const NodeEvent& a, const NodeEvent& b) { return a.key() < b.key(); };
    std::sort(events_.begin(), events_.end(), by_key);
    const auto covered = [](const NodeEvent& kept, const NodeEvent& each) {
      return kept.from == each.from && (kept.batch == each.batch || kept.batch == 0);
    };
    events_.erase(std::unique(events_.begin(), events_.end(), covered), events_.end());
  }

  [[nodiscard]] std::vector<NodeEvent>::iterator first_event(NodeId from) {
    return std::lower_bound(events_.begin(), events_.end(), from,
                            [](const NodeEvent& each, NodeId node) { return each.from < node; });
  }

  /// The batch of the op that a node belongs to; 0 of a fill at the start.
  [[nodiscard]] std::uint32_t label_of(NodeId node) const {
    if (node < nodes_.ops) return duties_.batch_of(OpId(node));
    if (node < nodes_.begin(ScopeId(0))) return 0;
    const std::size_t scope = (node - nodes_.begin(ScopeId(0))) % nodes_.scopes;
    return duties_.batch_of(graph_.scopes()[scope].op);
  }

  // --------------------------------------------------------------------------------------------------------------
  // steps

  void write_bindings() {
    if (plan_.bindings.empty()) return;
    const BufferUses uses(graph_, plan_, duties_);
    for (std::uint32_t i = 0; i < plan_.bindings.size(); ++i) {
      for_each_label(
          0, [&](std::uint32_t batch) { return uses.in(i, batch); },
          [&](std::uint32_t label) { program_.steps.push_back({Kind::bind, i, {}, {}, label}); });
    }
  }

  void write_start_fills() {
    for (const std::uint32_t i : duties_.fills_at_start()) {
      const At at{fills_.stream(i), ScopeId(0)};
      write_waits(nodes_.fill(i), at);
      for_each_label(
          0, [&](std::uint32_t batch) { return fills_.batches(i)[batch]; },
          [&](std::uint32_t label) { write(Kind::fill, i, at, label); });
      write_record(nodes_.fill(i), at);
    }
  }

  /// Where steps belong.
  struct At {
    StreamId stream;
    ScopeId scope;
  };

  void write_scope(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    for (std::size_t i = 0; i < scope.op_count; ++i) write_op(OpId(scope.first_op.index() + i), id);
  }

  void write_op(OpId id, ScopeId scope) {
    const At at{graph_.op(id).stream, scope};
    const std::uint32_t label = duties_.batch_of(id);
    write_waits(nodes_.of(id), at);
    duties_.fills_before().visit(id, [&](std::uint32_t i) { write(Kind::fill, i, at, label); });
    duties_.copies_before().visit(id, [&](std::uint32_t i) { write_copy(i, at, label); });
    if (!graph_.op(id).no_task) write(Kind::op, static_cast<std::uint32_t>(id.index()), at, label);
    for (const ScopeId body : graph_.bodies(id)) write_body(body, {at.stream, body}, label);
    write_record(nodes_.of(id), at);
  }

  void write_body(ScopeId body, At at, std::uint32_t label) {
    write_record(nodes_.begin(body), at);
    write_scope(body);
    write_waits(nodes_.end(body), at);
    duties_.copies_at_end().visit(body, [&](std::uint32_t i) { write_copy(i, at, label); });
  }

  void write_copy(std::uint32_t index, At at, std::uint32_t common) {
    for_each_label(
        common, [&](std::uint32_t batch) { return duties_.is_made(index, batch); },
        [&](std::uint32_t label) { write(Kind::copy, index, at, label); });
  }

  void write_waits(NodeId to, At at) {
    auto wait = std::lower_bound(waits_.begin(), waits_.end(), to,
                                 [](const LabelledWait& each, NodeId node) { return each.to < node; });
    for (; wait != waits_.end() && wait->to == to; ++wait) {
      auto event = first_event(wait->from);
      while (event->batch != 0 && event->batch != wait->batch) ++event;
      write(Kind::wait, event->number, at, wait->batch);
    }
  }

  void write_record(NodeId from, At at) {
    for (auto event = first_event(from); event != events_.end() && event->from == from; ++event) {
      event->number = next_event_++;
      write(Kind::record, event->number, at, event->batch);
    }
  }

  void write(Kind kind, std::uint32_t index, At at, std::uint32_t label) {
    program_.steps.push_back({kind, index, at.stream, at.scope, label});
  }

  const Graph& graph_;
  const Plan& plan_;
  Duties duties_;
  StartFills fills_;
  Nodes nodes_;
  std::uint32_t batches_;
  std::vector<LabelledWait> waits_;  ///< Ascending.
  std::vector<NodeEvent> events_;    ///< Ascending by key.
  std::uint32_t next_event_ = 0;
  Program program_;
};

}  // namespace

Program make_program(const Graph& graph, const Plan& plan) { return Writer(graph, plan).run(); }

}  // namespace stowage
