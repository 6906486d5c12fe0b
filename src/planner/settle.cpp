#include "planner/settle.hpp"

#include <algorithm>
#include <utility>

#include "pack/interface/contraction.hpp"

namespace stowage {
namespace {

/// Moves everything in storage `from` into `into`, where it begins at `offset`.
void merge(Layout& layout, StorageId into, StorageId from, Bytes offset) {
  Storage& target = layout.storages[into.index()];
  Storage& source = layout.storages[from.index()];
  for (const ClassId id : source.classes) {
    layout.positions[id].storage = into;
    layout.positions[id].offset += offset;
    target.classes.push_back(id);
  }
  for (CopyTarget& copy : source.copy_targets)
    target.copy_targets.push_back({{copy.bytes.lower + offset, copy.bytes.upper + offset}, std::move(copy.lives)});
  for (PlannedCopy& copy : layout.copies) {
    if (copy.to || copy.storage != from) continue;
    copy.storage = into;
    copy.offset += offset;
  }
  target.size = std::max(target.size, offset + source.size);
  target.alignment = std::max(target.alignment, source.alignment);
  target.rigid = target.rigid || source.rigid;
  source = {};
}

/// Moves everything in a storage by `offset`.
void shift(Layout& layout, StorageId id, Bytes offset) {
  if (offset == Bytes(0)) return;
  Storage& storage = layout.storages[id.index()];
  for (const ClassId each : storage.classes) layout.positions[each].offset += offset;
  for (CopyTarget& copy : storage.copy_targets) copy.bytes = {copy.bytes.lower + offset, copy.bytes.upper + offset};
  for (PlannedCopy& copy : layout.copies) {
    if (!copy.to && copy.storage == id) copy.offset += offset;
  }
  storage.size += offset;
}

void settle(Layout& layout, ArenaProblem& arena, ArenaSolution& solution) {
  if (arena.problem.joins.empty() || solution.positions.empty()) return;
  pack::Contraction contraction = pack::contract_as(arena.problem, solution.positions);
  std::vector<Occupant> occupants;
  std::vector<Position> positions;
  for (std::size_t i = 0; i < arena.occupants.size(); ++i) {
    const bool first = contraction.item_of[i] == occupants.size();
    const auto* const storage = std::get_if<StorageId>(&arena.occupants[i]);
    if (first) {
      const Position at = solution.positions[i];
      positions.push_back({at.region, at.offset - contraction.offset[i]});
      occupants.push_back(arena.occupants[i]);
      if (storage) shift(layout, *storage, contraction.offset[i]);
    } else {
      merge(layout, std::get<StorageId>(occupants[contraction.item_of[i]]), *storage, contraction.offset[i]);
    }
  }
  arena.problem = std::move(contraction.problem);
  arena.occupants = std::move(occupants);
  solution.positions = std::move(positions);
}

/// Removes the storages that became empty, and renumbers the others.
void renumber(Layout& layout, Lowering& lowering) {
  std::vector<StorageId> number(layout.storages.size());
  std::vector<Storage> kept;
  for (std::size_t s = 0; s < layout.storages.size(); ++s) {
    number[s] = StorageId(kept.size());
    Storage& storage = layout.storages[s];
    if (!storage.classes.empty() || storage.home) kept.push_back(std::move(storage));
  }
  layout.storages = std::move(kept);
  for (std::size_t c = 0; c < layout.positions.size(); ++c) {
    if (is_resident(layout.residences[ClassId(c)]))
      layout.positions[ClassId(c)].storage = number[layout.positions[ClassId(c)].storage.index()];
  }
  for (PlannedCopy& copy : layout.copies) {
    if (!copy.to) copy.storage = number[copy.storage.index()];
  }
  for (ArenaProblem& arena : lowering.arenas) {
    for (Occupant& occupant : arena.occupants) {
      if (auto* const storage = std::get_if<StorageId>(&occupant)) *storage = number[storage->index()];
    }
  }
}

}  // namespace

void settle(Layout& layout, Lowering& lowering, std::span<ArenaSolution> solutions) {
  if (layout.joins.empty()) return;
  for (std::size_t a = 0; a < solutions.size(); ++a) settle(layout, lowering.arenas[a], solutions[a]);
  layout.joins.clear();
  renumber(layout, lowering);
}

}  // namespace stowage
