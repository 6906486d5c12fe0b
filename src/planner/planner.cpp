#include "stowage/planner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "planner/previous.hpp"
#include "stowage/liveness.hpp"
#include "stowage/lower.hpp"
#include "stowage/verify.hpp"

namespace stowage {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs `work` and adds the time that it took to `spent`.
template <class Work>
auto timed(std::chrono::nanoseconds& spent, Work&& work) {
  const Clock::time_point start = Clock::now();
  auto result = work();
  spent += Clock::now() - start;
  return result;
}

SolveOptions solve_options(const PlanOptions& options) {
  SolveOptions result{.solver = options.solver,
                      .deadline = {},
                      .threads = options.threads,
                      .seed = options.seed,
                      .node_budget = options.node_budget};
  if (options.time_limit) result.deadline = Clock::now() + *options.time_limit;
  return result;
}

/// The whole is as good as its worst part.
SolveStatus worse(SolveStatus a, SolveStatus b) {
  const auto rank = [](SolveStatus status) {
    switch (status) {
      case SolveStatus::optimal:
        return 0;
      case SolveStatus::feasible:
        return 1;
      case SolveStatus::timed_out:
        return 2;
      case SolveStatus::infeasible:
        return 3;
    }
    return 3;
  };
  return rank(a) >= rank(b) ? a : b;
}

/// Answers to all arenas of a graph, put together.
struct Answers {
  SolveStatus status = SolveStatus::optimal;
  std::vector<ArenaSolution> solutions;  ///< One an arena, unless one has no positions at all.
  Bytes lower_bound;
  std::string solver;
  std::size_t moved = 0;
};

/// Everything that is known when the arenas are solved.
struct Task {
  const Graph& graph;
  const Liveness& liveness;
  const Lowering& lowering;
  const std::optional<PreviousPlan>& previous;
};

/// From where everything was.
Result<SolveOutcome> solve_again(const Task& task, const ArenaProblem& arena, const SolveOptions& options, std::size_t& moved) {
  PreviousOfArena previous = previous_of(*task.previous, task.liveness, arena);
  const Result<Replanner> replanner =
      Replanner::start(arena.problem, previous.answer, {.solve = options, .fixed = std::move(previous.fixed)});
  if (!replanner) return in_words_of_graph(replanner.error(), task.graph, task.liveness, arena);
  const Replanned& done = replanner->outcome();
  moved += done.moved;
  return SolveOutcome{.status = done.status,
                      .positions = replanner->positions(),
                      .peak = done.peak,
                      .bound = done.bound,
                      .solver = done.from_scratch ? options.solver : "previous",
                      .nodes = 0};
}

Result<Answers> solve_all(const Task& task, const SolveOptions& options) {
  Answers answers;
  Bytes largest(-1);
  for (const ArenaProblem& arena : task.lowering.arenas) {
    // What nobody shares needs no choice of solver, and none of its time.
    const SolveOptions solving = arena.kind == ArenaKind::persistent ? SolveOptions{} : options;
    STOWAGE_TRY(SolveOutcome outcome,
                task.previous ? solve_again(task, arena, solving, answers.moved) : solve(arena.problem, solving));
    answers.status = worse(answers.status, outcome.status);
    if (arena.kind != ArenaKind::persistent) {
      answers.lower_bound += outcome.bound.bytes;
      if (outcome.peak > largest) answers.solver = outcome.solver;
      largest = std::max(largest, outcome.peak);
    }
    if (outcome.positions.size() != arena.problem.items.size()) continue;
    answers.solutions.push_back({std::move(outcome.positions), outcome.bound.bytes});
  }
  return answers;
}

std::size_t count_items(const Lowering& lowering) {
  std::size_t count = 0;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::persistent) count += arena.problem.items.size();
  }
  return count;
}

/// A plan that breaks a rule is a bug of ours, and must not leave the house.
bool verified(const Graph& graph, const Plan& plan, const PlanOptions& options) {
  const std::vector<Finding> findings = verify(graph, plan, {.max_findings = 1, .keep_inputs = options.keep_inputs});
  STOWAGE_CHECK(findings.empty(), findings.front().message.c_str());
  return true;
}

}  // namespace

Result<Planned> plan(const Graph& graph, const PlanOptions& options) {
  Planned result;
  const LivenessOptions liveness_options{
      .in_place = options.in_place, .keep_inputs = options.keep_inputs, .no_reuse = options.no_reuse};
  const Liveness liveness = timed(result.times.liveness, [&] { return analyze(graph, liveness_options); });
  const Lowering lowering = timed(result.times.lower, [&] { return lower(graph, liveness, options.capacity); });
  const Task task{graph, liveness, lowering, options.previous};
  STOWAGE_TRY(const Answers answers, timed(result.times.solve, [&] { return solve_all(task, solve_options(options)); }));

  result.status = answers.status;
  result.lower_bound = answers.lower_bound;
  result.naive = lowering.naive;
  result.items = count_items(lowering);
  result.solver = answers.solver;
  result.moved = answers.moved;
  if (answers.solutions.size() != lowering.arenas.size()) return result;
  result.plan = timed(result.times.lower, [&] { return raise(graph, liveness, lowering, answers.solutions); });
  timed(result.times.verify, [&] { return verified(graph, *result.plan, options); });
  return result;
}

}  // namespace stowage
