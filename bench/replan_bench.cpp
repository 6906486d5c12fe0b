#include <algorithm>
#include <chrono>
#include <random>

#include <fmt/format.h>

#include "generate_graphs.hpp"
#include "lower/interface/lower.hpp"
#include "sections.hpp"
#include "stowage/pack/replanner.hpp"
#include "stowage/stowage.hpp"
#include "table.hpp"

/// Re-planning after some sizes have changed, compared with solving from scratch.
namespace stowage::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeeds = 30;
constexpr std::uint64_t kNodes = 20'000;  ///< For solving from scratch; the skyline usually needs none.

struct Instance {
  std::string name;
  Problem problem;
};

Problem shared_problem(const Graph& graph) {
  Lowering lowering = lower(graph, analyze(graph));
  for (ArenaProblem& arena : lowering.arenas) {
    if (arena.kind == ArenaKind::shared) return std::move(arena.problem);
  }
  return {};
}

/// Changes the sizes of a share of the items by up to a tenth.
std::vector<ItemChange> random_changes(const Problem& problem, double share, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto count =
      std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(problem.items.size())));
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < problem.items.size(); ++i) items.push_back(i);
  std::shuffle(items.begin(), items.end(), random);
  std::vector<ItemChange> changes;
  for (std::size_t k = 0; k < count; ++k) {
    ItemChange change{items[k], problem.items[items[k]]};
    Item& item = change.becomes;
    const std::int64_t size = item.size.value() * (900 + static_cast<std::int64_t>(random() % 201)) / 1000;
    item.size = align_up(Bytes(size), item.alignment);
    item.pieces.front().bytes.upper = item.size;
    changes.push_back(std::move(change));
  }
  return changes;
}

/// The cost of one set of changes, both ways.
struct Run {
  double scratch_ms;
  double change_ms;
  double peak_ratio;  ///< Re-planned / solved from scratch.
  double moved;       ///< Number of items.
  bool from_scratch;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The best of several repetitions, because the machine is shared.
Run run_once(const Problem& problem, const SolveOutcome& answer, const std::vector<ItemChange>& changes) {
  constexpr int kRepetitions = 5;
  const SolveOptions solving{.node_budget = kNodes};
  Problem changed = problem;
  for (const ItemChange& change : changes) changed.items[change.item] = change.becomes;
  Run run{1e9, 1e9, 0, 0, false};
  for (int k = 0; k < kRepetitions; ++k) {
    Clock::time_point start = Clock::now();
    const Result<SolveOutcome> scratch = solve(changed, solving);
    run.scratch_ms = std::min(run.scratch_ms, milliseconds_since(start));
    Result<Replanner> replanner = Replanner::make(problem, PreviousAnswer::of(answer), {.solve = solving});
    start = Clock::now();
    const Result<Replanned> done = replanner->change(changes);
    run.change_ms = std::min(run.change_ms, milliseconds_since(start));
    STOWAGE_CHECK(!validate(replanner->problem(), replanner->positions()), "a re-planned answer must be valid");
    run.peak_ratio = static_cast<double>(done->peak.value()) / static_cast<double>(scratch->peak.value());
    run.moved = static_cast<double>(done->moved);
    run.from_scratch = done->from_scratch;
  }
  return run;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void add_rows(Table& table, const Instance& instance) {
  const SolveOutcome answer = *solve(instance.problem, {.node_budget = kNodes});
  for (const double share : {0.01, 0.05}) {
    std::vector<double> scratch, change, faster, ratio, moved;
    int from_scratch = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Run run = run_once(instance.problem, answer, random_changes(instance.problem, share, seed));
      scratch.push_back(run.scratch_ms);
      change.push_back(run.change_ms);
      faster.push_back(run.scratch_ms / run.change_ms);
      ratio.push_back(run.peak_ratio);
      moved.push_back(run.moved);
      from_scratch += run.from_scratch ? 1 : 0;
    }
    table.add({instance.name, std::to_string(instance.problem.items.size()), fmt::format("{:.0f} %", 100 * share),
               to_text(median(scratch)), fmt::format("{:.4f}", median(change)), fmt::format("{:.0f}×", median(faster)),
               fmt::format("{:.4f} / {:.4f}", median(ratio), *std::max_element(ratio.begin(), ratio.end())),
               fmt::format("{:.0f}", median(moved)), std::to_string(from_scratch)});
  }
}

}  // namespace

std::vector<Limited> bench_replanning(const Options& options) {
  Table table({"graph", "items", "changed", "scratch, ms", "change, ms", "faster",
               "peak / from scratch, median / worst", "moved", "from scratch"});
  for (const std::size_t ops : {2000U, 10000U}) {
    const std::string llm = fmt::format("llm_{}", ops);
    const std::string training = fmt::format("training_{}", ops);
    if (options.selection.has(llm)) add_rows(table, {llm, shared_problem(make_llm(ops, Streams::one))});
    if (options.selection.has(training)) add_rows(table, {training, shared_problem(make_training(ops, Streams::one))});
  }
  fmt::print("## Re-planning\n\nSizes of some items change by up to a tenth; medians over {} sets of changes.\n\n",
             kSeeds);
  table.print();
  return {};
}

}  // namespace stowage::bench
