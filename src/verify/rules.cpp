#include "verify/rules.hpp"

#include <algorithm>
#include <optional>

namespace stowage::verification {
namespace {

std::string name_arena(const Plan& plan, ArenaId id) {
  return fmt::format("arena '{}' ({})", plan.arenas[id.index()].name, id.index());
}

void check_arena_size(const Plan& plan, ArenaId id, Findings& findings) {
  const Arena& arena = plan.arenas[id.index()];
  std::optional<Bytes> sum = Bytes(0);
  for (std::size_t r = 0; r < arena.regions.size(); ++r) {
    if (arena.regions[r] < Bytes(0)) {
      findings.add(Rule::size, "region {} of {} has the size {}", r, name_arena(plan, id), arena.regions[r].value());
      return;
    }
    if (sum) sum = checked_sum(*sum, arena.regions[r]);
  }
  if (sum == arena.size) return;
  findings.add(Rule::size, "{} has the size {}, but its regions sum to {}", name_arena(plan, id), arena.size.value(),
               sum ? std::to_string(sum->value()) : "more than can be counted");
}

void check_claim(const Plan& plan, ArenaId id, Findings& findings) {
  const Arena& arena = plan.arenas[id.index()];
  const std::int64_t size = arena.size.value();
  const std::int64_t bound = arena.lower_bound.value();
  if (bound > size) {
    findings.add(Rule::claim, "{} claims the lower bound {}, above its size {}", name_arena(plan, id), bound, size);
  } else if (arena.proven_optimal && bound != size) {
    findings.add(Rule::claim, "{} claims to be optimal with the size {}, but its lower bound is {}", name_arena(plan, id), size,
                 bound);
  } else if (!arena.proven_optimal && bound == size) {
    findings.add(Rule::claim, "{} has the size of its lower bound {}, but does not claim to be optimal", name_arena(plan, id),
                 bound);
  }
}

/// What the graph demands of one tensor or workspace.
struct Demand {
  Subject subject;
  Bytes size;
  Bytes alignment;
  MemoryId memory;
  ArenaKind kind;
};

/// The rules for one placement by itself.
class PlacementCheck {
 public:
  PlacementCheck(const Case& input, Findings& findings) : input_(input), findings_(findings) {}

  void check(const Demand& demand, const Place& place) {
    if (place.size != demand.size) {
      findings_.add(Rule::size, "{} has {} bytes, but its placement {}", name(demand), demand.size.value(), place.size.value());
    }
    if (!is_aligned(place.offset, demand.alignment)) {
      findings_.add(Rule::alignment, "{} at {} is not at a multiple of its alignment {}", name(demand), place.offset.value(),
                    demand.alignment.value());
    }
    if (!place.cell) return;
    check_arena(demand, place);
    check_bounds(demand, place);
  }

 private:
  [[nodiscard]] std::string name(const Demand& demand) const { return describe(input_.graph, demand.subject); }

  void check_arena(const Demand& demand, const Place& place) {
    const Arena& arena = input_.plan.arenas[place.arena.index()];
    if (arena.memory != demand.memory) {
      findings_.add(Rule::arena, "{} is in memory {}, but placed in {} of memory {}", name(demand), demand.memory.index(),
                    name_arena(input_.plan, place.arena), arena.memory.index());
    }
    if (arena.kind != demand.kind) {
      findings_.add(Rule::arena, "{} belongs in a {} arena, but {} is {}", name(demand), to_string(demand.kind),
                    name_arena(input_.plan, place.arena), to_string(arena.kind));
    }
  }

  /// The size that counts is the graph's; where the plan's differs, that is a finding of its own.
  void check_bounds(const Demand& demand, const Place& place) {
    const Bytes top = input_.plan.arenas[place.arena.index()].regions[place.region];
    const std::optional<Bytes> end = checked_sum(place.offset, demand.size);
    if (place.offset >= Bytes(0) && end && *end <= top) return;
    findings_.add(Rule::bounds, "{} at {} with {} bytes lies outside [0, {}), region {} of {}", name(demand),
                  place.offset.value(), demand.size.value(), top.value(), place.region, name_arena(input_.plan, place.arena));
  }

  const Case& input_;
  Findings& findings_;
};

void check_tensor(const Case& input, TensorId id, PlacementCheck& rules, Findings& findings) {
  const Tensor& tensor = input.graph.tensor(id);
  const Value& value = input.values[input.values.of(id)];
  const Place* const place = input.places.of(id);
  if (!place) {
    if (value.in_use()) findings.add(Rule::missing, "{} needs memory, but has no placement", describe(tensor, id));
    return;
  }
  if (value.external()) findings.add(Rule::missing, "{} is external, but has a placement", describe(tensor, id));
  rules.check(
      {id, tensor.size, input.graph.alignment(id), tensor.memory, value.persistent() ? ArenaKind::persistent : ArenaKind::shared},
      *place);
}

void check_workspace(const Case& input, WorkspaceId id, PlacementCheck& rules, Findings& findings) {
  const Workspace& workspace = input.graph.op(id.op).workspaces[id.index];
  if (const Place* const place = input.places.of(id)) {
    rules.check({id, workspace.size, input.graph.alignment(workspace), workspace.memory, ArenaKind::shared}, *place);
  } else if (input.values[input.values.of(id.op, id.index)].in_use()) {
    findings.add(Rule::missing, "{} needs memory, but has no placement", describe(input.graph, id));
  }
}

/// `inner` must lie `offset` bytes into `outer`; `link` says why.
void check_link(const Case& input, TensorId inner, TensorId outer, Bytes offset, std::string_view link, Findings& findings) {
  const Place* const at = input.places.of(inner);
  const Place* const base = input.places.of(outer);
  if (!at || !base || !at->cell || !base->cell) return;
  const std::optional<Bytes> wanted = checked_sum(base->offset, offset);
  if (at->cell == base->cell && wanted == at->offset) return;
  findings.add(Rule::layout,
               "{} at {} of region {} of {} is not where it must be, {} bytes into {} at {} of region {} of {} ({})",
               describe(input.graph, inner), at->offset.value(), at->region, name_arena(input.plan, at->arena), offset.value(),
               describe(input.graph, outer), base->offset.value(), base->region, name_arena(input.plan, base->arena), link);
}

/// The size of the largest value in each region: from the lowest byte of its members to the highest, rounded up to its alignment.
class Largest {
 public:
  explicit Largest(const Case& input) : by_cell_(input.places.cells()), extents_(input.graph.tensors().size()) {
    for (std::size_t t = 0; t < input.graph.tensors().size(); ++t) {
      const Place* const place = input.places.of(TensorId(t));
      if (place && place->cell) add(extents_[input.values.of(TensorId(t)).index()], *place, input.graph, TensorId(t));
    }
    for (std::size_t k = 0; k < input.graph.ops().size(); ++k) {
      const std::vector<Workspace>& workspaces = input.graph.ops()[k].workspaces;
      for (std::uint32_t w = 0; w < workspaces.size(); ++w) {
        const Place* const place = input.places.of(WorkspaceId{OpId(k), w});
        if (place && place->cell) raise(*place->cell, align_up(workspaces[w].size, input.graph.alignment(workspaces[w])));
      }
    }
  }

  [[nodiscard]] Bytes in(std::size_t cell) const { return by_cell_[cell]; }

 private:
  struct Extent {
    std::optional<std::size_t> cell = {};
    ByteRange bytes = {};
    Bytes alignment = {};
  };

  /// Members in several regions are a finding of layout; each such counts by itself here.
  void add(Extent& extent, const Place& place, const Graph& graph, TensorId id) {
    const std::optional<Bytes> end = checked_sum(place.offset, graph.tensor(id).size);
    if (place.offset < Bytes(0) || !end || *end > kMaxBytes) return;
    if (extent.cell != place.cell) extent = {place.cell, {place.offset, *end}, Bytes(1)};
    extent.bytes = {std::min(extent.bytes.lower, place.offset), std::max(extent.bytes.upper, *end)};
    extent.alignment = std::max(extent.alignment, graph.alignment(id));
    raise(*place.cell, align_up(extent.bytes.length(), extent.alignment));
  }

  void raise(std::size_t cell, Bytes size) { by_cell_[cell] = std::max(by_cell_[cell], size); }

  std::vector<Bytes> by_cell_;
  std::vector<Extent> extents_;  ///< By value.
};

/// The memory's limit where the region exceeds it.
std::optional<Bytes> exceeded_limit(const Case& input, const Arena& arena, Bytes region) {
  if (arena.memory.index() >= input.graph.memories().size()) return std::nullopt;
  const std::optional<Bytes> limit = input.graph.memory(arena.memory).max_size;
  return limit && region > *limit ? limit : std::nullopt;
}

}  // namespace

void check_header(const Graph& graph, const Plan& plan, Findings& findings) {
  if (plan.graph != graph.name()) {
    findings.add(Rule::reference, "the plan is for the graph '{}', not for '{}'", plan.graph, graph.name());
  }
  for (std::size_t i = 0; i < plan.notes.size() && !findings.full(); ++i) {
    const std::size_t tensor = plan.notes[i].tensor.index();
    if (tensor >= graph.tensors().size())
      findings.add(Rule::reference, "note {} names tensor {}, which does not exist", i, tensor);
  }
  for (std::size_t a = 0; a < plan.arenas.size() && !findings.full(); ++a) {
    check_arena_size(plan, ArenaId(a), findings);
    check_claim(plan, ArenaId(a), findings);
  }
}

void check_placements(const Case& input, Findings& findings) {
  PlacementCheck rules(input, findings);
  for (std::size_t t = 0; t < input.graph.tensors().size() && !findings.full(); ++t) {
    check_tensor(input, TensorId(t), rules, findings);
  }
  for (std::size_t k = 0; k < input.graph.ops().size() && !findings.full(); ++k) {
    const auto count = static_cast<std::uint32_t>(input.graph.ops()[k].workspaces.size());
    for (std::uint32_t w = 0; w < count; ++w) check_workspace(input, WorkspaceId{OpId(k), w}, rules, findings);
  }
}

void check_layout(const Case& input, Findings& findings) {
  for (std::size_t t = 0; t < input.graph.tensors().size() && !findings.full(); ++t) {
    if (!input.graph.tensors()[t].view_of) continue;
    const Graph::Root root = input.graph.root(TensorId(t));
    check_link(input, TensorId(t), root.tensor, root.offset, "a view", findings);
  }
  for (const Op& op : input.graph.ops()) {
    if (findings.full()) return;
    for (const Alias& alias : op.aliases) {
      check_link(input, op.outputs[alias.output], *op.inputs[alias.input], alias.offset, "an alias", findings);
    }
  }
}

void check_region_limits(const Case& input, Findings& findings) {
  std::optional<Largest> largest;
  std::size_t cell = 0;
  for (std::size_t a = 0; a < input.plan.arenas.size(); ++a) {
    const Arena& arena = input.plan.arenas[a];
    for (std::size_t r = 0; r < arena.regions.size() && !findings.full(); ++r, ++cell) {
      const std::optional<Bytes> limit = exceeded_limit(input, arena, arena.regions[r]);
      if (!limit) continue;
      if (!largest) largest.emplace(input);
      if (largest->in(cell) > *limit) continue;
      findings.add(Rule::bounds, "region {} of {} has {} bytes, memory '{}' allows {}, and nothing in it is larger than that", r,
                   name_arena(input.plan, ArenaId(a)), arena.regions[r].value(), input.graph.memory(arena.memory).name,
                   limit->value());
    }
  }
}

}  // namespace stowage::verification
