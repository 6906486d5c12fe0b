#include "pack/index/max_segment_tree.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace stowage::pack {
namespace {

TEST(MaxSegmentTree, TakesTheFirstOfEqualMaxima) {
  MaxSegmentTree tree;
  tree.reset(std::vector<std::int64_t>{3, 7, 7, 1});
  EXPECT_EQ(tree.maximum(0, 4).index, 1U);
  EXPECT_EQ(tree.maximum(0, 4).value, 7);
  EXPECT_EQ(tree.maximum(2, 4).index, 2U);
  EXPECT_EQ(tree.maximum(3, 4).value, 1);
  tree.add(0, 1, 4);
  EXPECT_EQ(tree.maximum(0, 4).index, 0U);
}

TEST(MaxSegmentTree, ResetForgetsWhatWasAdded) {
  MaxSegmentTree tree;
  tree.reset(std::vector<std::int64_t>{1, 2});
  tree.add(0, 2, 10);
  tree.reset(std::vector<std::int64_t>{5});
  EXPECT_EQ(tree.maximum(0, 1).value, 5);
}

TEST(MaxSegmentTree, TakesTheLargestNumbersThereAre) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  MaxSegmentTree tree;
  tree.reset(std::vector<std::int64_t>{0, kMost, 0, 5, kMost});
  EXPECT_EQ(tree.maximum(0, 1).value, 0);
  EXPECT_EQ(tree.maximum(2, 4).index, 3U);
  tree.add(1, 2, -kMost);
  EXPECT_EQ(tree.maximum(0, 4).value, 5);
  EXPECT_EQ(tree.maximum(0, 5).index, 4U);
}

TEST(MaxSegmentTree, AgreesWithALoop) {
  std::mt19937_64 random(1);
  for (std::size_t size = 1; size < 70; ++size) {
    std::vector<std::int64_t> values(size);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % 20);
    MaxSegmentTree tree;
    tree.reset(values);
    for (int step = 0; step < 200; ++step) {
      const auto begin = static_cast<std::uint32_t>(random() % size);
      const auto end = static_cast<std::uint32_t>(begin + 1 + random() % (size - begin));
      if (step % 2 == 0) {
        const std::int64_t value = static_cast<std::int64_t>(random() % 21) - 10;
        for (std::uint32_t i = begin; i < end; ++i) values[i] += value;
        tree.add(begin, end, value);
        continue;
      }
      const auto most = std::max_element(values.begin() + begin, values.begin() + end);
      const MaxSegmentTree::Maximum found = tree.maximum(begin, end);
      ASSERT_EQ(found.value, *most);
      ASSERT_EQ(found.index, most - values.begin());
    }
  }
}

}  // namespace
}  // namespace stowage::pack
