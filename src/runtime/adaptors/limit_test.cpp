#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

constexpr StreamId kStream{};

TEST(LimitAdaptor, RefusesWhatWouldExceedTheLimitWithFigures) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(4096));
  std::byte* const address = limit.allocate(Bytes(3000), kStream).value();
  const Result<std::byte*> refused = limit.allocate(Bytes(1100), kStream);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(refused.error().message, "limit: 1100 bytes requested, 1536 when rounded; 3072 of 4096 are live");
  EXPECT_EQ(heap.calls(), 1U) << "the wrapped allocator is not asked";
  limit.free(address, Bytes(3000), kStream);
}

TEST(LimitAdaptor, CountsRoundedSizes) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(1024));
  std::byte* const first = limit.allocate(Bytes(1), kStream).value();
  std::byte* const second = limit.allocate(Bytes(512), kStream).value();
  EXPECT_EQ(limit.used(), Bytes(1024));
  EXPECT_FALSE(limit.allocate(Bytes(1), kStream));
  limit.free(first, Bytes(1), kStream);
  EXPECT_EQ(limit.used(), Bytes(512));
  std::byte* const third = limit.allocate(Bytes(512), kStream).value();
  limit.free(second, Bytes(512), kStream);
  limit.free(third, Bytes(512), kStream);
  EXPECT_EQ(limit.used(), Bytes(0));
}

TEST(LimitAdaptor, TheLimitItselfIsAllowed) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(4096));
  std::byte* const all = limit.allocate(Bytes(4096), kStream).value();
  limit.free(all, Bytes(4096), kStream);
}

TEST(LimitAdaptor, WhatIsIdleBelowCountsAsFarAsTheLimitReaches) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(5120));
  limit.free(limit.allocate(Bytes(4096), kStream).value(), Bytes(4096), kStream);
  EXPECT_EQ(limit.stats().largest_idle, Bytes(4096));
  std::byte* const address = limit.allocate(Bytes(2048), kStream).value();
  EXPECT_EQ(heap.stats().largest_idle, Bytes(4096));
  EXPECT_EQ(limit.stats().largest_idle, Bytes(3072));
  limit.free(address, Bytes(2048), kStream);
}

TEST(LimitAdaptor, AFailureBelowTakesNothing) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(4096));
  heap.fail_next(1);
  EXPECT_FALSE(limit.allocate(Bytes(4096), kStream));
  EXPECT_EQ(limit.used(), Bytes(0));
  limit.free(limit.allocate(Bytes(4096), kStream).value(), Bytes(4096), kStream);
}

TEST(LimitAdaptor, RefusalsAreFailuresUntilPeaksAreReset) {
  TestAllocator heap;
  LimitAdaptor limit(heap, Bytes(0));
  EXPECT_FALSE(limit.allocate(Bytes(1), kStream));
  EXPECT_FALSE(limit.allocate(kMaxBytes, kStream));
  EXPECT_EQ(limit.stats().failures, 2U);
  EXPECT_EQ(heap.stats().failures, 0U);
  limit.reset_peaks();
  EXPECT_EQ(limit.stats().failures, 0U);
}

}  // namespace
}  // namespace stowage::runtime
