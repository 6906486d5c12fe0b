#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

/// The contract that every registered solver must meet.
namespace stowage {
namespace {

class SolverContract : public ::testing::TestWithParam<SolverInfo> {
 protected:
  [[nodiscard]] SolveOptions options() const { return {.solver = std::string(GetParam().name), .node_budget = 2'000}; }
};

INSTANTIATE_TEST_SUITE_P(Registry, SolverContract, ::testing::ValuesIn(solvers().begin(), solvers().end()),
                         [](const auto& each) { return std::string(each.param.name); });

using testing::item;

TEST_P(SolverContract, NothingToPlaceIsAnAnswer) {
  EXPECT_EQ(solve({.items = {}}, options())->status, SolveStatus::optimal);
}

TEST_P(SolverContract, OneItemLiesAtZero) {
  const SolveOutcome outcome = *solve({.items = {item(0, 1, 7)}}, options());
  EXPECT_EQ(outcome.positions, std::vector<Position>{Position{}});
  EXPECT_EQ(outcome.peak, Bytes(7));
}

TEST_P(SolverContract, TheLargestSizesDoNotOverflow) {
  const std::int64_t half = (std::int64_t{1} << 61) - 2;
  const SolveOutcome outcome = *solve({.items = {item(0, 1, half), item(0, 1, half)}}, options());
  EXPECT_EQ(outcome.peak, Bytes(2 * half));
}

TEST_P(SolverContract, AnswersAreValidAndFiguresAgreeWithThem) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 14});
    const SolveOutcome outcome = *solve(problem, options());
    const bool searched = outcome.bound.argument == Certificate::Argument::exhausted_search;
    ASSERT_TRUE(searched || check_bound(problem, outcome.bound)) << seed;
    if (outcome.positions.empty()) continue;
    ASSERT_FALSE(validate(problem, outcome.positions)) << seed;
    ASSERT_EQ(outcome.peak, peak_of(problem, outcome.positions)) << seed;
    ASSERT_LE(outcome.bound.bytes, outcome.peak) << seed;
    ASSERT_EQ(outcome.status, outcome.peak == outcome.bound.bytes ? SolveStatus::optimal : SolveStatus::feasible)
        << seed;
  }
}

TEST_P(SolverContract, CapacityDecidesTheStatus) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Problem problem = testing::random_problem(seed, {.max_items = 10});
    const SolveOutcome free = *solve(problem, options());
    if (free.positions.empty() || free.peak == Bytes(0)) continue;
    problem.capacity = free.peak;
    ASSERT_TRUE(solve(problem, options())->has_answer()) << seed;
    problem.capacity = free.peak - Bytes(1);
    const SolveOutcome tighter = *solve(problem, options());
    // A search may prove more with this capacity; what was proven before stays proven.
    if (free.bound.bytes > *problem.capacity) {
      ASSERT_EQ(tighter.status, SolveStatus::infeasible) << seed;
    }
    if (tighter.has_answer()) {
      ASSERT_LE(tighter.peak, *problem.capacity) << seed;
    }
  }
}

TEST_P(SolverContract, SameProblemAndSeedGiveTheSameAnswerForAnyThreads) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 14});
    const SolveOutcome first = *solve(problem, options());
    for (const std::uint32_t threads : {1U, 2U, 8U}) {
      SolveOptions threaded = options();
      threaded.threads = threads;
      ASSERT_EQ(solve(problem, threaded)->positions, first.positions) << seed;
    }
  }
}

TEST_P(SolverContract, ADeadlineInThePastStillGivesWhatThereIs) {
  SolveOptions late = options();
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_TRUE(solve({.items = {item(0, 2, 4), item(1, 3, 4)}}, late)->has_answer());
}

}  // namespace
}  // namespace stowage
