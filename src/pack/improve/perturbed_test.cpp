#include "pack/improve/perturbed.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pack/greedy/priority.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/flat_skyline.hpp"

namespace stowage::pack {
namespace {

/// A rectangle of 64 steps × 1000 bytes, cut at random into `count` parts: the bound, 1000, can be reached, but not
/// easily.
Problem cut_block(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low - 1));
  };
  struct Part {
    std::int64_t lower, upper, size;
  };
  std::vector<Part> parts = {{0, 64, 1'000}};
  while (parts.size() < count) {
    Part& part = parts[random() % parts.size()];
    Part rest = part;
    if (random() % 2 == 0 && part.upper - part.lower > 1) {
      rest.lower = part.upper = between(part.lower, part.upper);
    } else if (part.size > 1) {
      part.size = between(0, part.size);
      rest.size -= part.size;
    } else {
      continue;
    }
    parts.push_back(rest);
  }
  Problem problem;
  for (const Part& part : parts) {
    problem.items.push_back(
        {.pieces = {{{Step(part.lower), Step(part.upper)}, {Bytes(0), Bytes(part.size)}}}, .size = Bytes(part.size)});
  }
  return problem;
}

bool never() { return false; }
void ignore(const PerturbedSkyline::Best&) {}

TEST(PerturbedSkyline, AnswersAreValidAndOnlyGetBetter) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(14));
    const std::optional<Plain> plain = Plain::from(problem);
    ASSERT_TRUE(plain);
    std::int64_t last = ValleyList::kNoLevel;
    PerturbedSkyline perturbed(*plain, seed);
    const PerturbedSkyline::Best best = perturbed.improve(30, never, [&](const PerturbedSkyline::Best& better) {
      EXPECT_LT(better.peak, last);
      last = better.peak;
      const std::vector<Position> positions = plain->positions(problem, better.offsets);
      EXPECT_FALSE(validate(problem, positions));
      EXPECT_EQ(peak_of(problem, positions).value(), better.peak);
    });
    EXPECT_EQ(best.peak, last);
    EXPECT_GE(best.peak, plain->bound);
  }
}

TEST(PerturbedSkyline, BeatsEveryPriorityAlone) {
  std::int64_t alone = 0;
  std::int64_t together = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::optional<Plain> plain = Plain::from(cut_block(40, seed));
    ASSERT_TRUE(plain);
    ASSERT_EQ(plain->bound, 1'000);
    PerturbedSkyline perturbed(*plain, 1);
    alone += perturbed.improve(std::size(kPriorities) + 1, never, ignore).peak;
    together += perturbed.improve(500, never, ignore).peak;
  }
  EXPECT_LT(together - 20'000, (alone - 20'000) / 2);
}

TEST(PerturbedSkyline, StopsAtTheBound) {
  const std::optional<Plain> plain = Plain::from(cut_block(3, 1));
  ASSERT_TRUE(plain);
  PerturbedSkyline perturbed(*plain, 1);
  EXPECT_EQ(perturbed.improve(1'000, never, ignore).peak, plain->bound);
  EXPECT_LT(perturbed.runs(), 1'000U);
}

TEST(PerturbedSkyline, AnswersOnceEvenWhenToldToStopAtOnce) {
  const std::optional<Plain> plain = Plain::from(cut_block(60, 1));
  ASSERT_TRUE(plain);
  PerturbedSkyline perturbed(*plain, 1);
  EXPECT_EQ(perturbed.improve(1'000, [] { return true; }, ignore).offsets.size(), plain->count());
  EXPECT_EQ(perturbed.runs(), 1U);
}

TEST(PerturbedSkyline, EqualSeedsGiveEqualAnswersHoweverTheRunsAreSplit) {
  const std::optional<Plain> plain = Plain::from(cut_block(60, 2));
  ASSERT_TRUE(plain);
  PerturbedSkyline whole(*plain, 7);
  PerturbedSkyline split(*plain, 7);
  whole.improve(100, never, ignore);
  split.improve(3, never, ignore);
  split.improve(97, never, ignore);
  EXPECT_EQ(whole.best().peak, split.best().peak);
  EXPECT_EQ(whole.best().offsets, split.best().offsets);
}

}  // namespace
}  // namespace stowage::pack
