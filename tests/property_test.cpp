#include <iostream>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/environment.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage {
namespace {

using testing::item;

/// Compares every solver with brute force: answers are valid and never below the optimum, bounds are never above it,
/// and "infeasible" is never wrong.
TEST(BruteForce, NoSolverEverAnswersWronglyAndNoBoundIsAboveTheOptimum) {
  const testing::SeedRange seeds = testing::seeds(12'000);
  std::size_t infeasible = 0;
  std::size_t bound_is_optimum = 0;
  std::size_t auto_is_optimum = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 5});
    ASSERT_TRUE(check_problem(problem)) << seed;
    const std::optional<testing::BruteForceAnswer> truth = testing::solve_by_brute_force(problem);
    const Certificate bound = lower_bound(problem);
    ASSERT_TRUE(check_bound(problem, bound)) << seed;
    infeasible += !truth;
    if (truth) {
      ASSERT_LE(bound.bytes, truth->peak) << seed;
      ASSERT_FALSE(validate(problem, truth->positions)) << seed;
      bound_is_optimum += bound.bytes == truth->peak;
    }
    for (const SolverInfo& solver : solvers()) {
      const SolveOutcome outcome = *solve(problem, {.solver = std::string(solver.name), .node_budget = 20'000});
      ASSERT_FALSE(truth && outcome.status == SolveStatus::infeasible) << seed << " " << solver.name;
      if (outcome.positions.empty()) continue;
      ASSERT_TRUE(truth) << seed << " " << solver.name;
      ASSERT_FALSE(validate(problem, outcome.positions)) << seed << " " << solver.name;
      ASSERT_GE(outcome.peak, truth->peak) << seed << " " << solver.name;
      ASSERT_LE(outcome.bound.bytes, truth->peak) << seed << " " << solver.name;
      auto_is_optimum += solver.name == "auto" && outcome.peak == truth->peak;
    }
  }
  std::cout << seeds.last - seeds.first << " problems, " << infeasible
            << " without an answer; of the others the bound is the optimum of " << bound_is_optimum
            << ", auto reaches it on " << auto_is_optimum << "\n";
  if (!seeds.is_many()) return;
  EXPECT_GT(infeasible, 100U);
  EXPECT_LT(infeasible, seeds.last / 4);
}

/// On plain problems the exact solver always finds and proves the optimum.
TEST(BruteForce, TheExactSolverFindsAndProvesTheOptimumOfPlainProblems) {
  const testing::SeedRange seeds = testing::seeds(4'000);
  std::size_t above_bound = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(6));
    const testing::BruteForceAnswer truth = *testing::solve_by_brute_force(problem);
    const SolveOutcome outcome = *solve(problem, {.solver = "exact", .seed = seed});
    ASSERT_EQ(outcome.status, SolveStatus::optimal) << seed;
    ASSERT_EQ(outcome.peak, truth.peak) << seed;
    above_bound += outcome.bound.bytes > lower_bound(problem).bytes;
  }
  std::cout << seeds.last - seeds.first << " problems, the optimum above the bound in " << above_bound << "\n";
  if (seeds.is_many()) {
    EXPECT_GT(above_bound, seeds.last / 100);
  }
}

TEST(BruteForce, FindsTheOptimumThatGreedyPlacementMisses) {
  const Problem problem{.items = {item(0, 2, 2), item(1, 3, 2), item(2, 4, 3), item(3, 5, 1), item(0, 1, 3)}};
  EXPECT_EQ(testing::solve_by_brute_force(problem)->peak, Bytes(5));
}

}  // namespace
}  // namespace stowage
