#include <optional>
#include <utility>

#include "pack/interface/contraction.hpp"
#include "planner/interface/record.hpp"
#include "stowage/planner.hpp"

namespace stowage {
namespace {

/// By storage: its first tensor; nothing if it holds only copies.
std::vector<std::optional<TensorId>> first_tensors(const Graph& graph, const Layout& layout) {
  std::vector<std::optional<TensorId>> first(layout.storages.size());
  for (std::size_t t = graph.tensors().size(); t-- > 0;) {
    const ClassId id = layout.class_of(TensorId(t));
    if (is_resident(layout.residences[id])) first[layout.positions[id].storage.index()] = TensorId(t);
  }
  return first;
}

/// The first tensor that is copied to a storage that holds only copies.
TensorId first_copied(const Layout& layout, StorageId storage) {
  for (const PlannedCopy& copy : layout.copies) {
    if (!copy.to && copy.storage == storage) return copy.tensor;
  }
  return {};
}

}  // namespace

std::vector<SharedProblem> shared_problems(const Graph& graph, const PlanOptions& options) {
  const Analysis analysis = analyze(graph, analysis_options(options));
  Lowering lowering = lower(graph, analysis, lower_options(options));
  const std::vector<std::optional<TensorId>> first = first_tensors(graph, analysis.layout);
  std::vector<SharedProblem> result;
  for (ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    pack::Contraction contraction = pack::contract(arena.problem);
    SharedProblem& shared = result.emplace_back(SharedProblem{arena.memory, std::move(contraction.problem), {}});
    for (std::size_t i = 0; i < arena.occupants.size(); ++i) {
      if (contraction.item_of[i] < shared.owners.size()) continue;  // in the item of an earlier one
      const Occupant& occupant = arena.occupants[i];
      if (const auto* storage = std::get_if<StorageId>(&occupant)) {
        const std::optional<TensorId> tensor = first[storage->index()];
        shared.owners.emplace_back(tensor ? *tensor : first_copied(analysis.layout, *storage));
      } else if (const auto* workspace = std::get_if<WorkspaceId>(&occupant)) {
        shared.owners.emplace_back(*workspace);
      } else {
        shared.owners.emplace_back(std::get<HostTensor>(occupant).tensor);
      }
    }
  }
  return result;
}

}  // namespace stowage
