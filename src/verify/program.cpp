#include "verify/program.hpp"

#include <algorithm>
#include <map>
#include <optional>
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
        positions_(demand.actors(), program_.steps.size()),
        parts_(demand.actors()),
        bound_(facts.input.plan.bindings.size()) {
    if (batch > 0) in_batch_ = " in the runs of batch '" + graph_.batches()[batch - 1] + "'";
    if (graph_.has_bodies()) find_last_steps();
  }

  void run() {
    recorded_.resize(program_.steps.size());
    check_scope(ScopeId(0), false);
    for (std::uint32_t i = 0; i < bound_.size(); ++i) {
      if (demand_.uses(i) && bound_[i] == 0) refuse("binding {} is not checked", i);
    }
  }

 private:
  /// A scope whose steps are being read.
  struct Place {
    ScopeId scope;
    Sync sync;
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

  // --------------------------------------------------------------------------------------------------------------
  // scopes

  /// The last step that does more than wait, by scope and stream.
  void find_last_steps() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const ProgramStep& step = program_.steps[i];
      const bool works = !is_skipped(step) && step.kind != Kind::bind && step.kind != Kind::wait;
      if (works) last_step_[{step.scope, step.stream}] = i;
    }
  }

  /// Whether the stream of an op with bodies goes on after the op, so that the end of the body must be waited for.
  [[nodiscard]] bool goes_on(OpId op, std::size_t step, ScopeId scope, bool scope_goes_on) const {
    const StreamId stream = graph_.op(op).stream;
    if (graph_.op(op).control == Control::loop || last_step_.at({scope, stream}) > step) return true;
    return scope != ScopeId(0) && scope_goes_on && stream == stream_of(scope);
  }

  void check_scope(ScopeId id, bool end_matters) {
    Place place{id, Sync(demand_, streams_.count(), positions_)};
    const bool root = id == ScopeId(0);
    if (!root) place.sync.add(act(Act::Kind::enter, stream_of(id), 0));
    while (next_ < program_.steps.size() && !findings_.full()) {
      const ProgramStep& step = program_.steps[next_];
      if (is_skipped(step)) {
        ++next_;
      } else if (step.scope == id) {
        take(place, end_matters);
      } else if (root) {
        refuse("{} is in a body that does not stand there", name(next_++));
      } else {
        break;
      }
    }
    finish(place, end_matters);
  }

  void take(Place& place, bool end_matters) {
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
        for (const ScopeId body : graph_.bodies(OpId(step.index)))
          check_scope(body, goes_on(OpId(step.index), at, place.scope, end_matters));
        return;
      case Kind::record:
        recorded_[step.index] = true;
        return place.sync.add(act(Act::Kind::record, step.stream, step.index, at));
      case Kind::wait:
        if (!recorded_[step.index]) return refuse("{} waits for an event that is not recorded", name(at));
        return place.sync.add(act(Act::Kind::wait, step.stream, step.index, at));
    }
  }

  void finish(Place& place, bool end_matters) {
    const bool root = place.scope == ScopeId(0);
    const std::size_t last = next_ == 0 ? 0 : next_ - 1;
    if (!root && !place.left && end_matters) place.sync.add(act(Act::Kind::leave, stream_of(place.scope), 0, last));
    check_complete(place);
    if (!right_ || findings_.full()) return;
    place.sync.judge(
        {[&](const Act& late, std::optional<ActorId> early) { report(place, late, early); },
         [&](const Act& wait) { findings_.add(Rule::wait, "{} is not needed{}", name(wait.step), in_batch_); }});
  }

  void report(const Place& place, const Act& late, std::optional<ActorId> early) {
    if (late.kind == Act::Kind::leave) {
      findings_.add(Rule::wait,
                    "stream {} goes on after body {} of {} although nothing makes it wait for all ops there{}",
                    stream_of(place.scope).index(), graph_.scope(place.scope).body,
                    describe(graph_, graph_.scope(place.scope).op), in_batch_);
      return;
    }
    findings_.add(Rule::wait, "{} does not wait for {}{}", name(late.step),
                  early ? name_of(*early) : describe(graph_, graph_.scope(place.scope).op) + ", in whose body it is",
                  in_batch_);
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
    add_whole(place, actor, at);
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
    if (!std::exchange(place.left, true)) place.sync.add(act(Act::Kind::leave, program_.steps[at].stream, 0, at));
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
    if (parts_[actor]++ == 0) place.sync.add(act(Act::Kind::start, step.stream, actor, at));
    if (!part(op, parts_[actor])) place.sync.add(act(Act::Kind::finish, step.stream, actor, at));
  }

  void add_whole(Place& place, ActorId actor, std::size_t at) {
    const StreamId stream = program_.steps[at].stream;
    place.sync.add(act(Act::Kind::start, stream, actor, at));
    place.sync.add(act(Act::Kind::finish, stream, actor, at));
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
  Positions positions_;
  std::map<std::pair<ScopeId, StreamId>, std::size_t> last_step_;  ///< Only with bodies.
  std::size_t next_ = 0;                                           ///< The first step that was not yet read.
  std::vector<std::uint32_t> parts_;                               ///< By actor: how many of its steps were read.
  std::vector<std::uint32_t> bound_;                               ///< By binding: how often it was checked.
  std::vector<bool> recorded_;                                     ///< By event.
  bool worked_ = false;                                            ///< Something other than bindings was read.
  bool right_ = true;                                              ///< No finding of `Rule::program` so far.
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
