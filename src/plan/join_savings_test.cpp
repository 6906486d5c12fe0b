#include "plan/interface/join_savings.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "support/builders/items.hpp"

namespace stowage::plan {
namespace {

using testing::item;

Bytes saved_at(const Problem& problem, std::int64_t step) {
  return most_saved(problem, shared_by_joins_at(problem, Step(step)));
}

TEST(JoinSavings, WhatTwoJoinedItemsShareAtAStep) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 6)}, .joins = {{0, 1, Bytes(0)}}};
  EXPECT_EQ(saved_at(problem, 1), Bytes(0));
  EXPECT_EQ(saved_at(problem, 2), Bytes(6));
  EXPECT_EQ(saved_at(problem, 3), Bytes(0));
}

TEST(JoinSavings, OnlyOneItemTakesTheBytesOfAnother) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 6), item(2, 5, 4)},
                        .joins = {{0, 1, Bytes(0)}, {0, 2, Bytes(0)}}};
  EXPECT_EQ(saved_at(problem, 2), Bytes(6));
}

TEST(JoinSavings, ItemsGiveWayToEachOther) {
  // The 6 fit into either of the two first, the 4 only into the first.
  const Problem problem{.items = {item(0, 3, 6), item(0, 3, 6), item(2, 5, 6), item(2, 5, 4)},
                        .joins = {{0, 2, Bytes(0)}, {0, 3, Bytes(0)}, {1, 2, Bytes(0)}}};
  EXPECT_EQ(saved_at(problem, 2), Bytes(10));
}

TEST(JoinSavings, ALaterItemDoesNotTakeMoreThanItHas) {
  const Problem problem{.items = {item(0, 3, 6), item(0, 3, 6), item(2, 5, 6)},
                        .joins = {{0, 2, Bytes(0)}, {1, 2, Bytes(0)}}};
  EXPECT_EQ(saved_at(problem, 2), Bytes(6));
}

TEST(JoinSavings, AnOffsetJoinSharesOnlyWhatOverlaps) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 6)}, .joins = {{0, 1, Bytes(6)}}};
  EXPECT_EQ(saved_at(problem, 2), Bytes(2));
}

TEST(JoinSavings, WithoutEffortTheLimitIsLessTightButHolds) {
  // As in OnlyOneItemTakesTheBytesOfAnother: 6, and 6 + 4 if nothing is looked at.
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 6), item(2, 5, 4)},
                        .joins = {{0, 1, Bytes(0)}, {0, 2, Bytes(0)}}};
  const std::vector<SharedByJoin> shared = shared_by_joins_at(problem, Step(2));
  for (std::size_t given = 0; given < 10; ++given) {
    std::size_t effort = given;
    const Bytes saved = most_saved(problem, shared, effort);
    EXPECT_GE(saved, Bytes(6));
    EXPECT_LE(effort, given);
    if (given == 0) {
      EXPECT_EQ(saved, Bytes(10));
    } else if (given == 9) {
      EXPECT_EQ(saved, Bytes(6));
    }
  }
}

}  // namespace
}  // namespace stowage::plan
