#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "generate_graphs.hpp"
#include "generate_problems.hpp"
#include "generate_streams.hpp"
#include "lower/interface/lower.hpp"
#include "stowage/stowage.hpp"

namespace stowage::bench {
namespace {

SolveOutcome solve_by(const std::string& solver, const Problem& problem) {
  SolveOptions options;
  options.solver = solver;
  return solve(problem, options).value();
}

/// Maps a step to the bytes that are live from there to the next entry.
std::map<Step, std::int64_t> live_bytes(const Problem& problem) {
  std::map<Step, std::int64_t> live;
  for (const Item& item : problem.items) {
    live[item.life().lower] += item.size.value();
    live[item.life().upper] -= item.size.value();
  }
  std::int64_t sum = 0;
  for (auto& [step, bytes] : live) bytes = sum += bytes;
  return live;
}

TEST(Generators, EveryProblemKeepsTheRules) {
  for (const Problem& problem : {make_random(300, 20), make_heavy_tail(1000), make_dense(1000), make_tight(300)}) {
    EXPECT_TRUE(check_problem(problem));
    EXPECT_THAT(problem.items.size(), testing::AnyOf(300, 1000));
  }
}

TEST(Generators, GraphsOfManyStreamsUseThemAllAndArePlanned) {
  for (const auto make : {&make_pipeline, &make_weave, &make_strands}) {
    const Graph graph = make(1'000, 8);
    EXPECT_EQ(graph.stream_count(), 8U);
    EXPECT_GE(graph.ops().size(), 900U);
    EXPECT_EQ(graph.description(), make(1'000, 8).description());
    EXPECT_TRUE(plan(graph, {.solver = "online_best_fit", .time_limit = std::nullopt})->has_answer());
  }
}

TEST(Generators, EqualArgumentsGiveEqualProblems) {
  EXPECT_EQ(make_heavy_tail(500), make_heavy_tail(500));
  EXPECT_EQ(make_dense(500), make_dense(500));
  EXPECT_EQ(make_tight(500, 3), make_tight(500, 3));
  EXPECT_NE(make_tight(500, 3), make_tight(500, 4));
}

TEST(HeavyTail, AFewItemsHoldMostBytesAndAFewLiveLong) {
  Problem problem = make_heavy_tail(10'000);
  std::sort(problem.items.begin(), problem.items.end(), [](const Item& a, const Item& b) { return a.size > b.size; });
  std::int64_t all = 0;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < problem.items.size(); ++i) (i < 1000 ? largest : all) += problem.items[i].size.value();
  EXPECT_GT(largest, all);
  const auto lives_long = [](const Item& item) { return item.life().length() > Step(1000); };
  const auto count = std::count_if(problem.items.begin(), problem.items.end(), lives_long);
  EXPECT_GT(count, 20);
  EXPECT_LT(count, 1000);
}

TEST(Tight, EveryStepIsFull) {
  for (const std::size_t items : {1U, 2U, 20U, 1000U}) {
    std::map<Step, std::int64_t> live = live_bytes(make_tight(items));
    EXPECT_EQ(live.rbegin()->second, 0);
    live.erase(std::prev(live.end()));
    for (const auto& [step, bytes] : live) EXPECT_EQ(Bytes(bytes), kTightHeight) << "at step " << step.value();
  }
}

TEST(Tight, TheOptimumIsItsHeight) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = make_tight(40, seed);
    const Certificate bound = lower_bound(problem);
    EXPECT_EQ(bound.bytes, kTightHeight);
    EXPECT_TRUE(check_bound(problem, bound));
    const SolveOutcome outcome = solve_by("auto", problem);
    EXPECT_EQ(outcome.status, SolveStatus::optimal);
    EXPECT_EQ(outcome.peak, kTightHeight);
    EXPECT_FALSE(validate(problem, outcome.positions));
  }
}

TEST(Adversaries, MisleadTheirHeuristicsAndNotAuto) {
  for (const std::size_t size : {1U, 8U}) {
    for (const Adversary& adversary : make_adversaries(size)) {
      const Bytes bound = lower_bound(adversary.problem).bytes;
      EXPECT_EQ(solve_by("auto", adversary.problem).peak, bound) << adversary.name;
      for (const std::string& solver : adversary.against) {
        EXPECT_GE(solve_by(solver, adversary.problem).peak.value() * 10, bound.value() * 11)
            << adversary.name << ", " << solver;
      }
    }
  }
}

TEST(Adversaries, OrdersAreMisledOnlyByTheirOwn) {
  for (const Adversary& adversary : make_adversaries(4)) {
    if (adversary.name.starts_with("against_online") || adversary.name.starts_with("against_skyline")) continue;
    for (const SolverInfo& info : solvers()) {
      if (info.name == "blocks") continue;  // it has no order of items, and most families mislead it
      if (std::count(adversary.against.begin(), adversary.against.end(), info.name) > 0) continue;
      EXPECT_EQ(solve_by(std::string(info.name), adversary.problem).peak, lower_bound(adversary.problem).bytes)
          << adversary.name << ", " << info.name;
    }
  }
}

TEST(Adversaries, SpareNoSolverThatDoesNotSearch) {
  std::vector<std::string> misled;
  for (const Adversary& adversary : make_adversaries(1)) {
    misled.insert(misled.end(), adversary.against.begin(), adversary.against.end());
  }
  for (const SolverInfo& info : solvers()) {
    if (info.searches) continue;
    EXPECT_THAT(misled, testing::Contains(info.name));
  }
}

TEST(Graphs, HaveAsManyOpsAsAsked) {
  for (const std::size_t ops : {100U, 777U, 3000U}) {
    EXPECT_EQ(make_llm(ops, Streams::two).ops().size(), ops);
    EXPECT_EQ(make_training(ops, Streams::two).ops().size(), ops);
    EXPECT_EQ(make_unet(ops).ops().size(), ops);
  }
}

TEST(Unet, TheFirstSkipLivesNearlyToTheEnd) {
  const Graph graph = make_unet(600);
  const Lowering lowering = lower(graph, analyze(graph));
  std::int64_t longest = 0;
  for (const ArenaProblem& arena : lowering.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    for (const Item& item : arena.problem.items) longest = std::max(longest, item.life().length().value());
  }
  EXPECT_GT(longest, 550);
}

}  // namespace
}  // namespace stowage::bench
