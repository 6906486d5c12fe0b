#include "pack/exact/general_search.hpp"

#include <gtest/gtest.h>

#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint64_t kNodes = 100'000;
const std::function<bool()> kNoStop = [] { return false; };

using testing::aligned;
using testing::item;
using testing::piece;
using testing::pinned;

/// Expects valid positions at `optimum`, and a proof that there are none one byte below.
void expect_optimum(const Problem& problem, std::int64_t optimum) {
  ASSERT_TRUE(check_problem(problem));
  GeneralSearch search(problem);
  std::vector<Position> positions;
  ASSERT_EQ(search.run(Bytes(optimum), 0, kNodes, kNoStop, positions), SearchEnd::solved);
  EXPECT_FALSE(validate(problem, positions));
  EXPECT_EQ(peak_of(problem, positions), Bytes(optimum));
  EXPECT_EQ(search.run(Bytes(optimum - 1), 0, kNodes, kNoStop, positions), SearchEnd::exhausted);
}

TEST(GeneralSearch, NothingNeedsNoBytes) {
  expect_optimum({.items = {}}, 0);
  expect_optimum({.items = {pinned(item(0, 1, 0), 7)}}, 0);
}

TEST(GeneralSearch, ReusesTheTailOfAnItemThatShrinks) {
  const Item shrinks{.pieces = {piece(0, 4, 0, 8), piece(4, 8, 0, 4)}, .size = Bytes(8)};
  expect_optimum({.items = {shrinks, item(4, 8, 4), item(5, 6, 0)}}, 8);
}

TEST(GeneralSearch, AnItemCanRestOnOneThatEndsHigherThanItBegins) {
  const Item stairs{.pieces = {piece(0, 1, 0, 1), piece(1, 2, 3, 4)}, .size = Bytes(4)};
  expect_optimum({.items = {stairs, item(1, 2, 4)}}, 5);
}

TEST(GeneralSearch, AnItemFitsBetweenTwoPiecesOfAnother) {
  const Item bracket{.pieces = {piece(0, 1, 0, 1), piece(0, 1, 3, 4)}, .size = Bytes(4)};
  expect_optimum({.items = {bracket, item(0, 1, 2)}}, 4);
  expect_optimum({.items = {bracket, aligned(item(0, 1, 2), 4)}}, 6);
}

/// Each has a piece below a piece of the other, so that neither is above the other.
TEST(GeneralSearch, TwoItemsThatHoldEachOtherAreMovedTogether) {
  const Item left{.pieces = {piece(0, 1, 0, 2), piece(1, 2, 4, 6)}, .size = Bytes(6)};
  const Item right{.pieces = {piece(0, 1, 4, 6), piece(1, 2, 0, 2)}, .size = Bytes(6)};
  expect_optimum({.items = {left, right}}, 6);
  expect_optimum({.items = {left, right, pinned(item(0, 1, 1), 0)}}, 7);
  expect_optimum({.items = {left, right, item(0, 2, 3)}}, 9);
}

TEST(GeneralSearch, PackAroundPins) {
  expect_optimum({.items = {pinned(item(0, 4, 2), 2), item(0, 4, 3), item(0, 4, 2)}}, 7);
}

TEST(GeneralSearch, PinsThatContradictEachOtherHaveNoAnswer) {
  const Problem problem{.items = {pinned(item(0, 2, 2), 2), pinned(item(1, 3, 2), 3)}};
  std::vector<Position> positions;
  EXPECT_EQ(GeneralSearch(problem).run(Bytes(1000), 0, kNodes, kNoStop, positions), SearchEnd::exhausted);
  EXPECT_TRUE(positions.empty());
}

TEST(GeneralSearch, LimitedRegionsShareTheItemsAndTheTarget) {
  const Problem problem{.items = {item(0, 1, 3), item(0, 1, 3), item(0, 1, 1)},
                        .regions = {{.limit = Bytes(4)}, {.limit = Bytes(4)}}};
  expect_optimum(problem, 7);
}

TEST(GeneralSearch, AnUnpaidRegionCostsNothingToThoseThatMayUseIt) {
  Problem problem{.items = {item(0, 2, 4), item(0, 2, 3), item(0, 1, 2)},
                  .regions = {{}, {.limit = Bytes(5), .paid = false}}};
  expect_optimum(problem, 4);
  problem.items[1].allowed = {0};
  problem.items[2].allowed = {0};
  expect_optimum(problem, 5);
}

TEST(GeneralSearch, UnorderedWorkOnTwoStreamsConflictsThoughItsStepsDoNot) {
  Problem problem{
      .items = {item(0, 1, 3), item(1, 2, 4)},
      .order = {
          .streams = 2, .threshold = {Step(2), kNever, kNever, Step(2)}, .first = {Step(0), kNever, kNever, Step(1)}}};
  expect_optimum(problem, 7);
  problem.order.threshold[1] = Step(1);
  expect_optimum(problem, 4);
}

TEST(GeneralSearch, AlignmentLeavesGapsThatOnlyTheUnalignedFill) {
  expect_optimum({.items = {aligned(item(0, 1, 5), 4), aligned(item(0, 1, 5), 4)}}, 13);
  expect_optimum({.items = {aligned(item(0, 1, 5), 4), aligned(item(0, 1, 5), 4), item(0, 1, 3)}}, 13);
}

/// Without twins there would be 4^9 ways to choose the regions, and 9! orders of the stack.
TEST(GeneralSearch, EqualItemsAndEqualRegionsAreNotPermuted) {
  Problem problem{.items = {}, .regions = std::vector<Region>(4, {.limit = Bytes(14)})};
  for (int i = 0; i < 9; ++i) problem.items.push_back(item(0, 1, 5));
  GeneralSearch search(problem);
  std::vector<Position> positions;
  EXPECT_EQ(search.run(Bytes(1000), 0, kNodes, kNoStop, positions), SearchEnd::exhausted);
  EXPECT_LT(search.nodes(), 100U);
  problem.items.pop_back();
  expect_optimum(problem, 40);
}

/// A problem that is solved neither at the root nor by the first dive.
Problem hard_problem() {
  Problem problem = {.items = {pinned(item(0, 9, 3), 20)}};
  for (std::int64_t i = 0; i < 30; ++i) problem.items.push_back(item(i % 7, i % 7 + 2 + i % 3, 7 + i * 5 % 11));
  return problem;
}

TEST(GeneralSearch, GivesUpWhenOutOfNodesOrStoppedAndLeavesThePositionsAlone) {
  const Problem problem = hard_problem();
  GeneralSearch search(problem);
  std::vector<Position> positions;
  EXPECT_EQ(search.run(Bytes(175), 0, 5, kNoStop, positions), SearchEnd::gave_up);
  EXPECT_LE(search.nodes(), 5U);
  const auto at_once = [] { return true; };
  EXPECT_EQ(search.run(Bytes(175), 0, UINT64_MAX, at_once, positions), SearchEnd::gave_up);
  EXPECT_TRUE(positions.empty());
}

TEST(GeneralSearch, SameSeedSamePositions) {
  const Problem problem = hard_problem();
  std::vector<Position> once;
  std::vector<Position> again;
  ASSERT_EQ(GeneralSearch(problem).run(Bytes(250), 7, kNodes, kNoStop, once), SearchEnd::solved);
  ASSERT_EQ(GeneralSearch(problem).run(Bytes(250), 7, kNodes, kNoStop, again), SearchEnd::solved);
  EXPECT_EQ(once, again);
}

/// Turns every second item into a copy of the one before, shortens pieces from below, and makes the regions equal.
Problem with_twins(Problem problem) {
  const std::size_t streams = problem.order.streams;
  for (std::size_t i = 1; i < problem.items.size(); i += 2) {
    problem.items[i] = problem.items[i - 1];
    for (std::size_t t = 0; t < streams; ++t) {
      problem.order.threshold[i * streams + t] = problem.order.threshold[(i - 1) * streams + t];
      problem.order.first[i * streams + t] = problem.order.first[(i - 1) * streams + t];
    }
  }
  for (Item& item : problem.items) {
    Piece& first = item.pieces.front();
    if (item.size > Bytes(2) && item.pieces.size() > 1 && first.bytes.upper > Bytes(2)) first.bytes.lower = Bytes(2);
    if (!item.pinned) item.allowed.clear();
  }
  problem.regions.assign(problem.regions.size(), problem.regions.front());
  for (ApartPair& pair : problem.apart) pair = {.a = pair.a, .b = pair.b};  // sizes have changed
  std::erase_if(problem.joins, [&](const Join& join) { return !is_possible(problem, join); });
  return problem;
}

/// Returns the number of proofs. Expects that the optimum is found, and that there is never an answer below it.
std::size_t compare_with_brute_force(const Problem& problem, std::uint64_t seed) {
  const std::optional<stowage::testing::BruteForceAnswer> truth = stowage::testing::solve_by_brute_force(problem);
  GeneralSearch search(problem);
  std::vector<Position> positions;
  if (truth) {
    EXPECT_EQ(search.run(truth->peak, seed, kNodes, kNoStop, positions), SearchEnd::solved) << seed;
    EXPECT_FALSE(validate(problem, positions)) << seed;
    EXPECT_LE(peak_of(problem, positions), truth->peak) << seed;
  }
  const Bytes impossible = truth ? truth->peak - Bytes(1) : Bytes(1'000'000);
  const SearchEnd below = search.run(impossible, seed, kNodes, kNoStop, positions);
  EXPECT_NE(below, SearchEnd::solved) << seed;
  return below == SearchEnd::exhausted ? 1 : 0;
}

TEST(GeneralSearch, AgreesWithBruteForceOnProblemsOfAllKinds) {
  std::size_t proofs = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    proofs += compare_with_brute_force(stowage::testing::random_problem(seed, {.max_items = 5}), seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_EQ(proofs, 3'000U);
}

TEST(GeneralSearch, AgreesWithBruteForceOnTwins) {
  std::size_t proofs = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const Problem problem = with_twins(stowage::testing::random_problem(seed, {.max_items = 5}));
    ASSERT_TRUE(check_problem(problem)) << seed;
    proofs += compare_with_brute_force(problem, seed);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_EQ(proofs, 1'000U);
}

}  // namespace
}  // namespace stowage::pack
