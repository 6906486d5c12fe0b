#include "problem_plan.hpp"

#include <algorithm>
#include <chrono>

#include "commands.hpp"
#include "output.hpp"

namespace stowage::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// The size of all items one after another, each at its alignment.
Bytes stacked_size(const Problem& problem) {
  Bytes top;
  for (const Item& item : problem.items) top = align_up(top, item.alignment) + item.size;
  return top;
}

void keep_everything(Problem& problem) {
  Interval all{Step(0), Step(1)};
  for (const Item& item : problem.items) {
    all.lower = std::min(all.lower, item.life().lower);
    all.upper = std::max(all.upper, item.life().upper);
  }
  for (Item& item : problem.items) item.pieces = {{all, {Bytes(0), item.size}}};
}

Summary summary_of(const Problem& problem, const SolveOutcome& outcome, const std::string& name,
                   Clock::duration spent) {
  Summary summary;
  summary.name = name;
  summary.items = problem.items.size();
  summary.peak = outcome.peak;
  summary.lower_bound = outcome.bound.bytes;
  summary.naive = stacked_size(problem);
  summary.total = summary.peak;
  summary.proven_optimal = outcome.has_answer() && outcome.peak == outcome.bound.bytes;
  summary.padding = Padding::none;
  summary.status = to_string(outcome.status);
  summary.solver = outcome.solver;
  summary.solve_ms = std::chrono::duration<double, std::milli>(spent).count();
  if (outcome.has_answer())
    summary.arenas.push_back({"table", "table", "shared", outcome.peak, outcome.bound.bytes, summary.proven_optimal});
  return summary;
}

struct Best {
  SolveOutcome outcome;
  std::string strategy;
  std::size_t tried = 0;
};

/// Solves with every strategy that applies to a table, where in place makes no difference.
Result<Best> solve_best(const Problem& problem, const PlanOptions& options, SolveOptions solving) {
  Best best;
  for (const Strategy& each : strategies(options)) {
    if (each.in_place != options.in_place) continue;
    solving.solver = each.solver;
    solving.reuse = each.reuse;
    STOWAGE_TRY(SolveOutcome outcome, solve(problem, solving));
    const bool lower = outcome.has_answer() && (!best.outcome.has_answer() || outcome.peak < best.outcome.peak);
    if (best.tried++ > 0 && !lower) continue;
    best.outcome = std::move(outcome);
    best.strategy = each.name;
  }
  return best;
}

}  // namespace

Result<PlannedProblem> plan_problem(const CsvProblem& table, const std::string& name, const PlanOptions& options) {
  Problem problem = table.problem;
  problem.capacity = options.capacity;
  if (options.no_reuse) keep_everything(problem);
  SolveOptions solving{.solver = options.solver,
                       .deadline = {},
                       .threads = options.threads,
                       .seed = options.seed,
                       .node_budget = options.node_budget,
                       .stop = options.stop};
  if (options.on_better) {
    solving.on_better = [&](const SolveOutcome& better) {
      options.on_better({"table", better.peak, better.bound.bytes});
    };
  }
  const Clock::time_point start = Clock::now();
  if (options.time_limit) solving.deadline = start + *options.time_limit;
  STOWAGE_TRY(Best best, solve_best(problem, options, std::move(solving)));
  const Clock::duration spent = Clock::now() - start;
  Summary summary = summary_of(problem, best.outcome, name, spent);
  summary.strategies = best.tried;
  if (best.tried > 1) summary.strategy = best.strategy;
  return PlannedProblem{std::move(best.outcome), std::move(summary)};
}

std::string graph_option_in(const PlanOptions& options) {
  if (options.capacity_total) return "--capacity-total is for graphs; a table has no weights";
  if (options.region_limit) return "--region-limit is for graphs; a table is one region";
  if (!options.no_reuse_names.empty()) return "--no-reuse-names is for graphs; a table has rows, no tensors or ops";
  return "";
}

void refuse_graph_options(const PlanOptions& options) {
  const std::string wrong = graph_option_in(options);
  if (!wrong.empty()) end_with(kUsage, wrong);
}

}  // namespace stowage::cli
