#include "support/judges/shadow/locator.hpp"

#include <algorithm>
#include <optional>

#include "support/judges/shadow/groups.hpp"

namespace stowage::testing {

Locator::Locator(const Graph& graph, const Plan& plan, const Families& families, Bytes granularity,
                 std::vector<std::string>& findings)
    : graph_(graph),
      plan_(plan),
      families_(families),
      granularity_(granularity),
      constants_(constants_have_bytes(graph)),
      findings_(findings),
      places_(graph.tensors().size()),
      free_alignment_(free_alignments()) {
  add_arenas();
  add_bindings();
  add_externals();
  read_placements();
  read_workspaces();
}

void Locator::add_arenas() {
  for (const Arena& arena : plan_.arenas) {
    first_space_.push_back(spaces_.size());
    const Space::Kind kind = arena.kind == ArenaKind::shared ? Space::Kind::shared
                             : arena.kind == ArenaKind::user ? Space::Kind::caller
                                                             : Space::Kind::kept;
    for (const Bytes region : arena.regions) spaces_.push_back({.kind = kind, .size = region, .binding = arena.tensor});
    const bool bound = std::any_of(plan_.bindings.begin(), plan_.bindings.end(),
                                   [&](const Binding& binding) { return binding.tensor == arena.tensor; });
    if (arena.kind == ArenaKind::user && (!bound || arena.regions.size() != 1))
      complain("arena '" + arena.name + "' is no caller's buffer");
  }
}

void Locator::add_bindings() {
  for (const Binding& binding : plan_.bindings) {
    if (binding.tensor.index() >= graph_.scope(ScopeId(0)).tensor_count) {
      complain("a binding names tensor " + std::to_string(binding.tensor.index()) + ", which does not exist");
      continue;
    }
    auto space = std::find_if(spaces_.begin(), spaces_.end(), [&](const Space& each) {
      return each.kind == Space::Kind::caller && each.binding == binding.tensor;
    });
    if (space == spaces_.end()) {
      spaces_.push_back({.kind = Space::Kind::caller, .binding = binding.tensor});
      space = spaces_.end() - 1;
    }
    space->size = binding.size;
    space->alignment = binding.alignment;
    bound_[families_.seats[binding.tensor.index()].family] = {binding.tensor,
                                                              static_cast<std::size_t>(space - spaces_.begin())};
  }
}

void Locator::add_externals() {
  for (std::size_t i = 0; i < families_.families.size(); ++i) {
    const Family& family = families_.families[i];
    if (!family.flags.has(TensorFlag::external)) continue;
    external_[i] = spaces_.size();
    spaces_.push_back({.size = Bytes(static_cast<std::int64_t>(family.cells) * granularity_.value())});
  }
}

void Locator::read_placements() {
  for (const Placement& place : plan_.placements) {
    if (place.tensor.index() >= places_.size()) {
      complain("tensor " + std::to_string(place.tensor.index()) + ", which is placed, does not exist");
      continue;
    }
    places_[place.tensor.index()] = &place;
  }
}

void Locator::read_workspaces() {
  for (const WorkspacePlacement& place : plan_.workspaces) {
    if (place.op.index() >= graph_.ops().size()) {
      complain("op " + std::to_string(place.op.index()) + ", whose workspace is placed, does not exist");
      continue;
    }
    workspaces_[{place.op, place.index}] = &place;
  }
}

/// What packed groups, aliases and bodies put somewhere need not keep the alignment of its memory there, only its own.
std::vector<bool> Locator::free_alignments() const {
  std::vector<bool> families(families_.families.size());
  const auto free = [&](TensorId id) { families[families_.seats[id.index()].family] = true; };
  for (const Op& op : graph_.ops()) {
    const bool packed = is_concat(graph_, op) || is_split(graph_, op);
    for (const std::optional<TensorId>& input : op.inputs) {
      if (input && packed) free(*input);
    }
    for (const TensorId output : op.outputs) {
      if (packed || op.control != Control::none) free(output);
    }
    for (const Alias& alias : op.aliases) free(op.outputs[alias.output]);
  }
  for (const Scope& scope : graph_.scopes()) {
    for (const BodyInput& pair : scope.inputs) free(pair.inner);
    for (const BodyOutput& pair : scope.outputs) free(pair.inner);
    for (const Carried& pair : scope.carried) free(pair.out);
  }
  std::vector<bool> result;
  for (const Seat& seat : families_.seats) result.push_back(families[seat.family]);
  return result;
}

Site Locator::tensor(TensorId id) const {
  const Seat& seat = families_.seats[id.index()];
  const TensorFlags flags = families_.families[seat.family].flags;
  const Tensor& tensor = graph_.tensor(id);
  if (seat.count == 0) return {};
  if (flags.has(TensorFlag::constant) && !constants_) return {};
  const std::string name = describe(tensor, id);
  if (flags.has(TensorFlag::external))
    return {.extent = {external_.at(seat.family), seat.first, seat.count},
            .offset = static_cast<std::int64_t>(seat.first) * granularity_.value()};
  if (bound_.contains(seat.family)) return bound(id);
  if (!tensor.view_of && !is_aligned(graph_.alignment(id), granularity_))
    return complain(name + " is aligned too finely to shadow");
  const Placement* place = places_[id.index()];
  if (place == nullptr) return complain(name + " has no place");
  Site site = range(place->arena, place->region, {place->offset, place->offset + tensor.size}, name);
  site.extent.count = seat.count;
  site.alignment = free_alignment_[id.index()] ? tensor.alignment.value_or(Bytes(1)) : graph_.alignment(id);
  return site;
}

Site Locator::bound(TensorId id) const {
  const std::string name = describe(graph_.tensor(id), id);
  if (places_[id.index()] != nullptr) return complain(name + " has a place, though it lies in a caller's buffer");
  const auto& [base, space] = bound_.at(families_.seats[id.index()].family);
  const auto cells = static_cast<std::int64_t>(families_.seats[id.index()].first) -
                     static_cast<std::int64_t>(families_.seats[base.index()].first);
  Site site = at(space, cells * granularity_.value(), graph_.tensor(id).size, name);
  site.extent.count = families_.seats[id.index()].count;
  site.alignment = free_alignment_[id.index()] ? graph_.tensor(id).alignment.value_or(Bytes(1)) : graph_.alignment(id);
  return site;
}

Site Locator::workspace(OpId op, std::uint32_t index) const {
  const Workspace& workspace = graph_.op(op).workspaces[index];
  if (workspace.size == Bytes{}) return {};
  const std::string name = "workspace " + std::to_string(index) + " of " + describe(graph_.op(op), op);
  if (!is_aligned(graph_.alignment(workspace), granularity_))
    return complain(name + " is aligned too finely to shadow");
  const auto place = workspaces_.find({op, index});
  if (place == workspaces_.end()) return complain(name + " has no place");
  const WorkspacePlacement& found = *place->second;
  Site site = range(found.arena, found.region, {found.offset, found.offset + workspace.size}, name);
  site.alignment = graph_.alignment(workspace);
  return site;
}

Site Locator::range(ArenaId arena, std::uint32_t region, ByteRange bytes, const std::string& name) const {
  if (arena.index() >= plan_.arenas.size()) return complain(name + " lies in an arena that does not exist");
  if (region >= plan_.arenas[arena.index()].regions.size())
    return complain(name + " lies in a region that does not exist");
  return at(first_space_[arena.index()] + region, bytes.lower.value(), bytes.length(), name);
}

Site Locator::beside(const Site& anchor, std::int64_t offset, Bytes size, const std::string& name) const {
  return size == Bytes{} ? Site{} : at(anchor.extent.space, offset, size, name);
}

Site Locator::at(std::size_t space, std::int64_t offset, Bytes size, const std::string& name) const {
  const Bytes top = spaces_[space].size;
  const bool inside = 0 <= offset && Bytes(offset) <= top && size <= top - Bytes(offset);
  if (!inside) return complain(name + " lies outside its region");
  const std::int64_t cell = granularity_.value();
  const std::int64_t first = offset / cell;
  const std::int64_t last = (offset + size.value() + cell - 1) / cell;
  return {.extent = {space, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)}, .offset = offset};
}

Site Locator::complain(std::string finding) const {
  findings_.push_back(std::move(finding));
  return {};
}

}  // namespace stowage::testing
