#include <gtest/gtest.h>

#include "stowage/pack.hpp"

namespace stowage {
namespace {

Piece piece(std::int64_t begin, std::int64_t end, std::int64_t lower, std::int64_t upper) {
  return {{Step(begin), Step(end)}, {Bytes(lower), Bytes(upper)}};
}
Item item(std::int64_t begin, std::int64_t end, std::int64_t size) {
  return {.pieces = {piece(begin, end, 0, size)}, .size = Bytes(size)};
}

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
  Problem problem{.items = {item(0, 2, 8), item(0, 2, 16)}, .regions = {Region{}, Region{.limit = Bytes(10), .paid = false}}};
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(14));
  problem.items[1].allowed.only = {0};
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(16));
  problem.items[1].allowed.only = {};
  problem.regions[1].limit.reset();
  EXPECT_EQ(lower_bound(problem).bytes, Bytes(0));
}

TEST(LowerBound, OfNothingIsNothing) {
  EXPECT_EQ(lower_bound({.items = {}}).bytes, Bytes(0));
  EXPECT_TRUE(check_bound({.items = {}}, lower_bound({.items = {}})));
}

}  // namespace
}  // namespace stowage
