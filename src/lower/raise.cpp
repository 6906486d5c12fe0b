#include <algorithm>

#include "stowage/lower.hpp"

namespace stowage {
namespace {

struct At {
  ArenaId arena;
  Position position;
};

/// Regions that hold something, renumbered without gaps; at least one.
struct UsedRegions {
  std::vector<std::uint32_t> number;  ///< By region of the Problem.
  std::vector<Bytes> tops;            ///< By number.
};

UsedRegions used_regions(const std::vector<Bytes>& tops) {
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
  for (const Bytes top : used.tops) arena.size += top;
  arena.proven_optimal = arena.size == arena.lower_bound;
  return arena;
}

}  // namespace

Plan raise(const Graph& graph, const Liveness& liveness, const Lowering& lowering, std::span<const ArenaSolution> solutions) {
  Plan plan;
  plan.graph = graph.name();
  std::vector<At> at(liveness.storages.size());
  for (std::size_t a = 0; a < lowering.arenas.size(); ++a) {
    const ArenaProblem& source = lowering.arenas[a];
    const UsedRegions used = used_regions(tops_of(source.problem, solutions[a].positions));
    plan.arenas.push_back(arena_of(source, solutions[a], used));
    for (std::size_t i = 0; i < source.occupants.size(); ++i) {
      Position position = solutions[a].positions[i];
      position.region = used.number[position.region];
      if (const auto* storage = std::get_if<StorageId>(&source.occupants[i])) {
        at[storage->index()] = {ArenaId(a), position};
        continue;
      }
      const WorkspaceRef ref = std::get<WorkspaceRef>(source.occupants[i]);
      const Bytes size = graph.op(ref.op).workspaces[ref.index].size;
      plan.workspaces.push_back({ref.op, ref.index, ArenaId(a), position.region, position.offset, size});
    }
  }
  std::sort(plan.workspaces.begin(), plan.workspaces.end(),
            [](const auto& a, const auto& b) { return a.op != b.op ? a.op < b.op : a.index < b.index; });
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const ClassPlace place = liveness.places[t];
    const AliasClass& klass = liveness.classes[place.id.index()];
    if (klass.residence == Residence::nowhere) plan.notes.push_back({TensorId(t), "no op reads or writes it: it has no memory"});
    if (klass.residence == Residence::nowhere || klass.residence == Residence::external) continue;
    const At& where = at[klass.storage.index()];
    plan.placements.push_back({TensorId(t), where.arena, where.position.region,
                               where.position.offset + klass.offset + place.offset, graph.tensors()[t].size});
  }
  return plan;
}

}  // namespace stowage
