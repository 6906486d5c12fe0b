#include "pack/greedy/by_stream.hpp"

#include <gtest/gtest.h>

#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

using testing::item;

SolveOutcome by_stream(const Problem& problem) {
  const SolveOptions options;
  Bench bench(problem, options, {});
  solve_by_stream(bench);
  return bench.outcome();
}

/// A chain of 8, 2 and 8 bytes on stream 0, and one of 4 and 4 on stream 1; the streams are independent.
Problem two_strands() {
  Problem problem{.items = {item(0, 3, 8), item(2, 5, 2), item(4, 6, 8), item(1, 4, 4), item(3, 6, 4)}};
  problem.order.streams = 2;
  problem.order.threshold = {Step(4), kNever, Step(6), kNever, kNever, kNever, kNever, Step(5), kNever, kNever};
  problem.order.first = {Step(0), kNever, Step(2), kNever, Step(4), kNever, kNever, Step(1), kNever, Step(3)};
  return problem;
}

TEST(ByStream, EachStreamHasARangeOfItsOwn) {
  const Problem problem = two_strands();
  ASSERT_TRUE(check_problem(problem));
  const SolveOutcome outcome = by_stream(problem);
  EXPECT_EQ(outcome.peak, Bytes(10 + 8));
  EXPECT_EQ(outcome.solver, "by_stream");
}

TEST(ByStream, AnItemThatBeginsOnAllStreamsLiesWhereItIsOverFirst) {
  Problem problem = two_strands();
  problem.items.push_back(item(0, 2, 3));  // an input that only the first op of stream 1 reads
  for (const Step step : {kNever, Step(3)}) problem.order.threshold.push_back(step);
  for (const Step step : {Step(0), Step(0)}) problem.order.first.push_back(step);
  ASSERT_TRUE(check_problem(problem));
  EXPECT_EQ(by_stream(problem).peak, Bytes(10 + 8));
}

TEST(ByStream, AnswersAreValidOrNotOffered) {
  std::size_t answers = 0;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 12});
    const SolveOutcome outcome = by_stream(problem);
    if (outcome.positions.empty()) continue;
    ASSERT_FALSE(validate(problem, outcome.positions)) << seed;
    ++answers;
  }
  EXPECT_GT(answers, 200U);
}

}  // namespace
}  // namespace stowage::pack
