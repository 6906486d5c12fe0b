#include "pack/greedy/indexed_skyline.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pack/greedy/priority.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/flat_skyline.hpp"

namespace stowage::pack {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// Lives and sizes with heavy tails; alignments up to 64.
Problem large_problem(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Problem problem;
  for (std::size_t i = 0; i < count; ++i) {
    const auto lower = static_cast<std::int64_t>(random() % count);
    const auto length = static_cast<std::int64_t>(1 + (random() % count >> random() % 12));
    const Bytes size(static_cast<std::int64_t>(1 + (random() % 4096 >> random() % 12)));
    const Bytes alignment(std::int64_t{1} << random() % 7);
    problem.items.push_back(
        {.pieces = {{{Step(lower), Step(lower + length)}, {Bytes(0), size}}}, .size = size, .alignment = alignment});
  }
  return problem;
}

void expect_same_as_flat(const Problem& problem) {
  const std::optional<Plain> plain = Plain::from(problem);
  ASSERT_TRUE(plain);
  testing::FlatSkyline flat(*plain);
  IndexedSkyline indexed(*plain);
  std::vector<std::int64_t> expected;
  std::vector<std::int64_t> offsets;
  for (const Priority kind : kPriorities) {
    const std::vector<double> priority = priorities(*plain, kind);
    const std::int64_t peak = flat.run(priority, kNoLimit, expected);
    ASSERT_EQ(indexed.run(priority, kNoLimit, offsets), peak);
    ASSERT_EQ(offsets, expected);
    const std::vector<Position> positions = plain->positions(problem, offsets);
    ASSERT_FALSE(validate(problem, positions));
    ASSERT_EQ(peak_of(problem, positions).value(), peak);
    ASSERT_EQ(indexed.run(priority, peak, offsets), peak);
    ASSERT_GT(indexed.run(priority, peak - 1, offsets), peak - 1);
  }
}

TEST(IndexedSkyline, OfNothingIsNothing) {
  const std::optional<Plain> plain = Plain::from(Problem{});
  ASSERT_TRUE(plain);
  std::vector<std::int64_t> offsets = {1};
  EXPECT_EQ(IndexedSkyline(*plain).run({}, kNoLimit, offsets), 0);
  EXPECT_TRUE(offsets.empty());
}

TEST(IndexedSkyline, AnswersLikeTheFlatOneOnSmallProblems) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_as_flat(testing::random_problem(seed, testing::plain_options(12)));
    if (HasFatalFailure()) return;
  }
}

TEST(IndexedSkyline, AnswersLikeTheFlatOneOnLargeProblems) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_as_flat(large_problem(20 + 30 * seed, seed));
    if (HasFatalFailure()) return;
  }
}

TEST(IndexedSkyline, PacksThirtyThousandItemsNearTheBound) {
  const Problem problem = large_problem(30'000, 1);
  const std::optional<Plain> plain = Plain::from(problem);
  ASSERT_TRUE(plain);
  std::vector<std::int64_t> offsets;
  const std::int64_t peak = IndexedSkyline(*plain).run(priorities(*plain, Priority::area), kNoLimit, offsets);
  EXPECT_LT(peak, plain->bound + plain->bound / 10);
  EXPECT_FALSE(validate(problem, plain->positions(problem, offsets)));
}

}  // namespace
}  // namespace stowage::pack
