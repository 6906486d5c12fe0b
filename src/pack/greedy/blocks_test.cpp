#include "pack/greedy/blocks.hpp"

#include <gtest/gtest.h>

#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage {
namespace {

using testing::aligned;
using testing::item;
using testing::pinned;
using Sort = ReuseKnobs::Sort;
using Release = ReuseKnobs::Release;
using SizeClasses = ReuseKnobs::SizeClasses;

SolveOutcome blocks(const Problem& problem, ReuseKnobs knobs = {}) {
  return *solve(problem, {.solver = "blocks", .reuse = knobs});
}

std::int64_t offset_of(const SolveOutcome& outcome, std::size_t item) { return outcome.positions[item].offset.value(); }

TEST(Blocks, ItemsOfOneSizeTakeOverFromEachOther) {
  const Problem chain{.items = {item(0, 2, 8), item(1, 3, 8), item(2, 4, 8), item(3, 5, 8)}};
  EXPECT_EQ(blocks(chain).peak, Bytes(16));
  EXPECT_EQ(blocks(chain).solver, "blocks");
}

TEST(Blocks, TheBlockReleasedFirstOrLastIsTaken) {
  const Problem problem{.items = {item(0, 1, 8), item(0, 2, 8), item(3, 4, 8)}};
  EXPECT_EQ(offset_of(blocks(problem, {.release = Release::first}), 2), 0);
  EXPECT_EQ(offset_of(blocks(problem, {.release = Release::last}), 2), 8);
}

TEST(Blocks, SizeClassesDecideWhoMayTakeOver) {
  // By exact size, the 5 and the 6 have different classes, but one is nested in the other. By range, between 4 and 8,
  // both are in one class with the 8.
  const Problem range{.items = {item(0, 4, 8), item(0, 2, 5), item(2, 4, 6)}};
  EXPECT_EQ(blocks(range, {.size_classes = SizeClasses::exact}).peak, Bytes(8 + 6));
  EXPECT_EQ(offset_of(blocks(range, {.size_classes = SizeClasses::range}), 2), 8);
  EXPECT_EQ(tops_of(range, blocks(range, {.size_classes = SizeClasses::range}).positions)[0], Bytes(8 + 6));
  const Problem one{.items = {item(0, 4, 5), item(0, 4, 16), item(0, 4, 5)}};
  EXPECT_EQ(blocks(one, {.size_classes = SizeClasses::range}).peak, Bytes(5 + 16 + 5));
  EXPECT_EQ(blocks(one, {.size_classes = SizeClasses::one}).peak, Bytes(16 + 16 + 5))
      << "the unused bytes of the last one are not shared";
}

TEST(Blocks, SmallerBlocksLieInLargerOnesOutsideTheirUse) {
  const Problem problem{.items = {item(0, 2, 10), item(2, 4, 4), item(2, 4, 5), item(3, 4, 1)}};
  EXPECT_EQ(blocks(problem, {.sort = Sort::descending}).peak, Bytes(10));
  EXPECT_EQ(blocks(problem, {.sort = Sort::ascending}).peak, Bytes(10));
}

TEST(Blocks, TheSortDecidesWhereABlockIsNested) {
  const Problem problem{.items = {item(0, 1, 10), item(0, 1, 6), item(1, 2, 5)}};
  EXPECT_EQ(offset_of(blocks(problem, {.sort = Sort::descending}), 2), 0) << "in the 10, where most room is";
  EXPECT_EQ(offset_of(blocks(problem, {.sort = Sort::ascending}), 2), 10) << "in the 6, where least is left";
}

TEST(Blocks, ABlockIsNestedOnlyOutsideTheUseOfAllAroundIt) {
  // The 5 is apart from the 6 in time, but not from the 10 around it.
  const Problem problem{.items = {item(0, 2, 10), item(2, 3, 6), item(1, 2, 5)}};
  EXPECT_EQ(blocks(problem, {.sort = Sort::descending}).peak, Bytes(10 + 5));
  EXPECT_EQ(blocks(problem, {.sort = Sort::ascending}).peak, Bytes(10 + 6))
      << "with the 5 in it, the 6 cannot be nested";
}

TEST(Blocks, AreNestedNoDeeperThanAHundred) {
  Problem problem;
  for (std::int64_t i = 0; i < 300; ++i) problem.items.push_back(item(i, i + 1, 300 - i));
  // Three times a block with a hundred blocks in it.
  EXPECT_EQ(blocks(problem, {.sort = Sort::descending}).peak, Bytes(300 + 199 + 98));
}

TEST(Blocks, AlignmentIsKeptInsideBlocks) {
  const Problem problem{.items = {aligned(item(0, 1, 64), 32), item(1, 2, 3), aligned(item(1, 2, 32), 32)}};
  const SolveOutcome outcome = blocks(problem);
  EXPECT_EQ(outcome.peak, Bytes(64));
  EXPECT_EQ(outcome.positions[2].offset.value() % 32, 0);
}

TEST(Blocks, PinsAndLimitsAreKeptAndBlocksPlacedAroundThem) {
  const Problem pins{.items = {pinned(item(0, 4, 4), 8), item(0, 2, 8), item(2, 4, 8)}};
  EXPECT_EQ(blocks(pins).peak, Bytes(12));
  const Problem limits{.items = {item(0, 2, 6), item(0, 2, 6), item(2, 4, 6)},
                       .regions = {{Bytes(8), true}, {Bytes(8), true}}};
  EXPECT_EQ(blocks(limits).peak, Bytes(12));
}

TEST(Blocks, WhatBlocksAreTooLargeForIsPlacedItemByItem) {
  Problem problem{.items = {item(0, 1, std::int64_t{1} << 60)}};
  for (int i = 0; i < 8; ++i) problem.items.push_back(item(0, 1, 1));
  EXPECT_EQ(blocks(problem, {.size_classes = SizeClasses::one}).peak, Bytes((std::int64_t{1} << 60) + 8));
}

TEST(Blocks, EverySettingAnswersEveryKindOfProblemThatGreedyPlacementAnswers) {
  std::size_t answers = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 24});
    const bool expected = solve(problem, {.solver = "first_fit_by_size"})->has_answer();
    for (const Sort sort : {Sort::descending, Sort::ascending}) {
      for (const Release release : {Release::first, Release::last}) {
        for (const SizeClasses classes : {SizeClasses::exact, SizeClasses::range, SizeClasses::one}) {
          const SolveOutcome outcome = blocks(problem, {sort, release, classes});
          if (expected) {
            ASSERT_TRUE(outcome.has_answer()) << seed;
          }
          if (outcome.positions.empty()) continue;
          ASSERT_FALSE(validate(problem, outcome.positions)) << seed;
          ++answers;
        }
      }
    }
  }
  EXPECT_GT(answers, 600 * 12 / 2U);
}

TEST(Blocks, OfStreamsThatHearNothingOfEachOtherShareNothing) {
  // Two items on two streams; neither ever comes before the other.
  Problem problem{.items = {item(0, 1, 8), item(1, 2, 8)}};
  problem.order = {
      .streams = 2, .threshold = {Step(1), kNever, kNever, Step(2)}, .first = {Step(0), kNever, kNever, Step(1)}};
  EXPECT_EQ(blocks(problem).peak, Bytes(16));
  problem.order.threshold[1] = Step(1);
  EXPECT_EQ(blocks(problem).peak, Bytes(8));
}

}  // namespace
}  // namespace stowage
