#include "verify/program_steps.hpp"

#include <set>
#include <utility>

namespace stowage::verification {
namespace {

using Kind = ProgramStep::Kind;

class StepCheck {
 public:
  StepCheck(const Graph& graph, const Plan& plan, Findings& findings)
      : graph_(graph), plan_(plan), program_(*plan.program), findings_(findings) {
    for (const Op& op : graph.ops())
      if (!op.no_task) streams_.insert(op.stream);
    for (const Copy& copy : plan.copies) streams_.insert(graph.op(op_of(copy)).stream);
  }

  bool run() {
    for (number_ = 0; number_ < program_.steps.size() && !findings_.full(); ++number_) {
      const ProgramStep& step = program_.steps[number_];
      if (exists(step)) check(step);
    }
    return right_;
  }

 private:
  bool refuse(Rule rule, const std::string& why) {
    right_ = false;
    const bool named = rule != Rule::reference;
    findings_.add(
        rule, "{} {}",
        named ? describe_program_step(graph_, program_, number_) : fmt::format("step {} of the program", number_), why);
    return false;
  }

  bool exists(const ProgramStep& step) {
    if (step.scope.index() >= graph_.scopes().size())
      return refuse(Rule::reference, fmt::format("is in body {}, which does not exist", step.scope.index()));
    if (step.batch > graph_.batches().size())
      return refuse(Rule::reference, fmt::format("is for batch {}, which does not exist", step.batch));
    const auto [what, count] = list_of(step.kind);
    if (step.index < count) return true;
    return refuse(Rule::reference, fmt::format("names {} {}, which does not exist", what, step.index));
  }

  /// What the index of a step counts, and how many there are.
  [[nodiscard]] std::pair<const char*, std::size_t> list_of(Kind kind) const {
    switch (kind) {
      case Kind::bind:
        return {"binding", plan_.bindings.size()};
      case Kind::fill:
        return {"clear", plan_.clears.size()};
      case Kind::copy:
        return {"copy", plan_.copies.size()};
      case Kind::op:
        return {"op", graph_.ops().size()};
      case Kind::record:
      case Kind::wait:
        break;
    }
    return {"event", program_.steps.size()};
  }

  void check(const ProgramStep& step) {
    switch (step.kind) {
      case Kind::bind:
        check_scope(step, ScopeId(0));
        return;
      case Kind::fill: {
        const OpId before = plan_.clears[step.index].before;
        if (!check_scope(step, graph_.scope_of(before))) return;
        before == OpId(0) ? check_stream_used(step) : check_stream(step, before);
        return;
      }
      case Kind::copy:
        if (check_scope(step, graph_.scope_of(plan_.copies[step.index].tensor)))
          check_stream(step, op_of(plan_.copies[step.index]));
        return;
      case Kind::op:
        if (graph_.op(OpId(step.index)).no_task) {
          refuse(Rule::program, "is of an op without a task");
        } else if (check_scope(step, graph_.scope_of(OpId(step.index)))) {
          check_stream(step, OpId(step.index));
        }
        return;
      case Kind::record:
        if (step.index != recorded_in_.size())
          refuse(Rule::program, fmt::format("should record event {}, the next one", recorded_in_.size()));
        recorded_in_.push_back(step.scope);
        check_stream_used(step);
        return;
      case Kind::wait:
        if (step.index >= recorded_in_.size()) {
          refuse(Rule::wait, "comes before the event is recorded");
        } else if (recorded_in_[step.index] != step.scope) {
          refuse(Rule::wait, "is in another body than the record of the event");
        }
        check_stream_used(step);
        return;
    }
  }

  [[nodiscard]] OpId op_of(const Copy& copy) const {
    const bool before = copy.when.kind == CopyMoment::Kind::before_op;
    return before ? copy.when.op : graph_.scope(graph_.scope_of(copy.tensor)).op;
  }

  bool check_scope(const ProgramStep& step, ScopeId scope) {
    return step.scope == scope || refuse(Rule::program, "is in another body than what it is for");
  }

  void check_stream(const ProgramStep& step, OpId op) {
    const StreamId stream = graph_.op(op).stream;
    if (step.stream == stream) return;
    refuse(Rule::program, fmt::format("is not on stream {}, that of {}", stream.index(), describe(graph_, op)));
  }

  /// So that there are no more streams than the graph has.
  void check_stream_used(const ProgramStep& step) {
    if (!streams_.contains(step.stream)) refuse(Rule::program, "is on a stream that no op has");
  }

  const Graph& graph_;
  const Plan& plan_;
  const Program& program_;
  Findings& findings_;
  std::set<StreamId> streams_;  ///< On which ops of the graph run.
  std::size_t number_ = 0;
  bool right_ = true;
  std::vector<ScopeId> recorded_in_;  ///< By event.
};

}  // namespace

std::string describe_program_step(const Graph& graph, const Program& program, std::size_t number) {
  const ProgramStep& step = program.steps[number];
  const auto text = [&]() -> std::string {
    switch (step.kind) {
      case Kind::bind:
        return fmt::format("binding {}", step.index);
      case Kind::fill:
        return fmt::format("clear {} on stream {}", step.index, step.stream.index());
      case Kind::copy:
        return fmt::format("copy {}", step.index);
      case Kind::op:
        return describe(graph, OpId(step.index));
      case Kind::record:
        return fmt::format("record of event {} on stream {}", step.index, step.stream.index());
      case Kind::wait:
        return fmt::format("wait for event {} on stream {}", step.index, step.stream.index());
    }
    return "unknown";
  };
  return fmt::format("step {} of the program ({})", number, text());
}

bool check_program_steps(const Graph& graph, const Plan& plan, Findings& findings) {
  return StepCheck(graph, plan, findings).run();
}

}  // namespace stowage::verification
