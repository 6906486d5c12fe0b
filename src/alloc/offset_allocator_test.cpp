#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/alloc.hpp"

namespace stowage {
namespace {

using ChunkOffset = OffsetAllocator::ChunkOffset;
using ChunkOffsets = std::vector<ChunkOffset>;
using testing::HasSubstr;

std::optional<ChunkOffset> place(std::size_t chunk, std::int64_t offset) { return ChunkOffset{chunk, Bytes(offset)}; }

/// One allocation of each size; all must succeed.
ChunkOffsets fill(OffsetAllocator& allocator, const std::vector<std::int64_t>& sizes) {
  ChunkOffsets places;
  for (const std::int64_t size : sizes) places.push_back(allocator.allocate(Bytes(size)).value());
  return places;
}

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

// ----------------------------------------------------------------------------------------------------------- best fit

TEST(OffsetAllocator, TheSmallestInnerBlockThatHoldsItIsTaken) {
  OffsetAllocator allocator;
  const ChunkOffsets at = fill(allocator, {50, 1, 20, 1, 30, 1});
  ASSERT_TRUE(allocator.free(at[0], Bytes(50)));
  ASSERT_TRUE(allocator.free(at[2], Bytes(20)));
  ASSERT_TRUE(allocator.free(at[4], Bytes(30)));
  EXPECT_EQ(allocator.allocate(Bytes(25)), place(0, 72));
  EXPECT_EQ(allocator.allocate(Bytes(20)), place(0, 51));
  EXPECT_EQ(allocator.allocate(Bytes(20)), place(0, 0));
  EXPECT_EQ(allocator.max_size(), Bytes(103));
}

TEST(OffsetAllocator, TheLowestOfEqualBlocksIsTaken) {
  OffsetAllocator allocator;
  const ChunkOffsets at = fill(allocator, {8, 1, 8, 1});
  ASSERT_TRUE(allocator.free(at[2], Bytes(8)));
  ASSERT_TRUE(allocator.free(at[0], Bytes(8)));
  EXPECT_EQ(allocator.allocate(Bytes(8)), place(0, 0));
}

TEST(OffsetAllocator, AnInnerBlockGoesBeforeATailThatFitsTighter) {
  OffsetAllocator allocator;
  const ChunkOffsets at = fill(allocator, {100, 10, 50});
  ASSERT_TRUE(allocator.free(at[0], Bytes(100)));
  ASSERT_TRUE(allocator.free(at[2], Bytes(50)));
  EXPECT_EQ(allocator.allocate(Bytes(50)), place(0, 0));
  EXPECT_EQ(allocator.allocate(Bytes(70)), place(0, 110)) << "the tail was kept whole";
  EXPECT_EQ(allocator.max_size(), Bytes(180));
}

TEST(OffsetAllocator, FreedBytesJoinBothNeighboursAndTheTail) {
  OffsetAllocator allocator;
  const ChunkOffsets at = fill(allocator, {8, 8, 8, 8});
  ASSERT_TRUE(allocator.free(at[0], Bytes(8)));
  ASSERT_TRUE(allocator.free(at[2], Bytes(8)));
  EXPECT_EQ(allocator.free_block_count(), 2U);
  ASSERT_TRUE(allocator.free(at[1], Bytes(8)));
  EXPECT_EQ(allocator.free_block_count(), 1U);
  EXPECT_EQ(allocator.allocate(Bytes(24)), place(0, 0));
  ASSERT_TRUE(allocator.free(at[0], Bytes(24)));
  ASSERT_TRUE(allocator.free(at[3], Bytes(8)));
  EXPECT_EQ(allocator.free_block_count(), 0U);
  EXPECT_EQ(allocator.in_use(), Bytes(0));
  EXPECT_EQ(allocator.allocate(Bytes(100)), place(0, 0));
}

TEST(OffsetAllocator, SizesAreRoundedUpToTheAlignment) {
  OffsetAllocator allocator({.alignment = Bytes(32)});
  EXPECT_EQ(fill(allocator, {1, 32, 33, 5}),
            (ChunkOffsets{{0, Bytes(0)}, {0, Bytes(32)}, {0, Bytes(64)}, {0, Bytes(128)}}));
  EXPECT_EQ(allocator.max_size(), Bytes(160));
  EXPECT_EQ(allocator.in_use(), Bytes(160));
}

TEST(OffsetAllocator, SizeZeroTakesNothingAndAlwaysSucceeds) {
  OffsetAllocator allocator({.capacity = Bytes(8)});
  EXPECT_EQ(allocator.allocate(Bytes(0)), place(0, 0));
  EXPECT_EQ(allocator.chunk_count(), 0U);
  ASSERT_TRUE(allocator.allocate(Bytes(8)));
  EXPECT_EQ(allocator.allocate(Bytes(0)), place(0, 0));
  EXPECT_TRUE(allocator.free({}, Bytes(0)));
  EXPECT_TRUE(allocator.free({}, Bytes(0)));
  EXPECT_EQ(allocator.in_use(), Bytes(8));
}

TEST(OffsetAllocator, ResetIsLikeNew) {
  OffsetAllocator allocator({.alignment = Bytes(16), .max_chunk_size = Bytes(64), .live_list = Checks::on});
  const ChunkOffsets at = fill(allocator, {64, 40, 10, 64});
  ASSERT_TRUE(allocator.free(at[1], Bytes(40)));
  allocator.reset();
  EXPECT_EQ(allocator.chunk_count(), 0U);
  EXPECT_EQ(allocator.max_size(), Bytes(0));
  EXPECT_EQ(allocator.max_size(0), Bytes(0));
  EXPECT_EQ(allocator.in_use(), Bytes(0));
  EXPECT_EQ(allocator.free_block_count(), 0U);
  EXPECT_TRUE(allocator.live().empty());
  EXPECT_EQ(fill(allocator, {17, 32, 1}), (ChunkOffsets{{0, Bytes(0)}, {0, Bytes(32)}, {1, Bytes(0)}}));
}

TEST(OffsetAllocator, WhatShrinksLeavesItsTailToOthers) {
  OffsetAllocator allocator({.alignment = Bytes(16), .live_list = Checks::on});
  const ChunkOffsets at = fill(allocator, {100, 16});
  ASSERT_TRUE(allocator.shrink(at[0], Bytes(100), Bytes(98)));
  EXPECT_EQ(allocator.free_block_count(), 0U);
  ASSERT_TRUE(allocator.shrink(at[0], Bytes(98), Bytes(40)));
  EXPECT_EQ(allocator.in_use(), Bytes(64));
  EXPECT_EQ(allocator.allocate(Bytes(64)), place(0, 48));
  EXPECT_THAT(error_of(allocator.free(at[0], Bytes(100))), HasSubstr("no such allocation"));
  EXPECT_THAT(error_of(allocator.shrink(at[0], Bytes(40), Bytes(41))), HasSubstr("cannot become 41 bytes"));
  EXPECT_TRUE(allocator.shrink(at[0], Bytes(40), Bytes(0)));
  EXPECT_THAT(error_of(allocator.free(at[0], Bytes(40))), HasSubstr("not in use"));
}

// ------------------------------------------------------------------------------------------------------------- chunks

TEST(OffsetAllocator, AnAllocationNeverStraddlesChunks) {
  OffsetAllocator allocator({.alignment = Bytes(8), .max_chunk_size = Bytes(103)});
  EXPECT_EQ(fill(allocator, {60, 60, 30, 30}),
            (ChunkOffsets{{0, Bytes(0)}, {1, Bytes(0)}, {0, Bytes(64)}, {1, Bytes(64)}}));
  EXPECT_EQ(allocator.chunk_count(), 2U);
  EXPECT_EQ(allocator.max_size(0), Bytes(96));
  EXPECT_EQ(allocator.max_size(1), Bytes(96));
  EXPECT_EQ(allocator.max_size(), Bytes(192));
}

TEST(OffsetAllocator, WhatIsLargerThanAChunkGetsOneOfItsOwn) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(100)});
  EXPECT_EQ(fill(allocator, {10, 250, 20}), (ChunkOffsets{{0, Bytes(0)}, {1, Bytes(0)}, {0, Bytes(10)}}));
  EXPECT_EQ(allocator.max_size(1), Bytes(250));
  ASSERT_TRUE(allocator.free({1, Bytes(0)}, Bytes(250)));
  EXPECT_EQ(allocator.allocate(Bytes(90)), place(1, 0)) << "the peak already includes it";
  EXPECT_EQ(allocator.allocate(Bytes(251)), place(2, 0));
}

TEST(OffsetAllocator, BestFitLooksAtAllChunks) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(100)});
  const ChunkOffsets at = fill(allocator, {40, 60, 30, 70, 50, 50});
  ASSERT_TRUE(allocator.free(at[0], Bytes(40)));
  ASSERT_TRUE(allocator.free(at[2], Bytes(30)));
  ASSERT_TRUE(allocator.free(at[4], Bytes(50)));
  EXPECT_EQ(allocator.allocate(Bytes(29)), place(1, 0));
  EXPECT_EQ(allocator.allocate(Bytes(29)), place(0, 0));
  EXPECT_EQ(allocator.allocate(Bytes(29)), place(2, 0));
}

TEST(OffsetAllocator, OfTheTailsThatArePaidForTheTightestIsTaken) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(100)});
  const ChunkOffsets at = fill(allocator, {20, 80, 50, 40, 100});
  ASSERT_TRUE(allocator.free(at[1], Bytes(80)));
  ASSERT_TRUE(allocator.free(at[3], Bytes(40)));
  EXPECT_EQ(allocator.allocate(Bytes(35)), place(1, 50));
  EXPECT_EQ(allocator.max_size(), Bytes(290));
}

TEST(OffsetAllocator, TheChunkThatGrowsLeastGrows) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(100)});
  const ChunkOffsets at = fill(allocator, {45, 20, 60, 38});
  ASSERT_EQ(at[3], (ChunkOffset{1, Bytes(60)}));
  ASSERT_TRUE(allocator.free(at[1], Bytes(20)));
  ASSERT_TRUE(allocator.free(at[3], Bytes(38)));
  EXPECT_EQ(allocator.allocate(Bytes(40)), place(1, 60)) << "2 bytes more, against 20 in chunk 0";
  EXPECT_EQ(allocator.max_size(), Bytes(165));
}

TEST(OffsetAllocator, BeyondTheLastChunkIsExhausted) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(100), .max_chunks = 2});
  fill(allocator, {90, 90});
  EXPECT_EQ(allocator.allocate(Bytes(11)), std::nullopt);
  EXPECT_EQ(allocator.allocate(Bytes(300)), std::nullopt);
  EXPECT_EQ(allocator.chunk_count(), 2U);
  EXPECT_EQ(allocator.max_size(), Bytes(180));
  EXPECT_EQ(allocator.allocate(Bytes(10)), place(0, 90));
}

TEST(OffsetAllocator, AChunkSmallerThanTheAlignmentHoldsOneAllocation) {
  OffsetAllocator allocator({.alignment = Bytes(64), .max_chunk_size = Bytes(10)});
  EXPECT_EQ(fill(allocator, {1, 100}), (ChunkOffsets{{0, Bytes(0)}, {1, Bytes(0)}}));
  EXPECT_EQ(allocator.max_size(), Bytes(192));
}

// ------------------------------------------------------------------------------------------------------------- limits

TEST(OffsetAllocator, ExhaustionOfTheCapacityChangesNothing) {
  OffsetAllocator allocator({.alignment = Bytes(8), .capacity = Bytes(30), .live_list = Checks::on});
  const ChunkOffsets at = fill(allocator, {8, 16});
  EXPECT_EQ(allocator.allocate(Bytes(1)), std::nullopt) << "32 bytes are too many";
  EXPECT_EQ(allocator.max_size(), Bytes(24));
  EXPECT_EQ(allocator.in_use(), Bytes(24));
  EXPECT_EQ(allocator.live().size(), 2U);
  ASSERT_TRUE(allocator.free(at[0], Bytes(8)));
  EXPECT_EQ(allocator.allocate(Bytes(1)), place(0, 0));
}

TEST(OffsetAllocator, TheLargestSizesDoNotOverflow) {
  for (const std::int64_t alignment : {std::int64_t{1}, std::int64_t{64}, kMaxBytes.value()}) {
    OffsetAllocator allocator({.alignment = Bytes(alignment), .live_list = Checks::on});
    ASSERT_EQ(allocator.allocate(kMaxBytes), place(0, 0));
    EXPECT_EQ(allocator.allocate(kMaxBytes), std::nullopt);
    EXPECT_EQ(allocator.allocate(Bytes(1)), std::nullopt);
    EXPECT_EQ(allocator.max_size(), kMaxBytes);
    EXPECT_TRUE(allocator.free({0, Bytes(0)}, kMaxBytes));
    EXPECT_EQ(allocator.allocate(kMaxBytes - Bytes(1)), place(0, 0));
  }
}

TEST(OffsetAllocator, AllChunksTogetherStayWithinTheLargestSize) {
  const Bytes half(kMaxBytes.value() / 2);
  OffsetAllocator allocator({.max_chunk_size = half - Bytes(1)});
  EXPECT_EQ(allocator.allocate(half), place(0, 0));
  EXPECT_EQ(allocator.allocate(half - Bytes(1)), place(1, 0));
  EXPECT_EQ(allocator.allocate(Bytes(2)), std::nullopt);
  EXPECT_EQ(allocator.allocate(Bytes(1)), place(2, 0));
  EXPECT_EQ(allocator.max_size(), kMaxBytes);
  EXPECT_TRUE(allocator.free({1, Bytes(0)}, half - Bytes(1)));
  EXPECT_EQ(allocator.allocate(half - Bytes(1)), place(1, 0));
}

/// ggml aborts at 256 free blocks.
TEST(OffsetAllocator, P4TenThousandFreeBlocks) {
  OffsetAllocator allocator({.alignment = Bytes(32), .live_list = Checks::on});
  const auto size = [](std::int64_t k) { return Bytes(32 * (1 + k % 7)); };
  ChunkOffsets at;
  for (std::int64_t k = 0; k < 20'000; ++k) at.push_back(allocator.allocate(size(k)).value());
  const Bytes peak = allocator.max_size();
  for (std::int64_t k = 0; k < 20'000; k += 2) ASSERT_TRUE(allocator.free(at[static_cast<std::size_t>(k)], size(k)));
  EXPECT_EQ(allocator.free_block_count(), 10'000U);
  for (std::int64_t k = 0; k < 20'000; k += 2) at[static_cast<std::size_t>(k)] = allocator.allocate(size(k)).value();
  EXPECT_EQ(allocator.free_block_count(), 0U) << "best fit finds a block of each size";
  EXPECT_EQ(allocator.max_size(), peak);
  for (std::int64_t k = 0; k < 20'000; ++k) ASSERT_TRUE(allocator.free(at[static_cast<std::size_t>(k)], size(k)));
  EXPECT_EQ(allocator.free_block_count(), 0U);
  EXPECT_EQ(allocator.in_use(), Bytes(0));
}

// -------------------------------------------------------------------------------------------------------- wrong frees

TEST(OffsetAllocator, ADoubleFreeIsNoticedEvenWithoutALiveList) {
  for (const Checks live_list : {Checks::on, Checks::off}) {
    OffsetAllocator allocator({.live_list = live_list});
    const ChunkOffsets at = fill(allocator, {10, 20, 30});
    ASSERT_TRUE(allocator.free(at[1], Bytes(20)));
    EXPECT_EQ(error_of(allocator.free(at[1], Bytes(20))),
              "20 bytes at offset 10 of chunk 0 cannot be freed: they are not in use: freed twice, or never allocated");
    ASSERT_TRUE(allocator.free(at[2], Bytes(30)));
    EXPECT_THAT(error_of(allocator.free(at[2], Bytes(30))), HasSubstr("freed twice")) << "now part of the tail";
    EXPECT_THAT(error_of(allocator.free(at[1], Bytes(20))), HasSubstr("freed twice"));
    EXPECT_EQ(allocator.in_use(), Bytes(10));
    EXPECT_TRUE(allocator.free(at[0], Bytes(10)));
  }
}

TEST(OffsetAllocator, AnUnknownFreeIsAnErrorThatChangesNothing) {
  OffsetAllocator allocator({.alignment = Bytes(16), .live_list = Checks::on});
  ASSERT_TRUE(allocator.allocate(Bytes(100), "query"));
  ASSERT_TRUE(allocator.allocate(Bytes(50)));
  EXPECT_EQ(error_of(allocator.free({0, Bytes(16)}, Bytes(16))),
            "16 bytes at offset 16 of chunk 0 cannot be freed: no such allocation; these bytes are in use by query [0, "
            "100) of chunk 0");
  EXPECT_THAT(error_of(allocator.free({0, Bytes(0)}, Bytes(99))), HasSubstr("query [0, 100)"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(0)}, Bytes(162))), HasSubstr("query [0, 100)"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(112)}, Bytes(64))), HasSubstr("unnamed [112, 162)"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(0)}, Bytes(1000))), HasSubstr("not in use"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(1024)}, Bytes(16))), HasSubstr("not in use"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(8)}, Bytes(16))), HasSubstr("no allocation can have"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(-16)}, Bytes(16))), HasSubstr("no allocation can have"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(0)}, Bytes(-1))), HasSubstr("no allocation can have"));
  EXPECT_THAT(error_of(allocator.free({0, Bytes(0)}, Bytes(std::numeric_limits<std::int64_t>::max()))),
              HasSubstr("no allocation can have"));
  EXPECT_THAT(error_of(allocator.free({1, Bytes(0)}, Bytes(100))), HasSubstr("no such chunk"));
  EXPECT_EQ(allocator.in_use(), Bytes(176));
  EXPECT_EQ(allocator.live().size(), 2U);
  EXPECT_TRUE(allocator.free({0, Bytes(0)}, Bytes(100)));
}

TEST(OffsetAllocator, BytesThatAreFreeInAnotherChunkDoNotMatter) {
  OffsetAllocator allocator({.max_chunk_size = Bytes(32), .live_list = Checks::off});
  const ChunkOffsets at = fill(allocator, {16, 16, 16, 16, 16, 16});
  ASSERT_TRUE(allocator.free(at[0], Bytes(16)));
  ASSERT_TRUE(allocator.free(at[4], Bytes(16)));
  EXPECT_TRUE(allocator.free(at[2], Bytes(16)));
  EXPECT_TRUE(allocator.free(at[3], Bytes(16)));
  EXPECT_EQ(allocator.free_block_count(), 2U);
}

// ---------------------------------------------------------------------------------------------------------- live list

TEST(OffsetAllocator, TheLiveListIsOnByDefaultExactlyInBuildsWithoutNdebug) {
#ifdef NDEBUG
  EXPECT_FALSE(OffsetAllocator().has_live_list());
#else
  EXPECT_TRUE(OffsetAllocator().has_live_list());
#endif
  EXPECT_FALSE(OffsetAllocator({.live_list = Checks::off}).has_live_list());
}

TEST(OffsetAllocator, TheCallerSeesWhoIsLiveAtEachNewPeak) {
  std::vector<std::string> seen;
  const auto print = [&seen](const OffsetAllocator& allocator) {
    std::string line = std::to_string(allocator.max_size().value()) + ":";
    for (const OffsetAllocator::Live& live : allocator.live()) line += " " + to_string(live);
    seen.push_back(line);
  };
  OffsetAllocator allocator({.max_chunk_size = Bytes(40), .live_list = Checks::on, .on_peak = print});
  ASSERT_TRUE(allocator.allocate(Bytes(10), "a"));
  ASSERT_TRUE(allocator.allocate(Bytes(20), "b"));
  ASSERT_TRUE(allocator.free({0, Bytes(0)}, Bytes(10)));
  ASSERT_TRUE(allocator.allocate(Bytes(5), "c"));
  ASSERT_TRUE(allocator.allocate(Bytes(30), "d"));
  EXPECT_EQ(seen,
            (std::vector<std::string>{"10: a [0, 10) of chunk 0", "30: a [0, 10) of chunk 0 b [10, 30) of chunk 0",
                                      "60: c [0, 5) of chunk 0 b [10, 30) of chunk 0 d [0, 30) of chunk 1"}));
}

TEST(OffsetAllocator, ACopyIsIndependent) {
  OffsetAllocator allocator;
  const ChunkOffsets at = fill(allocator, {10, 20});
  OffsetAllocator copy = allocator;
  ASSERT_TRUE(copy.free(at[0], Bytes(10)));
  EXPECT_EQ(allocator.in_use(), Bytes(30));
  EXPECT_EQ(allocator.allocate(Bytes(10)), place(0, 30));
  EXPECT_EQ(copy.allocate(Bytes(10)), place(0, 0));
}

}  // namespace
}  // namespace stowage
