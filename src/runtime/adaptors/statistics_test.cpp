#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

constexpr StreamId kStream{};

std::byte* take(Allocator& allocator, std::int64_t size) { return allocator.allocate(Bytes(size), kStream).value(); }
void give(Allocator& allocator, std::byte* address, std::int64_t size) {
  allocator.free(address, Bytes(size), kStream);
}

TEST(StatisticsAdaptor, CountsOnlyWhatGoesThroughIt) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  std::byte* const outside = take(heap, 10000);
  std::byte* const inside = take(statistics, 100);
  const AllocatorStats stats = statistics.stats();
  EXPECT_EQ(stats.requested, Bytes(100));
  EXPECT_EQ(stats.rounded, Bytes(512));
  EXPECT_EQ(stats.requested_peak, Bytes(100));
  EXPECT_EQ(stats.rounded_peak, Bytes(512));
  EXPECT_EQ(stats.live, 1U);
  EXPECT_EQ(stats.allocations, 1U);
  EXPECT_EQ(stats.reserved, Bytes(512 + 10240)) << "the footprint is that of the wrapped allocator";
  EXPECT_EQ(stats.creates, 2U);
  give(statistics, inside, 100);
  give(heap, outside, 10000);
}

TEST(StatisticsAdaptor, ALevelStartsAtZero) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  std::byte* const before = take(statistics, 5000);
  statistics.push();
  EXPECT_EQ(statistics.counters(), AllocationCounters{});
  std::byte* const in = take(statistics, 100);
  give(statistics, in, 100);
  const AllocationCounters level = statistics.pop().value();
  EXPECT_EQ(level.requested, Bytes(0));
  EXPECT_EQ(level.requested_peak, Bytes(100));
  EXPECT_EQ(level.rounded_peak, Bytes(512));
  EXPECT_EQ(level.allocations, 1U);
  EXPECT_EQ(level.frees, 1U);
  give(statistics, before, 5000);
}

TEST(StatisticsAdaptor, TheOuterPeakTakesTheInnerOneIntoAccount) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  std::byte* const outer = take(statistics, 1000);
  statistics.push();
  std::byte* const inner = take(statistics, 3000);
  give(statistics, inner, 3000);
  EXPECT_EQ(statistics.pop().value().requested_peak, Bytes(3000));
  std::byte* const later = take(statistics, 500);
  const AllocationCounters level = statistics.pop().value();
  EXPECT_EQ(level.requested, Bytes(1500));
  EXPECT_EQ(level.requested_peak, Bytes(4000));
  EXPECT_EQ(level.allocations, 3U);
  EXPECT_EQ(statistics.stats().requested_peak, Bytes(4000));
  give(statistics, outer, 1000);
  give(statistics, later, 500);
}

TEST(StatisticsAdaptor, AnOuterPeakBeforeTheInnerLevelStays) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  give(statistics, take(statistics, 9000), 9000);
  statistics.push();
  give(statistics, take(statistics, 3000), 3000);
  EXPECT_EQ(statistics.pop().value().requested_peak, Bytes(3000));
  EXPECT_EQ(statistics.pop().value().requested_peak, Bytes(9000));
}

TEST(StatisticsAdaptor, StatsSeePeaksOfLevelsThatAreStillOpen) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  give(statistics, take(statistics, 3000), 3000);
  statistics.push();
  give(statistics, take(statistics, 2000), 2000);
  EXPECT_EQ(statistics.stats().requested_peak, Bytes(3000)) << "of the outer level";
  give(statistics, take(statistics, 5000), 5000);
  EXPECT_EQ(statistics.stats().requested_peak, Bytes(5000)) << "of the inner level";
  EXPECT_EQ(statistics.stats().allocations, 3U);
}

TEST(StatisticsAdaptor, FreeingOlderMemoryCountsBelowZero) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  std::byte* const older = take(statistics, 2000);
  statistics.push();
  give(statistics, older, 2000);
  std::byte* const newer = take(statistics, 500);
  const AllocationCounters level = statistics.pop().value();
  EXPECT_EQ(level.requested, Bytes(-1500));
  EXPECT_EQ(level.rounded, Bytes(512 - 2048));
  EXPECT_EQ(level.requested_peak, Bytes(0)) << "it never exceeded the value at the level's beginning";
  give(statistics, newer, 500);
}

TEST(StatisticsAdaptor, LevelsSayHowTheFootprintGrew) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  give(statistics, take(statistics, 4096), 4096);
  statistics.push();
  give(statistics, take(statistics, 4096), 4096);  // from idle memory
  EXPECT_EQ(statistics.counters().reserved, Bytes(0));
  give(statistics, take(statistics, 1024), 1024);
  EXPECT_EQ(statistics.counters().reserved, Bytes(1024));
  EXPECT_EQ(statistics.trim(), Bytes(5120));
  const AllocationCounters level = statistics.pop().value();
  EXPECT_EQ(level.reserved, Bytes(-4096));
  EXPECT_EQ(level.reserved_peak, Bytes(1024));
}

TEST(StatisticsAdaptor, FailuresCountInEveryLevel) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  heap.fail_next(2);
  EXPECT_FALSE(statistics.allocate(Bytes(1), kStream));
  EXPECT_FALSE(statistics.allocate(Bytes(1), kStream));
  EXPECT_EQ(statistics.pop().value().failures, 2U);
  EXPECT_EQ(statistics.stats().failures, 2U);
  EXPECT_EQ(statistics.stats().allocations, 0U);
}

TEST(StatisticsAdaptor, PopWithoutPushIsInvalid) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  EXPECT_TRUE(statistics.pop());
  const Result<AllocationCounters> popped = statistics.pop();
  ASSERT_FALSE(popped);
  EXPECT_EQ(popped.error().code, ErrorCode::invalid);
  give(statistics, take(statistics, 100), 100);
  EXPECT_EQ(statistics.counters().requested_peak, Bytes(100)) << "the outermost level still counts";
}

TEST(StatisticsAdaptor, ResetPeaksRestartsAllLevels) {
  TestAllocator heap;
  StatisticsAdaptor statistics(heap);
  statistics.push();
  std::byte* const kept = take(statistics, 1000);
  give(statistics, take(statistics, 3000), 3000);
  statistics.reset_peaks();
  EXPECT_EQ(statistics.stats().requested_peak, Bytes(1000));
  EXPECT_EQ(statistics.stats().allocations, 0U);
  EXPECT_EQ(statistics.stats().live, 1U);
  give(statistics, take(statistics, 200), 200);
  EXPECT_EQ(statistics.pop().value().requested_peak, Bytes(200));
  give(statistics, kept, 1000);
}

}  // namespace
}  // namespace stowage::runtime
