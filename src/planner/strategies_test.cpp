#include <algorithm>

#include <gtest/gtest.h>

#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/builders/sketch.hpp"
#include "support/generators/random_graph.hpp"

namespace stowage {
namespace {

using testing::Sketch;

/// Limits the search by nodes, not by time, so that plans do not depend on the machine.
PlanOptions options(std::string solver = "auto") {
  return {.solver = std::move(solver), .time_limit = std::nullopt, .node_budget = 2'000};
}

std::vector<std::string> names(const PlanOptions& options) {
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies(options)) names.push_back(strategy.name);
  return names;
}

TEST(Strategies, ThereIsOneUnlessMoreAreAskedFor) {
  EXPECT_EQ(names({}), std::vector<std::string>{"auto"});
  EXPECT_EQ(names({.solver = "skyline"}), std::vector<std::string>{"skyline"});
  const Planned planned = *plan(testing::random_graph(1), options());
  EXPECT_EQ(planned.strategy, "auto");
  EXPECT_EQ(planned.candidates,
            (std::vector<Strategy>{{.name = "auto", .solver = "auto", .peak = planned.plan->peak()}}));
}

TEST(Strategies, KnobsAddBlocksWithThem) {
  const ReuseKnobs knobs{.release = ReuseKnobs::Release::first, .size_classes = ReuseKnobs::SizeClasses::range};
  EXPECT_EQ(names({.reuse = knobs}), (std::vector<std::string>{"auto", "blocks, range, descending, first"}));
  EXPECT_EQ(strategies({.reuse = knobs})[1].reuse, knobs);
  EXPECT_EQ(names({.solver = "blocks", .reuse = knobs}), std::vector<std::string>{"blocks, range, descending, first"});
}

TEST(Strategies, MemoryPriorityAddsAllOfGesAndOneWithoutInPlace) {
  const std::vector<std::string> all = {"auto",
                                        "auto, not in place",
                                        "blocks, exact, descending, last",
                                        "blocks, one, descending, last",
                                        "blocks, range, descending, first",
                                        "blocks, range, descending, last",
                                        "blocks, range, ascending, first",
                                        "blocks, range, ascending, last"};
  EXPECT_EQ(names({.memory_priority = true}), all);
  EXPECT_EQ(names({.reuse = ReuseKnobs{}, .memory_priority = true}).size(), all.size()) << "none is tried twice";
  EXPECT_EQ(names({.in_place = false, .memory_priority = true}).size(), all.size() - 1);
}

/// The peak of a strategy when it runs alone.
std::optional<Bytes> alone(const Graph& graph, PlanOptions options, const Strategy& strategy) {
  options.memory_priority = false;
  options.solver = strategy.solver;
  options.in_place = strategy.in_place;
  if (strategy.solver == "blocks") options.reuse = strategy.reuse;
  const Result<Planned> planned = plan(graph, options);
  if (!planned || !planned->has_answer()) return std::nullopt;
  return planned->plan->peak();
}

TEST(Strategies, TheLeastPeakWinsAndOfEqualsTheFirst) {
  std::size_t others = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph graph = testing::random_graph(seed);
    PlanOptions tried = options("first_fit_by_life");
    tried.memory_priority = true;
    const Planned planned = *plan(graph, tried);
    const std::vector<Strategy> list = strategies(tried);
    ASSERT_EQ(planned.candidates.size(), list.size());
    for (std::size_t s = 0; s < list.size(); ++s) {
      ASSERT_EQ(planned.candidates[s].name, list[s].name);
      ASSERT_EQ(planned.candidates[s].peak, alone(graph, tried, list[s])) << seed << " " << list[s].name;
    }
    const auto best = std::min_element(planned.candidates.begin(), planned.candidates.end(),
                                       [](const Strategy& a, const Strategy& b) { return *a.peak < *b.peak; });
    ASSERT_EQ(planned.strategy, best->name) << seed;
    ASSERT_EQ(planned.plan->peak(), best->peak) << seed;
    ASSERT_TRUE(verify(graph, *planned.plan).empty()) << seed;
    others += planned.strategy != "first_fit_by_life";
  }
  EXPECT_GT(others, 5U) << "another strategy than the first must win now and then, or this test says little";
}

TEST(Strategies, ThePlanDoesNotDependOnTheNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph graph = testing::random_graph(seed);
    PlanOptions tried = options();
    tried.memory_priority = true;
    const Planned first = *plan(graph, tried);
    for (const std::uint32_t threads : {2U, 3U, 16U}) {
      tried.threads = threads;
      const Planned again = *plan(graph, tried);
      ASSERT_EQ(again.plan, first.plan) << seed;
      ASSERT_EQ(again.strategy, first.strategy) << seed;
      ASSERT_EQ(again.candidates, first.candidates) << seed;
    }
  }
}

/// `x` is needed throughout; of `a`, `b` and `c`, two are live at a time. Blocks of one size class
/// need more than the others.
Graph of_three() {
  Sketch s;
  const TensorId x = s.tensor("x", 8, {TensorFlag::input, TensorFlag::no_reuse});
  const TensorId a = s.tensor("a", 5);
  const TensorId b = s.tensor("b", 1);
  const TensorId c = s.tensor("c", 6);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({x, b}, {c});
  return s.build();
}

TEST(Strategies, OneThatExceedsTheCapacityIsOnlyLost) {
  const ReuseKnobs one{.size_classes = ReuseKnobs::SizeClasses::one};
  const Bytes least = plan(of_three(), options())->plan->peak();
  PlanOptions tried = options("blocks");
  tried.reuse = one;
  ASSERT_GT(plan(of_three(), tried)->plan->peak(), least);
  tried.capacity = least;
  EXPECT_FALSE(plan(of_three(), tried)->has_answer());
  tried.solver = "auto";
  const Planned planned = *plan(of_three(), tried);
  EXPECT_TRUE(planned.has_answer());
  EXPECT_EQ(planned.strategy, "auto");
  EXPECT_EQ(planned.candidates[1].peak, std::nullopt);
}

TEST(Strategies, WhenNoneHasAnAnswerTheFirstOnesOutcomeIsTheWholes) {
  PlanOptions tried = options();
  tried.memory_priority = true;
  tried.capacity = Bytes(1);
  const Planned planned = *plan(of_three(), tried);
  EXPECT_EQ(planned.status, SolveStatus::infeasible);
  EXPECT_EQ(planned.strategy, "auto");
  EXPECT_EQ(planned.lower_bound, plan(of_three(), options())->lower_bound);
}

TEST(Strategies, AnUnknownSolverIsAnErrorBesideOthersToo) {
  PlanOptions tried = options("magic");
  tried.memory_priority = true;
  const Result<Planned> planned = plan(of_three(), tried);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().code, ErrorCode::unknown_name);
}

TEST(Strategies, WhatMustStayStaysInEveryCandidate) {
  const Graph graph = of_three();
  const Plan before = *plan(graph, options("online_best_fit"))->plan;
  PlanOptions tried = options();
  tried.memory_priority = true;
  tried.previous = before;
  tried.keep_offsets = true;
  const Planned planned = *plan(graph, tried);
  EXPECT_EQ(planned.plan->placements, before.placements);
  EXPECT_EQ(planned.moved, 0U);
}

}  // namespace
}  // namespace stowage
