#include "stowage/planner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "liveness/interface/races.hpp"
#include "planner/attempt.hpp"
#include "planner/checked_bounds.hpp"
#include "planner/previous.hpp"
#include "planner/settle.hpp"
#include "planner/strategies.hpp"
#include "stowage/pack/replanner.hpp"
#include "stowage/verify.hpp"

namespace stowage {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds its lifetime to the time of a stage.
class StageTimer {
 public:
  explicit StageTimer(std::chrono::nanoseconds& spent) : spent_(spent) {}
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer() { spent_ += Clock::now() - start_; }

 private:
  std::chrono::nanoseconds& spent_;
  Clock::time_point start_ = Clock::now();
};

/// Runs `work` and adds the time that it took to `spent`.
template <class Work>
auto timed(std::chrono::nanoseconds& spent, Work&& work) {
  const StageTimer timer(spent);
  return work();
}

SolveOptions solve_options(const Attempt& attempt) {
  const PlanOptions& options = attempt.options;
  return {.solver = options.solver,
          .deadline = attempt.deadline,
          .threads = options.threads,
          .seed = options.seed,
          .node_budget = options.node_budget,
          .reuse = options.reuse.value_or(ReuseKnobs{}),
          .stop = options.stop};
}

/// The status of a whole is that of its worst part.
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

/// The combined answers to all arenas of a graph.
struct Answers {
  SolveStatus status = SolveStatus::optimal;
  std::vector<ArenaSolution> solutions;  ///< One per arena, unless one has no positions at all.
  Bytes lower_bound;
  std::string solver;
  std::size_t moved = 0;
  std::vector<ArenaNeed> needs;
};

/// The input of solving the arenas.
struct Task {
  const Graph& graph;
  const Analysis& analysis;
  const Lowering& lowering;
  const PlanOptions& options;
  const Search& search;  ///< Empty: `solve`.
};

/// Solves an arena starting from the previous plan, with the joins that hold there and then those that save most.
Result<SolveOutcome> solve_again(const Task& task, const ArenaProblem& arena, const SolveOptions& options,
                                 std::size_t& moved) {
  const PreviousOfArena previous = previous_of(task.options, task.graph, task.analysis.layout, arena);
  const ContractedArena contracted = contract_arena(arena, previous);
  const Result<Replanner> replanner = Replanner::make(contracted.arena.problem, contracted.previous.answer,
                                                      {.solve = options, .kept = contracted.previous.kept});
  if (!replanner) return in_words_of_graph(replanner.error(), task.graph, task.analysis.layout, contracted.arena);
  const Replanned& done = replanner->outcome();
  moved += done.moved;
  SolveOutcome outcome{.status = done.status,
                       .positions = contracted.contraction.expand(replanner->positions()),
                       .peak = done.peak,
                       .bound = done.bound,
                       .solver = done.from_scratch ? options.solver : "previous",
                       .nodes = 0};
  if (arena.problem.joins.empty()) return outcome;
  // What holds for these joins need not hold for others.
  outcome.bound = lower_bound(arena.problem);
  const bool too_small = arena.problem.capacity && outcome.bound.bytes > *arena.problem.capacity;
  if (outcome.status == SolveStatus::infeasible && !too_small) outcome.status = SolveStatus::timed_out;
  if (outcome.status == SolveStatus::optimal && outcome.peak > outcome.bound.bytes)
    outcome.status = SolveStatus::feasible;
  return outcome;
}

/// The ranges of a ring are given; there is nothing to solve.
SolveOutcome outcome_of_ring(const ArenaProblem& arena) {
  SolveOutcome outcome{
      .status = SolveStatus::optimal, .positions = {}, .peak = *arena.size, .bound = {}, .solver = "ring", .nodes = 0};
  outcome.bound.bytes = *arena.size;
  for (const Item& item : arena.problem.items) outcome.positions.push_back({0, *item.pinned});
  if (arena.problem.capacity && *arena.size > *arena.problem.capacity) outcome.status = SolveStatus::infeasible;
  return outcome;
}

/// Solves one arena after another. Each gets the capacity that the earlier arenas of its memory have left.
class ArenaSolver {
 public:
  ArenaSolver(const Task& task, const SolveOptions& options)
      : task_(task), options_(options), spent_(task.graph.memories().size()) {
    for (const ArenaProblem& arena : task.lowering.arenas) searches_ += is_searched(arena.kind) ? 1 : 0;
  }

  Result<Answers> run() {
    for (const ArenaProblem& arena : task_.lowering.arenas) {
      const Spent& spent = spent_[arena.memory.index()];
      const bool reduced = arena.problem.capacity && spent.bytes > Bytes(0) && is_paid(arena.kind);
      ArenaProblem rest = reduced ? arena : ArenaProblem{};
      if (reduced) rest.problem.capacity = std::max(Bytes(0), *arena.problem.capacity - spent.bytes);
      STOWAGE_TRY(SolveOutcome outcome, solve_one(reduced ? rest : arena));
      if (!arena.covers_graph) STOWAGE_TRY_STATUS(judge_by_plan(arena, outcome));
      // If the earlier arenas were as small as their bounds, this one might fit.
      const bool unknown = reduced && spent.lower_bound + outcome.bound.bytes <= *arena.problem.capacity;
      if (outcome.status == SolveStatus::infeasible && unknown) outcome.status = SolveStatus::timed_out;
      take(arena, std::move(outcome));
    }
    return std::move(answers_);
  }

 private:
  struct Spent {
    Bytes bytes;
    Bytes lower_bound;  ///< The part that is proven to be needed.
  };

  Result<SolveOutcome> solve_one(const ArenaProblem& arena) {
    if (arena.kind == ArenaKind::ring) return outcome_of_ring(arena);
    // An arena without sharing needs no search, so it takes neither the chosen solver nor its time.
    const SolveOptions solving = is_searched(arena.kind) ? next_search(arena) : SolveOptions{};
    if (task_.search && is_searched(arena.kind)) return task_.search(arena.problem);
    // The limit was omitted because all items fit next to each other, but blocks of one size may need more than that.
    if (solving.solver == "blocks" && arena.limit && arena.problem.regions.size() == 1) {
      ArenaProblem limited = arena;
      limited.problem.regions.front().limit = arena.limit;
      return task_.options.previous ? solve_again(task_, limited, solving, answers_.moved)
                                    : solve(limited.problem, solving);
    }
    return task_.options.previous ? solve_again(task_, arena, solving, answers_.moved) : solve(arena.problem, solving);
  }

  /// What is proven of a Problem that does not cover its graph is not proven of the graph; `raise_to_checked_bounds`
  /// finds out what is, but needs a plan, even one that exceeds the capacity.
  Status judge_by_plan(const ArenaProblem& arena, SolveOutcome& outcome) {
    if (outcome.positions.size() != arena.problem.items.size() && arena.problem.capacity) {
      ArenaProblem unlimited = arena;
      unlimited.problem.capacity.reset();
      STOWAGE_TRY(outcome, solve_one(unlimited));
      if (outcome.peak > *arena.problem.capacity) outcome.status = SolveStatus::timed_out;
    }
    outcome.bound = {};
    if (outcome.status == SolveStatus::optimal) outcome.status = SolveStatus::feasible;
    if (outcome.status == SolveStatus::infeasible) outcome.status = SolveStatus::timed_out;
    return Done{};
  }

  [[nodiscard]] static bool is_searched(ArenaKind kind) {
    return kind == ArenaKind::shared || kind == ArenaKind::fixed;
  }

  /// Gives each search an equal share of the remaining time, so that none starts after the deadline.
  [[nodiscard]] SolveOptions next_search(const ArenaProblem& arena) {
    SolveOptions solving = options_;
    if (const auto& on_better = task_.options.on_better) {
      solving.on_better = [&on_better, &arena](const SolveOutcome& better) {
        on_better({arena.name, better.peak, better.bound.bytes});
      };
    }
    const Clock::time_point now = Clock::now();
    if (solving.deadline && *solving.deadline > now)
      solving.deadline = now + (*solving.deadline - now) / std::max<std::int64_t>(1, searches_);
    --searches_;
    return solving;
  }

  void take(const ArenaProblem& arena, SolveOutcome outcome) {
    answers_.status = worse(answers_.status, outcome.status);
    if (is_paid(arena.kind)) {
      const bool found = outcome.positions.size() == arena.problem.items.size();
      const std::optional<Bytes> size = found ? std::optional(outcome.peak) : std::nullopt;
      answers_.needs.push_back({arena.memory, arena.kind, outcome.bound.bytes, size});
      answers_.lower_bound += outcome.bound.bytes;
      if (outcome.peak > largest_) answers_.solver = outcome.solver;
      largest_ = std::max(largest_, outcome.peak);
      spent_[arena.memory.index()].bytes += outcome.peak;
      spent_[arena.memory.index()].lower_bound += outcome.bound.bytes;
    }
    if (outcome.positions.size() != arena.problem.items.size()) return;
    BoundProof proof = proof_of(task_.analysis, arena, outcome.bound);
    answers_.solutions.push_back({std::move(outcome.positions), std::move(outcome.bound), std::move(proof)});
  }

  const Task& task_;
  const SolveOptions& options_;
  std::vector<Spent> spent_;   ///< By memory.
  std::int64_t searches_ = 0;  ///< Arenas that are still to be searched.
  Bytes largest_{-1};
  Answers answers_;
};

Result<Answers> solve_all(const Task& task, const SolveOptions& options) { return ArenaSolver(task, options).run(); }

Status check_options(const Graph& graph, const PlanOptions& options) {
  if (options.region_limit && *options.region_limit <= Bytes(0))
    return Error{ErrorCode::invalid,
                 fmt::format("the region limit is {}, but must be positive", options.region_limit->value()),
                 {}};
  const auto named = [](const std::string& name) { return [&](const auto& each) { return each.name == name; }; };
  for (const std::string& name : options.no_reuse_names) {
    if (std::any_of(graph.ops().begin(), graph.ops().end(), named(name))) continue;
    if (std::any_of(graph.tensors().begin(), graph.tensors().end(), named(name))) continue;
    return Error{
        ErrorCode::invalid, fmt::format("the no-reuse list names '{}', but no op or tensor has that name", name), {}};
  }
  return Done{};
}

std::size_t count_items(const Lowering& lowering) {
  std::size_t count = 0;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (is_paid(arena.kind)) count += arena.problem.items.size() - arena.hosts.size();
  }
  return count;
}

/// Finds how large the persistent arena of each memory is, and limits the other arenas to what it leaves.
Status limit_total(const PlanOptions& options, Lowering& lowering, std::vector<Bytes>& weights) {
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::persistent) continue;
    STOWAGE_TRY(const SolveOutcome outcome, solve(arena.problem));
    weights[arena.memory.index()] += outcome.peak;
  }
  for (ArenaProblem& arena : lowering.arenas) {
    if (is_paid(arena.kind)) arena.problem.capacity = std::max(Bytes(0), *capacity_of(options, weights, arena.memory));
  }
  return Done{};
}

/// The weights may exceed the total capacity alone, in a memory without any other arena too; and the persistent arena
/// of a plan that keeps offsets may be larger than it has to be.
SolveStatus status_in_total(const Planned& planned, const std::vector<Bytes>& weights) {
  const Bytes total = *planned.options.capacity_total;
  if (std::any_of(weights.begin(), weights.end(), [&](Bytes each) { return each > total; }))
    return SolveStatus::infeasible;
  if (!planned.plan || !planned.has_answer()) return planned.status;
  std::vector<Bytes> sizes(weights.size());
  for (const Arena& arena : planned.plan->arenas)
    sizes[arena.memory.index()] += arena.kind == ArenaKind::user ? Bytes(0) : arena.size;
  const bool fits = std::all_of(sizes.begin(), sizes.end(), [&](Bytes each) { return each <= total; });
  return fits ? planned.status : SolveStatus::timed_out;
}

VerifyOptions verify_options(const PlanOptions& options) {
  return {.max_findings = 1,
          .keep_inputs = options.keep_inputs,
          .base = options.base,
          .region_limit = options.region_limit,
          .batch_start = options.batch_start};
}

/// A plan that breaks a rule is a bug of ours and must never be returned.
void check_verified(const PlanOptions& options, PlanningRecord& record, Planned& planned) {
  const VerifyOptions rules = verify_options(options);
  std::vector<Finding> findings = verify(planned.graph, *planned.plan, rules);
  if (!findings.empty() && findings.front().rule == Rule::claim) {
    record.bounds_lowered = admit_choices(options, rules, record.needs, planned);
    findings = verify(planned.graph, *planned.plan, rules);
  }
  STOWAGE_CHECK(findings.empty(), findings.front().message.c_str());
}

/// Without a plan nothing is verified. If what is proven of a plan without the capacity does not hold for the graph,
/// then what is said of the capacity does not either; and if there was no time to find out, nothing is known.
Status doubt(const Attempt& attempt, Planned& planned) {
  if (planned.status != SolveStatus::infeasible || planned.graph.needs_addresses_only()) return Done{};
  PlanOptions unlimited = attempt.options;
  unlimited.capacity.reset();
  unlimited.capacity_total.reset();
  const Attempt again{attempt.graph, unlimited, attempt.search, attempt.copied, attempt.deadline};
  STOWAGE_TRY(std::shared_ptr<PlanningRecord> record, prepare(again));
  STOWAGE_TRY(const Planned other, complete(again, std::move(record)));
  const bool refuted = !other.plan || other.record->bounds_lowered;
  const bool cut = attempt.options.stop.stop_requested() || (attempt.deadline && Clock::now() >= *attempt.deadline);
  const bool undecided = cut && other.status != SolveStatus::optimal;
  if (refuted || (undecided && !exceeds_capacity(other.record->needs, planned)))
    planned.status = SolveStatus::timed_out;
  return Done{};
}

}  // namespace

Result<std::shared_ptr<PlanningRecord>> prepare(const Attempt& attempt) {
  const Graph& graph = attempt.graph;
  const PlanOptions& options = attempt.options;
  STOWAGE_TRY_STATUS(check_options(graph, options));
  const auto record = std::make_shared<PlanningRecord>();
  AnalysisOptions how = analysis_options(options);
  how.copied = attempt.copied;
  record->analysis = timed(record->times.liveness, [&] { return analyze(graph, how); });
  const Analysis& analysis = record->analysis;
  if (const std::optional<Race> race =
          find_race(graph, analysis.layout.sharing, analysis.liveness.timeline, analysis.liveness.order))
    return Error{ErrorCode::invalid, describe(*race, graph), {}};
  record->lowering = timed(record->times.lower, [&] { return lower(graph, analysis, lower_options(options)); });
  record->weights.resize(graph.memories().size());
  if (options.capacity_total) STOWAGE_TRY_STATUS(limit_total(options, record->lowering, record->weights));
  return record;
}

Result<Planned> complete(const Attempt& attempt, std::shared_ptr<PlanningRecord> record) {
  const Graph& graph = attempt.graph;
  const PlanOptions& options = attempt.options;
  const Analysis& analysis = record->analysis;
  const Lowering& lowering = record->lowering;
  const Task task{graph, analysis, lowering, options, attempt.search};
  STOWAGE_TRY(Answers answers, timed(record->times.solve, [&] { return solve_all(task, solve_options(attempt)); }));
  if (answers.solutions.size() == lowering.arenas.size())
    timed(record->times.lower, [&] { settle(record->analysis.layout, record->lowering, answers.solutions); });

  Planned result{.graph = graph};
  result.status = answers.status;
  result.lower_bound = answers.lower_bound;
  result.naive = lowering.naive;
  result.items = count_items(lowering);
  result.solver = answers.solver;
  result.moved = answers.moved;
  record->needs = std::move(answers.needs);
  result.options = options;
  result.options.stop = {};
  result.options.on_better = {};
  result.record = record;
  if (answers.solutions.size() == lowering.arenas.size()) {
    result.plan = timed(record->times.lower, [&] { return raise(graph, analysis, lowering, answers.solutions); });
    timed(record->times.solve,
          [&] { raise_to_checked_bounds(lowering, verify_options(options), record->needs, result); });
    if (options.verify) timed(record->times.verify, [&] { check_verified(options, *record, result); });
  } else {
    STOWAGE_TRY_STATUS(doubt(attempt, result));
  }
  if (options.capacity_total) result.status = status_in_total(result, record->weights);
  return result;
}

}  // namespace stowage
