#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lower/clears.hpp"
#include "lower/interface/lower.hpp"
#include "lower/interface/program.hpp"

namespace stowage {
namespace {

/// The regions that are used, renumbered without gaps; at least one.
struct UsedRegions {
  std::vector<std::uint32_t> number;  ///< By region of the Problem.
  std::vector<Bytes> tops;            ///< By number.
};

UsedRegions used_regions(std::span<const Bytes> tops) {
  UsedRegions used;
  for (const Bytes top : tops) {
    used.number.push_back(static_cast<std::uint32_t>(used.tops.size()));
    if (top > Bytes(0)) used.tops.push_back(top);
  }
  if (used.tops.empty()) used.tops.push_back(Bytes(0));
  // Unused regions after the last used one, which may still hold items of size 0.
  const auto last = static_cast<std::uint32_t>(used.tops.size() - 1);
  for (std::uint32_t& number : used.number) number = std::min(number, last);
  return used;
}

/// The op of a step of the timeline; none before the first op.
std::optional<OpId> op_at(const Timeline& timeline, Step step) {
  const bool exists = step >= Step(0) && static_cast<std::size_t>(step.value()) < timeline.moments.size();
  if (!exists || timeline.at(step).kind == Moment::Kind::start) return std::nullopt;
  return timeline.at(step).op;
}

/// Nothing can share bytes with all items that a certificate names; a storage of several classes cannot be named as
/// tensors, because each of them alone might.
BoundProof unordered(const Analysis& analysis, const ArenaProblem& source, const Certificate& certificate) {
  BoundProof proof{.argument = BoundProof::Argument::unordered};
  for (const std::size_t item : certificate.items) {
    const Occupant& occupant = source.occupants[item];
    const auto* const storage = std::get_if<StorageId>(&occupant);
    if (const auto* const workspace = std::get_if<WorkspaceId>(&occupant)) proof.workspaces.push_back(*workspace);
    if (!storage) continue;
    const std::vector<ClassId>& classes = analysis.layout.storage(*storage).classes;
    if (classes.size() != 1) return {.argument = BoundProof::Argument::choices};
    const std::vector<ClassPlace>& places = analysis.layout.sharing.places;
    const auto first = std::find_if(places.begin(), places.end(),
                                    [&](const ClassPlace& place) { return place.id == classes.front(); });
    proof.tensors.emplace_back(first - places.begin());
  }
  return proof;
}

Arena arena_of(const ArenaProblem& source, const ArenaSolution& solution, const UsedRegions& used, BoundProof proof) {
  Arena arena{.name = source.name,
              .memory = source.memory,
              .kind = source.kind,
              .size = {},
              .regions = used.tops,
              .lower_bound = solution.bound.bytes,
              .proof = std::move(proof)};
  if (source.size) {
    arena.regions = {*source.size};
    arena.lower_bound = *source.size;
  }
  for (const Bytes top : arena.regions) arena.size += top;
  arena.proven_optimal = arena.size == arena.lower_bound;
  return arena;
}

/// Reads the solutions and writes the plan.
class Raising {
 public:
  Raising(const Graph& graph, const Analysis& analysis)
      : graph_(graph), analysis_(analysis), layout_(analysis.layout), storages_(analysis.layout.storages.size()) {
    plan_.graph = graph.name();
    plan_.padding = analysis.layout.padding;
  }

  Plan run(const Lowering& lowering, std::span<const ArenaSolution> solutions) {
    for (std::size_t a = 0; a < lowering.arenas.size(); ++a) {
      plan_.arenas.push_back(arena_of(lowering.arenas[a], solutions[a],
                                      used_paid_regions(lowering.arenas[a], solutions[a]), solutions[a].proof));
    }
    for (std::size_t a = 0; a < lowering.arenas.size(); ++a) place_items(lowering.arenas[a], solutions[a], ArenaId(a));
    sort_workspaces();
    place_tensors();
    add_bindings();
    add_copies();
    plan_.clears = find_clears(graph_, layout_, plan_);
    plan_.edges = analysis_.liveness.order.edges;
    plan_.program = make_program(graph_, plan_);
    return std::move(plan_);
  }

 private:
  /// The position of an item in the plan.
  struct RaisedPosition {
    ArenaId arena;
    Position position;
  };

  static UsedRegions used_paid_regions(const ArenaProblem& source, const ArenaSolution& solution) {
    const std::vector<Bytes> tops = tops_of(source.problem, solution.positions);
    return used_regions(std::span(tops).first(tops.size() - source.hosts.size()));
  }

  void place_items(const ArenaProblem& source, const ArenaSolution& solution, ArenaId arena) {
    const UsedRegions used = used_paid_regions(source, solution);
    for (std::size_t i = 0; i < source.occupants.size(); ++i) {
      if (std::holds_alternative<HostTensor>(source.occupants[i])) continue;
      Position position = solution.positions[i];
      if (source.problem.items[i].size == Bytes(0))
        position = {0, Bytes(0)};  // its position may lie outside every region
      const RaisedPosition at =
          position.region < used.number.size()
              ? RaisedPosition{arena, {used.number[position.region], position.offset}}
              : RaisedPosition{host(source, position.region - used.number.size()), {0, position.offset}};
      if (const auto* storage = std::get_if<StorageId>(&source.occupants[i])) {
        storages_[storage->index()] = at;
      } else {
        add_workspace(std::get<WorkspaceId>(source.occupants[i]), at);
      }
    }
  }

  /// The arena for a caller's buffer; created for its first guest.
  ArenaId host(const ArenaProblem& source, std::size_t number) {
    const TensorId tensor = source.hosts[number];
    const auto [known, is_new] = hosts_.try_emplace(tensor, plan_.arenas.size());
    if (!is_new) return known->second;
    const Tensor& whose = graph_.tensor(tensor);
    plan_.arenas.push_back({.name = whose.name,
                            .memory = source.memory,
                            .kind = ArenaKind::user,
                            .size = whose.size,
                            .regions = {whose.size},
                            .lower_bound = whose.size,
                            .proven_optimal = true,
                            .tensor = tensor,
                            .proof = {.argument = BoundProof::Argument::given}});
    return known->second;
  }

  void add_workspace(WorkspaceId ref, const RaisedPosition& at) {
    const Bytes size = graph_.op(ref.op).workspaces[ref.index].size;
    plan_.workspaces.push_back({ref.op, ref.index, at.arena, at.position.region, at.position.offset, size});
  }

  void sort_workspaces() {
    std::sort(plan_.workspaces.begin(), plan_.workspaces.end(),
              [](const WorkspacePlacement& a, const WorkspacePlacement& b) {
                return std::pair(a.op, a.index) < std::pair(b.op, b.index);
              });
  }

  void place_tensors() {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ClassPlace place = layout_.sharing.places[t];
      const Residence residence = layout_.residences[place.id];
      if (residence == Residence::nowhere) {
        plan_.notes.push_back({TensorId(t), "no op reads or writes it, so it gets no memory"});
      }
      if (!is_resident(residence)) continue;
      const ClassPosition& position = layout_.positions[place.id];
      const RaisedPosition& at = storages_[position.storage.index()];
      plan_.placements.push_back({TensorId(t), at.arena, at.position.region,
                                  at.position.offset + position.offset + place.offset, graph_.tensors()[t].size});
    }
    for (const LayoutNote& note : layout_.notes) plan_.notes.push_back({note.tensor, note.text});
  }

  void add_bindings() {
    for (const TensorId tensor : layout_.bound) {
      const Bytes alignment = layout_.classes[layout_.class_of(tensor)].alignment;
      plan_.bindings.push_back({tensor, graph_.tensor(tensor).size, alignment});
    }
  }

  void add_copies() {
    for (const PlannedCopy& copy : layout_.copies) {
      const ClassPosition* const to = copy.to ? &layout_.positions[copy.to->id] : nullptr;
      const RaisedPosition& at = storages_[(to ? to->storage : copy.storage).index()];
      const Bytes inside = to ? to->offset + copy.to->offset : copy.offset;
      plan_.copies.push_back({.tensor = copy.tensor,
                              .when = moment_of(copy),
                              .arena = at.arena,
                              .region = at.position.region,
                              .offset = at.position.offset + inside,
                              .size = graph_.tensor(copy.tensor).size,
                              .reason = copy.reason});
    }
  }

  [[nodiscard]] CopyMoment moment_of(const PlannedCopy& copy) const {
    if (copy.before < 0) return CopyMoment::at_back_edge();
    const Scope& scope = graph_.scope(copy.scope);
    const auto number = static_cast<std::size_t>(copy.before);
    return number == scope.op_count ? CopyMoment::at_body_end()
                                    : CopyMoment::before(OpId(scope.first_op.index() + number));
  }

  const Graph& graph_;
  const Analysis& analysis_;
  const Layout& layout_;
  std::vector<RaisedPosition> storages_;
  std::map<TensorId, ArenaId> hosts_;
  Plan plan_;
};

}  // namespace

BoundProof proof_of(const Analysis& analysis, const ArenaProblem& source, const Certificate& certificate) {
  using Argument = BoundProof::Argument;
  if (source.size) return {.argument = Argument::given};
  const std::optional<OpId> op = op_at(analysis.liveness.timeline, certificate.step);
  switch (certificate.argument) {
    case Certificate::Argument::trivial:
      return {};
    case Certificate::Argument::live_bytes:
      return {.argument = Argument::live_bytes, .op = op};
    case Certificate::Argument::aligned_offsets:
      return {.argument = Argument::aligned, .op = op, .alignment = source.problem.items[certificate.item].alignment};
    case Certificate::Argument::unordered_items:
      return unordered(analysis, source, certificate);
    case Certificate::Argument::pinned_item:
    case Certificate::Argument::pinned_gaps:
    case Certificate::Argument::offset_sums:
    case Certificate::Argument::exhausted_search:
      return {.argument = Argument::search};
  }
  return {};
}

Plan raise(const Graph& graph, const Analysis& analysis, const Lowering& lowering,
           std::span<const ArenaSolution> solutions) {
  return Raising(graph, analysis).run(lowering, solutions);
}

}  // namespace stowage
