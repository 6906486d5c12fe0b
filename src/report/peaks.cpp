#include "report/peaks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "pack/interface/unordered_items.hpp"

namespace stowage::report {
namespace {

constexpr std::size_t kMostHeld = std::size_t{1} << 20;

void sort_by_bytes(std::vector<Held>& held) {
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.item < b.item; });
}

/// Finds what is held at each peak, which are in the order of their steps: for each block, the peaks during it. After
/// `kMostHeld` entries, peaks that are less high hold nothing.
void find_held(const PlacedArena& arena, std::vector<BindingPeak>& peaks) {
  std::vector<std::size_t> count(peaks.size());
  const auto visit = [&](auto&& f) {
    for (std::size_t i = 0; i < arena.items.size(); ++i) {
      for (const Piece& block : arena.items[i].blocks) {
        auto peak = std::lower_bound(peaks.begin(), peaks.end(), block.when.lower,
                                     [](const BindingPeak& each, Step step) { return each.at < step; });
        for (; peak != peaks.end() && peak->at < block.when.upper; ++peak)
          f(static_cast<std::size_t>(peak - peaks.begin()), i, block.bytes.length());
      }
    }
  };
  visit([&](std::size_t peak, std::size_t, Bytes) { ++count[peak]; });
  std::vector<std::size_t> highest(peaks.size());
  std::iota(highest.begin(), highest.end(), std::size_t{0});
  std::sort(highest.begin(), highest.end(), [&](std::size_t a, std::size_t b) {
    return peaks[a].live != peaks[b].live ? peaks[a].live > peaks[b].live : a < b;
  });
  std::size_t all = 0;
  for (const std::size_t peak : highest) {
    all += count[peak];
    if (peak != highest.front() && all > kMostHeld) count[peak] = 0;
  }
  visit([&](std::size_t peak, std::size_t item, Bytes bytes) {
    if (count[peak] == 0 || bytes == Bytes(0)) return;
    std::vector<Held>& held = peaks[peak].held;
    if (!held.empty() && held.back().item == item)
      held.back().bytes += bytes;
    else
      held.push_back({item, bytes});
  });
  for (BindingPeak& peak : peaks) sort_by_bytes(peak.held);
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
std::optional<BindingPeak> unordered_peak(const PlacedArena& arena, Bytes live, const std::function<bool()>& stop) {
  const std::optional<Certificate> found = pack::unordered_items_bound(arena.problem->problem, live, stop);
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
  find_held(arena, peaks);
  return peaks;
}

Binding binding_of(const Scene& scene, const PlacedArena& arena, double within, const std::function<bool()>& stop) {
  const Bytes live = most_live(live_levels(arena, scene.liveness().timeline.horizon()));
  if (arena.concurrent()) {
    if (std::optional<BindingPeak> peak = unordered_peak(arena, live, stop)) return {{*peak}, peak->live, true};
  }
  return {peaks_above(scene, arena, floor_of(live, within)), live, false};
}

}  // namespace stowage::report
