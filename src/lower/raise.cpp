#include <algorithm>
#include <map>

#include "lower/clears.hpp"
#include "stowage/lower.hpp"

namespace stowage {
namespace {

/// Regions that hold something, renumbered without gaps; at least one.
struct UsedRegions {
  std::vector<std::uint32_t> number;  ///< By region of the Problem.
  std::vector<Bytes> tops;            ///< By number.
};

UsedRegions used_regions(std::span<const Bytes> tops) {
  UsedRegions used;
  for (const Bytes top : tops) {
    used.number.push_back(static_cast<std::uint32_t>(used.tops.size()));
    if (top > Bytes(0)) used.tops.push_back(top);
  }
  if (used.tops.empty()) used.tops.push_back(Bytes(0));
  // Something of size 0 in an unused region behind the last used one.
  const auto last = static_cast<std::uint32_t>(used.tops.size() - 1);
  for (std::uint32_t& number : used.number) number = std::min(number, last);
  return used;
}

Arena arena_of(const ArenaProblem& source, const ArenaSolution& solution, const UsedRegions& used) {
  Arena arena{source.name, source.memory, source.kind, {}, used.tops, solution.lower_bound, false};
  if (source.size) {
    arena.regions = {*source.size};
    arena.lower_bound = *source.size;
  }
  for (const Bytes top : arena.regions) arena.size += top;
  arena.proven_optimal = arena.size == arena.lower_bound;
  return arena;
}

/// Reads the solutions and writes the plan.
class Raising {
 public:
  Raising(const Graph& graph, const Liveness& liveness)
      : graph_(graph), liveness_(liveness), storages_(liveness.storages.size()) {
    plan_.graph = graph.name();
    for (std::size_t s = 0; s < graph.scopes().size(); ++s) paths_.push_back(graph.path(ScopeId(s)));
  }

  Plan run(const Lowering& lowering, std::span<const ArenaSolution> solutions) {
    for (std::size_t a = 0; a < lowering.arenas.size(); ++a) {
      plan_.arenas.push_back(arena_of(lowering.arenas[a], solutions[a], used_paid_regions(lowering.arenas[a], solutions[a])));
    }
    for (std::size_t a = 0; a < lowering.arenas.size(); ++a) place_items(lowering.arenas[a], solutions[a], ArenaId(a));
    sort_workspaces();
    place_tensors();
    add_bindings();
    add_copies();
    plan_.clears = find_clears(graph_, liveness_, plan_);
    for (const Edge& edge : liveness_.edges) plan_.edges.push_back({edge.from, edge.to});
    return std::move(plan_);
  }

 private:
  struct At {
    ArenaId arena;
    Position position;
  };

  static UsedRegions used_paid_regions(const ArenaProblem& source, const ArenaSolution& solution) {
    const std::vector<Bytes> tops = tops_of(source.problem, solution.positions);
    return used_regions(std::span(tops).first(tops.size() - source.hosts.size()));
  }

  void place_items(const ArenaProblem& source, const ArenaSolution& solution, ArenaId arena) {
    const UsedRegions used = used_paid_regions(source, solution);
    for (std::size_t i = 0; i < source.occupants.size(); ++i) {
      if (std::holds_alternative<HostTensor>(source.occupants[i])) continue;
      Position position = solution.positions[i];
      if (source.problem.items[i].size == Bytes(0))
        position = {0, Bytes(0)};  // wherever it was put, no region reaches there for it
      const At at = position.region < used.number.size()
                        ? At{arena, {used.number[position.region], position.offset}}
                        : At{host(source, position.region - used.number.size()), {0, position.offset}};
      if (const auto* storage = std::get_if<StorageId>(&source.occupants[i])) {
        storages_[storage->index()] = at;
      } else {
        add_workspace(std::get<WorkspaceId>(source.occupants[i]), at);
      }
    }
  }

  /// The arena that stands for a caller's buffer; made for its first guest.
  ArenaId host(const ArenaProblem& source, std::size_t number) {
    const TensorId tensor = source.hosts[number];
    const auto [known, is_new] = hosts_.try_emplace(tensor, plan_.arenas.size());
    if (!is_new) return known->second;
    const Tensor& whose = graph_.tensor(tensor);
    plan_.arenas.push_back({.name = whose.name,
                            .memory = source.memory,
                            .kind = ArenaKind::user,
                            .size = whose.size,
                            .regions = {whose.size},
                            .lower_bound = whose.size,
                            .proven_optimal = true,
                            .tensor = tensor});
    return known->second;
  }

  void add_workspace(WorkspaceId ref, const At& at) {
    const ScopeId scope = graph_.scope_of(ref.op);
    const Bytes size = graph_.op(ref.op).workspaces[ref.index].size;
    plan_.workspaces.push_back(
        {local(ref.op, scope), ref.index, at.arena, at.position.region, at.position.offset, size, paths_[scope.index()]});
    order_.emplace_back(ref.op, ref.index);
  }

  /// By scope, op and index: that is the order of the graph's own numbers.
  void sort_workspaces() {
    std::vector<std::size_t> by(order_.size());
    for (std::size_t i = 0; i < by.size(); ++i) by[i] = i;
    std::sort(by.begin(), by.end(), [&](std::size_t a, std::size_t b) { return order_[a] < order_[b]; });
    std::vector<WorkspacePlacement> sorted;
    sorted.reserve(by.size());
    for (const std::size_t i : by) sorted.push_back(std::move(plan_.workspaces[i]));
    plan_.workspaces = std::move(sorted);
  }

  void place_tensors() {
    ScopeId scope(0);
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ClassPlace place = liveness_.places[t];
      const AliasClass& klass = liveness_.classes[place.id.index()];
      while (!graph_.scope(scope).contains(TensorId(t))) scope = ScopeId(scope.index() + 1);
      const TensorId id = local(TensorId(t), scope);
      if (klass.residence == Residence::nowhere) {
        plan_.notes.push_back({id, "no op reads or writes it: it has no memory", paths_[scope.index()]});
      }
      if (!has_place(klass)) continue;
      const At& at = storages_[klass.storage.index()];
      plan_.placements.push_back({id, at.arena, at.position.region, at.position.offset + klass.offset + place.offset,
                                  graph_.tensors()[t].size, paths_[scope.index()]});
    }
    for (const auto& [tensor, reason] : liveness_.notes) {
      const ScopeId where = graph_.scope_of(tensor);
      plan_.notes.push_back({local(tensor, where), reason, paths_[where.index()]});
    }
  }

  [[nodiscard]] static bool has_place(const AliasClass& klass) {
    return klass.residence == Residence::shared || klass.residence == Residence::persistent || klass.residence == Residence::pool;
  }

  void add_bindings() {
    for (const TensorId tensor : liveness_.bound) {
      const AliasClass& klass = liveness_.classes[liveness_.places[tensor.index()].id.index()];
      plan_.bindings.push_back({tensor, graph_.tensor(tensor).size, klass.alignment});
    }
  }

  void add_copies() {
    for (const PlannedCopy& copy : liveness_.copies) {
      const AliasClass* const to = copy.to ? &liveness_.classes[copy.to->id.index()] : nullptr;
      const At& at = storages_[(to ? to->storage : copy.storage).index()];
      const Bytes inside = to ? to->offset + copy.to->offset : copy.offset;
      plan_.copies.push_back({.tensor = local(copy.tensor, copy.scope),
                              .before = copy.before,
                              .arena = at.arena,
                              .region = at.position.region,
                              .offset = at.position.offset + inside,
                              .size = graph_.tensor(copy.tensor).size,
                              .reason = copy.reason,
                              .body = paths_[copy.scope.index()]});
    }
  }

  [[nodiscard]] TensorId local(TensorId id, ScopeId scope) const {
    return TensorId(id.index() - graph_.scope(scope).first_tensor.index());
  }
  [[nodiscard]] OpId local(OpId id, ScopeId scope) const { return OpId(id.index() - graph_.scope(scope).first_op.index()); }

  const Graph& graph_;
  const Liveness& liveness_;
  std::vector<BodyPath> paths_;  ///< By scope.
  std::vector<At> storages_;
  std::map<TensorId, ArenaId> hosts_;
  std::vector<std::pair<OpId, std::uint32_t>> order_;  ///< Of the workspaces in the plan.
  Plan plan_;
};

}  // namespace

Plan raise(const Graph& graph, const Liveness& liveness, const Lowering& lowering, std::span<const ArenaSolution> solutions) {
  return Raising(graph, liveness).run(lowering, solutions);
}

}  // namespace stowage
