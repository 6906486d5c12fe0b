#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/plan.hpp"
#include "support/builders/items.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;

using testing::item;
using testing::piece;

void expect_fault(const Problem& problem, const std::string& message) {
  const Status status = check_problem(problem);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr(message));
}

TEST(Problem, RulesAreChecked) {
  EXPECT_TRUE(check_problem({.items = {item(0, 2, 8)}}));
  EXPECT_TRUE(check_problem({.items = {}}));
  expect_fault({.items = {item(2, 2, 8)}}, "item 0 has a piece without a step");
  expect_fault({.items = {item(0, 2, -8)}}, "item 0 has the size -8");
  expect_fault({.items = {{.pieces = {}, .size = Bytes(8)}}}, "no piece");
  expect_fault({.items = {{.pieces = {piece(0, 1, 4, 12)}, .size = Bytes(8)}}}, "outside its size");
  expect_fault({.items = {{.pieces = {piece(0, 3, 0, 8), piece(2, 4, 4, 8)}, .size = Bytes(8)}}}, "overlap");
  expect_fault({.items = {{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8), .alignment = Bytes(3)}}},
               "not a power of two");
  expect_fault({.items = {}, .regions = {}}, "no region");
  expect_fault({.items = {{.pieces = {piece(0, 1, 0, 8)}, .size = Bytes(8), .allowed = {1}}}},
               "regions that do not exist");
  expect_fault({.items = {item(0, 1, (std::int64_t{1} << 62) - 1), item(0, 1, 8)}}, "2^62");
  expect_fault({.items = {item(0, 1, 8)}, .order = {.streams = 2, .threshold = {Step(1)}, .first = {Step(0)}}},
               "one row per item");
}

TEST(Problem, StepsHaveALimit) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  EXPECT_TRUE(check_problem({.items = {item(1 - kLimit, kLimit, 8)}}));
  expect_fault({.items = {item(-kLimit, 0, 8)}}, "item 0 has a piece beyond the limit of 2^62 steps");
  expect_fault({.items = {item(0, kLimit + 1, 8)}}, "2^62 steps");
}

TEST(Problem, TheStreamOrderMustAgreeWithTheLives) {
  Problem problem{.items = {item(0, 2, 8), item(3, 5, 8)},
                  .order = {.streams = 1, .threshold = {Step(2), kNever}, .first = {Step(0), Step(3)}}};
  EXPECT_TRUE(check_problem(problem));
  problem.order.threshold[0] = Step(1);
  expect_fault(problem, "item 0 has a threshold on a stream before its life ends");
  problem.order.threshold[0] = Step(2);
  problem.order.first[1] = Step(4);
  expect_fault(problem, "item 1 lives before its first step on any stream");
}

TEST(Problem, JoinsAndApartPairsAreAscending) {
  const std::vector<Item> items = {item(0, 2, 8), item(1, 3, 8), item(1, 3, 8)};
  EXPECT_TRUE(check_problem({.items = items, .joins = {{0, 1, Bytes(0)}, {0, 2, Bytes(-4)}}, .apart = {{1, 2}}}));
  expect_fault({.items = items, .joins = {{1, 0, Bytes(0)}}}, "join 0 names items");
  expect_fault({.items = items, .joins = {{0, 3, Bytes(0)}}}, "join 0 names items");
  expect_fault({.items = items, .joins = {{0, 2, Bytes(0)}, {0, 1, Bytes(0)}}}, "join 1 is not above");
  expect_fault({.items = items, .apart = {{1, 2}, {1, 2}}}, "pair of items to keep apart 1 is not above");
}

TEST(Problem, JoinedItemsConflictOnlyAtOtherDistances) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 4)}, .joins = {{0, 1, Bytes(4)}}};
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(4)}));
  EXPECT_FALSE(in_conflict(problem, 1, {0, Bytes(4)}, 0, {0, Bytes(0)}));
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(0)}));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(8)}));
}

TEST(Problem, OnlySomeBytesMayBeKeptApart) {
  const ByteRange tail{Bytes(4), Bytes(8)};
  const Problem problem{.items = {item(0, 1, 8), item(5, 6, 6)}, .apart = {{0, 1, tail, std::nullopt}}};
  EXPECT_TRUE(check_problem(problem));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(6)}, 1, {0, Bytes(4)})) << "[4, 10) and [10, 14)";
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(6)}, 1, {0, Bytes(5)})) << "[5, 11)";
  EXPECT_TRUE(in_conflict(problem, 1, {0, Bytes(13)}, 0, {0, Bytes(6)})) << "[13, 19)";
  EXPECT_FALSE(in_conflict(problem, 1, {0, Bytes(14)}, 0, {0, Bytes(6)}));
  const auto with = [&](ByteRange of_b) { return Problem{.items = problem.items, .apart = {{0, 1, tail, of_b}}}; };
  EXPECT_TRUE(check_problem(with({Bytes(6), Bytes(6)})));
  expect_fault(with({Bytes(0), Bytes(7)}), "pair of items to keep apart 0 names bytes outside of its items");
  expect_fault(with({Bytes(3), Bytes(2)}), "pair of items to keep apart 0 names bytes outside of its items");
}

TEST(Problem, AJoinPutsNoBytesTogetherThatAreKeptApart) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 4)},
                        .joins = {{0, 1, Bytes(0)}, {0, 1, Bytes(1)}},
                        .apart = {{0, 1, ByteRange{Bytes(4), Bytes(8)}, std::nullopt}}};
  EXPECT_TRUE(check_problem(problem));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(0)}));
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(1)}));
}

TEST(Problem, ItemsThatAreKeptApartConflictWheneverTheyLive) {
  const Problem problem{.items = {item(0, 1, 8), item(5, 6, 8)}, .apart = {{0, 1}}};
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(7)}));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(8)}));
}

/// Two pieces on two streams: the second item comes after the first piece of the first item only.
Problem two_streams() {
  Problem problem{.items = {{.pieces = {{{Step(0), Step(1)}, {Bytes(0), Bytes(4)}, 2},
                                        {{Step(1), Step(2)}, {Bytes(4), Bytes(8)}, 3}},
                             .size = Bytes(8)},
                            item(2, 3, 4)},
                  .order = {.streams = 2,
                            .threshold = {kNever, kNever, kNever, kNever, Step(2), kNever, kNever, Step(3)},
                            .first = {Step(0), Step(1), Step(2), kNever, Step(0), kNever, kNever, Step(1)}}};
  return problem;
}

TEST(Problem, PiecesMayHaveAnOrderOfTheirOwn) {
  const Problem problem = two_streams();
  ASSERT_TRUE(check_problem(problem));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(0)}));
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(4)}));
}

TEST(Problem, TheRowOfAnItemCoversThoseOfItsPieces) {
  Problem problem = two_streams();
  problem.order.threshold[1] = Step(2);
  expect_fault(problem, "its own row does not cover");
  problem = two_streams();
  problem.items[0].pieces[0].row = 1;
  expect_fault(problem, "a row that does not exist or is that of an item");
}

TEST(Problem, PinnedItemsHaveOneRegion) {
  Problem problem{.items = {item(0, 1, 8)}, .regions = {Region{}, Region{}}};
  problem.items[0].pinned = Bytes(0);
  expect_fault(problem, "more than one region");
  problem.items[0].allowed = {1};
  EXPECT_TRUE(check_problem(problem));
}

TEST(Problem, PiecesThatDoNotMeetMayShareBytes) {
  // An L: 8 bytes, of which the upper 4 are free from step 2 on.
  const Item shrinking{.pieces = {piece(0, 2, 0, 8), piece(2, 5, 0, 4)}, .size = Bytes(8)};
  const Problem problem{.items = {shrinking, item(2, 5, 4)}};
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(4)}));
  EXPECT_TRUE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {0, Bytes(3)}));
  EXPECT_FALSE(in_conflict(problem, 0, {0, Bytes(0)}, 1, {1, Bytes(3)}));
}

TEST(StreamOrder, BeforeComparesFirstStepsWithThresholds) {
  // Item 0 has threshold 3 on stream 0 and none on stream 1; item 1 uses stream 0 from step 3 on; item 2 uses both.
  const StreamOrder order{.streams = 2,
                          .threshold = {Step(3), kNever, Step(9), Step(9), Step(9), Step(9)},
                          .first = {Step(0), kNever, Step(3), kNever, Step(4), Step(5)}};
  EXPECT_TRUE(order.before(0, 1));
  EXPECT_FALSE(order.before(0, 2));
  EXPECT_FALSE(order.before(1, 0));
}

TEST(Problem, PeakSumsTheTopsOfPaidRegions) {
  const Problem problem{.items = {item(0, 1, 8), item(0, 1, 16), item(0, 1, 32)},
                        .regions = {Region{}, Region{}, Region{.limit = {}, .paid = false}}};
  const std::vector<Position> positions = {{0, Bytes(8)}, {1, Bytes(0)}, {2, Bytes(0)}};
  EXPECT_EQ(peak_of(problem, positions), Bytes(32));
  EXPECT_EQ(tops_of(problem, positions)[2], Bytes(32));
}

TEST(Bound, CertificatesAreCheckedAgainstTheProblem) {
  Problem problem{.items = {item(0, 3, 8), item(2, 4, 16), item(3, 5, 4)}};
  const auto live = [](std::int64_t bytes, std::int64_t step) {
    return Certificate{Certificate::Argument::live_bytes, Bytes(bytes), Step(step), 0};
  };
  EXPECT_TRUE(check_bound(problem, live(24, 2)));
  EXPECT_FALSE(check_bound(problem, live(25, 2)));
  EXPECT_FALSE(check_bound(problem, live(24, 3)));
  EXPECT_FALSE(check_bound(problem, {Certificate::Argument::trivial, Bytes(1), {}, 0}));
  problem.items[2].pinned = Bytes(100);
  EXPECT_TRUE(check_bound(problem, {Certificate::Argument::pinned_item, Bytes(104), {}, 2}));
  EXPECT_FALSE(check_bound(problem, {Certificate::Argument::pinned_item, Bytes(104), {}, 1}));
  EXPECT_FALSE(check_bound(problem, {Certificate::Argument::pinned_item, Bytes(104), {}, 9}));
  problem.regions = {Region{.limit = Bytes(10), .paid = false}, Region{}};
  problem.items[2].pinned.reset();
  EXPECT_TRUE(check_bound(problem, live(14, 2)));
  EXPECT_FALSE(check_bound(problem, live(15, 2)));
}

}  // namespace
}  // namespace stowage
