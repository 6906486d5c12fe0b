#include "planner/strategies.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

/// Makes several plans of one const Graph and takes the best. Strategies share nothing but the graph, so threads need
/// no lock: each writes its result to a separate entry. The choice is made when all are done, in the
/// order of the strategies.
namespace stowage {
namespace {

constexpr std::string_view kBlocks = "blocks";

std::string describe(const ReuseKnobs& knobs) {
  static constexpr std::array<std::string_view, 3> kClasses = {"exact", "range", "one"};
  return fmt::format("{}, {}, {}, {}", kBlocks, kClasses[static_cast<std::size_t>(knobs.size_classes)],
                     knobs.sort == ReuseKnobs::Sort::descending ? "descending" : "ascending",
                     knobs.release == ReuseKnobs::Release::first ? "first" : "last");
}

void add(std::vector<Strategy>& list, Strategy strategy) {
  const bool known =
      std::any_of(list.begin(), list.end(), [&](const Strategy& each) { return each.name == strategy.name; });
  if (!known) list.push_back(std::move(strategy));
}

void add_blocks(std::vector<Strategy>& list, const ReuseKnobs& knobs, bool in_place) {
  add(list, {describe(knobs), std::string(kBlocks), knobs, in_place});
}

/// Adds GE's strategies: exact sizes, one class, and the four range variants.
void add_memory_priority(std::vector<Strategy>& list, const PlanOptions& options) {
  using Sort = ReuseKnobs::Sort;
  using Release = ReuseKnobs::Release;
  using SizeClasses = ReuseKnobs::SizeClasses;
  if (options.in_place) add(list, {options.solver + ", not in place", options.solver, list.front().reuse, false});
  add_blocks(list, {.size_classes = SizeClasses::exact}, options.in_place);
  add_blocks(list, {.size_classes = SizeClasses::one}, options.in_place);
  for (const Sort sort : {Sort::descending, Sort::ascending}) {
    for (const Release release : {Release::first, Release::last})
      add_blocks(list, {sort, release, SizeClasses::range}, options.in_place);
  }
}

const SolverInfo* find_solver(std::string_view name) {
  const auto found =
      std::find_if(solvers().begin(), solvers().end(), [&](const SolverInfo& each) { return each.name == name; });
  return found == solvers().end() ? nullptr : &*found;
}

bool searches(const Strategy& strategy) {
  const SolverInfo* const solver = find_solver(strategy.solver);
  return solver && solver->searches;
}

/// Runs all strategies of one call and chooses the best.
class Contest {
 public:
  Contest(const Graph& graph, const PlanOptions& options, std::vector<Strategy> strategies)
      : graph_(graph), options_(options), strategies_(std::move(strategies)), results_(strategies_.size()) {
    workers_ = static_cast<std::uint32_t>(std::clamp<std::size_t>(options.threads, 1, strategies_.size()));
    // Start the strategies that search first, otherwise the last of them would run alone at the end.
    order_.resize(strategies_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto others =
        std::partition(order_.begin(), order_.end(), [&](std::size_t s) { return searches(strategies_[s]); });
    searching_ = static_cast<std::size_t>(others - order_.begin());
    std::sort(order_.begin(), others);
    std::sort(others, order_.end());
  }

  Result<Planned> run() {
    {
      std::vector<std::jthread> others;
      for (std::uint32_t w = 1; w < workers_; ++w) others.emplace_back([this] { work(); });
      work();
    }
    return choose();
  }

 private:
  void work() {
    for (std::size_t k = next_++; k < order_.size(); k = next_++) {
      const std::size_t strategy = order_[k];
      results_[strategy] = plan_once(graph_, options_of(strategies_[strategy]));
    }
  }

  [[nodiscard]] PlanOptions options_of(const Strategy& strategy) const {
    PlanOptions options = options_;
    options.solver = strategy.solver;
    options.reuse = strategy.reuse;
    options.in_place = strategy.in_place;
    options.on_better = {};
    options.threads = std::max<std::uint32_t>(1, options_.threads / workers_);
    if (options.time_limit && searches(strategy)) {
      const std::size_t turns = (searching_ + workers_ - 1) / workers_;
      *options.time_limit /= static_cast<std::int64_t>(turns);
    }
    return options;
  }

  [[nodiscard]] std::optional<Bytes> peak_of(std::size_t strategy) const {
    const Result<Planned>& result = *results_[strategy];
    if (!result || !result->has_answer() || !result->plan) return std::nullopt;
    return result->plan->peak();
  }

  Result<Planned> choose() {
    std::size_t best = 0;
    for (std::size_t s = 0; s < strategies_.size(); ++s) {
      const std::optional<Bytes> peak = peak_of(s);
      const std::optional<Bytes> least = peak_of(best);
      if (peak && (!least || *peak < *least)) best = s;
      strategies_[s].peak = peak;
    }
    Result<Planned> chosen = std::move(*results_[best]);
    if (!chosen) return chosen;
    chosen->strategy = strategies_[best].name;
    chosen->candidates = std::move(strategies_);
    return chosen;
  }

  const Graph& graph_;
  const PlanOptions& options_;
  std::vector<Strategy> strategies_;
  std::vector<std::optional<Result<Planned>>> results_;  ///< By strategy.
  std::vector<std::size_t> order_;                       ///< The order in which they are started.
  std::size_t searching_ = 0;
  std::uint32_t workers_ = 1;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

std::vector<Strategy> strategies(const PlanOptions& options) {
  const ReuseKnobs knobs = options.reuse.value_or(ReuseKnobs{});
  const bool blocks = options.solver == kBlocks;
  std::vector<Strategy> list = {{blocks ? describe(knobs) : options.solver, options.solver, knobs, options.in_place}};
  if (options.reuse) add_blocks(list, knobs, options.in_place);
  if (options.memory_priority) add_memory_priority(list, options);
  return list;
}

Result<Planned> plan(const Graph& graph, const PlanOptions& options) {
  std::vector<Strategy> list = strategies(options);
  // An unknown solver is an error of the call, not a candidate that failed.
  if (list.size() > 1 && find_solver(options.solver)) return Contest(graph, options, std::move(list)).run();
  STOWAGE_TRY(Planned planned, plan_once(graph, options));
  planned.strategy = list.front().name;
  if (planned.has_answer()) list.front().peak = planned.plan->peak();
  planned.candidates = {std::move(list.front())};
  return planned;
}

}  // namespace stowage
