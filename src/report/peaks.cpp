#include "report/peaks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "pack/interface/unordered_items.hpp"

namespace stowage::report {
namespace {

void sort_by_bytes(std::vector<Held>& held) {
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.item < b.item; });
}

std::vector<Held> held_at(const PlacedArena& arena, Step step) {
  std::vector<Held> held;
  for (std::size_t i = 0; i < arena.items.size(); ++i) {
    Bytes bytes;
    for (const Piece& block : arena.items[i].blocks) {
      if (block.when.contains(step)) bytes += block.bytes.length();
    }
    if (bytes > Bytes(0)) held.push_back({i, bytes});
  }
  sort_by_bytes(held);
  return held;
}

/// The steps at which an item larger than the slack begins or ends.
std::set<Step> large_changes(const PlacedArena& arena, Bytes slack) {
  std::set<Step> steps;
  for (const PlacedItem& item : arena.items) {
    for (const Piece& block : item.blocks) {
      if (block.bytes.length() > slack) steps.insert({block.when.lower, block.when.upper});
    }
  }
  return steps;
}

std::vector<Level> cut_at(const std::vector<Level>& levels, const std::set<Step>& cuts) {
  std::vector<Level> result;
  for (Level level : levels) {
    for (auto cut = cuts.upper_bound(level.steps.lower); cut != cuts.end() && *cut < level.steps.upper; ++cut) {
      result.push_back({{level.steps.lower, *cut}, level.live});
      level.steps.lower = *cut;
    }
    result.push_back(level);
  }
  return result;
}

/// The smallest number of live bytes within a share of the most. At least 1: a step at which nothing is live never
/// binds.
Bytes floor_of(Bytes most, double within) {
  const double least = std::ceil(static_cast<double>(most.value()) * (1 - std::clamp(within, 0.0, 1.0)));
  return std::clamp(Bytes(static_cast<std::int64_t>(least)), Bytes(1), std::max(most, Bytes(1)));
}

/// The heaviest antichain: a set of items of which none comes before another; none unless it exceeds the live bytes of
/// every step.
std::optional<BindingPeak> unordered_peak(const PlacedArena& arena, Bytes live) {
  const std::optional<Certificate> found =
      pack::unordered_items_bound(arena.problem->problem, live, [] { return false; });
  if (!found) return std::nullopt;
  BindingPeak peak{{}, {}, found->bytes, {}};
  for (const std::size_t number : found->items) {
    const Occupant& occupant = arena.problem->occupants[number];
    for (std::size_t i = 0; i < arena.items.size(); ++i) {
      if (arena.items[i].occupant == occupant)
        peak.held.push_back({i, pack::touched_bytes(arena.problem->problem.items[number])});
    }
  }
  if (peak.held.empty()) return std::nullopt;
  sort_by_bytes(peak.held);
  peak.steps = arena.items[peak.held.front().item].life;
  peak.at = peak.steps.lower;
  return peak;
}

}  // namespace

std::vector<Level> live_levels(const PlacedArena& arena, Step horizon) {
  std::map<Step, Bytes> changes = {{Step(0), Bytes(0)}};
  for (const PlacedItem& item : arena.items) {
    for (const Piece& block : item.blocks) {
      changes[std::max(block.when.lower, Step(0))] += block.bytes.length();
      changes[std::min(block.when.upper, horizon)] -= block.bytes.length();
    }
  }
  std::vector<Level> levels;
  Bytes live;
  for (auto change = changes.begin(); change != changes.end() && change->first < horizon; ++change) {
    live += change->second;
    const auto next = std::next(change);
    const Step end = next == changes.end() ? horizon : std::min(next->first, horizon);
    if (!levels.empty() && levels.back().live == live) {
      levels.back().steps.upper = end;
    } else {
      levels.push_back({{change->first, end}, live});
    }
  }
  return levels;
}

Bytes most_live(const std::vector<Level>& levels) {
  Bytes most;
  for (const Level& level : levels) most = std::max(most, level.live);
  return most;
}

std::vector<BindingPeak> peaks_above(const Scene& scene, const PlacedArena& arena, Bytes floor) {
  std::vector<BindingPeak> peaks;
  if (floor <= Bytes(0)) return peaks;
  const std::vector<Level> levels = live_levels(arena, scene.liveness().timeline.horizon());
  const std::set<Step> cuts = large_changes(arena, most_live(levels) - floor);
  for (const Level& level : cut_at(levels, cuts)) {
    if (level.live < floor) continue;
    if (!peaks.empty() && peaks.back().steps.upper == level.steps.lower && !cuts.contains(level.steps.lower)) {
      BindingPeak& last = peaks.back();
      last.steps.upper = level.steps.upper;
      if (level.live > last.live) last.at = level.steps.lower;
      last.live = std::max(last.live, level.live);
    } else {
      peaks.push_back({level.steps, level.steps.lower, level.live, {}});
    }
  }
  for (BindingPeak& peak : peaks) peak.held = held_at(arena, peak.at);
  return peaks;
}

Binding binding_of(const Scene& scene, const PlacedArena& arena, double within) {
  const Bytes live = most_live(live_levels(arena, scene.liveness().timeline.horizon()));
  if (arena.concurrent()) {
    if (std::optional<BindingPeak> peak = unordered_peak(arena, live)) return {{*peak}, peak->live, true};
  }
  return {peaks_above(scene, arena, floor_of(live, within)), live, false};
}

}  // namespace stowage::report
