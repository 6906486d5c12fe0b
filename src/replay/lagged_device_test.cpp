#include "replay/interface/lagged_device.hpp"

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"

namespace stowage::replaying {
namespace {

constexpr StreamId kMain{0};
constexpr StreamId kSide{1};
constexpr StreamId kThird{2};

class Lagged : public ::testing::Test {
 protected:
  EventId record(StreamId stream) { return device_.record(stream).value(); }
  bool is_complete(EventId event) { return device_.is_complete(event).value(); }
  void advance(int times) {
    for (int i = 0; i < times; ++i) device_.advance();
  }

  std::unique_ptr<SimDevice> memory_ = SimDevice::make();
  LaggedDevice device_{*memory_, 3};
};

TEST_F(Lagged, EventsAreCompleteAfterTheLag) {
  const EventId first = record(kMain);
  advance(2);
  const EventId second = record(kMain);
  EXPECT_FALSE(is_complete(first));
  advance(1);
  EXPECT_TRUE(is_complete(first));
  EXPECT_FALSE(is_complete(second));
  advance(2);
  EXPECT_TRUE(is_complete(second));
}

TEST_F(Lagged, WithoutALagEventsAreCompleteAtOnce) {
  LaggedDevice device(*memory_, 0);
  EXPECT_TRUE(device.is_complete(device.record(kMain).value()).value());
}

TEST_F(Lagged, SynchronizeCompletesItsStreamOnly) {
  const EventId main = record(kMain);
  const EventId side = record(kSide);
  ASSERT_TRUE(device_.synchronize(kMain));
  EXPECT_TRUE(is_complete(main));
  EXPECT_FALSE(is_complete(side));
  device_.advance();
  EXPECT_FALSE(is_complete(record(kMain)));
}

TEST_F(Lagged, SynchronizeCompletesWhatTheStreamWaitsForAndWhatThatWaitedFor) {
  const EventId third = record(kThird);
  const EventId later = record(kThird);
  ASSERT_TRUE(device_.wait(kSide, third));
  const EventId side = record(kSide);
  ASSERT_TRUE(device_.wait(kMain, side));
  const EventId after = record(kSide);
  device_.forget(side);
  ASSERT_TRUE(device_.synchronize(kMain));
  EXPECT_TRUE(is_complete(third));
  EXPECT_FALSE(is_complete(later));
  EXPECT_FALSE(is_complete(after));
}

TEST_F(Lagged, AWaitAfterTheEventIsNoPartOfIt) {
  const EventId side = record(kSide);
  const EventId third = record(kThird);
  ASSERT_TRUE(device_.wait(kSide, third));
  ASSERT_TRUE(device_.wait(kMain, side));
  ASSERT_TRUE(device_.synchronize(kMain));
  EXPECT_TRUE(is_complete(side));
  EXPECT_FALSE(is_complete(third));
}

TEST_F(Lagged, ForgottenAndForeignEventsAreInvalid) {
  const EventId first = record(kMain);
  const EventId second = record(kMain);
  device_.forget(second);
  device_.forget(second);
  EXPECT_TRUE(device_.wait(kMain, first));
  device_.forget(first);
  for (const EventId event : {first, second, EventId{0}, EventId{99}}) {
    EXPECT_EQ(device_.is_complete(event).error().code, ErrorCode::invalid);
    EXPECT_EQ(device_.wait(kMain, event).error().code, ErrorCode::invalid);
    device_.forget(event);
  }
  EXPECT_EQ(static_cast<std::uint64_t>(record(kMain)), static_cast<std::uint64_t>(second) + 1) << "ids are not reused";
}

TEST_F(Lagged, AStreamThatWasSynchronizedIsIdleUntilTimePasses) {
  ASSERT_TRUE(device_.synchronize(kMain));
  EXPECT_TRUE(device_.is_complete(record(kMain)).value());
  const EventId other = record(StreamId(7));
  ASSERT_TRUE(device_.wait(kMain, other));
  EXPECT_FALSE(device_.is_complete(record(kMain)).value()) << "it waits for a stream that lags";
  ASSERT_TRUE(device_.synchronize(kMain));
  device_.advance();
  EXPECT_FALSE(device_.is_complete(record(kMain)).value());
}

TEST_F(Lagged, MemoryIsTheOtherDevices) {
  EXPECT_EQ(device_.id(), memory_->id());
  EXPECT_EQ(device_.virtual_memory(), memory_->virtual_memory());
  const auto buffer = device_.buffer_type().allocate(Bytes(4)).value();
  const std::byte sent{9};
  std::byte read{};
  ASSERT_TRUE(device_.copy(kMain, buffer->base(), &sent, Bytes(1)));
  ASSERT_TRUE(buffer->read(Bytes(0), {&read, 1}));
  EXPECT_EQ(read, sent);
}

}  // namespace
}  // namespace stowage::replaying
