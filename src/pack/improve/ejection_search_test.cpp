#include "pack/improve/ejection_search.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace stowage::pack {
namespace {

using Box = EjectionSearch::Box;

bool never() { return false; }

Box box(std::uint32_t first, std::uint32_t last, std::int64_t size, bool kept = false) {
  return {{first, last}, size, 1, static_cast<double>(size), kept};
}

TEST(TimeIndex, FindsWhoMeetsASpanWhateverCameAndWent) {
  std::mt19937 random(1);
  constexpr std::uint32_t kTimes = 21;
  constexpr std::uint32_t kItems = 30;
  TimeIndex index(kTimes, kItems);
  std::vector<TimeSpan> spans(kItems);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto draw = [&] {
    const std::uint32_t first = below(kTimes - 1);
    return TimeSpan{first, first + 1 + below(kTimes - 1 - first)};
  };
  for (int round = 0; round < 2'000; ++round) {
    const std::uint32_t item = below(kItems);
    if (!spans[item].empty()) index.erase(item, spans[item]);
    spans[item] = below(3) == 0 ? TimeSpan{} : draw();
    if (!spans[item].empty()) index.insert(item, spans[item]);
    const TimeSpan asked = draw();
    std::vector<std::uint32_t> found, expected;
    index.visit_meeting(asked, [&](std::uint32_t each) { found.push_back(each); });
    std::sort(found.begin(), found.end());
    for (std::uint32_t i = 0; i < kItems; ++i) {
      if (spans[i].overlaps(asked)) expected.push_back(i);
    }
    ASSERT_EQ(found, expected) << round;
  }
}

TEST(EjectionSearch, WhatSticksOutGoesToTheLowestFreePlace) {
  EjectionSearch search(3, {box(0, 2, 4), box(0, 1, 2), box(1, 2, 3)}, 0);
  search.put(0, 0);
  search.put(1, 4);
  search.put(2, 6);
  search.commit();
  ASSERT_TRUE(search.settle(7, 100, never));
  EXPECT_EQ(search.offset(2), 4);
  EXPECT_EQ(search.peak(), 7);
  EXPECT_EQ(search.moves().size(), 1U);
}

TEST(EjectionSearch, OthersMakeRoomWhereNoneIsFree) {
  // Item 2 needs four contiguous bytes, but only two and two are free: one of the others must move.
  EjectionSearch search(2, {box(0, 1, 3), box(0, 1, 3), box(0, 1, 4)}, 0);
  search.put(0, 0);
  search.put(1, 5);
  search.put(2, 8);
  search.commit();
  ASSERT_TRUE(search.settle(10, 100, never));
  EXPECT_EQ(search.peak(), 10);
}

TEST(EjectionSearch, KeptItemsStayEvenAboveTheLimit) {
  EjectionSearch search(2, {box(0, 1, 3, true), box(0, 1, 3)}, 0);
  search.put(0, 5);
  search.put(1, 8);
  search.commit();
  ASSERT_TRUE(search.settle(6, 100, never));
  EXPECT_EQ(search.offset(0), 5);
  EXPECT_EQ(search.offset(1), 0);
}

TEST(EjectionSearch, ARepairThatFailsCanBeTakenBack) {
  EjectionSearch search(2, {box(0, 1, 3), box(0, 1, 3)}, 0);
  search.put(0, 0);
  search.put(1, 3);
  search.commit();
  EXPECT_FALSE(search.settle(5, 100, never));
  search.back();
  EXPECT_EQ(search.offset(0), 0);
  EXPECT_EQ(search.offset(1), 3);
  EXPECT_EQ(search.peak(), 6);
  EXPECT_TRUE(search.moves().empty());
}

}  // namespace
}  // namespace stowage::pack
