#include "replay/blocks.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::replaying {
namespace {

Grant grant(std::uint64_t first, std::uint64_t end, std::uintptr_t address, std::int64_t size) {
  return {first, end, address, Bytes(size), StreamId(0)};
}

std::vector<std::int64_t> lows(const ReplayBlocks& blocks) {
  std::vector<std::int64_t> result;
  for (const ReplayBlock& block : blocks.list) result.push_back(block.low.value());
  return result;
}

TEST(ReplayBlocks, KeepTheirDistancesExceptForLargeGaps) {
  const std::vector<Grant> grants{grant(0, 4, 1000, 100), grant(1, 2, 1104, 60), grant(2, 3, 900'000, 40),
                                  grant(3, 5, 1000, 8)};
  const ReplayBlocks blocks = blocks_of(grants, 10);
  EXPECT_EQ(lows(blocks), (std::vector<std::int64_t>{0, 104, 164, 0})) << "the gap of 4 stays, the other does not";
  EXPECT_EQ(blocks.segments, (std::vector<Bytes>{Bytes(164), Bytes(40)}));
  EXPECT_EQ(blocks.left_out, 0U);
  EXPECT_EQ(blocks.list[3].first, 3U);
  EXPECT_EQ(blocks.list[3].end, 5U);
}

TEST(ReplayBlocks, OnlySoManyOfTheLargestAreKept) {
  const std::vector<Grant> grants{grant(0, 1, 100, 8), grant(1, 9, 200, 8), grant(2, 3, 300, 80), grant(3, 4, 0, 0)};
  const ReplayBlocks blocks = blocks_of(grants, 2);
  ASSERT_EQ(blocks.list.size(), 2U);
  EXPECT_EQ(blocks.list[0].first, 1U);
  EXPECT_EQ(blocks.list[1].first, 2U);
  EXPECT_EQ(blocks.left_out, 1U) << "nothing of 0 bytes is a block";
}

TEST(ReplayBlocks, OfNothingAreNone) { EXPECT_EQ(blocks_of({}, 3), ReplayBlocks{}); }

}  // namespace
}  // namespace stowage::replaying
