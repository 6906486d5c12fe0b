#include "layout/rectangle_index.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::layout {
namespace {

using Rectangle = RectangleIndex::Rectangle;

Rectangle entry(std::int64_t byte, std::int64_t bytes, std::int64_t step, std::int64_t steps, std::uint32_t id) {
  return {{Bytes(byte), Bytes(byte + bytes)}, {Step(step), Step(step + steps)}, id};
}

std::vector<std::uint32_t> found(const RectangleIndex& index, const Rectangle& query) {
  std::vector<std::uint32_t> ids;
  const bool stopped = index.any_overlapping(query.bytes, query.steps, [&](const Rectangle& each) {
    ids.push_back(each.id);
    return false;
  });
  EXPECT_FALSE(stopped);
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(RectangleIndex, FindsWhatSharesBothBytesAndSteps) {
  RectangleIndex index;
  index.add(entry(0, 10, 0, 5, 1));
  index.add(entry(0, 10, 5, 5, 2));
  index.add(entry(10, 10, 0, 5, 3));
  EXPECT_EQ(found(index, entry(9, 1, 4, 1, 0)), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(found(index, entry(9, 2, 4, 2, 0)), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(found(index, entry(20, 9, 0, 10, 0)), (std::vector<std::uint32_t>{}));
}

TEST(RectangleIndex, EmptyRectanglesOverlapNothing) {
  RectangleIndex index;
  index.add(entry(5, 0, 0, 5, 1));
  index.add(entry(0, 10, 3, 0, 2));
  EXPECT_EQ(index.size(), 0U);
  index.add(entry(0, 10, 0, 10, 3));
  EXPECT_EQ(found(index, entry(5, 0, 5, 1, 0)), (std::vector<std::uint32_t>{}));
}

TEST(RectangleIndex, StopsAtTheFirstThatIsWanted) {
  RectangleIndex index;
  for (std::uint32_t i = 0; i < 100; ++i) index.add(entry(0, 10, 0, 10, i));
  int calls = 0;
  EXPECT_TRUE(
      index.any_overlapping({Bytes(0), Bytes(1)}, {Step(0), Step(1)}, [&](const Rectangle&) { return ++calls == 7; }));
  EXPECT_EQ(calls, 7);
}

TEST(RectangleIndex, FindsTheSameAsLookingAtAll) {
  std::mt19937 random(1);
  const auto number = [&](int below) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(below)); };
  for (int round = 0; round < 50; ++round) {
    const int places = round % 3 == 0 ? 1 : 200;  // all at one offset, all at one time, or anywhere
    const int times = round % 3 == 1 ? 1 : 200;
    const auto any = [&](std::uint32_t id) { return entry(number(places), number(20), number(times), number(20), id); };
    RectangleIndex index;
    std::vector<Rectangle> all;
    for (std::uint32_t i = 0; i < 300; ++i) {
      all.push_back(any(i));
      index.add(all.back());
      const Rectangle query = any(0);
      std::vector<std::uint32_t> expected;
      for (const Rectangle& each : all) {
        if (each.bytes.overlaps(query.bytes) && each.steps.overlaps(query.steps)) expected.push_back(each.id);
      }
      ASSERT_EQ(found(index, query), expected) << "round " << round << ", entry " << i;
    }
  }
}

}  // namespace
}  // namespace stowage::layout
