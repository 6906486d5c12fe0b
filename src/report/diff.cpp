#include "stowage/report/diff.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "report/labels.hpp"

namespace stowage {
namespace {

using Change = DiffEntry::Change;

/// Something with a place in a plan.
struct Placed {
  std::string name;
  Bytes size;
  Bytes offset;
  std::uint32_t region = 0;
  ArenaId arena;
};

/// Of those with equal names the first, the second, and so on.
using Key = std::pair<std::string, std::size_t>;

std::string in_body(const BodyPath& body) {
  return body.empty() ? std::string() : fmt::format(" in body {}", fmt::join(body, "."));
}

/// The scope that a path leads to; null where the graph has none.
const Scope* scope_at(const Graph* graph, const BodyPath& body) {
  if (!graph) return nullptr;
  const std::optional<ScopeId> id = graph->find_scope(body);
  return id ? &graph->scope(*id) : nullptr;
}

/// Whether the graph has everything that the plan places.
bool has_names(const DiffSide& side) {
  if (!side.graph) return false;
  const auto known_tensor = [&](const Placement& each) {
    const Scope* const scope = scope_at(side.graph, each.body);
    return scope && each.tensor.index() < scope->tensor_count;
  };
  const auto known_op = [&](const WorkspacePlacement& each) {
    const Scope* const scope = scope_at(side.graph, each.body);
    return scope && each.op.index() < scope->op_count;
  };
  return std::all_of(side.plan.placements.begin(), side.plan.placements.end(), known_tensor) &&
         std::all_of(side.plan.workspaces.begin(), side.plan.workspaces.end(), known_op);
}

std::string name_of(const Placement& each, const Graph* graph) {
  const Scope* const scope = scope_at(graph, each.body);
  if (!scope) return fmt::format("tensor {}{}", each.tensor.index(), in_body(each.body));
  return report::name_of(*graph, TensorId(scope->first_tensor.index() + each.tensor.index()));
}

std::string name_of(const WorkspacePlacement& each, const Graph* graph) {
  const Scope* const scope = scope_at(graph, each.body);
  const std::string op = scope ? report::name_of(*graph, OpId(scope->first_op.index() + each.op.index()))
                               : fmt::format("op {}{}", each.op.index(), in_body(each.body));
  return fmt::format("{} (workspace {})", op, each.index);
}

/// Everything that has a place in an arena that exists, by name.
std::map<Key, Placed> placed_in(const Plan& plan, const Graph* graph) {
  std::map<Key, Placed> all;
  std::map<std::string, std::size_t> seen;
  const auto add = [&](const auto& each) {
    if (each.arena.index() >= plan.arenas.size()) return;
    std::string name = name_of(each, graph);
    const Key key{name, seen[name]++};
    all.emplace(key, Placed{std::move(name), each.size, each.offset, each.region, each.arena});
  };
  for (const Placement& each : plan.placements) add(each);
  for (const WorkspacePlacement& each : plan.workspaces) add(each);
  return all;
}

using ArenaKey = std::pair<std::string, ArenaKind>;

ArenaKey key_of(const Arena& arena) { return {arena.name, arena.kind}; }

std::vector<ArenaChange> compare_arenas(const Plan& before, const Plan& after) {
  std::vector<ArenaChange> changes;
  std::map<ArenaKey, std::size_t> known;
  const auto entry = [&](const Arena& arena) -> ArenaChange& {
    const auto [found, is_new] = known.try_emplace(key_of(arena), changes.size());
    if (is_new) changes.push_back({arena.name, arena.kind, {}, {}});
    return changes[found->second];
  };
  const auto add = [](std::optional<Bytes>& sum, Bytes size) { sum = sum.value_or(Bytes(0)) + size; };
  for (const Arena& arena : before.arenas) add(entry(arena).before, arena.size);
  for (const Arena& arena : after.arenas) add(entry(arena).after, arena.size);
  return changes;
}

/// Compares what has a place in both plans or in one.
class Comparison {
 public:
  Comparison(const Plan& before, const Plan& after, PlanDiff& result) : before_(before), after_(after), result_(result) {}

  void one_side(const Placed& placed, Change change) {
    DiffEntry entry{change, placed.name, {}, {}};
    const bool there = change == Change::appeared;
    (there ? entry.after : entry.before) = placed.size;
    (there ? entry.arena_after : entry.arena_before) = (there ? after_ : before_).arenas[placed.arena.index()].name;
    (there ? entry.offset_after : entry.offset_before) = placed.offset;
    result_.entries.push_back(std::move(entry));
  }

  void both(const Placed& a, const Placed& b) {
    const Arena& from = before_.arenas[a.arena.index()];
    const Arena& to = after_.arenas[b.arena.index()];
    const bool stays = key_of(from) == key_of(to) && a.region == b.region && a.offset == b.offset;
    if (stays && a.size == b.size) {
      ++result_.unchanged;
      return;
    }
    const Change change = b.size > a.size ? Change::grew : b.size < a.size ? Change::shrank : Change::moved;
    result_.entries.push_back({change, a.name, a.size, b.size, from.name, to.name, a.offset, b.offset});
  }

 private:
  const Plan& before_;
  const Plan& after_;
  PlanDiff& result_;
};

/// How much an entry is about.
Bytes weight_of(const DiffEntry& entry) {
  const Bytes before = entry.before.value_or(Bytes(0));
  const Bytes after = entry.after.value_or(Bytes(0));
  if (entry.change == Change::moved) return after;
  return after > before ? after - before : before - after;
}

}  // namespace

std::string_view to_string(DiffEntry::Change change) {
  switch (change) {
    case Change::grew:
      return "grew";
    case Change::shrank:
      return "shrank";
    case Change::appeared:
      return "appeared";
    case Change::vanished:
      return "vanished";
    case Change::moved:
      return "moved";
  }
  return "moved";
}

PlanDiff diff(const DiffSide& before, const DiffSide& after) {
  PlanDiff result{.graph_before = before.plan.graph,
                  .graph_after = after.plan.graph,
                  .by_number = !has_names(before) || !has_names(after),
                  .peak_before = before.plan.peak(),
                  .peak_after = after.plan.peak(),
                  .bound_before = before.plan.lower_bound(),
                  .bound_after = after.plan.lower_bound(),
                  .arenas = compare_arenas(before.plan, after.plan),
                  .entries = {}};
  const std::map<Key, Placed> a = placed_in(before.plan, result.by_number ? nullptr : before.graph);
  const std::map<Key, Placed> b = placed_in(after.plan, result.by_number ? nullptr : after.graph);
  Comparison comparison(before.plan, after.plan, result);
  for (const auto& [key, placed] : a) {
    const auto other = b.find(key);
    if (other == b.end()) {
      comparison.one_side(placed, Change::vanished);
    } else {
      comparison.both(placed, other->second);
    }
  }
  for (const auto& [key, placed] : b) {
    if (!a.contains(key)) comparison.one_side(placed, Change::appeared);
  }
  // The maps are in the order of names, which breaks ties for good: no two entries are alike in all of these.
  std::vector<std::pair<std::pair<int, std::int64_t>, std::size_t>> order;
  for (std::size_t e = 0; e < result.entries.size(); ++e)
    order.push_back({{static_cast<int>(result.entries[e].change), -weight_of(result.entries[e]).value()}, e});
  std::sort(order.begin(), order.end());
  std::vector<DiffEntry> sorted;
  sorted.reserve(order.size());
  for (const auto& [rank, e] : order) sorted.push_back(std::move(result.entries[e]));
  result.entries = std::move(sorted);
  return result;
}

}  // namespace stowage
