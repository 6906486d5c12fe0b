#include "replay/torch/native.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/interface/lagged_device.hpp"
#include "support/replay/torch_model_test.hpp"

namespace stowage::replaying {
namespace {

using ::testing::HasSubstr;
using State = MemorySnapshot::BlockState;

constexpr Bytes kMiB{std::int64_t{1} << 20};

class TorchNative : public TorchModelTest {
 protected:
  TorchNative() : TorchModelTest(mib(64)) { model_ = std::make_unique<TorchNativeModel>(device_); }

  LaggedDevice device_{*sim_, 2};
};

TEST_F(TorchNative, SmallRequestsShareSegmentsOf2MiBInStepsOf512) {
  std::byte* const first = take(Bytes(1));
  EXPECT_EQ(take(Bytes(513)), first + 512);
  EXPECT_EQ(take(kMiB), first + 512 + 1024);
  EXPECT_EQ(reserved(), mib(2));
  EXPECT_EQ(model_->stats().rounded, Bytes(512 + 1024) + kMiB);
  EXPECT_EQ(model_->stats().creates, 1U);
}

TEST_F(TorchNative, RequestsBelow10MiBShareSegmentsOf20MiB) {
  std::byte* const first = take(kMiB + Bytes(1));
  EXPECT_EQ(take(mib(9)), first + (kMiB + Bytes(512)).value());
  EXPECT_EQ(reserved(), mib(20));
}

TEST_F(TorchNative, RequestsFrom10MiBHaveSegmentsInStepsOf2MiB) {
  take(mib(10));
  EXPECT_EQ(reserved(), mib(10));
  take(mib(10) + Bytes(1));
  EXPECT_EQ(reserved(), mib(22));
}

TEST_F(TorchNative, ALargeBlockIsSplitWhereMoreThan1MiBIsLeft) {
  free(take(mib(12)), mib(12));
  std::byte* const whole = take(mib(11));
  EXPECT_EQ(model_->stats().rounded, mib(12));
  free(whole, mib(11));
  take(mib(11) - Bytes(512));
  EXPECT_EQ(model_->stats().rounded, mib(11) - Bytes(512));
}

TEST_F(TorchNative, TheSmallestThatFitsServesTheLowestOfEquals) {
  std::byte* const a = take(mib(14));
  std::byte* const b = take(mib(12));
  std::byte* const c = take(mib(12));
  free(c, mib(12));
  free(b, mib(12));
  free(a, mib(14));
  EXPECT_EQ(take(mib(12)), std::min(b, c));
  EXPECT_EQ(reserved(), mib(38));
}

TEST_F(TorchNative, FreedNeighboursAreOneAgain) {
  std::byte* const a = take(mib(5));
  std::byte* const b = take(mib(5));
  std::byte* const c = take(mib(5));
  free(a, mib(5));
  free(c, mib(5));
  free(b, mib(5));
  EXPECT_EQ(take(mib(20)), a);
  EXPECT_EQ(model_->stats().creates, 1U);
}

TEST_F(TorchNative, StreamsDoNotShare) {
  free(take(Bytes(8), kMain), Bytes(8), kMain);
  take(Bytes(8), kSide);
  EXPECT_EQ(reserved(), mib(4));
}

TEST_F(TorchNative, WhatAnotherStreamUsedWaitsForIt) {
  std::byte* const first = take(mib(10));
  ASSERT_TRUE(model_->record_use(first, kSide));
  free(first, mib(10));
  std::byte* const second = take(mib(10));
  EXPECT_NE(second, first);
  EXPECT_EQ(model_->snapshot().segments[0].blocks[0].state, State::pending);
  device_.advance();
  device_.advance();
  EXPECT_EQ(take(mib(10)), first);
}

TEST_F(TorchNative, ItsOwnStreamIsNoUse) {
  std::byte* const first = take(mib(10));
  ASSERT_TRUE(model_->record_use(first, kMain));
  free(first, mib(10));
  EXPECT_EQ(take(mib(10)), first);
  EXPECT_EQ(model_->record_use(nullptr, kSide).error().code, ErrorCode::invalid);
}

TEST_F(TorchNative, WithoutMemoryIdleSegmentsGoBackFirst) {
  std::byte* const small = take(Bytes(8));
  free(take(mib(40)), mib(40));
  take(mib(60));
  EXPECT_EQ(reserved(), mib(62));
  free(small, Bytes(8));
}

TEST_F(TorchNative, ASegmentInPartialUseStays) {
  std::byte* const a = take(mib(9));
  std::byte* const b = take(mib(9));
  free(a, mib(9));
  const auto refused = model_->allocate(mib(60), kMain);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().message, HasSubstr("62914560 bytes requested; 9437184 live, 20971520 reserved, 11534336 "
                                                 "idle, the largest idle block has 9437184"));
  EXPECT_EQ(model_->stats().failures, 1U);
  EXPECT_EQ(reserved(), mib(20));
  free(b, mib(9));
}

TEST_F(TorchNative, BlocksThatBecomeIdleByWaitingAreReturnedButNotReused) {
  std::byte* const a = take(mib(40));
  ASSERT_TRUE(model_->record_use(a, kSide));
  free(a, mib(40));
  sim_->fail(SimCall::allocate, 1, 2);
  EXPECT_FALSE(model_->allocate(mib(40), kMain))
      << "pytorch #189504: the device fails, and the 40 MiB are not considered again";
  EXPECT_EQ(reserved(), Bytes(0));
  EXPECT_EQ(model_->stats().event_waits, 2U);
}

TEST_F(TorchNative, TrimReturnsIdleSegments) {
  std::byte* const kept = take(Bytes(8));
  free(take(mib(12)), mib(12));
  EXPECT_EQ(model_->trim(), mib(12));
  EXPECT_EQ(reserved(), mib(2));
  free(kept, Bytes(8));
  EXPECT_EQ(model_->trim(), mib(2));
  EXPECT_EQ(sim_->in_use(), Bytes(0));
}

TEST_F(TorchNative, PeaksStartAnewAtWhatIsThere) {
  std::byte* const kept = take(Bytes(8));
  free(take(mib(12)), mib(12));
  model_->reset_peaks();
  AllocatorStats expected;
  expected.requested = expected.requested_peak = Bytes(8);
  expected.rounded = expected.rounded_peak = Bytes(512);
  expected.reserved = expected.reserved_peak = mib(14);
  expected.largest_idle = mib(12);
  expected.live = 1;
  EXPECT_EQ(model_->stats(), expected);
  free(kept, Bytes(8));
}

TEST_F(TorchNative, TheSnapshotShowsSegmentsAndBlocks) {
  std::byte* const a = take(Bytes(600));
  const MemorySnapshot snapshot = model_->snapshot();
  ASSERT_EQ(snapshot.segments.size(), 1U);
  EXPECT_EQ(snapshot.segments[0].size, mib(2));
  ASSERT_EQ(snapshot.segments[0].blocks.size(), 2U);
  EXPECT_EQ(snapshot.segments[0].blocks[0].address, a);
  EXPECT_EQ(snapshot.segments[0].blocks[0].size, Bytes(1024));
  EXPECT_EQ(snapshot.segments[0].blocks[0].requested, Bytes(600));
  EXPECT_EQ(snapshot.segments[0].blocks[1].state, State::idle);
}

TEST_F(TorchNative, NothingGetsNothing) {
  EXPECT_EQ(take(Bytes(0)), nullptr);
  free(nullptr, Bytes(0));
  EXPECT_EQ(model_->allocate(Bytes(-1), kMain).error().code, ErrorCode::invalid);
  EXPECT_EQ(reserved(), Bytes(0));
}

TEST(TorchNativeModel, AddressesAreAlignedOnSkewedMemory) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make({.skew = Bytes(24)});
  TorchNativeModel model(*sim);
  std::byte* const address = model.allocate(Bytes(8), kMain).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(model.alignment().value()), 0U);
  model.free(address, Bytes(8), kMain);
}

}  // namespace
}  // namespace stowage::replaying
