#include "report/scene.hpp"

#include <algorithm>

#include "base/interface/interval_map.hpp"
#include "planner/interface/record.hpp"
#include "stowage/report/scene.hpp"

namespace stowage::report {

bool is_needed(const Life& life, std::optional<Step> step) {
  const auto needed = life.needed();
  return !step || std::any_of(needed.begin(), needed.end(), [&](const Interval& part) { return part.contains(*step); });
}

Scene::Scene(const Planned& planned)
    : graph_(planned.graph),
      plan_(*planned.plan),
      analysis_(planned.record->analysis),
      lowering_(planned.record->lowering),
      storages_(analysis_.layout.storages.size()),
      workspaces_(graph_.ops().size()),
      tensors_(analysis_.layout.classes.size()),
      producers_(graph_.tensors().size()) {
  const Graph& graph = graph_;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t)
    tensors_[layout().class_of(TensorId(t)).index()].push_back(TensorId(t));
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    for (const TensorId output : graph.ops()[k].outputs) {
      if (!producers_[output.index()]) producers_[output.index()] = OpId(k);
    }
  }
  place_storages();
  place_workspaces();
  for (std::size_t a = 0; a < lowering_.arenas.size(); ++a) place_arena(a);
  for (std::size_t a = lowering_.arenas.size(); a < plan_.arenas.size(); ++a)
    user_buffers_.push_back({ArenaId(a), nullptr, {}});
  for (const ArenaProblem& problem : lowering_.arenas) {
    if (!problem.hosts.empty()) place_guests(problem);
  }
}

void Scene::place_storages() {
  for (const Placement& placement : plan_.placements) {
    const StorageId storage = layout().positions[layout().class_of(placement.tensor)].storage;
    const Bytes inside = layout().offset_in_storage(placement.tensor);
    storages_[storage.index()] = PlacedAt{placement.arena, {placement.region, placement.offset - inside}};
  }
  // The plan lists copies in the order of the analysis. Some have their own storage as destination.
  for (std::size_t c = 0; c < layout().copies.size(); ++c) {
    const PlannedCopy& copy = layout().copies[c];
    if (copy.to) continue;
    const Copy& there = plan_.copies[c];
    storages_[copy.storage.index()] = PlacedAt{there.arena, {there.region, there.offset - copy.offset}};
  }
}

void Scene::place_workspaces() {
  for (const WorkspacePlacement& placement : plan_.workspaces) {
    const std::size_t op = placement.op.index();
    workspaces_[op].resize(graph_.ops()[op].workspaces.size());
    workspaces_[op][placement.index] = PlacedAt{placement.arena, {placement.region, placement.offset}};
  }
}

PlacedItem Scene::placed(const ArenaProblem& problem, std::size_t item, const Position& at, Bytes base) const {
  const Item& source = problem.problem.items[item];
  PlacedItem result{problem.occupants[item], source.life(), source.size, base + at.offset, at.region, {}};
  IntervalMap<char> for_life;
  for (const Piece& piece : source.pieces) {
    const ByteRange bytes{result.offset + piece.bytes.lower, result.offset + piece.bytes.upper};
    // With a stream order, the bytes of a piece without a row of its own are kept as long as the item.
    if (!problem.problem.order.empty() && piece.row == Piece::kOwnRow) {
      for_life.assign(bytes, 1);
    } else if (!bytes.empty()) {
      result.blocks.push_back({piece.when, bytes});
    }
  }
  for_life.visit({Bytes(0), result.offset + source.size},
                 [&](ByteRange bytes, char) { result.blocks.push_back({result.life, bytes}); });
  return result;
}

std::optional<Scene::PlacedAt> Scene::at(const Occupant& occupant) const {
  if (const auto* storage = std::get_if<StorageId>(&occupant)) return storages_[storage->index()];
  if (const auto* workspace = std::get_if<WorkspaceId>(&occupant))
    return workspaces_[workspace->op.index()][workspace->index];
  for (std::size_t a = lowering_.arenas.size(); a < plan_.arenas.size(); ++a) {
    if (plan_.arenas[a].tensor == std::get<HostTensor>(occupant).tensor) return PlacedAt{ArenaId(a), {}};
  }
  return std::nullopt;
}

void Scene::place_arena(std::size_t number) {
  const ArenaProblem& problem = lowering_.arenas[number];
  const Arena& arena = plan_.arenas[number];
  std::vector<Bytes> bases(1);
  for (const Bytes top : arena.regions) bases.push_back(bases.back() + top);
  PlacedArena result{ArenaId(number), &problem, {}};
  for (std::size_t i = 0; i < problem.occupants.size(); ++i) {
    if (problem.problem.items[i].size == Bytes(0)) continue;
    if (std::holds_alternative<HostTensor>(problem.occupants[i])) continue;  // a caller's buffer
    const std::optional<PlacedAt> where = at(problem.occupants[i]);
    STOWAGE_CHECK(where.has_value(), "the plan places every item of the analysis behind it");
    if (where->arena == ArenaId(number))
      result.items.push_back(placed(problem, i, where->position, bases[where->position.region]));
  }
  arenas_.push_back(std::move(result));
}

void Scene::place_guests(const ArenaProblem& problem) {
  for (std::size_t i = 0; i < problem.occupants.size(); ++i) {
    const std::optional<PlacedAt> where =
        problem.problem.items[i].size == Bytes(0) ? std::nullopt : at(problem.occupants[i]);
    if (!where || where->arena.index() < lowering_.arenas.size()) continue;
    PlacedArena& buffer = user_buffers_[where->arena.index() - lowering_.arenas.size()];
    buffer.problem = &problem;
    buffer.items.push_back(placed(problem, i, where->position, Bytes(0)));
  }
}

}  // namespace stowage::report

namespace stowage {

PlanScene::PlanScene(const Planned& planned)
    : planned_(&planned), scene_(std::make_shared<const report::Scene>(planned)) {}

}  // namespace stowage
