#include "pack/plain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

using ::testing::ElementsAre;

using testing::item;

TEST(Plain, SectionsAreTheMaximalSetsOfItemsThatAreLiveTogether) {
  // a and b are both live at 2, b and c at 4; nothing begins in between.
  const Plain plain = *Plain::from({.items = {item(0, 3, 8), item(2, 6, 16), item(4, 7, 4)}});
  EXPECT_THAT(plain.total, ElementsAre(24, 20));
  EXPECT_THAT(plain.first, ElementsAre(0U, 0U, 1U));
  EXPECT_THAT(plain.last, ElementsAre(1U, 2U, 2U));
  EXPECT_EQ(plain.bound, 24);
}

TEST(Plain, WhatEndsWhereAnotherBeginsSharesNoSection) {
  const Plain plain = *Plain::from({.items = {item(0, 2, 8), item(2, 4, 8)}});
  EXPECT_THAT(plain.total, ElementsAre(8, 8));
}

TEST(Plain, ItemsOfSizeZeroAreLeftOutAndLieAtZero) {
  const Problem problem{.items = {item(0, 2, 0), item(0, 2, 8)}};
  const Plain plain = *Plain::from(problem);
  EXPECT_THAT(plain.item, ElementsAre(1U));
  const std::vector<std::int64_t> offsets = {5};
  EXPECT_THAT(plain.positions(problem, offsets), ElementsAre(Position{}, Position{0, Bytes(5)}));
}

TEST(Plain, OtherKindsOfProblemsAreRefused) {
  Problem pinned{.items = {item(0, 2, 8)}};
  pinned.items[0].pinned = Bytes(0);
  EXPECT_FALSE(Plain::from(pinned));
  Problem pieces{.items = {item(0, 2, 8)}};
  pieces.items[0].pieces.push_back({{Step(3), Step(4)}, {Bytes(0), Bytes(8)}});
  EXPECT_FALSE(Plain::from(pieces));
  EXPECT_FALSE(Plain::from({.items = {item(0, 2, 8)}, .regions = {Region{}, Region{}}}));
  EXPECT_FALSE(Plain::from({.items = {item(0, 2, 8)}, .regions = {Region{.limit = Bytes(9), .paid = true}}}));
}

TEST(Plain, ItemsMeetInTimeIffTheyShareASectionAndTheBoundIsTheSame) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Problem problem = testing::random_problem(seed, testing::plain_options(12));
    for (Item& each : problem.items) each.alignment = Bytes(1);  // the bound here ignores alignment
    const Plain plain = *Plain::from(problem);
    ASSERT_EQ(Bytes(plain.bound), lower_bound(problem).bytes) << seed;
    for (std::uint32_t a = 0; a < plain.count(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        const bool meet = problem.items[plain.item[a]].life().overlaps(problem.items[plain.item[b]].life());
        ASSERT_EQ(plain.first[a] < plain.last[b] && plain.first[b] < plain.last[a], meet) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace stowage::pack
