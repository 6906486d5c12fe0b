#include "planner/previous.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/interface/sort_stably.hpp"

namespace stowage {
namespace {

/// By arena of the plan: what it corresponds to.
struct ArenaMatch {
  bool same = false;                       ///< The arena itself. Only plans of other versions have several such.
  std::optional<std::uint32_t> host = {};  ///< The region of the Problem that is this caller's buffer.
};

std::vector<ArenaMatch> match_arenas(const Plan& plan, const ArenaProblem& arena) {
  std::vector<ArenaMatch> matches;
  const std::size_t paid = arena.problem.regions.size() - arena.hosts.size();
  for (const Arena& each : plan.arenas) {
    ArenaMatch& match = matches.emplace_back();
    if (each.memory != arena.memory) continue;
    match.same = each.kind == arena.kind;
    if (each.kind != ArenaKind::user || !each.tensor) continue;
    const auto found = std::find(arena.hosts.begin(), arena.hosts.end(), *each.tensor);
    if (found == arena.hosts.end()) continue;
    match.host = static_cast<std::uint32_t>(paid + static_cast<std::size_t>(found - arena.hosts.begin()));
  }
  return matches;
}

/// A place in the previous plan.
struct PreviousPlace {
  std::uint32_t region = 0;
  Bytes offset;
  bool hosted = false;  ///< In a caller's buffer: `region` is one of the Problem, not of the plan.
};

std::optional<PreviousPlace> find_place(const std::vector<ArenaMatch>& matches, ArenaId arena, std::uint32_t region,
                                        Bytes offset) {
  if (arena.index() >= matches.size()) return std::nullopt;
  const ArenaMatch& match = matches[arena.index()];
  if (match.same) return PreviousPlace{region, offset};
  if (match.host) return PreviousPlace{*match.host, offset, true};
  return std::nullopt;
}

/// Whether the class can keep its position from a previous plan. Ring ranges are given by the graph.
bool may_stay(const Layout& layout, ClassId id) {
  return layout.residences[id] == Residence::shared || layout.residences[id] == Residence::persistent;
}

/// By storage: its place in the previous plan.
std::vector<std::optional<PreviousPlace>> places_of_storages(const Plan& plan, const Scope& root, const Layout& layout,
                                                             const std::vector<ArenaMatch>& matches) {
  std::vector<std::optional<PreviousPlace>> places(layout.storages.size());
  for (const Placement& placement : plan.placements) {
    if (!root.contains(placement.tensor)) continue;  // tensors in bodies are placed from scratch
    const ClassId id = layout.class_of(placement.tensor);
    const Bytes inside = may_stay(layout, id) ? layout.offset_in_storage(placement.tensor) : Bytes(0);
    if (!may_stay(layout, id) || placement.offset < inside) continue;
    std::optional<PreviousPlace>& at = places[layout.positions[id].storage.index()];
    if (!at) at = find_place(matches, placement.arena, placement.region, placement.offset - inside);
  }
  return places;
}

std::map<WorkspaceId, PreviousPlace> places_of_workspaces(const Plan& plan, const Scope& root,
                                                          const std::vector<ArenaMatch>& matches) {
  std::map<WorkspaceId, PreviousPlace> places;
  for (const WorkspacePlacement& each : plan.workspaces) {
    const auto at = find_place(matches, each.arena, each.region, each.offset);
    if (at && root.contains(each.op)) places[{each.op, each.index}] = *at;
  }
  return places;
}

/// Translates regions of the previous plan, which lists only those that it uses, into regions of a Problem.
class RegionNumbers {
 public:
  RegionNumbers(const ArenaProblem& arena, std::span<const std::optional<PreviousPlace>> places)
      : arena_(arena), paid_(arena.problem.regions.size() - arena.hosts.size()), is_taken_(paid_) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i] || places[i]->hosted || arena.problem.items[i].size == Bytes(0)) continue;
      Used& used = used_[places[i]->region];
      used.items.push_back(&arena.problem.items[i]);
      used.top = std::max(used.top, places[i]->offset + arena.problem.items[i].size);
    }
    number_owned();
    number_others();
  }

  /// Without a byte an item lies in any region that it may lie in; the plan may not even list its region.
  [[nodiscard]] Position position(const Item& item, const PreviousPlace& at) const {
    if (item.size == Bytes(0)) return {item.allowed.empty() ? 0 : item.allowed.front(), at.offset};
    return {at.hosted ? at.region : number_.at(at.region), at.offset};
  }

 private:
  /// A region of the plan.
  struct Used {
    std::vector<const Item*> items;
    Bytes top;
  };

  /// The only region in which an item may lie, which is larger than the others.
  [[nodiscard]] std::optional<std::uint32_t> own_region(const Item& item) const {
    const auto host = std::find_if(item.allowed.begin(), item.allowed.end(), [&](auto r) { return r >= paid_; });
    if (paid_ < 2 || host - item.allowed.begin() != 1) return std::nullopt;
    return item.allowed.front();
  }

  void number_owned() {
    for (const auto& [region, used] : used_) {
      for (const Item* const item : used.items) {
        const std::optional<std::uint32_t> own = own_region(*item);
        if (!own || number_.contains(region)) continue;
        number_[region] = *own;
        is_taken_[*own] = 1;
      }
    }
  }

  /// What must lie in a large region may be copies, which have no place in a plan. So each of the other regions, the
  /// fullest first, gets the smallest that has room for it and in which all that it has may lie. One too many gets a
  /// number that no item may have.
  void number_others() {
    std::map<Bytes, std::vector<std::uint32_t>> free;  // by limit; descending
    for (std::size_t r = paid_; r-- > 0;) {
      const std::optional<Bytes> limit = arena_.problem.regions[r].limit;
      if (is_taken_[r] == 0) free[limit.value_or(kMaxBytes)].push_back(static_cast<std::uint32_t>(r));
    }
    std::vector<std::pair<std::uint32_t, const Used*>> others;
    for (const auto& [region, used] : used_) {
      if (!number_.contains(region)) others.emplace_back(region, &used);
    }
    sort_stably(others, [](const auto& a, const auto& b) { return a.second->top > b.second->top; });
    for (const auto& [region, used] : others)
      number_[region] = take(free, *used).value_or(static_cast<std::uint32_t>(arena_.problem.regions.size()));
  }

  [[nodiscard]] static std::optional<std::uint32_t> take(std::map<Bytes, std::vector<std::uint32_t>>& free,
                                                         const Used& used) {
    for (auto at = free.lower_bound(used.top); at != free.end(); ++at) {
      std::vector<std::uint32_t>& regions = at->second;
      const auto found = std::find_if(regions.rbegin(), regions.rend(), [&](std::uint32_t region) {
        return std::all_of(used.items.begin(), used.items.end(),
                           [&](const Item* item) { return item->may_lie_in(region); });
      });
      if (found == regions.rend()) continue;
      const std::uint32_t region = *found;
      regions.erase(std::next(found).base());
      return region;
    }
    return std::nullopt;
  }

  const ArenaProblem& arena_;
  std::size_t paid_;
  std::vector<char> is_taken_;
  std::map<std::uint32_t, Used> used_;             ///< By region of the plan.
  std::map<std::uint32_t, std::uint32_t> number_;  ///< The same.
};

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
  const std::vector<ArenaMatch> matches = match_arenas(previous, arena);
  const auto storages = places_of_storages(previous, root, layout, matches);
  const auto workspaces = places_of_workspaces(previous, root, matches);
  const std::vector<char> must_stay = kept_storages(options, layout);
  PreviousOfArena result;
  for (std::size_t a = 0; a < matches.size(); ++a) {
    if (!matches[a].same) continue;
    result.answer.peak += previous.arenas[a].size;
    result.answer.bound += previous.arenas[a].lower_bound;
  }
  std::vector<std::optional<PreviousPlace>> places;
  for (std::size_t i = 0; i < arena.occupants.size(); ++i) {
    std::optional<PreviousPlace>& at = places.emplace_back();
    bool stays = options.keep_offsets;
    if (const auto* storage = std::get_if<StorageId>(&arena.occupants[i])) {
      at = storages[storage->index()];
      stays = must_stay[storage->index()] != 0;
    } else if (const auto* ref = std::get_if<WorkspaceId>(&arena.occupants[i])) {
      if (const auto found = workspaces.find(*ref); found != workspaces.end()) at = found->second;
    } else {
      at = PreviousPlace{arena.problem.items[i].allowed.front(), Bytes(0), true};
    }
    if (at && stays) result.kept.push_back(i);
  }
  const RegionNumbers numbers(arena, places);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::optional<PreviousPlace>& at = places[i];
    result.answer.positions.push_back(at ? std::optional(numbers.position(arena.problem.items[i], *at)) : std::nullopt);
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
  ContractedArena result{pack::contract(arena.problem, {previous.answer.positions, previous.kept}), arena, {}};
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
