#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/plan.hpp"
#include "support/builders/items.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;

using testing::item;
using testing::piece;

std::string fault(const Problem& problem, std::vector<Position> positions) {
  const std::optional<Violation> wrong = validate(problem, positions);
  return wrong ? wrong->message : "";
}

TEST(Validate, AcceptsTouchingInTimeAndInBytes) {
  const Problem problem{.items = {item(0, 2, 8), item(2, 4, 8), item(0, 4, 8)}};
  EXPECT_EQ(fault(problem, {{0, Bytes(0)}, {0, Bytes(0)}, {0, Bytes(8)}}), "");
}

TEST(Validate, NamesBothItemsOfAConflict) {
  const Problem problem{.items = {item(0, 2, 8), item(1, 4, 8)}};
  EXPECT_EQ(fault(problem, {{0, Bytes(0)}, {0, Bytes(7)}}),
            "item 1 at [7, 15) of region 0 conflicts with item 0 at [0, 8) of region 0");
}

TEST(Validate, ChecksEveryPlacementRule) {
  Problem problem{.items = {item(0, 2, 8), item(0, 2, 8)},
                  .regions = {Region{.limit = Bytes(16), .paid = true}, Region{}}};
  problem.items[0].alignment = Bytes(4);
  problem.items[1].pinned = Bytes(8);
  problem.items[1].allowed = {0};
  EXPECT_EQ(fault(problem, {{0, Bytes(0)}, {0, Bytes(8)}}), "");
  EXPECT_THAT(fault(problem, {{0, Bytes(0)}}), HasSubstr("1 positions for 2 items"));
  EXPECT_THAT(fault(problem, {{0, Bytes(2)}, {0, Bytes(8)}}), HasSubstr("alignment 4"));
  EXPECT_THAT(fault(problem, {{0, Bytes(-4)}, {0, Bytes(8)}}), HasSubstr("offset -4"));
  EXPECT_THAT(fault(problem, {{0, Bytes(0)}, {0, Bytes(9)}}), HasSubstr("pinned at 8"));
  EXPECT_THAT(fault(problem, {{0, Bytes(0)}, {1, Bytes(8)}}), HasSubstr("may not be in region 1"));
  EXPECT_THAT(fault(problem, {{0, Bytes(12)}, {0, Bytes(8)}}), HasSubstr("above the region's limit 16"));
  EXPECT_THAT(fault(problem, {{2, Bytes(0)}, {0, Bytes(8)}}), HasSubstr("does not exist"));
}

/// The sweep and the definition agree on random answers, both valid and invalid ones.
TEST(Validate, JoinedItemsMayLieInOnePlaceAndTheNextMustRespectBoth) {
  Problem problem{.items = {item(0, 6, 8), item(2, 3, 8), item(4, 5, 8)}, .joins = {{0, 1, Bytes(0)}}};
  const Position zero{0, Bytes(0)};
  EXPECT_FALSE(validate(problem, std::vector<Position>{zero, zero, {0, Bytes(8)}}));
  const auto wrong = validate(problem, std::vector<Position>{zero, zero, zero});
  ASSERT_TRUE(wrong);  // the second is over by then, the first is not
  EXPECT_EQ(wrong->other, 0U);
}

TEST(Validate, ItemsThatAreKeptApartShareNoByte) {
  const Problem problem{.items = {item(0, 1, 8), item(3, 4, 8)}, .apart = {{0, 1}}};
  EXPECT_TRUE(validate(problem, std::vector<Position>{{0, Bytes(0)}, {0, Bytes(4)}}));
  EXPECT_FALSE(validate(problem, std::vector<Position>{{0, Bytes(0)}, {0, Bytes(8)}}));
}

TEST(Validate, EqualsTheDefinitionOfConflict) {
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int conflicts = 0;
  for (int round = 0; round < 20'000; ++round) {
    Problem problem;
    std::vector<Position> positions;
    for (std::int64_t i = 0, n = 2 + below(4); i < n; ++i) {
      const std::int64_t begin = below(4);
      const std::int64_t middle = begin + 1 + below(3);
      Item each = item(begin, middle, 2 + below(6));
      if (below(2) == 0) each.pieces.push_back(piece(middle, middle + 1 + below(3), below(2), 2));
      problem.items.push_back(each);
      positions.push_back({0, Bytes(below(12))});
    }
    ASSERT_TRUE(check_problem(problem));
    bool conflict = false;
    for (std::size_t a = 0; a < positions.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) conflict |= in_conflict(problem, a, positions[a], b, positions[b]);
    }
    conflicts += conflict;
    ASSERT_EQ(validate(problem, positions).has_value(), conflict) << round;
  }
  EXPECT_GT(conflicts, 1000);
  EXPECT_LT(conflicts, 19'000);
}

}  // namespace
}  // namespace stowage
