#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "generate_graphs.hpp"
#include "generate_problems.hpp"
#include "lower/interface/lower.hpp"
#include "pack/index/occupancy.hpp"
#include "sections.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// Runs the same placement loop with each kind of occupancy index: which is the cheapest, depending on the size and
/// density of the problem? The thresholds in src/pack/bench.cpp are based on this.
namespace stowage::bench {
namespace {

using pack::Meetings;
using pack::Occupancy;
using pack::OffsetRange;

enum class Fit : std::uint8_t { first, best };

/// Chooses the offset for an item between blocked ranges, which are ascending.
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
  std::sort(items.begin(), items.end(), [&](std::size_t a, std::size_t b) {
    return problem.items[a].size != problem.items[b].size ? problem.items[a].size > problem.items[b].size : a < b;
  });
  return items;
}

/// Places all items, the largest first, and returns the peak. Precondition: one region, no pins.
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

void add_shared_arena(std::vector<Instance>& instances, const std::string& name, const Graph& graph) {
  constexpr std::size_t kTooSmall = 200;
  Lowering lowering = lower(graph, analyze(graph));
  for (ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::shared || arena.problem.items.size() < kTooSmall) continue;
    instances.push_back({name, std::move(arena.problem)});
    return;
  }
}

/// A sweep over size and density, and real and realistic problems, to show whether the sweep is representative.
std::vector<Instance> instances_of(const Selection& selection) {
  std::vector<Instance> instances;
  for (const std::size_t items : {256U, 2048U, 8192U, 16384U}) {
    for (const std::size_t meetings : {8U, 32U, 128U, 512U}) {
      const std::string name = fmt::format("random_{}_{}", items, meetings);
      if (2 * meetings <= items && selection.has(name)) instances.push_back({name, make_random(items, meetings)});
    }
  }
  for (const std::size_t ops : {6000U, 24000U}) {
    const std::string name = fmt::format("training_{}", ops);
    if (selection.has(name)) add_shared_arena(instances, name, make_training(ops, Streams::one));
  }
  for (const GraphInstance& each : graph_instances(selection)) add_shared_arena(instances, each.name, each.graph);
  for (CsvInstance& each : csv_instances(selection)) {
    if (each.table.problem.items.size() > 400) instances.push_back({each.name, std::move(each.table.problem)});
  }
  return instances;
}

constexpr std::size_t kMaxPairs = 20'000'000;  ///< In a list; more would not fit into memory on a small machine.
constexpr std::size_t kMaxFlat = 30'000;

/// Number of pairs of pieces that overlap in time, which is what the threshold counts; with stream order, pairs of
/// items that conflict.
std::size_t count_pairs(const Problem& problem, const std::optional<Meetings>& meetings) {
  if (meetings) return meetings->size() / 2;
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

/// The cost of placing everything with one kind of occupancy index, in milliseconds.
struct Cost {
  double first_fit;
  double best_fit;

  [[nodiscard]] double mean() const { return (first_fit + best_fit) / 2; }
};

/// A cost is absent if the index does not support stream order, or would take too long.
struct Costs {
  double find = 0;
  std::optional<Cost> list = {};
  std::optional<Cost> flat = {};
  std::optional<Cost> tree = {};
};

/// Measures one problem, and checks that every kind of occupancy index leads to the same peak.
class Judge {
 public:
  Judge(const Problem& problem, const Effort& effort) : problem_(problem), effort_(effort), order_(by_size(problem)) {}

  template <class Make>
  Cost cost_of(Make&& make) {
    return {time(Fit::first, make), time(Fit::best, make)};
  }

 private:
  template <class Make>
  double time(Fit fit, Make& make) {
    std::int64_t peak = 0;
    const Timing timing = measure(effort_, [&] { return peak = place_all(problem_, order_, fit, make()); });
    std::optional<std::int64_t>& expected = peaks_[static_cast<std::size_t>(fit)];
    STOWAGE_CHECK(!expected || *expected == peak, "every occupancy index must give the same placement");
    expected = peak;
    return timing.best;
  }

  const Problem& problem_;
  const Effort& effort_;
  std::vector<std::size_t> order_;
  std::array<std::optional<std::int64_t>, 2> peaks_;  ///< Per fit.
};

Costs measure_costs(const Problem& problem, const std::optional<Meetings>& meetings, const Effort& effort) {
  Costs costs;
  Judge judge(problem, effort);
  if (meetings) {
    costs.find = measure(effort, [&] { return Meetings::find(problem, kMaxPairs); }).best;
    costs.list = judge.cost_of([&] { return pack::make_list_occupancy(problem, *meetings); });
  }
  if (problem.order.empty()) costs.tree = judge.cost_of([&] { return pack::make_tree_occupancy(problem); });
  if (problem.items.size() <= kMaxFlat) costs.flat = judge.cost_of([&] { return pack::make_flat_occupancy(problem); });
  return costs;
}

std::string cell(const std::optional<Cost>& cost) {
  return cost ? to_text(cost->first_fit) + " / " + to_text(cost->best_fit) : "–";
}

/// The cheapest index for `solvers` placements that share one list of meetings; half of them use each fit.
std::string_view cheapest(const Costs& costs, double solvers) {
  std::string_view name;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](std::string_view kind, const std::optional<Cost>& cost, double once) {
    if (!cost || cost->mean() + once >= least) return;
    name = kind;
    least = cost->mean() + once;
  };
  consider("list", costs.list, costs.find / solvers);
  consider("flat", costs.flat, 0);
  consider("tree", costs.tree, 0);
  return name;
}

}  // namespace

std::vector<Limited> bench_occupancies(const Options& options) {
  constexpr double kSolversOfAuto = 5;  // the greedy ones
  const std::vector<Instance> instances = instances_of(options.selection);
  if (instances.empty()) return {};
  Table table({"problem", "items", "pairs / item", "find list", "list", "flat", "tree", "cheapest once", "in auto"});
  for (const auto& [name, problem] : instances) {
    const std::optional<Meetings> meetings = Meetings::find(problem, kMaxPairs);
    const double pairs =
        static_cast<double>(count_pairs(problem, meetings)) / static_cast<double>(problem.items.size());
    const Costs costs = measure_costs(problem, meetings, options.effort);
    table.add({name, std::to_string(problem.items.size()), fmt::format("{:.0f}", pairs),
               costs.list ? to_text(costs.find) : "–", cell(costs.list), cell(costs.flat), cell(costs.tree),
               std::string(cheapest(costs, 1)), std::string(cheapest(costs, kSolversOfAuto))});
  }
  fmt::print(
      "## Occupancy\n\nAll items are placed, the largest first, by first fit / by best fit, with each kind of "
      "occupancy index; best times. ");
  fmt::print("\"In auto\" divides the cost of finding the list among {:.0f} solvers.\n\n", kSolversOfAuto);
  table.print();
  return {};
}

}  // namespace stowage::bench
