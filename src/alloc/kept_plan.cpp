#include "alloc/kept_plan.hpp"

#include <algorithm>
#include <utility>

#include "alloc/interface/aligned_buffer.hpp"
#include "alloc/moves.hpp"

namespace stowage::alloc {
namespace {

/// The largest alignment by type.
std::vector<Bytes> alignments_of(const ServedGraph& served, std::span<BufferType* const> types) {
  std::vector<Bytes> alignments;
  for (const BufferType* type : types) alignments.push_back(type->alignment());
  const auto align = [&](MemoryId memory, Bytes alignment) {
    Bytes& largest = alignments[served.type_of[memory.index()]];
    largest = std::max(largest, alignment);
  };
  const Graph& graph = served.graph;
  for (std::size_t m = 0; m < graph.memories().size(); ++m) align(MemoryId(m), graph.memories()[m].alignment);
  for (std::size_t t = 0; t < graph.tensors().size(); ++t)
    align(graph.tensors()[t].memory, graph.alignment(TensorId(t)));
  for (const Op& op : graph.ops()) {
    for (const Workspace& workspace : op.workspaces) align(workspace.memory, graph.alignment(workspace));
  }
  return alignments;
}

/// By type.
std::vector<bool> session_pins(const ServedGraph& served, std::size_t types) {
  std::vector<bool> pins(types);
  for (const Op& op : served.graph.ops()) {
    for (const Workspace& workspace : op.workspaces) {
      if (op.fixed_address && workspace.scope == WorkspaceScope::session)
        pins[served.type_of[workspace.memory.index()]] = true;
    }
  }
  return pins;
}

/// By arena: whether an op of fixed address accesses something there.
std::vector<bool> accessed_at_fixed_addresses(const Graph& served, const Plan& plan) {
  std::vector<bool> tensors(served.tensors().size());
  for (const Op& op : served.ops()) {
    if (!op.fixed_address) continue;
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input) tensors[input->index()] = true;
    }
    for (const TensorId output : op.outputs) tensors[output.index()] = true;
  }
  std::vector<bool> arenas(plan.arenas.size());
  for (const Placement& each : plan.placements) {
    if (tensors[each.tensor.index()]) arenas[each.arena.index()] = true;
  }
  return arenas;
}

std::vector<const BufferType*> types_by_memory(const Graph& graph, const TypesOf& types) {
  std::vector<const BufferType*> result;
  for (std::size_t m = 0; m < graph.memories().size(); ++m) result.push_back(types.types[types.by_memory[m]]);
  return result;
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

KeptPlan::KeptPlan(const Graph& graph, const ServedGraph& served, Plan plan, const TypesOf& types)
    : pattern_(make_pattern(graph, served.graph, plan)),
      served_now_(graph),
      total_(total_size(graph)),
      arenas_(plan.arenas),
      planned_(extents_of(graph)),
      last_(planned_),
      pins_session_(session_pins(served, types.types.size())),
      callers_(graph, plan, types_by_memory(graph, types)) {
  find_sources(served, plan, types.types);
  allocation_.first_workspace = first_workspaces(graph);
  allocation_.tensors.resize(graph.tensors().size());
  allocation_.workspaces.resize(planned_.size() - graph.tensors().size());
  for (const WorkspacePlacement& each : plan.workspaces)
    workspaces_.push_back(allocation_.first_workspace[each.op.index()] + each.index);
  allocation_.plan = std::move(plan);
}

void KeptPlan::find_sources(const ServedGraph& served, const Plan& plan, std::span<BufferType* const> types) {
  const std::vector<bool> stay = accessed_at_fixed_addresses(served.graph, plan);
  const std::vector<Bytes> alignments = alignments_of(served, types);
  needs_.resize(2 * types.size());
  for (std::size_t list = 0; list < needs_.size(); ++list) needs_[list].alignment = alignments[list % types.size()];
  sources_.resize(arenas_.size());
  const auto add = [&](std::size_t a, std::size_t list) {
    std::vector<Bytes>& tops = needs_[list].tops;
    sources_[a] = {Source::Origin::list, list, tops.size()};
    tops.insert(tops.end(), arenas_[a].regions.begin(), arenas_[a].regions.end());
  };
  for (std::size_t a = 0; a < arenas_.size(); ++a) {
    const Arena& arena = arenas_[a];
    const std::size_t type = served.type_of[arena.memory.index()];
    switch (arena.kind == ArenaKind::ring && stay[a] ? ArenaKind::fixed : arena.kind) {
      case ArenaKind::shared:
      case ArenaKind::ring:
        add(a, type);
        break;
      case ArenaKind::session:
        add(a, types.size() + type);
        break;
      case ArenaKind::fixed:
        sources_[a] = {Source::Origin::fixed, type, fixed_needs_.size()};
        for (const Bytes region : arena.regions) fixed_needs_.push_back({type, region, alignments[type]});
        break;
      case ArenaKind::user:
        sources_[a] = {Source::Origin::caller, 0, 0, callers_.buffer(*arena.tensor)};
        break;
      case ArenaKind::persistent:
        break;
    }
  }
  for (std::size_t type = 0; type < types.size(); ++type) {
    if (needs_[type].tops.empty()) needs_[type].tops.push_back(Bytes(0));
  }
}

Bytes KeptPlan::fixed_size(std::size_t type) const {
  Bytes sum;
  for (const FixedNeed& need : fixed_needs_) sum += need.type == type ? need.size : Bytes(0);
  return sum;
}

Status KeptPlan::make_fixed(std::span<BufferType* const> types) {
  std::vector<std::unique_ptr<Buffer>> made;
  for (const FixedNeed& need : fixed_needs_) {
    bool unaligned = false;
    STOWAGE_TRY(std::unique_ptr<Buffer> buffer,
                allocate_aligned(*types[need.type], need.size, need.alignment, unaligned));
    made.push_back(std::move(buffer));
  }
  fixed_ = std::move(made);
  return Done{};
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
  if (!graph.needs_addresses_only()) return needs;  // it serves graphs of one size only
  for (Need& need : needs) std::fill(need.tops.begin(), need.tops.end(), Bytes(0));
  for_each_end(graph, [&](ArenaId arena, std::uint32_t region, Bytes end) {
    const Source& source = sources_[arena.index()];
    if (source.origin != Source::Origin::list) return;
    Bytes& top = needs[source.index].tops[source.first + region];
    top = std::max(top, end);
  });
  return needs;
}

void KeptPlan::bind(RegionBuffers buffers, const BufferSet& set) {
  buffers_ = std::move(buffers);
  version_ = set.version();
  session_alignments_.clear();
  for (std::size_t list = needs_.size() / 2; list < needs_.size(); ++list)
    session_alignments_.push_back(set[list].alignment());
  set_addresses();
}

Status KeptPlan::bind(std::span<const BoundMemory> memories, std::span<const AddressRange> taken) {
  STOWAGE_TRY_STATUS(callers_.bind(served_now_, memories, taken));
  set_addresses();
  return Done{};
}

std::vector<std::vector<Bytes>> KeptPlan::ends() const {
  std::vector<std::vector<Bytes>> ends;
  for (std::size_t list = 0; list < needs_.size(); ++list) {
    ends.emplace_back();
    for (const Buffer* buffer : buffers_[list]) ends.back().push_back(gap_before(*buffer, alignment_in(list)));
  }
  for (std::size_t a = 0; a < arenas_.size(); ++a) {
    if (sources_[a].origin != Source::Origin::list) continue;
    const std::vector<Bytes>& regions = allocation_.plan.arenas[a].regions;
    for (std::size_t region = 0; region < regions.size(); ++region)
      ends[sources_[a].index][sources_[a].first + region] += regions[region];
  }
  return ends;
}

void KeptPlan::serve(const Graph& graph) {
  served_now_ = graph;
  if (!graph.needs_addresses_only()) {
    allocation_.plan.graph = graph.name();  // nothing else differs
    return;
  }
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
  if (!callers_.empty()) find_kept_places();
  for (const Placement& each : plan.placements)
    allocation_.tensors[each.tensor.index()] = address_of(each.arena, each.region, each.offset);
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    const WorkspacePlacement& each = plan.workspaces[i];
    allocation_.workspaces[workspaces_[i]] = address_of(each.arena, each.region, each.offset);
  }
  if (!callers_.empty()) set_bound_addresses();
  if (plan.clears.empty() && plan.copies.empty()) return;
  set_moves(
      served_now_,
      [this](ArenaId arena, std::uint32_t region, Bytes offset) { return address_of(arena, region, offset); },
      allocation_);
}

void KeptPlan::set_bound_addresses() {
  for (std::size_t t = 0; t < allocation_.tensors.size(); ++t) {
    if (const std::optional<Address> address = callers_.address(served_now_, TensorId(t)))
      allocation_.tensors[t] = *address;
  }
}

void KeptPlan::find_kept_places() {
  kept_places_.clear();
  for (const Placement& each : allocation_.plan.placements) {
    if (sources_[each.arena.index()].origin != Source::Origin::none) continue;
    if (const std::optional<Address> address = callers_.address(served_now_, each.tensor))
      kept_places_.push_back({each.arena, each.region, {each.offset, each.offset + each.size}, *address});
  }
}

/// A place in persistent memory is known by the bound tensors there: parts of a packed constant lie in it, for
/// instance.
Address KeptPlan::kept_address(ArenaId arena, std::uint32_t region, Bytes offset) const {
  for (const KeptPlace& place : kept_places_) {
    if (place.arena == arena && place.region == region && place.bytes.lower <= offset && offset < place.bytes.upper)
      return {place.address.buffer, place.address.offset + (offset - place.bytes.lower)};
  }
  return {};
}

Bytes KeptPlan::alignment_in(std::size_t list) const {
  const std::size_t types = needs_.size() / 2;
  return list < types ? needs_[list].alignment : session_alignments_[list - types];
}

Address KeptPlan::address_of(ArenaId id, std::uint32_t region, Bytes offset) const {
  const Source& source = sources_[id.index()];
  Buffer* buffer = source.buffer;
  Bytes gap;
  switch (source.origin) {
    case Source::Origin::list:
      buffer = buffers_[source.index][source.first + region];
      gap = gap_before(*buffer, alignment_in(source.index));
      break;
    case Source::Origin::fixed:
      buffer = fixed_[source.first + region].get();
      gap = gap_before(*buffer, fixed_needs_[source.first + region].alignment);
      break;
    case Source::Origin::caller:
      break;
    case Source::Origin::none:
      return kept_address(id, region, offset);
  }
  return {buffer, gap + offset};
}

}  // namespace stowage::alloc
