#include <array>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/stream_allocator.hpp"

/// What `StreamAllocator` does while a stream is captured into a graph.
namespace stowage::runtime {
namespace {

constexpr StreamId kMain{1};
constexpr StreamId kSide{2};

Bytes mib(std::int64_t count) { return Bytes(count << 20); }

class StreamCapture : public ::testing::Test {
 protected:
  explicit StreamCapture(SimOptions options = {.memory = mib(64)}) : device_(SimDevice::make(std::move(options))) {}
  ~StreamCapture() override {
    allocator_.reset();
    EXPECT_EQ(device_->live_objects(), 0U);
    EXPECT_THAT(device_->violations(), ::testing::IsEmpty());
  }

  std::byte* get(Bytes size, StreamId stream) {
    const Result<std::byte*> address = allocator_->allocate(size, stream);
    EXPECT_TRUE(address) << address.error().message;
    return address ? *address : nullptr;
  }
  void put(std::byte* address, Bytes size, StreamId stream) { allocator_->free(address, size, stream); }
  /// Calls that would invalidate a capture, or make the graph depend on work outside it.
  [[nodiscard]] std::uint64_t forbidden_calls() const {
    std::uint64_t sum = 0;
    for (const SimCall call : {SimCall::record, SimCall::wait, SimCall::synchronize, SimCall::unmap})
      sum += device_->calls(call);
    return sum;
  }

  const std::unique_ptr<SimDevice> device_;
  std::unique_ptr<StreamAllocator> allocator_ =
      std::make_unique<StreamAllocator>(*device_, StreamOptions{.checks = Checks::on});
};

TEST_F(StreamCapture, AStreamThatFallsShortGrowsAndTakesNothingFromOthers) {
  put(get(mib(32), kMain), mib(32), kMain);
  allocator_->begin_capture();
  const std::uint64_t before = forbidden_calls();
  std::byte* const block = get(mib(32), kSide);
  EXPECT_EQ(forbidden_calls(), before);
  EXPECT_EQ(allocator_->stats().reserved, mib(64));
  put(block, mib(32), kSide);
  EXPECT_EQ(forbidden_calls(), before);
  allocator_->end_capture();
}

TEST_F(StreamCapture, WhatIsFreedServesTheSameStreamAgain) {
  allocator_->begin_capture();
  std::byte* const block = get(mib(8), kMain);
  put(block, mib(8), kMain);
  EXPECT_EQ(get(mib(8), kMain), block);
  put(block, mib(8), kMain);
  allocator_->end_capture();
}

TEST_F(StreamCapture, WhatAnotherStreamUsesStaysUntilTheEnd) {
  allocator_->begin_capture();
  std::byte* const block = get(mib(8), kMain);
  ASSERT_TRUE(allocator_->record_use(block, kSide));
  const std::uint64_t before = forbidden_calls();
  put(block, mib(8), kMain);
  std::byte* const other = get(mib(8), kMain);
  EXPECT_NE(other, block);
  EXPECT_EQ(forbidden_calls(), before);
  allocator_->end_capture();
  std::byte* const large = get(mib(48), kMain);  // falls short, collects, and reuses the first block
  EXPECT_EQ(allocator_->stats().reserved, mib(56));
  put(large, mib(48), kMain);
  put(other, mib(8), kMain);
}

TEST_F(StreamCapture, OutOfMemoryIsSaidWithoutWaiting) {
  std::byte* const block = get(mib(40), kMain);
  put(block, mib(40), kMain);
  allocator_->begin_capture();
  const std::uint64_t before = forbidden_calls();
  const Result<std::byte*> refused = allocator_->allocate(mib(40), kSide);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(forbidden_calls(), before);
  allocator_->end_capture();
  put(get(mib(40), kSide), mib(40), kSide);
}

TEST_F(StreamCapture, NothingIsReturnedToTheDevice) {
  put(get(mib(16), kMain), mib(16), kMain);
  allocator_->begin_capture();
  allocator_->begin_capture();
  EXPECT_EQ(allocator_->trim(), Bytes(0));
  allocator_->end_capture();
  EXPECT_EQ(allocator_->trim(), Bytes(0));
  allocator_->end_capture();
  EXPECT_EQ(allocator_->trim(), mib(16));
}

/// An allocator that is short of memory asks the device's other allocators, but not one whose memory a graph uses.
TEST_F(StreamCapture, AnotherAllocatorGetsNothingOfItsIdleMemory) {
  put(get(mib(40), kMain), mib(40), kMain);
  allocator_->begin_capture();
  StreamAllocator other(*device_, {});
  EXPECT_FALSE(other.allocate(mib(40), kMain));
  allocator_->end_capture();
  EXPECT_TRUE(other.allocate(mib(40), kMain));
}

/// During a capture the device is not even asked whether events are complete.
TEST_F(StreamCapture, WhatAnotherStreamIsDoneWithIsFoundOutAfterwards) {
  std::byte* const block = get(mib(8), kMain);
  ASSERT_TRUE(allocator_->record_use(block, kSide));
  ASSERT_TRUE(device_->launch(kSide, std::array<const std::byte*, 1>{block}));
  put(block, mib(8), kMain);
  const auto state = [&] { return allocator_->snapshot().segments.at(0).blocks.at(0).state; };
  EXPECT_EQ(state(), MemorySnapshot::BlockState::pending);
  allocator_->begin_capture();
  device_->finish_all();
  EXPECT_EQ(state(), MemorySnapshot::BlockState::pending);
  EXPECT_EQ(allocator_->stats().largest_idle, Bytes(0));
  allocator_->end_capture();
  EXPECT_EQ(state(), MemorySnapshot::BlockState::idle);
}

TEST(StreamAllocatorsWithOnePool, ShareItsLimitAndItsPages) {
  const std::unique_ptr<SimDevice> device = SimDevice::make({});
  {
    PhysicalPool pool(*device->virtual_memory(), mib(16));
    StreamAllocator first(*device, {.pool = &pool});
    StreamAllocator second(*device, {.pool = &pool});
    std::byte* const block = first.allocate(mib(16), kMain).value();
    EXPECT_FALSE(second.allocate(mib(2), kMain));
    first.free(block, mib(16), kMain);
    EXPECT_TRUE(second.allocate(mib(16), kMain));
    EXPECT_EQ(pool.counts().created_peak, mib(16));
    EXPECT_EQ(first.stats().reserved, Bytes(0));
  }
  EXPECT_EQ(device->live_objects(), 0U);
}

}  // namespace
}  // namespace stowage::runtime
