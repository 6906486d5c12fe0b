#include "verify/needs.hpp"

#include <algorithm>
#include <iterator>

#include "base/interface/sort_stably.hpp"
#include "verify/groups.hpp"

namespace stowage::verification {
namespace {

bool is_inside(const Graph& graph, ScopeId scope, ScopeId outer) {
  while (scope > outer) scope = graph.scope(scope).parent;
  return scope == outer;
}

/// The fork of the path that contains the event; null if there is none.
const Fork* fork_at(const Path& path, EventIndex event) {
  const auto next = std::upper_bound(path.forks.begin(), path.forks.end(), event,
                                     [](EventIndex at, const Fork& fork) { return at < fork.from; });
  if (next == path.forks.begin() || std::prev(next)->to <= event) return nullptr;
  return &*std::prev(next);
}

}  // namespace

Needs::Needs(const Case& input, const Run& run, const Course& course, const std::vector<char>& filled_at_start)
    : input_(input), run_(run) {
  collect(course);
  stretch_over_loops(course);
  sort_stably(uses_, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.event != b.second.event ? a.second.event < b.second.event : a.second.by_copy > b.second.by_copy;
  });
  auto at = uses_.begin();
  for (std::uint32_t value = 0; value < input.values.size(); ++value) {
    first_.push_back(needs_.size());
    std::vector<Use> uses;
    for (; at != uses_.end() && at->first == value; ++at) uses.push_back(at->second);
    settle(course, ValueId(value), std::move(uses), filled_at_start[value] != 0);
  }
  first_.push_back(needs_.size());
  uses_.clear();
}

// --------------------------------------------------------------------------------------------------------------- uses

void Needs::use(ValueId value, Use use) { uses_.push_back({static_cast<std::uint32_t>(value.index()), use}); }

void Needs::use_by_copy(TensorId tensor, EventIndex at) {
  if (!run_.is_absent(tensor)) use(input_.values.of(tensor), {.event = at, .fresh = false, .by_copy = true});
}

void Needs::collect(const Course& course) {
  for (EventIndex at = 1; at < course.events.size(); ++at) {
    const Event& event = course.events[at];
    if (event.kind == Event::Kind::body_end) {
      collect_body_end(event, at);
    } else {
      collect_op(event, at);
    }
  }
}

void Needs::collect_op(const Event& event, EventIndex at) {
  const Op& op = input_.graph.op(event.op);
  if (op.no_task) return;
  if (event.kind != Event::Kind::exit) collect_inputs(event.op, at);
  if (event.kind != Event::Kind::enter) {
    for (const TensorId output : op.outputs) use(input_.values.of(output), {at});
  }
  for (std::size_t w = 0; w < op.workspaces.size(); ++w) {
    if (op.workspaces[w].size > Bytes(0)) use(input_.values.of(event.op, w), {at});
  }
  if (event.kind == Event::Kind::enter && op.control == Control::loop) collect_loop_entry(event, at);
}

void Needs::collect_inputs(OpId id, EventIndex at) {
  const std::vector<Group> groups = groups_of(input_.graph, id);
  const Op& op = input_.graph.op(id);
  const bool grouped = !groups.empty() && groups.front().of_inputs && !groups.front().given;
  for (const std::optional<TensorId>& each : op.inputs) {
    if (!each) continue;
    if (grouped || op.control == Control::loop) {
      use_by_copy(*each, at);
    } else if (!run_.is_absent(*each)) {
      use(input_.values.of(*each), {at});
    }
  }
}

/// The values from outside become the carried ones.
void Needs::collect_loop_entry(const Event& event, EventIndex at) {
  const Scope& scope = input_.graph.scope(input_.graph.bodies(event.op).front());
  for (const BodyInput& pair : scope.inputs) {
    if (!is_carried(scope, pair.inner) || input_.values.of(pair.inner) == input_.values.of(pair.outer)) continue;
    use_by_copy(pair.outer, at);
    use(input_.values.of(pair.inner), {at, true});
  }
}

void Needs::collect_body_end(const Event& event, EventIndex at) {
  const Scope& scope = input_.graph.scope(event.body);
  if (input_.graph.op(event.op).control != Control::loop) {
    for (const BodyOutput& pair : scope.outputs) {
      use_by_copy(pair.inner, at);
      use(input_.values.of(pair.outer), {at});
    }
    return;
  }
  for (const Carried& pair : scope.carried) {
    if (input_.values.of(pair.in) == input_.values.of(pair.out)) continue;  // perhaps nobody reads it
    use_by_copy(pair.out, at);
    use(input_.values.of(pair.in), {at, true});
  }
}

/// What the body of a loop takes from outside is needed in every iteration, hence throughout the loop.
void Needs::stretch_over_loops(const Course& course) {
  if (course.loops.empty()) return;
  const auto earlier = [](const auto& a, const auto& b) { return a.second.event < b.second.event; };
  for (const Course::Loop& loop : course.loops) {
    sort_stably(uses_, earlier);
    const auto from = std::upper_bound(uses_.begin(), uses_.end(), loop.enter,
                                       [](EventIndex event, const auto& use) { return event < use.second.event; });
    const auto to = std::upper_bound(from, uses_.end(), loop.end,
                                     [](EventIndex event, const auto& use) { return event < use.second.event; });
    std::vector<std::uint32_t> outer;
    for (auto use = from; use != to; ++use) {
      const Value& value = input_.values[ValueId(use->first)];
      if (!is_inside(input_.graph, value.home, loop.body)) outer.push_back(use->first);
    }
    std::sort(outer.begin(), outer.end());
    outer.erase(std::unique(outer.begin(), outer.end()), outer.end());
    for (const Carried& pair : input_.graph.scope(loop.body).carried) {
      const ValueId in = input_.values.of(pair.in);
      if (in != input_.values.of(pair.out)) std::erase(outer, static_cast<std::uint32_t>(in.index()));
    }
    for (const std::uint32_t value : outer) {
      use(ValueId(value), {loop.enter});
      use(ValueId(value), {loop.end});
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- values

/// An input that nobody reads is needed at the start and at the first op.
void Needs::add_unread_input(const Course& course, std::vector<Use>& uses) const {
  uses.push_back({0});
  for (EventIndex at = 1; at < course.events.size(); ++at) {
    if (course.events[at].op.index() != run_.first_task()) continue;
    uses.push_back({at});
    return;
  }
}

void Needs::settle(const Course& course, ValueId id, std::vector<Use> uses, bool filled_at_start) {
  const Value& value = input_.values[id];
  if (value.external() || (!value.in_use() && !value.handed)) return;
  const bool input = value.flags.has(TensorFlag::input);
  const bool output = value.flags.has(TensorFlag::output);
  const bool used = !uses.empty();
  const bool alone = value.flags.has(TensorFlag::no_reuse) && (input || output || value.accessed);
  if (value.persistent() || value.session || alone) {
    needs_.push_back({0, static_cast<EventIndex>(course.events.size()), true, true});
    return;
  }
  if (input && !used) add_unread_input(course, uses);
  // Values in different bodies of a branch may be filled by the same clear.
  const bool filled = filled_at_start && used && !fork_at(course.whole, uses.front().event);
  const bool before = input || (output && !value.accessed) || filled;
  const bool after = (output && (used || before)) || (input && input_.options.keep_inputs);
  std::size_t from = 0;
  for (std::size_t i = 1; i <= uses.size(); ++i) {
    if (i < uses.size() && !uses[i].fresh) continue;
    const std::span<const Use> content = std::span(uses).subspan(from, i - from);
    add(course.whole, {content, before && from == 0, after && i == uses.size()});
    from = i;
  }
  if (uses.empty() && before && after) add(course.whole, {{}, true, true});
}

void Needs::add(const Path& path, const Content& content) {
  if (content.uses.empty() && !(content.before && content.after)) return;
  EventIndex from = content.before ? path.from : content.uses.front().event;
  EventIndex to = content.after ? path.to : content.uses.back().event + (content.uses.back().by_copy ? 0 : 1);
  const Fork* const first = content.before ? nullptr : fork_at(path, from);
  const Fork* const last = content.after ? nullptr : fork_at(path, to - 1);
  if (first) {
    divide(*first, content);
    from = first->to;
  }
  if (last && last != first) {
    divide(*last, content);
    to = last->from;
  }
  if (from < to) needs_.push_back({from, to, content.before || first, content.after || last});
}

void Needs::divide(const Fork& fork, const Content& content) {
  const bool before = content.before || content.uses.front().event < fork.from;
  const bool after = content.after || content.uses.back().event >= fork.to;
  const auto earlier = [](const Use& use, EventIndex event) { return use.event < event; };
  for (const Path& path : fork.paths) {
    const auto from = std::lower_bound(content.uses.begin(), content.uses.end(), path.from, earlier);
    const auto to = std::lower_bound(from, content.uses.end(), path.to, earlier);
    add(path, {{from, to}, before, after});
  }
}

bool Needs::begins_at(ValueId value, EventIndex event) const {
  const std::span<const Need> needs = of(value);
  return std::any_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return need.from == event && !need.open_start; });
}

bool Needs::ends_at(ValueId value, EventIndex event) const {
  const std::span<const Need> needs = of(value);
  return std::any_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return need.to == event + 1 && !need.open_end; });
}

}  // namespace stowage::verification
