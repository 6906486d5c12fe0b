#include <gtest/gtest.h>

#include "pack/bounds/offset_sums.hpp"
#include "pack/exact/valley_search.hpp"
#include "pack/interface/unordered_items.hpp"
#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage {
namespace {

using testing::aligned;
using testing::item;
using testing::piece;
using testing::pinned;

TEST(LowerBound, IsTheMostBytesLiveAtOneStep) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 4, 16), item(3, 5, 4)}};
  const Certificate bound = lower_bound(problem);
  EXPECT_EQ(bound.argument, Certificate::Argument::live_bytes);
  EXPECT_EQ(bound.bytes, Bytes(24));
  EXPECT_EQ(bound.step, Step(2));
  EXPECT_TRUE(check_bound(problem, bound));
}

TEST(LowerBound, CountsPiecesNotItems) {
  const Item shrinking{.pieces = {piece(0, 2, 0, 8), piece(2, 5, 0, 4)}, .size = Bytes(8)};
  EXPECT_EQ(lower_bound({.items = {shrinking, item(2, 5, 4)}}).bytes, Bytes(8));
}

TEST(LowerBound, AnItemThatEndsWhereAnotherBeginsDoesNotCountTwice) {
  EXPECT_EQ(lower_bound({.items = {item(0, 2, 8), item(2, 4, 8)}}).bytes, Bytes(8));
}

TEST(LowerBound, APinnedItemMustEndSomewhere) {
  Problem problem{.items = {item(0, 2, 8)}};
  problem.items[0].pinned = Bytes(100);
  const Certificate bound = lower_bound(problem);
  EXPECT_EQ(bound.bytes, Bytes(108));
  EXPECT_TRUE(check_bound(problem, bound));
}

TEST(LowerBound, UnpaidRegionsTakeWhatTheyCanFromThoseAllowedThere) {
  Problem problem{.items = {item(0, 2, 8), item(0, 2, 16)},
                  .regions = {Region{}, Region{.limit = Bytes(10), .paid = false}}};
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(14));
  problem.items[1].allowed = {0};
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(16));
  problem.items[1].allowed = {};
  problem.regions[1].limit.reset();
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(0));
}

/// Expects a bound of this kind and size, and that `check_bound` rejects altered certificates.
void expect_exactly(const Problem& problem, const Certificate& bound, Certificate::Argument argument,
                    std::int64_t bytes) {
  EXPECT_EQ(bound.argument, argument);
  EXPECT_EQ(bound.bytes, Bytes(bytes));
  EXPECT_TRUE(check_bound(problem, bound));
  Certificate wrong = bound;
  wrong.bytes += Bytes(1);
  EXPECT_FALSE(check_bound(problem, wrong));
  wrong = bound;
  wrong.step = Step(1'000);
  EXPECT_FALSE(check_bound(problem, wrong));
}

TEST(AlignedOffsets, OnlyTheLastMayStickOut) {
  const Problem problem{.items = {aligned(item(0, 2, 5), 8), aligned(item(1, 3, 6), 8), aligned(item(1, 3, 9), 8)}};
  const Certificate bound = lower_bound(problem);
  expect_exactly(problem, bound, Certificate::Argument::aligned_offsets, 8 + 8 + 9);
  EXPECT_EQ(solve(problem)->peak, bound.bytes);
  Certificate wrong = bound;
  wrong.item = 3;
  EXPECT_FALSE(check_bound(problem, wrong)) << "there is no such item";
}

TEST(AlignedOffsets, WhatIsAlignedLessFillsTheGaps) {
  Problem problem{.items = {aligned(item(0, 2, 5), 8), aligned(item(0, 2, 5), 8), item(0, 2, 3)}};
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::live_bytes, 13);
  problem.items[2].alignment = Bytes(4);
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::aligned_offsets, 8 + 8 + 4 - 3);
  Certificate wrong = lower_bound(problem);
  wrong.item = 0;
  EXPECT_FALSE(check_bound(problem, wrong)) << "only two items have alignment 8";
}

TEST(AlignedOffsets, EachPaidRegionHasALastOneAndWhatMayEvadeDoesNotCount) {
  Problem problem{.items = {aligned(item(0, 2, 5), 8), aligned(item(0, 2, 6), 8), aligned(item(0, 2, 7), 8)},
                  .regions = {Region{}, Region{}}};
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::aligned_offsets, 24 - 3 - 2);
  problem.regions[1] = {.limit = Bytes(8), .paid = false};
  problem.items[0].allowed = problem.items[1].allowed = {0};
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::aligned_offsets, 16 - 3);
}

TEST(AlignedOffsets, APieceCountsWhereItsOwnStartIsAligned) {
  const Item late{.pieces = {piece(0, 2, 0, 12), piece(2, 4, 4, 9)}, .size = Bytes(12), .alignment = Bytes(8)};
  expect_exactly({.items = {late, aligned(item(2, 4, 13), 8)}},
                 lower_bound({.items = {late, aligned(item(2, 4, 13), 8)}}), Certificate::Argument::live_bytes, 18);
  Item early = late;
  early.pieces[1] = piece(2, 4, 0, 5);
  expect_exactly({.items = {early, aligned(item(2, 4, 13), 8)}},
                 lower_bound({.items = {early, aligned(item(2, 4, 13), 8)}}), Certificate::Argument::aligned_offsets,
                 16 + 8 - 3);
}

TEST(PinnedGaps, WhatDoesNotFitBetweenThePinsLiesAboveThem) {
  const Problem problem{.items = {pinned(item(0, 4, 2), 6), item(0, 2, 8), item(1, 3, 3)}};
  const Certificate bound = lower_bound(problem);
  expect_exactly(problem, bound, Certificate::Argument::pinned_gaps, 16);
  EXPECT_EQ(solve(problem)->peak, bound.bytes);
  Certificate wrong = bound;
  wrong.item = 2;
  EXPECT_FALSE(check_bound(problem, wrong)) << "the smaller one fits below";
  wrong.item = 0;
  EXPECT_FALSE(check_bound(problem, wrong)) << "a pinned item cannot be the threshold";
}

TEST(PinnedGaps, GapsTooSmallForTheSmallestAreOfNoUse) {
  const Problem problem{.items = {pinned(item(0, 4, 2), 2), pinned(item(0, 4, 2), 6), item(0, 2, 3), item(0, 2, 3)}};
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::pinned_gaps, 14);
}

TEST(PinnedGaps, AGapBeginsWhereTheAlignmentLetsItBegin) {
  const Problem problem{.items = {pinned(item(0, 4, 3), 0), pinned(item(0, 4, 2), 12), aligned(item(0, 2, 9), 4)}};
  expect_exactly(problem, lower_bound(problem), Certificate::Argument::pinned_gaps, 25);
}

TEST(PinnedGaps, AreNoArgumentWithASecondRegion) {
  Problem problem{.items = {pinned(item(0, 4, 2), 6), item(0, 2, 8)}};
  const Certificate bound = lower_bound(problem);
  EXPECT_EQ(bound.argument, Certificate::Argument::pinned_gaps);
  problem.regions.push_back({});
  problem.items[0].allowed = {0};
  EXPECT_FALSE(check_bound(problem, bound));
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(10));
}

/// Every step is full with 9 bytes. At the first and the last step, a 2 and a 3 must lie at an end, because there is
/// only one other item. The 2 in the middle must lie at an end too: on its left, other items can end at 0, 2, 5 and 7,
/// on its right at 0, 3, 4 and 7. So at step 2 three items would have to lie at two ends.
Problem three_at_the_ends() {
  return {.items = {item(0, 3, 2), item(0, 1, 7), item(1, 4, 2), item(1, 2, 5), item(2, 5, 3), item(2, 3, 2),
                    item(3, 4, 4), item(4, 5, 6)}};
}

TEST(OffsetSums, SeesThatThreeItemsDoNotHaveTwoEnds) {
  const Problem problem = three_at_the_ends();
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(9));
  const pack::Plain plain = *pack::Plain::from(problem);
  const Certificate bound = *pack::offset_sums_bound(problem, plain, Bytes(9), Bytes(20));
  EXPECT_FALSE(pack::offset_sums_bound(problem, plain, Bytes(10), Bytes(20)));
  expect_exactly(problem, bound, Certificate::Argument::offset_sums, 10);
  std::vector<std::int64_t> offsets;
  const auto search = pack::ValleySearch::make(plain);
  const pack::SearchStyle style{.priority = std::vector<double>(plain.count(), 1.0)};
  EXPECT_EQ(search->run(9, style, 100'000, [] { return false; }, offsets), pack::SearchEnd::exhausted);
}

TEST(OffsetSums, IsNoProofForAnotherStepOrAnotherKindOfProblem) {
  Problem problem = three_at_the_ends();
  const Certificate bound{Certificate::Argument::offset_sums, Bytes(10), Step(2), 0};
  EXPECT_TRUE(check_bound(problem, bound));
  for (const std::int64_t step : {0, 1, 3, 4})
    EXPECT_FALSE(check_bound(problem, {Certificate::Argument::offset_sums, Bytes(10), Step(step), 0})) << step;
  problem.items[3].pinned = Bytes(0);
  EXPECT_FALSE(check_bound(problem, bound));
  problem = three_at_the_ends();
  problem.regions.push_back({});
  EXPECT_FALSE(check_bound(problem, bound));
  problem = three_at_the_ends();
  problem.items[6] = item(3, 4, 1);
  EXPECT_FALSE(check_bound(problem, bound)) << "a step that is not full leaves room to move";
}

TEST(OffsetSums, IsWhatTheExactSolverKnowsBeforeItSearches) {
  Problem problem = three_at_the_ends();
  problem.capacity = Bytes(9);
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
  EXPECT_EQ(solve(problem)->bound.argument, Certificate::Argument::offset_sums);
}

/// Items 0 and 1, on different streams, are unordered; 2 comes after both.
Problem two_streams() {
  return {.items = {item(0, 1, 3), item(1, 2, 4), item(2, 3, 5)},
          .order = {.streams = 2,
                    .threshold = {Step(2), kNever, Step(2), Step(2), kNever, kNever},
                    .first = {Step(0), kNever, kNever, Step(1), Step(2), kNever}}};
}

TEST(UnorderedItems, LieApartThoughNeverLiveTogetherInTheLinearOrder) {
  const Problem problem = two_streams();
  ASSERT_TRUE(check_problem(problem));
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(5));
  const Certificate bound = *pack::unordered_items_bound(problem, Bytes(5), [] { return false; });
  EXPECT_EQ(bound.argument, Certificate::Argument::unordered_items);
  EXPECT_EQ(bound.bytes, Bytes(7));
  EXPECT_EQ(bound.items, (std::vector<std::size_t>{0, 1}));
  EXPECT_FALSE(pack::unordered_items_bound(problem, Bytes(7), [] { return false; }));
  EXPECT_EQ(solve(problem)->status, SolveStatus::optimal);
}

TEST(UnorderedItems, AreNoProofWhenTheyAreOrderedRepeatedOrFree) {
  Problem problem = two_streams();
  const auto holds = [&](std::vector<std::size_t> items, std::int64_t bytes) {
    return check_bound(problem, {Certificate::Argument::unordered_items, Bytes(bytes), {}, 0, std::move(items)});
  };
  EXPECT_TRUE(holds({0, 1}, 7));
  EXPECT_FALSE(holds({0, 1}, 8));
  EXPECT_FALSE(holds({0, 2}, 8)) << "they are ordered";
  EXPECT_FALSE(holds({1, 1}, 8)) << "the same item twice";
  EXPECT_FALSE(holds({0, 7}, 1)) << "no such item";
  problem.regions.push_back({.limit = Bytes(4), .paid = false});
  EXPECT_FALSE(holds({0, 1}, 7)) << "one may lie where it costs nothing";
}

TEST(UnorderedItems, NeverExceedTheOptimum) {
  int above_live_bytes = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 5, .pins = false});
    const std::optional<Certificate> bound =
        pack::unordered_items_bound(problem, lower_bound(problem).bytes, [] { return false; });
    if (!bound) continue;
    ++above_live_bytes;
    ASSERT_TRUE(check_bound(problem, *bound)) << seed;
    const auto best = testing::solve_by_brute_force(problem);
    ASSERT_LE(bound->bytes, best ? best->peak : kMaxBytes) << seed;
  }
  EXPECT_GT(above_live_bytes, 100);
}

TEST(LowerBound, OfNothingIsNothing) {
  EXPECT_EQ(lower_bound({.items = {}}).bytes, Bytes(0));
  EXPECT_TRUE(check_bound({.items = {}}, lower_bound({.items = {}})));
}

}  // namespace
}  // namespace stowage
