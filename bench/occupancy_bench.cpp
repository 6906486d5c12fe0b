#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "generate.hpp"
#include "pack/occupancy.hpp"
#include "sections.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// One placement loop over each kind of occupancy: which is the cheapest, by size and density of the problem? This is what the
/// thresholds in src/pack/solve.cpp rest on.
namespace stowage::bench {
namespace {

using pack::Meetings;
using pack::Occupancy;
using pack::OffsetRange;

enum class Fit : std::uint8_t { first, best };

/// The offset for an item among ascending blocked ranges.
std::int64_t choose(const std::vector<OffsetRange>& blocked, Bytes alignment, Fit fit) {
  std::int64_t free_from = 0;
  std::int64_t chosen = -1;
  std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
  for (const OffsetRange& range : blocked) {
    const std::int64_t offset = align_up(Bytes(free_from), alignment).value();
    if (offset < range.lower && range.lower - offset < tightest) {
      chosen = offset;
      tightest = range.lower - offset;
      if (fit == Fit::first) return chosen;
    }
    free_from = std::max(free_from, range.upper);
  }
  return chosen >= 0 ? chosen : align_up(Bytes(free_from), alignment).value();
}

std::vector<std::size_t> by_size(const Problem& problem) {
  std::vector<std::size_t> items(problem.items.size());
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::stable_sort(items.begin(), items.end(),
                   [&](std::size_t a, std::size_t b) { return problem.items[a].size > problem.items[b].size; });
  return items;
}

/// Places all items, largest first; the peak. For problems of one region without pins.
std::int64_t place_all(const Problem& problem, const std::vector<std::size_t>& order, Fit fit,
                       std::unique_ptr<Occupancy> occupancy) {
  std::vector<OffsetRange> blocked;
  std::int64_t peak = 0;
  for (const std::size_t index : order) {
    const Item& item = problem.items[index];
    blocked.clear();
    occupancy->blocked(index, 0, blocked);
    if (!std::is_sorted(blocked.begin(), blocked.end())) std::sort(blocked.begin(), blocked.end());
    const std::int64_t offset = choose(blocked, item.alignment, fit);
    occupancy->place(index, {0, Bytes(offset)});
    peak = std::max(peak, offset + item.size.value());
  }
  return peak;
}

struct Instance {
  std::string name;
  Problem problem;
};

/// The sweep covers both thresholds; the real ones say whether it is like life.
std::vector<Instance> instances_of(const Selection& selection) {
  std::vector<Instance> instances;
  for (const std::size_t items : {256U, 1024U, 2048U, 4096U, 8192U, 16384U}) {
    for (const std::size_t meetings : {8U, 32U, 64U, 128U, 256U, 512U}) {
      if (2 * meetings > items) continue;
      const std::string name = fmt::format("random_{}_{}", items, meetings);
      if (selection.has(name)) instances.push_back({name, make_problem(items, meetings)});
    }
  }
  for (GraphInstance& each : graph_instances(selection)) {
    if (each.graph.stream_count() > 1) continue;
    Lowering lowering = lower(each.graph, analyze(each.graph));
    const auto shared = std::find_if(lowering.arenas.begin(), lowering.arenas.end(),
                                     [](const ArenaProblem& arena) { return arena.kind == ArenaKind::shared; });
    if (shared != lowering.arenas.end() && shared->problem.items.size() > 200) instances.push_back({each.name, shared->problem});
  }
  for (CsvInstance& each : csv_instances(selection)) {
    if (each.table.problem.items.size() > 400) instances.push_back({each.name, std::move(each.table.problem)});
  }
  return instances;
}

/// Pairs of pieces that overlap in time: what the threshold counts, without listing them.
std::size_t count_pairs(const Problem& problem) {
  std::vector<Step> begins;
  std::vector<Step> ends;
  for (const Item& item : problem.items) {
    for (const Piece& piece : item.pieces) begins.push_back(piece.when.lower), ends.push_back(piece.when.upper);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::size_t pairs = 0;
  std::size_t ended = 0;
  for (std::size_t begun = 0; begun < begins.size(); ++begun) {
    while (ends[ended] <= begins[begun]) ++ended;
    pairs += begun - ended;
  }
  return pairs;
}

/// Times of one instance; the list is absent where it would not fit into memory.
struct Costs {
  double find = 0;
  double list[2] = {0, 0};
  double flat[2] = {0, 0};
  double tree[2] = {0, 0};
};

constexpr std::size_t kMaxPairs = 20'000'000;
constexpr std::size_t kMaxFlat = 30'000;

Costs measure_costs(const Problem& problem, std::size_t pairs, const Effort& effort) {
  Costs costs;
  const std::vector<std::size_t> order = by_size(problem);
  std::optional<Meetings> meetings;
  if (pairs <= kMaxPairs) {
    costs.find = measure(effort, [&] { return Meetings::find(problem, kMaxPairs).has_value(); }).best;
    meetings = Meetings::find(problem, kMaxPairs);
  }
  for (const Fit fit : {Fit::first, Fit::best}) {
    std::vector<std::int64_t> peaks;
    const auto time = [&](auto&& make) {
      peaks.push_back(0);
      return measure(effort, [&] { return peaks.back() = place_all(problem, order, fit, make()); }).best;
    };
    const auto f = static_cast<std::size_t>(fit);
    costs.tree[f] = time([&] { return pack::make_tree_occupancy(problem); });
    if (meetings) costs.list[f] = time([&] { return pack::make_list_occupancy(problem, *meetings); });
    if (problem.items.size() <= kMaxFlat) costs.flat[f] = time([&] { return pack::make_flat_occupancy(problem); });
    STOWAGE_CHECK(std::equal(peaks.begin() + 1, peaks.end(), peaks.begin()), "every occupancy gives the same placement");
  }
  return costs;
}

std::string cell(double milliseconds) { return milliseconds > 0 ? to_text(milliseconds) : "–"; }

/// The cheapest for `solvers` placements that share one list of meetings, half of them by each fit.
std::string cheapest(const Costs& costs, double solvers) {
  const auto mean = [](const double(&each)[2]) { return (each[0] + each[1]) / 2; };
  std::string name = "tree";
  double least = mean(costs.tree);
  if (costs.flat[0] > 0 && mean(costs.flat) < least) name = "flat", least = mean(costs.flat);
  if (costs.list[0] > 0 && costs.find / solvers + mean(costs.list) < least) name = "list";
  return name;
}

}  // namespace

std::vector<Limited> bench_occupancies(const Selection& selection, const Effort& effort) {
  constexpr double kSolversOfAuto = 5;  // those that place greedily
  const std::vector<Instance> instances = instances_of(selection);
  if (instances.empty()) return {};
  Table table({"problem", "items", "pairs / item", "find list", "list: first", "best", "flat: first", "best", "tree: first",
               "best", "cheapest once", "in auto"});
  for (const auto& [name, problem] : instances) {
    const std::size_t pairs = count_pairs(problem);
    const Costs costs = measure_costs(problem, pairs, effort);
    table.add({name, std::to_string(problem.items.size()),
               fmt::format("{:.0f}", static_cast<double>(pairs) / static_cast<double>(problem.items.size())), cell(costs.find),
               cell(costs.list[0]), cell(costs.list[1]), cell(costs.flat[0]), cell(costs.flat[1]), cell(costs.tree[0]),
               cell(costs.tree[1]), cheapest(costs, 1), cheapest(costs, kSolversOfAuto)});
  }
  fmt::print("## Occupancy\n\nLargest first, first or best fit, the same loop on each kind of occupancy; best times only. ");
  fmt::print("\"In auto\" spreads the finding of the list over {:.0f} solvers.\n\n", kSolversOfAuto);
  table.print();
  return {};
}

}  // namespace stowage::bench
