#include "verify/program.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "verify/demand.hpp"
#include "verify/program_steps.hpp"
#include "verify/run.hpp"
#include "verify/sync.hpp"

namespace stowage::verification {
namespace {

using Kind = ProgramStep::Kind;

/// The streams of a program by their numbers, which are smaller than how many there are.
class Streams {
 public:
  explicit Streams(const Program& program) {
    for (const ProgramStep& step : program.steps) {
      if (step.kind != Kind::bind && (list_.empty() || list_.back() != step.stream)) list_.push_back(step.stream);
    }
    std::sort(list_.begin(), list_.end());
    list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  }
  [[nodiscard]] std::size_t count() const { return list_.size(); }
  [[nodiscard]] std::uint32_t number(StreamId stream) const {
    return static_cast<std::uint32_t>(std::lower_bound(list_.begin(), list_.end(), stream) - list_.begin());
  }

 private:
  std::vector<StreamId> list_;
};

/// Judges the steps of one batch.
class BatchCheck {
 public:
  BatchCheck(const Facts& facts, const Demand& demand, std::uint32_t batch, Findings& findings)
      : facts_(facts),
        graph_(facts.input.graph),
        program_(*facts.input.plan.program),
        demand_(demand),
        batch_(batch),
        findings_(findings),
        streams_(program_),
        sync_(demand, streams_.count()),
        parts_(demand.actors()),
        bound_(facts.input.plan.bindings.size()) {
    if (batch > 0) in_batch_ = " in the runs of batch '" + graph_.batches()[batch - 1] + "'";
  }

  void run() {
    recorded_.resize(program_.steps.size());
    check_scope(ScopeId(0));
    if (right_ && !findings_.full()) {
      sync_.judge(
          {[&](const Act& late, std::optional<ActorId> early) { report(late, early); },
           [&](const Act& wait) { findings_.add(Rule::wait, "{} is not needed{}", name(wait.step), in_batch_); }});
    }
    for (std::uint32_t i = 0; i < bound_.size(); ++i) {
      if (demand_.uses(i) && bound_[i] == 0) refuse("binding {} is not checked", i);
    }
  }

 private:
  /// A scope whose steps are being read.
  struct Place {
    ScopeId scope;
    std::size_t copies_made = 0;  ///< At its end.
    bool left = false;            ///< Its end was reached.
  };

  template <class... Args>
  void refuse(fmt::format_string<Args...> format, Args&&... args) {
    right_ = false;
    findings_.add(Rule::program, "{}{}", fmt::format(format, std::forward<Args>(args)...), in_batch_);
  }
  [[nodiscard]] std::string name(std::size_t step) const { return describe_program_step(graph_, program_, step); }
  [[nodiscard]] bool is_skipped(const ProgramStep& step) const { return step.batch != 0 && step.batch != batch_; }
  [[nodiscard]] StreamId stream_of(ScopeId body) const { return graph_.op(graph_.scope(body).op).stream; }
  static std::uint32_t index_of(ScopeId body) { return static_cast<std::uint32_t>(body.index()); }

  // --------------------------------------------------------------------------------------------------------------
  // scopes

  void check_scope(ScopeId id) {
    Place place{id};
    const bool root = id == ScopeId(0);
    while (next_ < program_.steps.size() && !findings_.full()) {
      const ProgramStep& step = program_.steps[next_];
      if (is_skipped(step)) {
        ++next_;
      } else if (step.scope == id) {
        take(place);
      } else if (root) {
        refuse("{} is in a body that does not stand there", name(next_++));
      } else {
        break;
      }
    }
    finish(place);
  }

  void take(Place& place) {
    const std::size_t at = next_++;
    const ProgramStep& step = program_.steps[at];
    switch (step.kind) {
      case Kind::bind:
        return bind(step.index, at);
      case Kind::fill:
        return take_fill(place, step.index, at);
      case Kind::copy:
        return take_copy(place, step.index, at);
      case Kind::op:
        take_part(place, OpId(step.index), at);
        if (!graph_.bodies(OpId(step.index)).empty()) take_bodies(OpId(step.index), at);
        return;
      case Kind::record:
        recorded_[step.index] = true;
        return sync_.add(act(Act::Kind::record, step.stream, step.index, at));
      case Kind::wait:
        if (!recorded_[step.index]) return refuse("{} waits for an event that is not recorded", name(at));
        return sync_.add(act(Act::Kind::wait, step.stream, step.index, at));
    }
  }

  /// Whether an op does something besides its bodies: finds out which of them runs, or makes copies.
  [[nodiscard]] bool works(OpId op) const {
    const std::size_t bodies = graph_.bodies(op).size();
    return bodies != 1 || graph_.op(op).control == Control::loop || !demand_.copies_before(op).empty();
  }

  void take_bodies(OpId op, std::size_t at) {
    const std::span<const ScopeId> bodies = graph_.bodies(op);
    const StreamId stream = program_.steps[at].stream;
    const Control control = graph_.op(op).control;
    Act open = act(Act::Kind::open, stream, demand_.actor(op), at);
    open.control = control;
    open.works = works(op);
    sync_.add(open);
    for (const ScopeId body : bodies) {
      sync_.add(act(Act::Kind::enter, stream, index_of(body), at));
      check_scope(body);
    }
    sync_.add(act(Act::Kind::close, stream, demand_.actor(op), at));
  }

  void finish(const Place& place) {
    check_complete(place);
    if (place.scope == ScopeId(0)) return;
    const std::size_t last = next_ - 1;
    const bool loop = graph_.op(graph_.scope(place.scope).op).control == Control::loop;
    if (loop && !place.left) sync_.add(act(Act::Kind::join, stream_of(place.scope), index_of(place.scope), last));
    sync_.add(act(Act::Kind::leave, stream_of(place.scope), index_of(place.scope), last));
  }

  void report(const Act& late, std::optional<ActorId> early) {
    if (late.kind == Act::Kind::join && !early) {
      const Scope& body = graph_.scope(ScopeId(late.subject));
      findings_.add(Rule::wait,
                    "stream {} goes on after body {} of {} although nothing makes it wait for all ops there{}",
                    stream_of(ScopeId(late.subject)).index(), body.body, describe(graph_, body.op), in_batch_);
      return;
    }
    const OpId owner = graph_.scope(program_.steps[late.step].scope).op;
    findings_.add(Rule::wait, "{} does not wait for {}{}", name(late.step),
                  early ? name_of(*early) : describe(graph_, owner) + ", in whose body it is", in_batch_);
  }
  [[nodiscard]] std::string name_of(ActorId actor) const {
    return demand_.is_fill(actor) ? fmt::format("clear {}", demand_.fill_of(actor)) : describe(graph_, OpId(actor));
  }

  // ---------------------------------------------------------------------------------------------------------------
  // steps

  [[nodiscard]] Act act(Act::Kind kind, StreamId stream, std::uint32_t subject, std::size_t step = 0) const {
    return {kind, streams_.number(stream), subject, static_cast<std::uint32_t>(step)};
  }

  void bind(std::uint32_t index, std::size_t at) {
    if (!demand_.uses(index)) return refuse("{} is not needed", name(at));
    if (bound_[index]++ > 0) return refuse("{} was done before", name(at));
    if (worked_) refuse("{} comes after something has run", name(at));
  }

  void take_fill(Place& place, std::uint32_t index, std::size_t at) {
    if (!facts_.clears[index].at_start) return take_part(place, facts_.clears[index].before, at);
    worked_ = true;
    if (!demand_.fills(index)) return refuse("{} is not needed", name(at));
    const ActorId actor = demand_.actor(index);
    if (parts_[actor]++ > 0) return refuse("{} was done before", name(at));
    add_whole(actor, at);
  }

  void take_copy(Place& place, std::uint32_t index, std::size_t at) {
    worked_ = true;
    if (!demand_.copies(index)) return refuse("{} is not needed", name(at));
    if (facts_.copies[index].when.kind == CopyMoment::Kind::before_op)
      return take_part(place, facts_.copies[index].when.op, at);
    const std::span<const std::uint32_t> copies = demand_.copies_at_end(place.scope);
    if (place.copies_made >= copies.size() || copies[place.copies_made] != index)
      return refuse("{} was done before, or its turn has not come", name(at));
    ++place.copies_made;
    const StreamId stream = program_.steps[at].stream;
    if (!std::exchange(place.left, true)) sync_.add(act(Act::Kind::join, stream, index_of(place.scope), at));
    sync_.add(act(Act::Kind::copy, stream, index_of(place.scope), at));
  }

  /// One of the fills and copies before an op, or the op itself.
  void take_part(Place& place, OpId op, std::size_t at) {
    worked_ = true;
    if (place.left) return refuse("{} comes after the copies at the end of the body", name(at));
    if (!demand_.runs(op)) return refuse("{} is not needed", name(at));
    const ActorId actor = demand_.actor(op);
    const std::optional<ProgramStep> expected = part(op, parts_[actor]);
    const ProgramStep& step = program_.steps[at];
    if (!expected || expected->kind != step.kind || expected->index != step.index)
      return refuse("{} was done before, or its turn has not come", name(at));
    const bool first = parts_[actor]++ == 0;
    if (!works(op)) return;
    if (first) sync_.add(act(Act::Kind::start, step.stream, actor, at));
    if (!part(op, parts_[actor])) sync_.add(act(Act::Kind::finish, step.stream, actor, at));
  }

  void add_whole(ActorId actor, std::size_t at) {
    const StreamId stream = program_.steps[at].stream;
    sync_.add(act(Act::Kind::start, stream, actor, at));
    sync_.add(act(Act::Kind::finish, stream, actor, at));
  }

  /// The step number `at` of those that belong to the op: fills, copies, the op. Nothing after the last one.
  [[nodiscard]] std::optional<ProgramStep> part(OpId op, std::size_t at) const {
    const auto index = static_cast<std::uint32_t>(op.index());
    const bool task = !graph_.op(op).no_task;
    const std::span<const std::uint32_t> fills =
        op == OpId(0) ? std::span<const std::uint32_t>() : facts_.clears.before(index);
    if (at < fills.size()) return ProgramStep{Kind::fill, fills[at]};
    const std::span<const std::uint32_t> copies = demand_.copies_before(op);
    if (at < fills.size() + copies.size()) return ProgramStep{Kind::copy, copies[at - fills.size()]};
    if (task && at == fills.size() + copies.size()) return ProgramStep{Kind::op, index};
    return std::nullopt;
  }

  void check_complete(const Place& place) {
    const Scope& scope = graph_.scope(place.scope);
    for (std::size_t i = 0; i < scope.op_count && !findings_.full(); ++i) {
      const OpId op(scope.first_op.index() + i);
      const std::optional<ProgramStep> missing = demand_.runs(op) ? part(op, parts_[demand_.actor(op)]) : std::nullopt;
      if (missing) lack(*missing, op);
    }
    const std::span<const std::uint32_t> copies = demand_.copies_at_end(place.scope);
    if (place.copies_made < copies.size())
      refuse("copy {} at the end of body {} of {} is not made", copies[place.copies_made], scope.body,
             describe(graph_, scope.op));
    if (place.scope != ScopeId(0)) return;
    for (const std::uint32_t clear : facts_.clears.at_start()) {
      if (demand_.fills(clear) && parts_[demand_.actor(clear)] == 0) refuse("clear {} at the start is not made", clear);
    }
  }

  void lack(const ProgramStep& missing, OpId op) {
    if (missing.kind == Kind::op) {
      refuse("{} does not run", describe(graph_, op));
    } else {
      refuse("{} {} before {} is not made", missing.kind == Kind::fill ? "clear" : "copy", missing.index,
             describe(graph_, op));
    }
  }

  const Facts& facts_;
  const Graph& graph_;
  const Program& program_;
  const Demand& demand_;
  std::uint32_t batch_;
  Findings& findings_;
  std::string in_batch_;  ///< For messages.
  Streams streams_;
  Sync sync_;
  std::size_t next_ = 0;              ///< The first step that was not yet read.
  std::vector<std::uint32_t> parts_;  ///< By actor: how many of its steps were read.
  std::vector<std::uint32_t> bound_;  ///< By binding: how often it was checked.
  std::vector<bool> recorded_;        ///< By event.
  bool worked_ = false;               ///< Something other than bindings was read.
  bool right_ = true;                 ///< No finding of `Rule::program` so far.
};

}  // namespace

void check_program(const Facts& facts, const std::vector<std::vector<bool>>& met_clears, Findings& findings) {
  const Case& input = facts.input;
  if (!input.plan.program || !check_program_steps(input.graph, input.plan, findings)) return;
  std::vector<std::string> batches(input.graph.batches().begin(), input.graph.batches().end());
  const std::uint32_t first = batches.empty() ? 0 : 1;
  if (batches.empty()) batches.emplace_back();
  std::vector<Demand> demands;
  for (std::size_t b = 0; b < batches.size(); ++b) demands.emplace_back(facts, Run(input, batches[b]), met_clears[b]);
  for (std::uint32_t i = 0; i < input.plan.bindings.size(); ++i) {
    const bool used = std::any_of(demands.begin(), demands.end(), [&](const Demand& each) { return each.uses(i); });
    if (used) continue;
    for (Demand& each : demands) each.use_all(i);
  }
  for (std::uint32_t b = 0; b < demands.size() && !findings.full(); ++b)
    BatchCheck(facts, demands[b], first + b, findings).run();
}

}  // namespace stowage::verification
