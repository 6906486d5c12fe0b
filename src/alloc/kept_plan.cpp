#include "alloc/kept_plan.hpp"

#include <algorithm>
#include <utility>

#include "alloc/interface/aligned_buffer.hpp"

namespace stowage::alloc {
namespace {

std::vector<Need> needs_of_plan(const Graph& served, const Plan& plan) {
  std::vector<Need> needs;
  for (const Memory& memory : served.memories()) needs.push_back({.tops = {Bytes(0)}, .alignment = memory.alignment});
  for (const Arena& arena : plan.arenas) {
    if (arena.kind == ArenaKind::shared) needs[arena.memory.index()].tops = arena.regions;
  }
  const auto align = [&](MemoryId memory, Bytes alignment) {
    needs[memory.index()].alignment = std::max(needs[memory.index()].alignment, alignment);
  };
  for (std::size_t t = 0; t < served.tensors().size(); ++t)
    align(served.tensors()[t].memory, served.alignment(TensorId(t)));
  for (const Op& op : served.ops()) {
    for (const Workspace& workspace : op.workspaces) align(workspace.memory, served.alignment(workspace));
  }
  return needs;
}

std::vector<std::size_t> first_workspaces(const Graph& graph) {
  std::vector<std::size_t> first;
  std::size_t count = 0;
  for (const Op& op : graph.ops()) {
    first.push_back(count);
    count += op.workspaces.size();
  }
  return first;
}

}  // namespace

KeptPlan::KeptPlan(const Graph& graph, const Graph& served, Plan plan)
    : pattern_(make_pattern(graph, served, plan)),
      total_(total_size(graph)),
      arenas_(plan.arenas),
      planned_(extents_of(graph)),
      last_(planned_),
      needs_(needs_of_plan(served, plan)) {
  allocation_.first_workspace = first_workspaces(graph);
  allocation_.tensors.resize(graph.tensors().size());
  allocation_.workspaces.resize(planned_.size() - graph.tensors().size());
  for (const WorkspacePlacement& each : plan.workspaces)
    workspaces_.push_back(allocation_.first_workspace[each.op.index()] + each.index);
  allocation_.plan = std::move(plan);
}

template <class F>
void KeptPlan::for_each_end(const Graph& graph, F&& f) const {
  for (const Placement& each : allocation_.plan.placements) {
    const Tensor& tensor = graph.tensor(each.tensor);
    if (!tensor.view_of) f(each.arena, each.region, each.offset + tensor.size);
  }
  for (const WorkspacePlacement& each : allocation_.plan.workspaces)
    f(each.arena, each.region, each.offset + graph.op(each.op).workspaces[each.index].size);
}

std::vector<Need> KeptPlan::needs_of(const Graph& graph) const {
  std::vector<Need> needs = needs_;
  for (Need& need : needs) std::fill(need.tops.begin(), need.tops.end(), Bytes(0));
  for_each_end(graph, [&](ArenaId arena, std::uint32_t region, Bytes end) {
    if (arenas_[arena.index()].kind != ArenaKind::shared) return;
    Bytes& top = needs[arenas_[arena.index()].memory.index()].tops[region];
    top = std::max(top, end);
  });
  return needs;
}

void KeptPlan::bind(RegionBuffers buffers, std::uint64_t version) {
  buffers_ = std::move(buffers);
  version_ = version;
  set_addresses();
}

std::vector<std::vector<Bytes>> KeptPlan::ends() const {
  std::vector<std::vector<Bytes>> ends;
  for (std::size_t type = 0; type < needs_.size(); ++type) {
    ends.emplace_back();
    for (const Buffer* buffer : buffers_[type]) ends.back().push_back(gap_before(*buffer, needs_[type].alignment));
  }
  for (const Arena& arena : allocation_.plan.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    for (std::size_t region = 0; region < arena.regions.size(); ++region)
      ends[arena.memory.index()][region] += arena.regions[region];
  }
  return ends;
}

void KeptPlan::serve(const Graph& graph) {
  set_sizes(graph);
  set_arenas(graph);
  set_addresses();
}

void KeptPlan::set_sizes(const Graph& graph) {
  Plan& plan = allocation_.plan;
  if (plan.graph != graph.name()) plan.graph = graph.name();
  for (std::size_t t = 0; t < graph.tensors().size(); ++t)
    last_[t] = {graph.tensors()[t].size, graph.root(TensorId(t)).offset};
  for (Placement& each : plan.placements) {
    const ViewOf root = graph.root(each.tensor);
    each.offset = pattern_.offsets[root.tensor.index()] + root.offset;
    each.size = graph.tensor(each.tensor).size;
  }
  std::size_t at = graph.tensors().size();
  for (const Op& op : graph.ops()) {
    for (const Workspace& workspace : op.workspaces) last_[at++].size = workspace.size;
  }
  for (WorkspacePlacement& each : plan.workspaces) each.size = graph.op(each.op).workspaces[each.index].size;
}

/// A proof about the planned graph does not hold for a smaller one, whose regions end where its tensors do.
void KeptPlan::set_arenas(const Graph& graph) {
  std::vector<Arena>& arenas = allocation_.plan.arenas;
  const bool as_planned = last_ == planned_;
  // Other sizes need not leave room for padding where this plan had it.
  allocation_.plan.padding = as_planned ? Padding::own : Padding::none;
  if (as_planned) {
    arenas = arenas_;
    return;
  }
  for (Arena& arena : arenas) std::fill(arena.regions.begin(), arena.regions.end(), Bytes(0));
  for_each_end(graph, [&](ArenaId arena, std::uint32_t region, Bytes end) {
    Bytes& top = arenas[arena.index()].regions[region];
    top = std::max(top, end);
  });
  for (Arena& arena : arenas) {
    arena.size = Bytes(0);
    for (const Bytes top : arena.regions) arena.size += top;
    arena.lower_bound = Bytes(0);
    arena.proven_optimal = arena.size == Bytes(0);
    arena.proof = {};
  }
}

void KeptPlan::set_addresses() {
  const Plan& plan = allocation_.plan;
  for (const Placement& each : plan.placements)
    allocation_.tensors[each.tensor.index()] = address_of(each.arena, each.region, each.offset);
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    const WorkspacePlacement& each = plan.workspaces[i];
    allocation_.workspaces[workspaces_[i]] = address_of(each.arena, each.region, each.offset);
  }
}

Address KeptPlan::address_of(ArenaId id, std::uint32_t region, Bytes offset) const {
  const Arena& arena = arenas_[id.index()];
  if (arena.kind != ArenaKind::shared) return {};
  const std::size_t type = arena.memory.index();
  Buffer* const buffer = buffers_[type][region];
  return {buffer, gap_before(*buffer, needs_[type].alignment) + offset};
}

}  // namespace stowage::alloc
