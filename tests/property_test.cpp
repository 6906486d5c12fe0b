#include <iostream>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/brute_force.hpp"
#include "support/random_problem.hpp"

namespace stowage {
namespace {

/// Every solver against the truth: a valid answer or none, never below the optimum; bounds never above it; "infeasible" never
/// wrong.
TEST(BruteForce, NoSolverEverAnswersWronglyAndNoBoundIsAboveTheOptimum) {
  constexpr std::uint64_t kProblems = 12'000;
  std::size_t infeasible = 0;
  std::size_t bound_is_optimum = 0;
  std::size_t auto_is_optimum = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
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
      const SolveOutcome outcome = *solve(problem, {.solver = std::string(solver.name)});
      ASSERT_FALSE(truth && outcome.status == SolveStatus::infeasible) << seed << " " << solver.name;
      if (outcome.positions.empty()) continue;
      ASSERT_TRUE(truth) << seed << " " << solver.name;
      ASSERT_FALSE(validate(problem, outcome.positions)) << seed << " " << solver.name;
      ASSERT_GE(outcome.peak, truth->peak) << seed << " " << solver.name;
      auto_is_optimum += solver.name == "auto" && outcome.peak == truth->peak;
    }
  }
  std::cout << kProblems << " problems, " << infeasible << " without an answer; of the others the bound is the optimum of "
            << bound_is_optimum << ", auto reaches it on " << auto_is_optimum << "\n";
  EXPECT_GT(infeasible, 100U);
  EXPECT_LT(infeasible, kProblems / 4);
}

TEST(BruteForce, FindsTheOptimumThatGreedyPlacementMisses) {
  const auto item = [](std::int64_t begin, std::int64_t end, std::int64_t size) {
    return Item{.pieces = {{{Step(begin), Step(end)}, {Bytes(0), Bytes(size)}}}, .size = Bytes(size)};
  };
  const Problem problem{.items = {item(0, 2, 2), item(1, 3, 2), item(2, 4, 3), item(3, 5, 1), item(0, 1, 3)}};
  EXPECT_EQ(testing::solve_by_brute_force(problem)->peak, Bytes(5));
}

}  // namespace
}  // namespace stowage
