#include "pack/improve/core_first.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pack/greedy/skyline.hpp"
#include "support/builders/items.hpp"

namespace stowage::pack {
namespace {

using testing::item;

/// Sizes up to a MiB and lives up to 200 steps, equally often: a few hundred items are live at a time, and only some
/// stretches are nearly as full as the fullest.
Problem uniform(std::int64_t items) {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Problem problem;
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t begin = below(items);
    const std::int64_t life = 1 + below(200);
    problem.items.push_back(item(begin, begin + life, 1 + below(1 << 20)));
  }
  return problem;
}

/// Lives and sizes of every order of magnitude: no core is small.
Problem crowded(std::int64_t items) {
  std::mt19937_64 random(2);
  Problem problem;
  for (std::int64_t i = 0; i < items; ++i) {
    const auto length = static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << random() % 12));
    const auto size = static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << random() % 24));
    problem.items.push_back(item(i, i + length, size));
  }
  return problem;
}

TEST(CoreFirst, ReachesTheBoundWhereTheSkylineIsFarAbove) {
  const Problem problem = uniform(20'000);
  const SolveOptions options{.node_budget = 2'000'000};
  Bench bench(problem, options, lower_bound(problem));
  solve_skyline(bench);
  const Bytes skyline = bench.peak();
  EXPECT_GT(skyline.value(), bench.bound().value() * 101 / 100);
  EXPECT_TRUE(pack_core_first(bench, 500'000));
  EXPECT_LT(bench.peak(), skyline);
  EXPECT_EQ(bench.peak(), bench.bound());
}

TEST(CoreFirst, DoesNothingWhenToldToStop) {
  const Problem problem = uniform(5'000);
  std::stop_source stop;
  const SolveOptions options{.node_budget = 2'000'000, .stop = stop.get_token()};
  Bench bench(problem, options, lower_bound(problem));
  solve_skyline(bench);
  const Bytes before = bench.peak();
  stop.request_stop();
  EXPECT_FALSE(pack_core_first(bench, 500'000));
  EXPECT_EQ(bench.peak(), before);
}

TEST(CoreFirst, TheAnswerToALargeProblemDoesNotDependOnTheNumberOfThreads) {
  const Problem problem = crowded(6'000);
  const SolveOutcome alone = *solve(problem, {.threads = 1, .seed = 3, .node_budget = 900'000});
  const SolveOutcome together = *solve(problem, {.threads = 4, .seed = 3, .node_budget = 900'000});
  EXPECT_EQ(alone.positions, together.positions);
  EXPECT_EQ(alone.nodes, together.nodes);
  EXPECT_GT(alone.nodes, 600'000U);
}

}  // namespace
}  // namespace stowage::pack
