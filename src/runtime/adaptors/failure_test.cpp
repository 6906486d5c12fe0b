#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

constexpr StreamId kStream{};

/// "." for a request that succeeds, "x" for one that fails.
std::string outcomes(Allocator& allocator, int requests, Bytes size = Bytes(100)) {
  std::string text;
  for (int i = 0; i < requests; ++i) {
    const Result<std::byte*> address = allocator.allocate(size, kStream);
    text += address ? '.' : 'x';
    if (address) allocator.free(*address, size, kStream);
  }
  return text;
}

TEST(FailureAdaptor, WithoutRulesNothingFails) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {});
  EXPECT_EQ(outcomes(failure, 100), std::string(100, '.'));
}

TEST(FailureAdaptor, TheNthRequestFails) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.nth = 3});
  EXPECT_EQ(outcomes(failure, 6), "..x...");
  EXPECT_EQ(heap.calls(), 5U) << "the wrapped allocator is not asked";
  EXPECT_EQ(failure.stats().failures, 1U);
  EXPECT_EQ(failure.stats().allocations, 5U);
}

TEST(FailureAdaptor, EveryNthRequestFails) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.every = 3});
  EXPECT_EQ(outcomes(failure, 9), "..x..x..x");
}

TEST(FailureAdaptor, LargeRequestsFail) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.above = Bytes(1000)});
  EXPECT_EQ(outcomes(failure, 2, Bytes(1000)), "..");
  EXPECT_EQ(outcomes(failure, 2, Bytes(1001)), "xx");
}

TEST(FailureAdaptor, ChanceIsTheSameForTheSameSeed) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.probability = 0.25, .seed = 42});
  const std::string first = outcomes(failure, 1000);
  failure.restart({.probability = 0.25, .seed = 42});
  EXPECT_EQ(outcomes(failure, 1000), first);
  failure.restart({.probability = 0.25, .seed = 43});
  EXPECT_NE(outcomes(failure, 1000), first);
  const auto failed = std::count(first.begin(), first.end(), 'x');
  EXPECT_GT(failed, 200);
  EXPECT_LT(failed, 300);
}

TEST(FailureAdaptor, CertaintyAndImpossibilityAreExact) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.probability = 1});
  EXPECT_EQ(outcomes(failure, 50), std::string(50, 'x'));
  failure.restart({.probability = 0});
  EXPECT_EQ(outcomes(failure, 50), std::string(50, '.'));
}

TEST(FailureAdaptor, RulesAddUp) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.nth = 1, .every = 4});
  EXPECT_EQ(outcomes(failure, 8), "x..x...x");
}

TEST(FailureAdaptor, RestartCountsFromOneAgain) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.nth = 2});
  EXPECT_EQ(outcomes(failure, 1), ".");
  failure.restart({.nth = 2});
  EXPECT_EQ(outcomes(failure, 3), ".x.");
}

TEST(FailureAdaptor, RequestsOfNothingDoNotCount) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.nth = 1});
  EXPECT_EQ(failure.allocate(Bytes(0), kStream).value(), nullptr);
  EXPECT_EQ(failure.allocate(Bytes(-1), kStream).error().code, ErrorCode::invalid);
  EXPECT_EQ(outcomes(failure, 2), "x.");
}

TEST(FailureAdaptor, SaysThatTheFailureIsInjected) {
  TestAllocator heap;
  FailureAdaptor failure(heap, {.every = 1});
  const Result<std::byte*> failed = failure.allocate(Bytes(4096), kStream);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(failed.error().message, "injected failure of request 1, 4096 bytes");
  failure.reset_peaks();
  EXPECT_EQ(failure.stats().failures, 0U);
}

}  // namespace
}  // namespace stowage::runtime
