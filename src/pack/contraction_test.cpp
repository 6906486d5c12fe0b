#include "pack/interface/contraction.hpp"

#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/environment.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

using testing::aligned;
using testing::item;
using testing::piece;

TEST(Contraction, AJoinedItemTakesOverAndLeavesTheTail) {
  const Contraction result = contract({.items = {item(0, 3, 8), item(2, 5, 6)}, .joins = {{0, 1, Bytes(0)}}});
  ASSERT_EQ(result.problem.items.size(), 1U);
  EXPECT_EQ(result.problem.items.front().pieces, (std::vector<Piece>{piece(0, 3, 0, 8), piece(3, 5, 0, 6)}));
  EXPECT_EQ(result.expand(std::vector<Position>{{0, Bytes(4)}}), (std::vector<Position>{{0, Bytes(4)}, {0, Bytes(4)}}));
}

TEST(Contraction, AnEarlierStartLiesLower) {
  const Contraction result = contract({.items = {item(0, 3, 4), item(2, 5, 8)}, .joins = {{0, 1, Bytes(-4)}}});
  ASSERT_EQ(result.problem.items.size(), 1U);
  EXPECT_EQ(result.expand(std::vector<Position>{{0, Bytes(0)}}), (std::vector<Position>{{0, Bytes(4)}, {0, Bytes(0)}}));
}

TEST(Contraction, ItemsAreMatchedSoThatAllFindAPlace) {
  // The third may take over from either of the first two, the fourth only from the first.
  const Contraction result = contract({.items = {item(0, 3, 8), item(0, 3, 8), item(2, 5, 8), item(2, 5, 8)},
                                       .joins = {{0, 2, Bytes(0)}, {0, 3, Bytes(0)}, {1, 2, Bytes(0)}}});
  EXPECT_EQ(result.problem.items.size(), 2U);
  EXPECT_EQ(result.item_of[1], result.item_of[2]);
  EXPECT_EQ(result.item_of[0], result.item_of[3]);
}

TEST(Contraction, TheTightestPlaceIsTaken) {
  const Contraction result = contract(
      {.items = {item(0, 3, 64), item(0, 3, 8), item(2, 5, 8)}, .joins = {{0, 2, Bytes(0)}, {1, 2, Bytes(0)}}});
  EXPECT_EQ(result.item_of[1], result.item_of[2]);
}

TEST(Contraction, AnAlignmentThatTheDistanceBreaksForbidsIt) {
  const Problem problem{.items = {aligned(item(0, 3, 64), 16), aligned(item(2, 5, 16), 16)},
                        .joins = {{0, 1, Bytes(8)}}};
  EXPECT_EQ(contract(problem).problem.items.size(), 2U);
}

TEST(Contraction, TheAlignmentCountsFromTheLowestOfThose) {
  // The second begins 4 bytes below the first; together they begin at a multiple of 16.
  const auto count = [](std::int64_t of_the_first) {
    return contract({.items = {aligned(item(0, 3, 8), of_the_first), aligned(item(2, 5, 16), 16)},
                     .joins = {{0, 1, Bytes(-4)}}})
        .problem.items.size();
  };
  EXPECT_EQ(count(4), 1U);
  EXPECT_EQ(count(8), 2U);
}

TEST(Contraction, OneStepAfterAnother) {
  const Contraction result =
      contract({.items = {item(0, 3, 8), item(2, 5, 8), item(4, 6, 8)}, .joins = {{0, 1, Bytes(0)}, {1, 2, Bytes(0)}}});
  EXPECT_EQ(result.problem.items.size(), 1U);
}

TEST(Contraction, KnownPositionsDecideFirst) {
  const Problem problem{.items = {item(0, 3, 8), item(0, 3, 8), item(2, 5, 8)},
                        .joins = {{0, 2, Bytes(0)}, {1, 2, Bytes(0)}}};
  const std::vector<std::optional<Position>> known = {Position{0, Bytes(0)}, Position{0, Bytes(8)},
                                                      Position{0, Bytes(8)}};
  const Contraction result = contract(problem, {known});
  EXPECT_EQ(result.item_of[2], result.item_of[1]);
}

/// Whatever an answer joins can be kept: in one place with a stream order, or at offsets that are not aligned together.
/// With several streams a rare answer cannot, because the row of bytes with several users covers all of them.
TEST(Contraction, AnswersOfRandomProblemsCanBeKeptAsAWhole) {
  std::size_t whole = 0;
  std::size_t lost = 0;
  const testing::SeedRange seeds = testing::seeds(3'000);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 8, .pins = false});
    SolveOptions options;
    options.node_budget = 2'000;
    const Result<SolveOutcome> solved = solve(problem, options);
    ASSERT_TRUE(solved) << seed;
    if (solved->positions.empty()) continue;
    const std::vector<std::optional<Position>> known(solved->positions.begin(), solved->positions.end());
    std::vector<std::size_t> all(known.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Contraction result = contract(problem, {known, all});
    std::vector<Position> kept(result.problem.items.size());
    for (std::size_t i = 0; i < known.size(); ++i)
      kept[result.item_of[i]] = {known[i]->region, known[i]->offset - result.offset[i]};
    ASSERT_EQ(result.expand(kept), solved->positions) << seed;
    const auto violation = validate(result.problem, kept);
    if (problem.order.empty()) {
      ASSERT_FALSE(violation) << seed << " " << violation->message;
    }
    ++(violation ? lost : whole);
  }
  EXPECT_LE(lost * 200, whole);
}

TEST(Contraction, ItemsThatAreKeptApartStayApart) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 8), item(4, 7, 8)},
                        .joins = {{0, 1, Bytes(0)}, {1, 2, Bytes(0)}},
                        .apart = {{0, 2}}};
  const Contraction result = contract(problem);
  ASSERT_EQ(result.problem.items.size(), 2U);
  EXPECT_EQ(result.problem.apart, (std::vector<ApartPair>{{0, 1}})) << "one of the two joins is not taken";
}

TEST(Contraction, BytesThatAreKeptApartMoveWithTheirItems) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 4), item(7, 8, 8)},
                        .joins = {{0, 1, Bytes(4)}},
                        .apart = {{1, 2, ByteRange{Bytes(1), Bytes(3)}, std::nullopt}}};
  EXPECT_EQ(contract(problem).problem.apart,
            (std::vector<ApartPair>{{0, 1, ByteRange{Bytes(5), Bytes(7)}, std::nullopt}}));
}

/// An answer to what is left is an answer to the whole, and what it joins is put together again.
TEST(Contraction, AnswersOfRandomProblemsExpandToValidOnes) {
  std::size_t smaller = 0;
  const testing::SeedRange seeds = testing::seeds(3'000);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 8, .pins = false});
    const Contraction result = contract(problem);
    ASSERT_TRUE(check_problem(result.problem)) << seed;
    smaller += result.problem.items.size() < problem.items.size();
    std::vector<Position> stacked;
    Bytes top;
    for (const Item& each : result.problem.items) {
      top = align_up(top, Bytes(64));
      stacked.push_back({each.allowed.empty() ? 0 : each.allowed.front(), top});
      top += each.size;
    }
    Problem endless = problem;
    for (Region& region : endless.regions) region.limit.reset();
    const std::vector<Position> positions = result.expand(stacked);
    ASSERT_FALSE(validate(endless, positions)) << seed << " " << validate(endless, positions)->message;
    ASSERT_LE(contract_as(problem, positions).problem.items.size(), problem.items.size()) << seed;
  }
  if (seeds.is_many()) {
    EXPECT_GT(smaller, seeds.last / 20);
  }
}

}  // namespace
}  // namespace stowage::pack
