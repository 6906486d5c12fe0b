#include "pack/index/valley_list.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace stowage::pack {
namespace {

TEST(ValleyList, StartsAsOneValleyWithoutBrim) {
  ValleyList list;
  list.reset(5);
  const ValleyList::Valley valley = list.find();
  EXPECT_EQ(valley.level, 0);
  EXPECT_EQ(valley.brim, ValleyList::kNoLevel);
  EXPECT_EQ(valley.begin, 0U);
  EXPECT_EQ(valley.end, 5U);
}

TEST(ValleyList, WhatIsLiftedToTheBrimJoinsIt) {
  ValleyList list;
  list.reset(5);
  list.lift(list.find(), 1, 3, 10);
  ValleyList::Valley valley = list.find();
  EXPECT_EQ(valley.begin, 0U);
  EXPECT_EQ(valley.end, 1U);
  EXPECT_EQ(valley.brim, 10);
  list.lift(valley, 0, 1, 10);
  valley = list.find();
  EXPECT_EQ(valley.begin, 3U);
  EXPECT_EQ(valley.end, 5U);
  list.lift(valley, 3, 5, 10);
  valley = list.find();
  EXPECT_EQ(valley.begin, 0U);
  EXPECT_EQ(valley.end, 5U);
  EXPECT_EQ(valley.level, 10);
}

/// Expects `valley` to be a maximal stretch of one level, lower than both neighbours.
void expect_valley_of(const ValleyList::Valley& valley, const std::vector<std::int64_t>& levels) {
  for (std::uint32_t s = valley.begin; s < valley.end; ++s) ASSERT_EQ(levels[s], valley.level);
  const std::int64_t left = valley.begin == 0 ? ValleyList::kNoLevel : levels[valley.begin - 1];
  const std::int64_t right = valley.end == levels.size() ? ValleyList::kNoLevel : levels[valley.end];
  ASSERT_EQ(valley.brim, std::min(left, right));
  ASSERT_LT(valley.level, valley.brim);
}

TEST(ValleyList, AgreesWithAnArrayOfLevels) {
  std::mt19937_64 random(1);
  for (std::uint32_t sections = 1; sections < 40; ++sections) {
    ValleyList list;
    list.reset(sections);
    std::vector<std::int64_t> levels(sections);
    for (int step = 0; step < 300; ++step) {
      const ValleyList::Valley valley = list.find();
      expect_valley_of(valley, levels);
      const auto first = static_cast<std::uint32_t>(valley.begin + random() % (valley.end - valley.begin));
      const auto last = static_cast<std::uint32_t>(first + 1 + random() % (valley.end - first));
      const bool to_brim = random() % 3 == 0 && valley.brim != ValleyList::kNoLevel;
      const std::int64_t level = to_brim ? valley.brim : valley.level + 1 + static_cast<std::int64_t>(random() % 4);
      list.lift(valley, first, last, level);
      std::fill(levels.begin() + first, levels.begin() + last, level);
    }
  }
}

}  // namespace
}  // namespace stowage::pack
