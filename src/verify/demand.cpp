#include "verify/demand.hpp"

#include <unordered_map>
#include <utility>

#include "verify/fill_meetings.hpp"
#include "verify/predecessors.hpp"

namespace stowage::verification {
namespace {

/// Where a copy is made for an op, or for the op that has the body.
OpId op_of(const Graph& graph, const CopyEntry& copy) {
  return copy.when.kind == CopyMoment::Kind::before_op ? copy.when.op : graph.scope(graph.scope_of(copy.tensor)).op;
}

/// The op outside of all bodies that contains the op.
OpId root_of(const Graph& graph, OpId op) {
  while (graph.scope_of(op) != ScopeId(0)) op = graph.scope(graph.scope_of(op)).op;
  return op;
}

}  // namespace

Demand::Demand(const Facts& facts, const Run& run, const std::vector<bool>& met_clears)
    : ops_(facts.input.graph.ops().size()),
      fills_(met_clears),
      copies_(facts.copies.size()),
      uses_(facts.input.plan.bindings.size()) {
  for (std::uint32_t i = 0; i < fills_.size(); ++i)
    fills_[i] = fills_[i] && facts.clears[i].exists && facts.clears[i].at_start;
  find_copies(facts, run);
  find_uses(facts, run);
  find_order(facts, run);
}

void Demand::find_copies(const Facts& facts, const Run& run) {
  const Graph& graph = facts.input.graph;
  for (const Op& op : graph.ops()) tasks_.push_back(!op.no_task && is_active(op, run.batch()) ? 1 : 0);
  for (std::uint32_t i = 0; i < copies_.size(); ++i) {
    const CopyEntry& copy = facts.copies[i];
    if (!copy.exists() || graph.tensor(copy.tensor).size == Bytes(0)) continue;
    copies_[i] = run.is_active(root_of(graph, op_of(graph, copy))) && !run.is_absent(facts.copies.source(graph, i));
    if (!copies_[i]) continue;
    if (copy.when.kind == CopyMoment::Kind::before_op) {
      copies_before_[copy.when.op].push_back(i);
      tasks_[copy.when.op.index()] = 1;
    } else {
      copies_at_end_[graph.scope_of(copy.tensor)].push_back(i);
    }
  }
}

void Demand::find_uses(const Facts& facts, const Run& run) {
  const Case& input = facts.input;
  std::unordered_map<std::size_t, std::uint32_t> of_value;  // the binding in whose buffer it lies
  std::unordered_map<std::size_t, std::uint32_t> of_arena;
  for (std::uint32_t i = 0; i < uses_.size(); ++i) of_value[input.values.of(input.plan.bindings[i].tensor).index()] = i;
  if (of_value.empty()) return;
  for (const auto& [value, binding] : of_value) uses_[binding] = run.accesses(static_cast<HolderId>(value));
  for (const auto& [value, bound] : input.bindings.all())
    if (bound.arena) of_arena[bound.arena->index()] = of_value.at(value);
  const auto use = [&](ArenaId arena) {
    const auto found = of_arena.find(arena.index());
    if (found != of_arena.end()) uses_[found->second] = true;
  };
  for (const Placement& place : input.plan.placements)
    if (run.accesses(static_cast<HolderId>(input.values.of(place.tensor).index()))) use(place.arena);
  for (const WorkspacePlacement& place : input.plan.workspaces)
    if (run.accesses(static_cast<HolderId>(input.values.of(place.op, place.index).index()))) use(place.arena);
  for (std::uint32_t i = 0; i < copies_.size(); ++i)
    if (copies_[i]) use(facts.copies[i].to.arena);
}

bool Demand::has_one_stream(const Graph& graph) const {
  std::optional<StreamId> first;
  for (std::size_t k = 0; k < ops_; ++k) {
    if (tasks_[k] != 0 && first.value_or(graph.ops()[k].stream) != graph.ops()[k].stream) return false;
    if (tasks_[k] != 0) first = graph.ops()[k].stream;
  }
  return true;
}

void Demand::find_order(const Facts& facts, const Run& run) {
  const Graph& graph = facts.input.graph;
  const FillMeetings meetings(facts, run, *this);
  auto meeting = meetings.met().begin();
  Predecessors predecessors({graph, facts.input.plan.edges, tasks_, run.batch()});
  const bool one_stream = has_one_stream(graph);  // whose order implies all others
  begin_.reserve(actors() + 1);
  for (const Scope& scope : graph.scopes()) {
    std::unordered_map<std::size_t, ActorId> last_on;
    const auto first = static_cast<std::uint32_t>(scope.first_op.index());
    for (std::uint32_t k = first; k < first + scope.op_count; ++k) {
      STOWAGE_CHECK(begin_.size() == k, "the ops of a graph are listed scope by scope");
      begin_.push_back(before_.size());
      if (predecessors.runs(k)) {
        const auto [last, is_first] = last_on.try_emplace(graph.ops()[k].stream.index(), k);
        if (!is_first) before_.push_back(std::exchange(last->second, k));
        if (!one_stream) predecessors.visit(k, [&](std::uint32_t earlier) { before_.push_back(earlier); });
        for (; meeting != meetings.met().end() && meeting->op == OpId(k); ++meeting)
          before_.push_back(actor(meeting->clear));
      }
      if (!one_stream) predecessors.pass(k);
    }
  }
  auto overlap = meetings.overlaps().begin();
  for (std::uint32_t clear = 0; clear < fills_.size(); ++clear) {
    begin_.push_back(before_.size());
    for (; overlap != meetings.overlaps().end() && overlap->second == clear; ++overlap)
      before_.push_back(actor(overlap->first));
  }
  begin_.push_back(before_.size());
}

}  // namespace stowage::verification
