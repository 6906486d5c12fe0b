#include <vector>

#include <gtest/gtest.h>

#include "stowage/runtime/adaptors.hpp"
#include "support/runtime/plain_allocator.hpp"

namespace stowage::runtime {
namespace {

constexpr StreamId kStream{};

TEST(FailureCallbackAdaptor, WhatTheCallbackFreesServesTheRequest) {
  TestAllocator heap(Bytes(4096));
  std::vector<std::byte*> cache;
  std::vector<std::string> reasons;
  FailureCallbackAdaptor* self = nullptr;
  FailureCallbackAdaptor adaptor(heap, [&](Bytes size, StreamId stream, const Error& error) {
    EXPECT_EQ(size, Bytes(2048));
    EXPECT_EQ(stream, kStream);
    reasons.push_back(error.message);
    if (cache.empty()) return false;
    self->free(cache.back(), Bytes(1024), kStream);  // through the adaptor, in the middle of its own call
    cache.pop_back();
    return true;
  });
  self = &adaptor;
  for (int i = 0; i < 4; ++i) cache.push_back(adaptor.allocate(Bytes(1024), kStream).value());
  std::byte* const address = adaptor.allocate(Bytes(2048), kStream).value();
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(reasons.size(), 2U);
  EXPECT_EQ(adaptor.stats().failures, 0U) << "it was recovered from";
  EXPECT_EQ(heap.stats().failures, 2U);
  adaptor.free(address, Bytes(2048), kStream);
  for (std::byte* cached : cache) adaptor.free(cached, Bytes(1024), kStream);
}

TEST(FailureCallbackAdaptor, GivingUpReturnsTheLastError) {
  TestAllocator heap;
  int calls = 0;
  FailureCallbackAdaptor adaptor(heap, [&](Bytes, StreamId, const Error&) { return ++calls < 3; });
  heap.fail_next(10);
  const Result<std::byte*> failed = adaptor.allocate(Bytes(1), kStream);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(heap.calls(), 3U);
  EXPECT_EQ(adaptor.stats().failures, 1U);
  adaptor.reset_peaks();
  EXPECT_EQ(adaptor.stats().failures, 0U);
}

TEST(FailureCallbackAdaptor, OnlyALackOfMemoryIsWorthACall) {
  TestAllocator heap;
  int calls = 0;
  FailureCallbackAdaptor adaptor(heap, [&](Bytes, StreamId, const Error&) { return ++calls, true; });
  EXPECT_EQ(adaptor.allocate(Bytes(-1), kStream).error().code, ErrorCode::invalid);
  EXPECT_EQ(calls, 0);
}

TEST(FailureCallbackAdaptor, WithoutACallbackItGivesUp) {
  TestAllocator heap;
  FailureCallbackAdaptor adaptor(heap, {});
  heap.fail_next(1);
  EXPECT_FALSE(adaptor.allocate(Bytes(1), kStream));
}

}  // namespace
}  // namespace stowage::runtime
