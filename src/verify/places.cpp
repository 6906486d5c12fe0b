#include "verify/places.hpp"

#include <limits>

namespace stowage::verification {

std::optional<Bytes> checked_sum(Bytes a, Bytes b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (b.value() >= 0 ? a.value() > Limits::max() - b.value() : a.value() < Limits::min() - b.value())
    return std::nullopt;
  return a + b;
}

std::optional<ByteRange> range_at(Bytes offset, Bytes size) {
  const std::optional<Bytes> end = checked_sum(offset, size);
  if (!end) return std::nullopt;
  return ByteRange{offset, *end};
}

bool lies_at(const Place& at, const Place& base, Bytes distance) {
  return at.cell && at.cell == base.cell && checked_sum(base.offset, distance) == at.offset;
}

std::string describe(const Plan& plan, const Place& place) {
  return fmt::format("at {} of region {} of {}", place.offset.value(), place.region, describe(plan, place.arena));
}

Cells::Cells(const Plan& plan) {
  first_.push_back(0);
  for (const Arena& arena : plan.arenas) first_.push_back(first_.back() + arena.regions.size());
}

std::optional<std::size_t> Cells::find(const Plan& plan, ArenaId arena, std::uint32_t region) const {
  if (arena.index() >= plan.arenas.size() || region >= plan.arenas[arena.index()].regions.size()) return std::nullopt;
  return first_[arena.index()] + region;
}

void Cells::resolve(const Plan& plan, const std::string& who, Place& place, Findings& findings) const {
  place.cell = find(plan, place.arena, place.region);
  if (place.cell) return;
  const std::size_t arena = place.arena.index();
  if (arena >= plan.arenas.size()) {
    findings.add(Rule::reference, "{} is placed in arena {}, which does not exist", who, arena);
  } else {
    findings.add(Rule::reference, "{} is placed in region {} of arena '{}' ({}), which has {} regions", who,
                 place.region, plan.arenas[arena].name, arena, plan.arenas[arena].regions.size());
  }
}

Places::Places(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings) {
  number_workspaces(graph);
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const Arena& arena = plan.arenas[a];
    if (arena.memory.index() < graph.memories().size()) continue;
    findings.add(Rule::reference, "arena '{}' ({}) is in memory {}, which does not exist", arena.name, a,
                 arena.memory.index());
  }
  places_.reserve(plan.placements.size() + plan.workspaces.size());
  read_tensors(graph, plan, cells, findings);
  read_workspaces(graph, plan, cells, findings);
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

void Places::read_tensors(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings) {
  for (std::size_t i = 0; i < plan.placements.size() && !findings.full(); ++i) {
    const Placement& entry = plan.placements[i];
    const TensorId id = entry.tensor;
    if (id.index() >= graph.tensors().size()) {
      findings.add(Rule::reference, "placement {} names tensor {}, which does not exist", i, id.index());
      continue;
    }
    Place place{entry.arena, entry.region, entry.offset, entry.size, {}};
    std::uint32_t& index = tensors_[id.index()];
    if (index != kAbsent && !enter(place, index, describe(graph, id), findings)) continue;
    place.cell = cells.find(plan, entry.arena, entry.region);
    if (!place.cell) cells.resolve(plan, describe(graph, id), place, findings);
    enter(place, index, {}, findings);
  }
}

void Places::read_workspaces(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings) {
  for (std::size_t i = 0; i < plan.workspaces.size() && !findings.full(); ++i) {
    const WorkspacePlacement& entry = plan.workspaces[i];
    const OpId op = entry.op;
    if (op.index() >= graph.ops().size() || entry.index >= graph.op(op).workspaces.size()) {
      findings.add(Rule::reference, "workspace placement {} names workspace {} of op {}, which does not exist", i,
                   entry.index, op.index());
      continue;
    }
    const std::string name = describe(graph, Subject(WorkspaceId{op, entry.index}));
    Place place{entry.arena, entry.region, entry.offset, entry.size, {}};
    std::uint32_t& index = workspaces_[first_workspace_[op.index()] + entry.index];
    if (index == kAbsent) cells.resolve(plan, name, place, findings);
    enter(place, index, name, findings);
  }
}

bool Places::enter(const Place& place, std::uint32_t& index, const std::string& who, Findings& findings) {
  if (index != kAbsent) {
    const Place& earlier = places_[index];
    findings.add(Rule::reference, "{} is placed twice: at {} of arena {} and at {} of arena {}", who,
                 earlier.offset.value(), earlier.arena.index(), place.offset.value(), place.arena.index());
    return false;
  }
  index = static_cast<std::uint32_t>(places_.size());
  places_.push_back(place);
  return true;
}

}  // namespace stowage::verification
