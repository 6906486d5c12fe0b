#include "support/generators/naive_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/groups.hpp"

namespace stowage::testing {
namespace {

/// More than any alignment of the graphs at hand.
constexpr Bytes kAlignment{128};

struct Spot {
  ArenaId arena;
  Bytes offset;
};

class NaivePlanner {
 public:
  explicit NaivePlanner(const Graph& graph)
      : graph_(graph), families_(find_families(graph, Bytes(1))), spots_(families_.families.size()) {
    plan_.graph = graph.name();
    for (std::size_t m = 0; m < graph.memories().size(); ++m) {
      for (const ArenaKind kind : {ArenaKind::fixed, ArenaKind::persistent, ArenaKind::session})
        plan_.arenas.push_back({.name = graph.memories()[m].name + " " + std::string(to_string(kind)),
                                .memory = MemoryId(m),
                                .kind = kind,
                                .size = {},
                                .regions = {Bytes(0)},
                                .lower_bound = {}});
    }
  }

  [[nodiscard]] Plan plan() {
    for (const Op& op : graph_.ops()) place_group(op);
    // The result of a loop lies where its value comes in; inner loops first, for theirs may be such a value.
    for (std::size_t s = graph_.scopes().size(); s-- > 1;) place_results(graph_.scope(ScopeId(s)));
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) spot(TensorId(i));
    add_placements();
    for (std::size_t s = 0; s < graph_.scopes().size(); ++s) add_actions(ScopeId(s));
    for (Arena& arena : plan_.arenas) arena.size = arena.regions.front();
    return std::move(plan_);
  }

 private:
  // ----------------------------------------------------------------------------------------------------------- places
  Spot allocate(MemoryId memory, ArenaKind kind, Bytes size) {
    const std::size_t number = kind == ArenaKind::fixed ? 0 : kind == ArenaKind::persistent ? 1 : 2;
    const ArenaId arena(3 * memory.index() + number);
    Bytes& top = plan_.arenas[arena.index()].regions.front();
    const Bytes offset = align_up(top, kAlignment);
    top = offset + size;
    return {arena, offset};
  }

  [[nodiscard]] Bytes in_family(TensorId id) const {
    return Bytes(static_cast<std::int64_t>(families_.seats[id.index()].first));
  }
  [[nodiscard]] std::optional<Spot>& family_spot(TensorId id) { return spots_[families_.seats[id.index()].family]; }

  Spot spot(TensorId id) {
    const Family& family = families_.families[families_.seats[id.index()].family];
    std::optional<Spot>& of_family = family_spot(id);
    const bool own = family.flags.any_of({TensorFlag::constant, TensorFlag::variable});
    if (!of_family)
      of_family = allocate(graph_.tensor(id).memory, own ? ArenaKind::persistent : ArenaKind::fixed,
                           Bytes(static_cast<std::int64_t>(family.cells)));
    return {of_family->arena, of_family->offset + in_family(id)};
  }

  void place_group(const Op& op) {
    const std::vector<GroupMember> members = output_members(graph_, op);
    if (members.empty() || op.contiguous_outputs != Contiguity::padded) return;
    // Outputs that lie in other tensors are where those are.
    if (!op.aliases.empty() || graph_.tensor(members.front().tensor).view_of) return;
    const Bytes size = members.back().offset + graph_.tensor(members.back().tensor).size;
    const Spot group = allocate(graph_.tensor(members.front().tensor).memory, ArenaKind::fixed, size);
    for (const GroupMember& member : members)
      family_spot(member.tensor) = Spot{group.arena, group.offset + member.offset - in_family(member.tensor)};
  }

  void place_results(const Scope& scope) {
    if (graph_.op(scope.op).control != Control::loop) return;
    for (const BodyOutput& pair : scope.outputs) {
      const Spot in = spot(incoming(scope, pair.inner));
      family_spot(pair.outer) = Spot{in.arena, in.offset - in_family(pair.outer)};
    }
  }

  [[nodiscard]] static TensorId incoming(const Scope& scope, TensorId inner) {
    for (const Carried& pair : scope.carried) {
      if (pair.out == inner) return pair.in;
    }
    return inner;
  }

  void add_placements() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorId id(t);
      const TensorFlags flags = families_.families[families_.seats[t].family].flags;
      if (flags.has(TensorFlag::external)) continue;
      plan_.placements.push_back({id, spot(id).arena, 0, spot(id).offset, graph_.tensor(id).size});
    }
  }

  // ---------------------------------------------------------------------------------------------------------- actions
  void add_actions(ScopeId id) {
    const Scope& scope = graph_.scope(id);
    for (std::size_t k = 0; k < scope.op_count; ++k) {
      const OpId op(scope.first_op.index() + k);
      if (graph_.op(op).no_task) continue;
      add_workspaces(op);
      add_fills(op);
      add_group_copies(op);
      if (graph_.op(op).control == Control::loop) add_carried_copies(op, graph_.scope(graph_.bodies(op).front()));
    }
    if (id.index() != 0) add_end_copies(scope);
  }

  void add_workspaces(OpId id) {
    const Op& op = graph_.op(id);
    workspaces_.clear();
    for (std::uint32_t i = 0; i < op.workspaces.size(); ++i) {
      const Workspace& workspace = op.workspaces[i];
      const bool session = workspace.scope == WorkspaceScope::session;
      const Spot at = allocate(workspace.memory, session ? ArenaKind::session : ArenaKind::fixed, workspace.size);
      workspaces_.push_back(at);
      plan_.workspaces.push_back({id, i, at.arena, 0, at.offset, workspace.size});
    }
  }

  void add_fills(OpId id) {
    const Op& op = graph_.op(id);
    const auto fill = [&](const Spot& at, Bytes size) {
      plan_.clears.push_back({at.arena, 0, at.offset, size, op.zero_fill.value, id});
    };
    for (const std::uint32_t output : op.zero_fill.outputs)
      fill(spot(op.outputs[output]), graph_.tensor(op.outputs[output]).size);
    for (const std::uint32_t index : op.zero_fill.workspaces) fill(workspaces_[index], op.workspaces[index].size);
  }

  void add_copy(TensorId tensor, CopyMoment when, const Spot& to) {
    plan_.copies.push_back({tensor, when, to.arena, 0, to.offset, graph_.tensor(tensor).size, "naive"});
  }

  void add_group_copies(OpId id) {
    const Op& op = graph_.op(id);
    const CopyMoment before = CopyMoment::before(id);
    if (const std::vector<GroupMember> members = input_members(graph_, op); !members.empty()) {
      const Bytes size = members.back().offset + graph_.tensor(members.back().tensor).size;
      const Spot group = is_concat(graph_, op)
                             ? spot(op.outputs.front())
                             : allocate(graph_.tensor(members.front().tensor).memory, ArenaKind::fixed, size);
      for (const GroupMember& member : members)
        add_copy(member.tensor, before, {group.arena, group.offset + member.offset});
    }
    if (!is_split(graph_, op)) return;
    for (const GroupMember& member : output_members(graph_, op)) add_copy(member.tensor, before, spot(member.tensor));
  }

  void add_carried_copies(OpId loop, const Scope& inside) {
    for (const BodyInput& pair : inside.inputs) {
      const bool carried = std::any_of(inside.carried.begin(), inside.carried.end(),
                                       [&](const Carried& each) { return each.in == pair.inner; });
      if (carried) add_copy(pair.outer, CopyMoment::before(loop), spot(pair.inner));
    }
  }

  void add_end_copies(const Scope& scope) {
    if (graph_.op(scope.op).control == Control::loop) {
      for (const Carried& pair : scope.carried) {
        const bool same = families_.seats[pair.out.index()].family == families_.seats[pair.in.index()].family;
        if (!same) add_copy(pair.out, CopyMoment::at_back_edge(), spot(pair.in));
      }
    } else {
      for (const BodyOutput& pair : scope.outputs) add_copy(pair.inner, CopyMoment::at_body_end(), spot(pair.outer));
    }
  }

  const Graph& graph_;
  Families families_;
  std::vector<std::optional<Spot>> spots_;  ///< By family.
  std::vector<Spot> workspaces_;            ///< Of the op at hand.
  Plan plan_;
};

}  // namespace

Plan naive_plan(const Graph& graph) { return NaivePlanner(graph).plan(); }

}  // namespace stowage::testing
