#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "lower/interface/program.hpp"
#include "plan/interface/plan_file.hpp"
#include "report/difference.hpp"
#include "report/labels.hpp"

namespace stowage {
namespace {

using Change = DiffEntry::Change;

/// A tensor or workspace with a place in a plan.
struct Placed {
  std::string name;
  Bytes size;
  Bytes offset;
  std::uint32_t region = 0;
  ArenaId arena;
};

/// A name, and the number among those with that name.
using Key = std::pair<std::string, std::size_t>;

const std::string& graph_of(const DiffSide& side) { return side.file ? side.file->graph : side.plan->graph; }
const std::vector<Arena>& arenas_of(const DiffSide& side) { return side.file ? side.file->arenas : side.plan->arenas; }
Bytes peak_of(const DiffSide& side) { return side.file ? side.file->peak() : side.plan->peak(); }
Bytes bound_of(const DiffSide& side) { return side.file ? side.file->lower_bound() : side.plan->lower_bound(); }

std::optional<ProgramCost> cost_of(const DiffSide& side) {
  if (side.file) return cost_of(*side.file);
  if (side.plan->program) return cost_of(*side.plan);
  Plan plan = *side.plan;
  plan.program = make_program(*side.graph, plan);
  return cost_of(plan);
}

/// Collects what is placed in an existing arena, by name.
class PlacedByName {
 public:
  explicit PlacedByName(const std::vector<Arena>& arenas) : arenas_(arenas) {}

  template <class Entry>
  void add(std::string name, const Entry& each) {
    if (each.arena.index() >= arenas_.size()) return;
    const Key key{name, seen_[name]++};
    all_.emplace(key, Placed{std::move(name), each.size, each.offset, each.region, each.arena});
  }
  [[nodiscard]] std::map<Key, Placed> take() && { return std::move(all_); }

 private:
  const std::vector<Arena>& arenas_;
  std::map<Key, Placed> all_;
  std::map<std::string, std::size_t> seen_;
};

std::string workspace_name(const std::string& op, std::uint32_t index) {
  return fmt::format("{} (workspace {})", op, index);
}

std::map<Key, Placed> placed_by_name(const Graph& graph, const Plan& plan) {
  PlacedByName all(plan.arenas);
  for (const Placement& each : plan.placements) all.add(report::name_of(graph, each.tensor), each);
  for (const WorkspacePlacement& each : plan.workspaces)
    all.add(workspace_name(report::name_of(graph, each.op), each.index), each);
  return std::move(all).take();
}

/// Whether a file says what tensors and ops are called.
bool has_names(const PlanFile& file) {
  const auto named = [](const auto& each) { return !each.name.empty(); };
  return std::any_of(file.placements.begin(), file.placements.end(), named) ||
         std::any_of(file.workspaces.begin(), file.workspaces.end(), named);
}

/// The names as in `placed_by_name`, from the file itself.
std::map<Key, Placed> placed_by_name(const PlanFile& file) {
  const auto called = [](const auto& each, const char* word, std::size_t number) {
    return each.name.empty() ? fmt::format("{} {}", word, number) : each.name;
  };
  PlacedByName all(file.arenas);
  for (const auto& each : file.placements) all.add(called(each, "tensor", each.entry.tensor.index()), each.entry);
  for (const auto& each : file.workspaces)
    all.add(workspace_name(called(each, "op", each.entry.op.index()), each.entry.index), each.entry);
  return std::move(all).take();
}

std::map<Key, Placed> placed_by_number(const PlanFile& file) {
  const auto in_body = [](const BodyPath& body) {
    return body.empty() ? std::string() : fmt::format(" in body {}", fmt::join(body, "."));
  };
  PlacedByName all(file.arenas);
  for (const auto& each : file.placements)
    all.add(fmt::format("tensor {}{}", each.entry.tensor.index(), in_body(each.body)), each.entry);
  for (const auto& each : file.workspaces)
    all.add(workspace_name(fmt::format("op {}{}", each.entry.op.index(), in_body(each.body)), each.entry.index),
            each.entry);
  return std::move(all).take();
}

std::map<Key, Placed> placed_in(const DiffSide& side, bool by_number) {
  if (side.file) return by_number ? placed_by_number(*side.file) : placed_by_name(*side.file);
  return by_number ? placed_by_number(localise(*side.graph, *side.plan)) : placed_by_name(*side.graph, *side.plan);
}

bool has_numbers_only(const DiffSide& side) { return side.file && !has_names(*side.file); }

using ArenaKey = std::pair<std::string, ArenaKind>;

ArenaKey key_of(const Arena& arena) { return {arena.name, arena.kind}; }

std::vector<ArenaChange> compare_arenas(const std::vector<Arena>& before, const std::vector<Arena>& after) {
  std::vector<ArenaChange> changes;
  std::map<ArenaKey, std::size_t> known;
  const auto entry = [&](const Arena& arena) -> ArenaChange& {
    const auto [found, is_new] = known.try_emplace(key_of(arena), changes.size());
    if (is_new) changes.push_back({arena.name, arena.kind, {}, {}});
    return changes[found->second];
  };
  const auto add = [](std::optional<Bytes>& sum, Bytes size) { sum = sum.value_or(Bytes(0)) + size; };
  for (const Arena& arena : before) add(entry(arena).before, arena.size);
  for (const Arena& arena : after) add(entry(arena).after, arena.size);
  return changes;
}

/// Compares what is placed in at least one of two plans.
class Comparison {
 public:
  Comparison(const DiffSide& before, const DiffSide& after, DiffDetails& result)
      : before_(arenas_of(before)), after_(arenas_of(after)), result_(result) {}

  [[nodiscard]] std::size_t unchanged() const { return unchanged_; }

  void one_side(const Placed& placed, Change change) {
    DiffEntry entry{change, placed.name, {}, {}};
    const bool there = change == Change::appeared;
    (there ? entry.after : entry.before) = placed.size;
    (there ? entry.arena_after : entry.arena_before) = (there ? after_ : before_)[placed.arena.index()].name;
    (there ? entry.offset_after : entry.offset_before) = placed.offset;
    result_.entries.push_back(std::move(entry));
  }

  void both(const Placed& a, const Placed& b) {
    const Arena& from = before_[a.arena.index()];
    const Arena& to = after_[b.arena.index()];
    const bool stays = key_of(from) == key_of(to) && a.region == b.region && a.offset == b.offset;
    if (stays && a.size == b.size) {
      ++unchanged_;
      return;
    }
    const Change change = b.size > a.size ? Change::grew : b.size < a.size ? Change::shrank : Change::moved;
    result_.entries.push_back({change, a.name, a.size, b.size, from.name, to.name, a.offset, b.offset});
  }

 private:
  const std::vector<Arena>& before_;
  const std::vector<Arena>& after_;
  DiffDetails& result_;
  std::size_t unchanged_ = 0;
};

/// The bytes by which entries are ranked.
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
  PlanDiff result{.graph_before = graph_of(before),
                  .graph_after = graph_of(after),
                  .by_number = has_numbers_only(before) || has_numbers_only(after),
                  .peak_before = peak_of(before),
                  .peak_after = peak_of(after),
                  .bound_before = bound_of(before),
                  .bound_after = bound_of(after)};
  const auto details = std::make_shared<DiffDetails>(
      DiffDetails{.arenas = compare_arenas(arenas_of(before), arenas_of(after)), .entries = {}});
  const std::map<Key, Placed> a = placed_in(before, result.by_number);
  const std::map<Key, Placed> b = placed_in(after, result.by_number);
  Comparison comparison(before, after, *details);
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
  // The maps are in the order of names, which breaks all ties.
  std::vector<std::pair<std::pair<int, std::int64_t>, std::size_t>> order;
  for (std::size_t e = 0; e < details->entries.size(); ++e)
    order.push_back({{static_cast<int>(details->entries[e].change), -weight_of(details->entries[e]).value()}, e});
  std::sort(order.begin(), order.end());
  std::vector<DiffEntry> sorted;
  sorted.reserve(order.size());
  for (const auto& [rank, e] : order) sorted.push_back(std::move(details->entries[e]));
  details->entries = std::move(sorted);
  result.unchanged = comparison.unchanged();
  result.cost_before = cost_of(before);
  result.cost_after = cost_of(after);
  result.details = details;
  return result;
}

}  // namespace stowage
