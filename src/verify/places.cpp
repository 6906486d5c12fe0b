#include "verify/places.hpp"

#include <limits>

namespace stowage::verification {

std::optional<Bytes> checked_sum(Bytes a, Bytes b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (b.value() >= 0 ? a.value() > Limits::max() - b.value() : a.value() < Limits::min() - b.value()) return std::nullopt;
  return a + b;
}

Places::Places(const Graph& graph, const Plan& plan, Findings& findings) {
  number_workspaces(graph);
  number_cells(graph, plan, findings);
  places_.reserve(plan.placements.size() + plan.workspaces.size());
  read_tensors(graph, plan, findings);
  read_workspaces(graph, plan, findings);
}

void Places::number_workspaces(const Graph& graph) {
  std::size_t count = 0;
  first_workspace_.reserve(graph.ops().size());
  for (const Op& op : graph.ops()) {
    first_workspace_.push_back(count);
    count += op.workspaces.size();
  }
  workspaces_.assign(count, kAbsent);
  tensors_.assign(graph.tensors().size(), kAbsent);
}

void Places::number_cells(const Graph& graph, const Plan& plan, Findings& findings) {
  first_cell_.push_back(0);
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const Arena& arena = plan.arenas[a];
    first_cell_.push_back(first_cell_.back() + arena.regions.size());
    if (arena.memory.index() < graph.memories().size()) continue;
    findings.add(Rule::reference, "arena '{}' ({}) is in memory {}, which does not exist", arena.name, a, arena.memory.index());
  }
}

void Places::read_tensors(const Graph& graph, const Plan& plan, Findings& findings) {
  for (std::size_t i = 0; i < plan.placements.size() && !findings.full(); ++i) {
    const Placement& entry = plan.placements[i];
    if (entry.tensor.index() >= tensors_.size()) {
      findings.add(Rule::reference, "placement {} names tensor {}, which does not exist", i, entry.tensor.index());
      continue;
    }
    const Place place{entry.arena, entry.region, entry.offset, entry.size, {}};
    enter(graph, plan, entry.tensor, place, tensors_[entry.tensor.index()], findings);
  }
}

void Places::read_workspaces(const Graph& graph, const Plan& plan, Findings& findings) {
  for (std::size_t i = 0; i < plan.workspaces.size() && !findings.full(); ++i) {
    const WorkspacePlacement& entry = plan.workspaces[i];
    if (entry.op.index() >= graph.ops().size() || entry.index >= graph.op(entry.op).workspaces.size()) {
      findings.add(Rule::reference, "workspace placement {} names workspace {} of op {}, which does not exist", i, entry.index,
                   entry.op.index());
      continue;
    }
    const Place place{entry.arena, entry.region, entry.offset, entry.size, {}};
    std::uint32_t& slot = workspaces_[first_workspace_[entry.op.index()] + entry.index];
    enter(graph, plan, WorkspaceId{entry.op, entry.index}, place, slot, findings);
  }
}

void Places::enter(const Graph& graph, const Plan& plan, const Subject& subject, Place place, std::uint32_t& slot,
                   Findings& findings) {
  if (slot != kAbsent) {
    const Place& earlier = places_[slot];
    findings.add(Rule::reference, "{} is placed twice: at {} of arena {} and at {} of arena {}", describe(graph, subject),
                 earlier.offset.value(), earlier.arena.index(), place.offset.value(), place.arena.index());
    return;
  }
  const std::size_t arena = place.arena.index();
  if (arena >= plan.arenas.size()) {
    findings.add(Rule::reference, "{} is placed in arena {}, which does not exist", describe(graph, subject), arena);
  } else if (place.region >= plan.arenas[arena].regions.size()) {
    findings.add(Rule::reference, "{} is placed in region {} of arena '{}' ({}), which has {}", describe(graph, subject),
                 place.region, plan.arenas[arena].name, arena, plan.arenas[arena].regions.size());
  } else {
    place.cell = first_cell_[arena] + place.region;
  }
  slot = static_cast<std::uint32_t>(places_.size());
  places_.push_back(place);
}

}  // namespace stowage::verification
