#include "pack/exact/peaks.hpp"

#include <gtest/gtest.h>

#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage::pack {
namespace {

using testing::aligned;
using testing::item;

TEST(Peaks, AreEndsOfItemsAtAlignedOffsets) {
  const Peaks peaks({.items = {aligned(item(0, 1, 3), 8), aligned(item(0, 1, 21), 16)}});
  // 3, 11, 19, 27, … and 21, 37, …
  EXPECT_EQ(peaks.at_least(0), 3);
  EXPECT_EQ(peaks.at_least(12), 19);
  EXPECT_EQ(peaks.at_least(20), 21);
  EXPECT_EQ(peaks.at_least(28), 35);
  EXPECT_EQ(peaks.at_most(26), 21);
  EXPECT_EQ(peaks.at_most(3), 3);
  EXPECT_EQ(peaks.at_most(2), -1);
}

TEST(Peaks, AreMultiplesOfTheCommonDivisorWithoutAlignment) {
  const Peaks peaks({.items = {item(0, 1, 6), item(0, 1, 9)}});
  EXPECT_EQ(peaks.at_least(10), 12);
  EXPECT_EQ(peaks.at_most(17), 15);
}

TEST(Peaks, WithPinsAnyMultipleOfTheCommonDivisorIsOne) {
  const Peaks peaks({.items = {testing::pinned(aligned(item(0, 1, 3), 8), 16), aligned(item(0, 1, 5), 8)}});
  EXPECT_EQ(peaks.at_least(7), 7);
  EXPECT_EQ(peaks.at_most(7), 7);
}

TEST(Peaks, OfNothingIsZero) { EXPECT_EQ(Peaks({.items = {}}).at_least(0), 0); }

TEST(Peaks, TheOptimumIsAlwaysOneOfThem) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 5, .regions = false});
    const auto optimum = testing::solve_by_brute_force(problem);
    if (!optimum || optimum->peak == Bytes(0)) continue;
    ASSERT_EQ(Peaks(problem).at_least(optimum->peak.value()), optimum->peak.value()) << seed;
    ASSERT_EQ(Peaks(problem).at_most(optimum->peak.value()), optimum->peak.value()) << seed;
  }
}

}  // namespace
}  // namespace stowage::pack
