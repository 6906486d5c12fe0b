#include "support/judges/every_plan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/interface/sort_stably.hpp"

namespace stowage::testing {
namespace {

/// A plan lists bytes once that must be filled once.
void merge_clears(std::vector<Clear>& clears) {
  const auto place = [](const Clear& each) {
    return std::tuple(each.before, each.arena, each.region, each.value, each.offset);
  };
  sort_stably(clears, [&](const Clear& a, const Clear& b) { return place(a) < place(b); });
  std::vector<Clear> merged;
  for (const Clear& each : clears) {
    Clear* const last = merged.empty() ? nullptr : &merged.back();
    const bool same = last && last->before == each.before && last->arena == each.arena && last->region == each.region &&
                      last->value == each.value;
    if (same && each.offset < last->offset + last->size)
      last->size = std::max(last->size, each.offset + each.size - last->offset);
    else
      merged.push_back(each);
  }
  clears = std::move(merged);
}

}  // namespace

EveryPlan::EveryPlan(const Graph& graph, Plan plan, const std::vector<RigidPart>& parts, const Options& options)
    : graph_(graph), plan_(std::move(plan)), options_(options) {
  for (const RigidPart& part : parts) {
    if (part.arena != options.arena) continue;
    const Part with_size = measured(part);
    if (with_size.size > 0) parts_.push_back(with_size);
  }
  // The search ends sooner where there is nothing.
  sort_stably(parts_, [](const Part& a, const Part& b) { return a.size > b.size; });
  positions_.resize(parts_.size());
  allowed_.resize(parts_.size());
}

EveryPlan::Part EveryPlan::measured(const RigidPart& part) const {
  std::int64_t lower = std::numeric_limits<std::int64_t>::max();
  std::int64_t upper = std::numeric_limits<std::int64_t>::min();
  const auto add = [&](const auto& list, const std::vector<std::size_t>& entries) {
    for (const std::size_t i : entries) {
      if (list[i].size == Bytes(0)) continue;
      lower = std::min(lower, list[i].offset.value());
      upper = std::max(upper, (list[i].offset + list[i].size).value());
    }
  };
  add(plan_.placements, part.placements);
  add(plan_.workspaces, part.workspaces);
  add(plan_.copies, part.copies);
  return {part, lower, lower < upper ? upper - lower : 0};
}

Plan EveryPlan::made(const std::vector<std::int64_t>& positions, Bytes room) const {
  Plan plan = plan_;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Bytes distance(positions[p] - parts_[p].lower);
    const RigidPart& entries = parts_[p].entries;
    for (const std::size_t i : entries.placements) plan.placements[i].offset += distance;
    for (const std::size_t i : entries.workspaces) plan.workspaces[i].offset += distance;
    for (const std::size_t i : entries.copies) plan.copies[i].offset += distance;
    for (const std::size_t i : entries.clears) plan.clears[i].offset += distance;
  }
  merge_clears(plan.clears);
  Arena& arena = plan.arenas[options_.arena.index()];
  arena.regions = {room};
  arena.size = room;
  arena.lower_bound = Bytes(0);
  arena.proof = {};
  arena.proven_optimal = room == Bytes(0);
  return plan;
}

bool EveryPlan::is_valid(const Plan& plan) const {
  VerifyOptions rules = options_.rules;
  rules.max_findings = 1;
  return verify(graph_, plan, rules).empty();
}

bool EveryPlan::is_allowed(std::size_t part, std::size_t other, std::int64_t distance) {
  const auto [entry, is_new] = allowed_[part].try_emplace({other, distance}, true);
  if (!is_new) return entry->second;
  const std::int64_t both = parts_[part].size + parts_[other].size;
  std::vector<std::int64_t> positions(parts_.size());
  std::int64_t top = 2 * both;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    positions[p] = top;
    top += parts_[p].size;
  }
  positions[part] = both;
  positions[other] = both + distance;
  entry->second = is_valid(made(positions, Bytes(top)));
  return entry->second;
}

bool EveryPlan::may_lie(std::size_t part, std::int64_t position) {
  for (std::size_t other = 0; other < part; ++other) {
    const std::int64_t distance = positions_[other] - position;
    if (distance <= -parts_[other].size || distance >= parts_[part].size) continue;
    if (!is_allowed(part, other, distance)) return false;
  }
  return true;
}

bool EveryPlan::place(std::size_t next, Bytes room) {
  if (next == parts_.size()) {
    Plan complete = made(positions_, room);
    if (!is_valid(complete)) return false;
    found_ = std::move(complete);
    return true;
  }
  for (std::int64_t at = 0; at + parts_[next].size <= room.value(); at += options_.unit.value()) {
    if (!may_lie(next, at)) continue;
    positions_[next] = at;
    if (place(next + 1, room)) return true;
  }
  return false;
}

std::optional<Plan> EveryPlan::find(Bytes room) {
  found_.reset();
  place(0, room);
  return found_;
}

std::optional<Bytes> EveryPlan::least(Bytes below) {
  std::optional<Bytes> best;
  for (Bytes room = below - options_.unit; room >= largest() && find(room); room -= options_.unit) best = room;
  return best;
}

}  // namespace stowage::testing
