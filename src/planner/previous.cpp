#include "planner/previous.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace stowage {
namespace {

/// By arena of the plan: whether it corresponds to `arena`. Only plans of other versions have several arenas of one
/// memory and kind.
std::vector<char> same_arenas(const Plan& plan, const ArenaProblem& arena) {
  std::vector<char> same;
  for (const Arena& each : plan.arenas) same.push_back(each.memory == arena.memory && each.kind == arena.kind ? 1 : 0);
  return same;
}

bool is_in(const std::vector<char>& same, ArenaId arena) {
  return arena.index() < same.size() && same[arena.index()] != 0;
}

/// Whether the class can keep its position from a previous plan. Ring ranges are given by the graph.
bool may_stay(const Layout& layout, ClassId id) {
  return layout.residences[id] == Residence::shared || layout.residences[id] == Residence::persistent;
}

/// By storage: its position in the previous plan.
std::vector<std::optional<Position>> places_of_storages(const Plan& plan, const Scope& root, const Layout& layout,
                                                        const std::vector<char>& same) {
  std::vector<std::optional<Position>> places(layout.storages.size());
  for (const Placement& placement : plan.placements) {
    // Tensors in bodies are placed from scratch.
    if (!root.contains(placement.tensor) || !is_in(same, placement.arena)) continue;
    const ClassId id = layout.class_of(placement.tensor);
    if (!may_stay(layout, id)) continue;
    std::optional<Position>& at = places[layout.positions[id].storage.index()];
    const Bytes inside = layout.offset_in_storage(placement.tensor);
    if (!at && placement.offset >= inside) at = Position{placement.region, placement.offset - inside};
  }
  return places;
}

std::map<std::pair<OpId, std::uint32_t>, Position> places_of_workspaces(const Plan& plan, const Scope& root,
                                                                        const std::vector<char>& same) {
  std::map<std::pair<OpId, std::uint32_t>, Position> places;
  for (const WorkspacePlacement& each : plan.workspaces) {
    if (root.contains(each.op) && is_in(same, each.arena)) places[{each.op, each.index}] = {each.region, each.offset};
  }
  return places;
}

/// By storage: whether it holds a tensor that must stay.
std::vector<char> kept_storages(const PlanOptions& options, const Layout& layout) {
  std::vector<char> kept(layout.storages.size(), options.keep_offsets ? 1 : 0);
  for (const TensorId tensor : options.keep) {
    if (tensor.index() >= layout.sharing.places.size()) continue;
    const ClassId id = layout.class_of(tensor);
    if (may_stay(layout, id)) kept[layout.positions[id].storage.index()] = 1;
  }
  return kept;
}

/// "tensor 'a'", "workspace 0 of op 'b'".
std::string name_of(const Occupant& occupant, const Graph& graph, const Layout& layout) {
  if (const auto* ref = std::get_if<WorkspaceId>(&occupant))
    return fmt::format("workspace {} of op '{}'", ref->index, graph.op(ref->op).name);
  if (const auto* bound = std::get_if<HostTensor>(&occupant))
    return fmt::format("tensor '{}'", graph.tensor(bound->tensor).name);
  const StorageId storage = std::get<StorageId>(occupant);
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const ClassId id = layout.class_of(TensorId(t));
    if (may_stay(layout, id) && layout.positions[id].storage == storage)
      return fmt::format("tensor '{}'", graph.tensors()[t].name);
  }
  return "a storage";
}

}  // namespace

PreviousOfArena previous_of(const PlanOptions& options, const Graph& graph, const Layout& layout,
                            const ArenaProblem& arena) {
  const Scope& root = graph.scopes().front();
  const Plan& previous = *options.previous;
  const std::vector<char> same = same_arenas(previous, arena);
  const auto storages = places_of_storages(previous, root, layout, same);
  const auto workspaces = places_of_workspaces(previous, root, same);
  const std::vector<char> must_stay = kept_storages(options, layout);
  PreviousOfArena result;
  for (std::size_t a = 0; a < same.size(); ++a) {
    if (same[a] == 0) continue;
    result.answer.peak += previous.arenas[a].size;
    result.answer.bound += previous.arenas[a].lower_bound;
  }
  for (std::size_t i = 0; i < arena.occupants.size(); ++i) {
    std::optional<Position> at;
    bool stays = options.keep_offsets;
    if (const auto* storage = std::get_if<StorageId>(&arena.occupants[i])) {
      at = storages[storage->index()];
      stays = must_stay[storage->index()] != 0;
    } else if (const auto* ref = std::get_if<WorkspaceId>(&arena.occupants[i])) {
      if (const auto found = workspaces.find({ref->op, ref->index}); found != workspaces.end()) at = found->second;
    } else {
      at = Position{arena.problem.items[i].allowed.front(), Bytes(0)};
    }
    if (at && stays) result.kept.push_back(i);
    result.answer.positions.push_back(at);
  }
  return result;
}

Error in_words_of_graph(Error error, const Graph& graph, const Layout& layout, const ArenaProblem& arena) {
  static constexpr std::string_view kItem = "item ";
  std::string words;
  std::string_view rest = error.message;
  // One pass, so that text in a tensor's name is not mistaken for an item.
  for (std::size_t at = rest.find(kItem); at != rest.npos; at = rest.find(kItem)) {
    std::size_t item = arena.occupants.size();
    const char* const number = rest.data() + at + kItem.size();
    const char* const end = std::from_chars(number, rest.data() + rest.size(), item).ptr;
    const bool known = end != number && item < arena.occupants.size();
    words += known ? std::string(rest.substr(0, at)) + name_of(arena.occupants[item], graph, layout)
                   : std::string(rest.data(), end);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  error.message = words.append(rest);
  error.where.path.clear();
  return error;
}

ContractedArena contract_arena(const ArenaProblem& arena, const PreviousOfArena& previous) {
  ContractedArena result{pack::contract(arena.problem, previous.answer.positions), arena, {}};
  const pack::Contraction& contraction = result.contraction;
  result.arena.problem = contraction.problem;
  result.arena.occupants.resize(contraction.problem.items.size());
  PreviousAnswer& answer = result.previous.answer;
  answer.peak = previous.answer.peak;
  answer.bound = previous.answer.bound;
  answer.positions.resize(result.arena.occupants.size());
  for (std::size_t i = arena.occupants.size(); i-- > 0;) {
    const std::uint32_t into = contraction.item_of[i];
    result.arena.occupants[into] = arena.occupants[i];
    const std::optional<Position>& at = previous.answer.positions[i];
    if (at && at->offset >= contraction.offset[i])
      answer.positions[into] = Position{at->region, at->offset - contraction.offset[i]};
  }
  for (const std::size_t item : previous.kept) result.previous.kept.push_back(contraction.item_of[item]);
  std::sort(result.previous.kept.begin(), result.previous.kept.end());
  result.previous.kept.erase(std::unique(result.previous.kept.begin(), result.previous.kept.end()),
                             result.previous.kept.end());
  return result;
}

}  // namespace stowage
