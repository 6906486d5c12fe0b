#include "support/judges/oracle/placement_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stowage::oracle {
namespace {

std::string at(const char* what, std::size_t index) { return what + (" " + std::to_string(index)); }

/// Plans list tensors in ascending order, so that the entry of a tensor is most often a little before its id; mutated
/// plans may have it anywhere.
const Placement* find(const Plan& plan, std::size_t tensor) {
  const std::size_t count = plan.placements.size();
  for (std::size_t i = std::min(tensor + 1, count); i-- > 0;) {
    if (plan.placements[i].tensor.index() == tensor) return &plan.placements[i];
  }
  for (std::size_t i = tensor + 1; i < count; ++i) {
    if (plan.placements[i].tensor.index() == tensor) return &plan.placements[i];
  }
  return nullptr;
}

const WorkspacePlacement* find(const Plan& plan, std::size_t op, std::size_t index) {
  for (const WorkspacePlacement& p : plan.workspaces) {
    if (p.op.index() == op && p.index == index) return &p;
  }
  return nullptr;
}

struct Wanted {
  Bytes size;
  Bytes alignment;
  MemoryId memory;
  ArenaKind kind;
};

template <class P>
bool is_misplaced(const Plan& plan, const P& p, const Wanted& wanted) {
  const Arena& arena = plan.arenas[p.arena.index()];
  return p.size != wanted.size || p.offset < Bytes(0) || p.offset + wanted.size > arena.regions[p.region] ||
         p.offset.value() % wanted.alignment.value() != 0 || arena.memory != wanted.memory || arena.kind != wanted.kind;
}

template <class P>
bool names_no_region(const Plan& plan, const P& p) {
  return p.arena.index() >= plan.arenas.size() || p.region >= plan.arenas[p.arena.index()].regions.size();
}

bool is_elsewhere(const Placement* inner, const Placement* outer, Bytes offset) {
  if (!inner || !outer) return false;
  return inner->arena != outer->arena || inner->region != outer->region || inner->offset != outer->offset + offset;
}

}  // namespace

std::optional<std::string> PlacementRules::broken(const Plan& plan) const {
  if (auto fault = bad_reference(plan)) return fault;
  if (auto fault = bad_arena(plan)) return fault;
  if (auto fault = bad_tensor(plan)) return fault;
  if (auto fault = bad_workspace(plan)) return fault;
  if (auto fault = bad_layout(plan)) return fault;
  if (auto fault = bad_padding(plan)) return fault;
  return bad_region(plan);
}

bool PlacementRules::is_used(std::size_t owner) const {
  const TensorFlags flags = facts_.flags[owner];
  if (flags.has(TensorFlag::external)) return false;
  return facts_.touched[owner] ||
         flags.any_of({TensorFlag::constant, TensorFlag::variable, TensorFlag::input, TensorFlag::output});
}

Bytes PlacementRules::alignment_of(std::size_t owner) const {
  Bytes alignment(1);
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    if (facts_.owners[t] == owner) alignment = std::max(alignment, graph_.alignment(TensorId(t)));
  }
  return alignment;
}

std::optional<std::string> PlacementRules::bad_reference(const Plan& plan) const {
  if (plan.graph != graph_.name()) return "graph name";
  for (const Note& note : plan.notes) {
    if (note.tensor.index() >= graph_.tensors().size()) return "note";
  }
  std::set<std::size_t> placed;
  for (const Placement& p : plan.placements) {
    const std::size_t tensor = p.tensor.index();
    if (tensor >= graph_.tensors().size() || !placed.insert(tensor).second) return at("tensor id", tensor);
    if (names_no_region(plan, p)) return "arena or region";
  }
  std::set<std::pair<std::size_t, std::uint32_t>> scratch;
  for (const WorkspacePlacement& p : plan.workspaces) {
    if (p.op.index() >= graph_.ops().size() || p.index >= graph_.op(p.op).workspaces.size())
      return at("op id", p.op.index());
    if (!scratch.insert({p.op.index(), p.index}).second) return at("workspace twice, op", p.op.index());
    if (names_no_region(plan, p)) return "arena or region";
  }
  return std::nullopt;
}

std::optional<std::string> PlacementRules::bad_arena(const Plan& plan) const {
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const Arena& arena = plan.arenas[a];
    if (arena.memory.index() >= graph_.memories().size()) return at("memory of arena", a);
    Bytes sum;
    for (const Bytes region : arena.regions) {
      if (region < Bytes(0)) return at("negative region of arena", a);
      sum += region;
    }
    if (sum != arena.size) return at("size of arena", a);
    if (arena.lower_bound > arena.size || arena.proven_optimal != (arena.lower_bound == arena.size))
      return at("claim of arena", a);
  }
  return std::nullopt;
}

std::optional<std::string> PlacementRules::bad_tensor(const Plan& plan) const {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const std::size_t owner = facts_.owners[t];
    const Placement* const p = find(plan, t);
    if (is_used(owner) && !p) return at("missing tensor", t);
    if (facts_.flags[owner].has(TensorFlag::external) && p) return at("placed external tensor", t);
    if (!p) continue;
    const Tensor& tensor = graph_.tensors()[t];
    const ArenaKind kind = facts_.is_persistent(owner) ? ArenaKind::persistent : ArenaKind::shared;
    if (is_misplaced(plan, *p, {tensor.size, graph_.alignment(TensorId(t)), tensor.memory, kind}))
      return at("misplaced tensor", t);
  }
  return std::nullopt;
}

std::optional<std::string> PlacementRules::bad_workspace(const Plan& plan) const {
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    for (std::size_t w = 0; w < graph_.ops()[k].workspaces.size(); ++w) {
      const Workspace& workspace = graph_.ops()[k].workspaces[w];
      const WorkspacePlacement* const p = find(plan, k, w);
      const bool used = is_used(facts_.owner(OpId(k), w)) && workspace.size > Bytes(0);
      if (!p && used) return at("missing workspace of op", k);
      if (!p) continue;
      if (is_misplaced(plan, *p, {workspace.size, graph_.alignment(workspace), workspace.memory, ArenaKind::shared}))
        return at("misplaced workspace of op", k);
    }
  }
  return std::nullopt;
}

std::optional<std::string> PlacementRules::bad_layout(const Plan& plan) const {
  for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
    const ViewOf root = graph_.root(TensorId(t));
    if (is_elsewhere(find(plan, t), find(plan, root.tensor.index()), root.offset)) return at("view", t);
  }
  for (const Op& op : graph_.ops()) {
    for (const Alias& alias : op.aliases) {
      const std::size_t output = op.outputs[alias.output].index();
      if (is_elsewhere(find(plan, output), find(plan, op.inputs[alias.input]->index()), alias.offset))
        return at("alias", output);
    }
  }
  return std::nullopt;
}

/// Layout holds, so that a class is one range of bytes.
std::optional<std::string> PlacementRules::bad_padding(const Plan& plan) const {
  if (plan.padding == Padding::none) return std::nullopt;
  for (const WorkspacePlacement& p : plan.workspaces) {
    const Bytes size = align_up(p.size, graph_.alignment(graph_.op(p.op).workspaces[p.index]));
    if (p.offset + size > plan.arenas[p.arena.index()].regions[p.region]) return at("padding in op", p.op.index());
  }
  std::map<std::size_t, ByteRange> ranges;
  std::map<std::size_t, Bytes> tops;
  for (const Placement& p : plan.placements) {
    const std::size_t owner = facts_.owner(p.tensor);
    if (p.size == Bytes(0)) continue;
    ByteRange& range = ranges.try_emplace(owner, ByteRange{p.offset, p.offset}).first->second;
    range = {std::min(range.lower, p.offset), std::max(range.upper, p.offset + p.size)};
    tops[owner] = plan.arenas[p.arena.index()].regions[p.region];
  }
  for (const auto& [owner, range] : ranges) {
    if (is_used(owner) && range.lower + align_up(range.length(), alignment_of(owner)) > tops[owner])
      return at("padding of owner", owner);
  }
  return std::nullopt;
}

std::optional<std::string> PlacementRules::bad_region(const Plan& plan) const {
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const std::optional<Bytes> limit = graph_.memory(plan.arenas[a].memory).max_size;
    for (std::uint32_t r = 0; limit && r < plan.arenas[a].regions.size(); ++r) {
      const Bytes top = plan.arenas[a].regions[r];
      if (top > *limit && !has_anything_of(top, plan, a, r)) return at("large region of arena", a);
    }
  }
  return std::nullopt;
}

/// Layout holds, so that a class is one range of bytes. Some owner alone is that large.
bool PlacementRules::has_anything_of(Bytes least, const Plan& plan, std::size_t arena, std::uint32_t region) const {
  const auto padded = [&](Bytes size, Bytes alignment) {
    return plan.padding == Padding::own ? align_up(size, alignment) : size;
  };
  for (const WorkspacePlacement& p : plan.workspaces) {
    const Bytes alignment = graph_.alignment(graph_.op(p.op).workspaces[p.index]);
    if (p.arena.index() == arena && p.region == region && padded(p.size, alignment) >= least) return true;
  }
  for (const Placement& p : plan.placements) {
    const std::size_t owner = facts_.owner(p.tensor);
    if (p.arena.index() != arena || p.region != region) continue;
    for (const Placement& q : plan.placements) {
      if (facts_.owner(q.tensor) != owner || q.offset + q.size < p.offset) continue;
      if (padded(q.offset + q.size - p.offset, alignment_of(owner)) >= least) return true;
    }
  }
  return false;
}

}  // namespace stowage::oracle
