#include "verify/rules.hpp"

#include <map>
#include <optional>

#include "verify/links.hpp"

namespace stowage::verification {
namespace {

void check_arena_size(const Plan& plan, ArenaId id, Findings& findings) {
  const Arena& arena = plan.arenas[id.index()];
  std::optional<Bytes> sum = Bytes(0);
  for (std::size_t r = 0; r < arena.regions.size(); ++r) {
    if (arena.regions[r] < Bytes(0)) {
      findings.add(Rule::size, "region {} of {} has the size {}", r, describe(plan, id), arena.regions[r].value());
      return;
    }
    if (sum) sum = checked_sum(*sum, arena.regions[r]);
  }
  if (sum == arena.size) return;
  findings.add(Rule::size, "{} has the size {}, but its regions sum to {}", describe(plan, id), arena.size.value(),
               sum ? std::to_string(sum->value()) : "more than can be represented");
}

void check_claim(const Plan& plan, ArenaId id, Findings& findings) {
  const Arena& arena = plan.arenas[id.index()];
  const std::int64_t size = arena.size.value();
  const std::int64_t bound = arena.lower_bound.value();
  if (bound > size) {
    findings.add(Rule::claim, "{} claims the lower bound {}, above its size {}", describe(plan, id), bound, size);
  } else if (arena.proven_optimal && bound != size) {
    findings.add(Rule::claim, "{} claims to be optimal with the size {}, but its lower bound is {}", describe(plan, id),
                 size, bound);
  } else if (!arena.proven_optimal && bound == size) {
    findings.add(Rule::claim, "{} has the size of its lower bound {}, but does not claim to be optimal",
                 describe(plan, id), bound);
  }
}

/// What groups, bodies and options tie to something that needs a fixed address.
class FixedTies {
 public:
  FixedTies(const Case& input, const Links& links, const Copies& copies) : links_(links), fixed_(links.tied.size()) {
    for (std::size_t value = 0; value < input.values.size(); ++value) {
      if (input.values[ValueId(value)].fixed) fixed_[links.tied[value]] = 1;
    }
    for (std::uint32_t i = 0; i < copies.size(); ++i) {
      if (copies[i].role == CopyRole::group_input && input.graph.op(copies[i].when.op).fixed_address)
        fixed_[links.tied[input.values.size() + i]] = 1;
    }
  }

  /// `thing` as in `Links`.
  [[nodiscard]] bool has(std::size_t thing) const { return fixed_[links_.tied[thing]] != 0; }

 private:
  const Links& links_;
  std::vector<char> fixed_;  ///< By number.
};

/// What the graph requires of one tensor or workspace.
struct Request {
  Subject subject;
  Bytes size;
  Bytes alignment;
  MemoryId memory;
  const Value& value;
  bool persistent_part = false;
  bool tied_to_fixed = false;
};

/// The rules for a single placement.
class PlacementCheck {
 public:
  PlacementCheck(const Case& input, Findings& findings) : input_(input), findings_(findings) {}

  void check(const Request& request, const Place& place) {
    if (place.size != request.size) {
      findings_.add(Rule::size, "{} has {} bytes, but its placement has {}", name(request), request.size.value(),
                    place.size.value());
    }
    if (!is_aligned(place.offset, request.alignment)) {
      findings_.add(Rule::alignment, "{} at {} is not at a multiple of its alignment {}", name(request),
                    place.offset.value(), request.alignment.value());
    }
    if (!place.cell) return;
    check_arena(request, place);
    check_bounds(request, place);
  }

 private:
  [[nodiscard]] std::string name(const Request& request) const { return describe(input_.graph, request.subject); }

  void check_arena(const Request& request, const Place& place) {
    const Arena& arena = input_.plan.arenas[place.arena.index()];
    if (arena.memory != request.memory) {
      findings_.add(Rule::arena, "{} is in memory {}, but placed in {} of memory {}", name(request),
                    request.memory.index(), describe(input_.plan, place.arena), arena.memory.index());
    }
    const ArenaKind kind = kind_of(request);
    if (kind == ArenaKind::shared && arena.kind == ArenaKind::fixed) {
      check_fixed(request, place.arena);
      return;
    }
    if (arena.kind == kind) return;
    if (kind == ArenaKind::shared && arena.kind == ArenaKind::user) {
      check_guest(request, place.arena);
      return;
    }
    findings_.add(Rule::arena, "{} belongs in a {} arena, but {} is {}", name(request), to_string(kind),
                  describe(input_.plan, place.arena), to_string(arena.kind));
  }

  /// Under a refreshable base the bytes of fixed arenas are only for what needs one address, and what is tied to it.
  void check_fixed(const Request& request, ArenaId id) {
    const bool refreshable = input_.options.base == AddressBase::refreshable;
    if (!refreshable || request.tied_to_fixed || request.size == Bytes(0)) return;
    findings_.add(Rule::arena, "{} needs no fixed address, and nothing that does need one ties it to {}, a fixed arena",
                  name(request), describe(input_.plan, id));
  }

  /// The kind of arena in which a value belongs. A value that belongs in a shared arena may also lie in a caller's
  /// buffer, and in a fixed arena if something ties it to a fixed address.
  [[nodiscard]] ArenaKind kind_of(const Request& request) const {
    const Value& value = request.value;
    if (value.persistent() || request.persistent_part) return ArenaKind::persistent;
    if (value.session) return ArenaKind::session;
    if (value.ring) return ArenaKind::ring;
    const bool pinned = value.fixed && input_.options.base == AddressBase::refreshable;
    return pinned ? ArenaKind::fixed : ArenaKind::shared;
  }

  void check_guest(const Request& request, ArenaId id) {
    const Bindings::Bound* const host = input_.bindings.host(id);
    if (!host) return;  // reported with the arena
    const bool coarse = request.alignment > host->alignment;
    const char* const why = coarse ? "its alignment is larger than the buffer's" : why_unwelcome(request.value);
    if (!why) return;
    findings_.add(Rule::arena, "{} cannot lie in {}, a caller's buffer: {}", name(request), describe(input_.plan, id),
                  why);
  }

  /// The size of the graph counts; a different size in the plan is a separate finding.
  void check_bounds(const Request& request, const Place& place) {
    const Bytes top = input_.plan.arenas[place.arena.index()].regions[place.region];
    const std::optional<Bytes> end = checked_sum(place.offset, request.size);
    if (place.offset >= Bytes(0) && end && *end <= top) return;
    findings_.add(Rule::bounds, "{} at {} with {} bytes lies outside [0, {}), region {} of {}", name(request),
                  place.offset.value(), request.size.value(), top.value(), place.region,
                  describe(input_.plan, place.arena));
  }

  const Case& input_;
  Findings& findings_;
};

void check_tensor(const Case& input, const Links& links, const FixedTies& ties, TensorId id, PlacementCheck& rules,
                  Findings& findings) {
  const Tensor& tensor = input.graph.tensor(id);
  const ValueId value = input.values.of(id);
  const Place* const place = input.places.of(id);
  const bool bound = input.bindings.of(value) != nullptr;
  if (!place) {
    if (input.values[value].in_use() && !bound) {
      findings.add(Rule::missing, "{} needs memory, but has no placement", describe(input.graph, id));
    }
    return;
  }
  if (input.values[value].external() || bound) {
    findings.add(Rule::missing, "{} is {}, but has a placement", describe(input.graph, id),
                 bound ? "bound to a caller's buffer" : "external");
  }
  const Bytes alignment =
      links.part[value.index()] != 0 ? tensor.alignment.value_or(Bytes(1)) : input.graph.alignment(id);
  rules.check({id, tensor.size, alignment, tensor.memory, input.values[value],
               links.persistent_part[value.index()] != 0, ties.has(value.index())},
              *place);
}

void check_workspace(const Case& input, WorkspaceId id, PlacementCheck& rules, Findings& findings) {
  const Workspace& workspace = input.graph.op(id.op).workspaces[id.index];
  const Value& value = input.values[input.values.of(id.op, id.index)];
  if (const Place* const place = input.places.of(id)) {
    rules.check({id, workspace.size, input.graph.alignment(workspace), workspace.memory, value}, *place);
  } else if (value.in_use()) {
    findings.add(Rule::missing, "{} needs memory, but has no placement", describe(input.graph, Subject(id)));
  }
}

}  // namespace

const char* why_unwelcome(const Value& value) {
  if (value.fixed) return "an op that needs a fixed address accesses it";
  if (value.flags.has(TensorFlag::input)) return "it is an input";
  if (value.flags.has(TensorFlag::output)) return "it is an output";
  if (value.flags.has(TensorFlag::no_reuse)) return "it must not share its bytes";
  if (value.grouped) return "it is in a contiguous group";
  return value.filled ? "it must be filled" : nullptr;
}

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

void check_placements(const Case& input, const Links& links, const Copies& copies, Findings& findings) {
  PlacementCheck rules(input, findings);
  const FixedTies ties(input, links, copies);
  for (std::size_t t = 0; t < input.graph.tensors().size() && !findings.full(); ++t) {
    check_tensor(input, links, ties, TensorId(t), rules, findings);
  }
  for (std::size_t k = 0; k < input.graph.ops().size() && !findings.full(); ++k) {
    const auto count = static_cast<std::uint32_t>(input.graph.ops()[k].workspaces.size());
    for (std::uint32_t w = 0; w < count; ++w) check_workspace(input, WorkspaceId{OpId(k), w}, rules, findings);
  }
}

void check_copies(const Case& input, const Links& links, const Copies& copies, Findings& findings) {
  const FixedTies ties(input, links, copies);
  const bool refreshable = input.options.base == AddressBase::refreshable;
  for (std::uint32_t i = 0; i < copies.size() && !findings.full(); ++i) {
    const CopyEntry& copy = copies[i];
    if (copy.role != CopyRole::group_input) continue;  // the destination of the others is the place of a tensor
    const ArenaKind kind = input.plan.arenas[copy.to.arena.index()].kind;
    const bool pinned = refreshable && input.graph.op(copy.when.op).fixed_address;
    const bool may_be_fixed = !refreshable || ties.has(input.values.size() + i);
    if ((kind == ArenaKind::fixed && may_be_fixed) || (kind == ArenaKind::shared && !pinned)) continue;
    findings.add(Rule::arena, "copy {} of {} belongs in a {} arena, but {} is {}", i,
                 describe(input.graph, copy.tensor), to_string(pinned ? ArenaKind::fixed : ArenaKind::shared),
                 describe(input.plan, copy.to.arena), to_string(kind));
  }
}

void check_pools(const Case& input, Findings& findings) {
  std::map<RingId, ArenaId> arena_of;
  std::map<ArenaId, RingId> ring_of;
  for (std::size_t t = 0; t < input.graph.tensors().size() && !input.graph.rings().empty(); ++t) {
    const std::optional<RingId> id = input.values[input.values.of(TensorId(t))].ring;
    const Place* const place = input.places.valid(TensorId(t));
    if (!id || !place || input.plan.arenas[place->arena.index()].kind != ArenaKind::ring) continue;
    const Ring& ring = input.graph.rings()[id->index()];
    const bool own = arena_of.emplace(*id, place->arena).first->second == place->arena &&
                     ring_of.emplace(place->arena, *id).first->second == *id;
    if (!own) {
      findings.add(
          Rule::arena,
          "{} goes through ring '{}', but {} is not the one arena of that ring, or is shared with another ring",
          describe(input.graph, TensorId(t)), ring.name, describe(input.plan, place->arena));
    }
  }
  for (const auto& [id, arena] : arena_of) {
    const Bytes size = input.plan.arenas[arena.index()].size;
    const Ring& ring = input.graph.rings()[id.index()];
    if (size == ring.size && input.plan.arenas[arena.index()].regions.size() == 1) continue;
    findings.add(Rule::size, "ring '{}' is one range of {} bytes, but {} has {} in {} regions", ring.name,
                 ring.size.value(), describe(input.plan, arena), size.value(),
                 input.plan.arenas[arena.index()].regions.size());
  }
}

void check_edges(const Graph& graph, const Plan& plan, Findings& findings) {
  const std::size_t count = graph.scopes().front().op_count;
  for (std::size_t i = 0; i < plan.edges.size() && !findings.full(); ++i) {
    const Edge edge = plan.edges[i];
    if (edge.from.index() >= count || edge.to.index() >= count) {
      findings.add(Rule::reference, "edge {} leads from op {} to op {}, which do not both exist", i, edge.from.index(),
                   edge.to.index());
    } else if (edge.from >= edge.to) {
      findings.add(Rule::edge, "edge {} leads backward, from {} to {}", i, describe(graph, edge.from),
                   describe(graph, edge.to));
    } else if (graph.op(edge.from).no_task || graph.op(edge.to).no_task) {
      findings.add(Rule::edge, "edge {} from {} to {} orders nothing: not both ops have a task", i,
                   describe(graph, edge.from), describe(graph, edge.to));
    }
  }
}

}  // namespace stowage::verification
