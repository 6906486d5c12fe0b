#include <thread>

#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

constexpr StreamId kMain{0};
constexpr StreamId kSide{5};

/// What every device promises about its streams and events.
class DeviceConformance : public ::testing::TestWithParam<std::string> {
 protected:
  Device& device() { return kind_.device(); }
  std::unique_ptr<Buffer> make(std::int64_t size) { return device().buffer_type().allocate(Bytes(size)).value(); }

 private:
  DeviceKind kind_ = make_device_kind(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance, ::testing::ValuesIn(device_kinds()),
                         [](const auto& kind) { return kind.param; });

TEST_P(DeviceConformance, BuffersAndVirtualMemoryAreOfTheDevice) {
  EXPECT_FALSE(device().name().empty());
  EXPECT_EQ(device().buffer_type().device(), device().id());
  if (device().virtual_memory() == nullptr) return;
  EXPECT_EQ(device().virtual_memory()->device(), device().id());
}

TEST_P(DeviceConformance, CopiesOfOneStreamHappenInOrder) {
  const std::unique_ptr<Buffer> a = make(1000);
  const std::unique_ptr<Buffer> b = make(1000);
  std::vector<std::byte> sent = pattern(1000);
  std::vector<std::byte> received(500);
  ASSERT_TRUE(device().copy(kMain, a->base(), sent.data(), Bytes(1000)));
  ASSERT_TRUE(device().copy(kMain, b->base() + 100, a->base() + 200, Bytes(500)));
  ASSERT_TRUE(device().copy(kMain, received.data(), b->base() + 100, Bytes(500)));
  ASSERT_TRUE(device().synchronize(kMain));
  EXPECT_TRUE(std::equal(received.begin(), received.end(), sent.begin() + 200));
}

TEST_P(DeviceConformance, CopySeesWhatTheBufferWasWritten) {
  const std::unique_ptr<Buffer> buffer = make(64);
  ASSERT_TRUE(buffer->clear(3));
  std::byte last{};
  ASSERT_TRUE(device().copy(kMain, &last, buffer->base() + 63, Bytes(1)));
  ASSERT_TRUE(device().synchronize(kMain));
  EXPECT_EQ(last, std::byte{3});
}

TEST_P(DeviceConformance, ACopyOfNothingIsNothingToDo) {
  EXPECT_TRUE(device().copy(kMain, nullptr, nullptr, Bytes(0)));
}

TEST_P(DeviceConformance, NullAndNegativeCopiesAreRefused) {
  const std::unique_ptr<Buffer> buffer = make(64);
  EXPECT_EQ(device().copy(kMain, nullptr, buffer->base(), Bytes(1)).error().code, ErrorCode::invalid);
  EXPECT_EQ(device().copy(kMain, buffer->base(), nullptr, Bytes(1)).error().code, ErrorCode::invalid);
  EXPECT_EQ(device().copy(kMain, buffer->base(), buffer->base() + 8, Bytes(-1)).error().code, ErrorCode::invalid);
}

TEST_P(DeviceConformance, FillsAndCopiesOfOneStreamHappenInOrder) {
  const std::unique_ptr<Buffer> buffer = make(1000);
  std::vector<std::byte> sent = pattern(1000);
  std::vector<std::byte> received(1000);
  ASSERT_TRUE(device().copy(kMain, buffer->base(), sent.data(), Bytes(1000)));
  ASSERT_TRUE(device().fill(kMain, buffer->base() + 101, 0x5a, Bytes(333)));
  ASSERT_TRUE(device().fill(kMain, buffer->base() + 433, 0xff, Bytes(1)));
  ASSERT_TRUE(device().copy(kMain, received.data(), buffer->base(), Bytes(1000)));
  ASSERT_TRUE(device().fill(kMain, buffer->base(), 0, Bytes(1000)));
  ASSERT_TRUE(device().synchronize(kMain));
  std::fill(sent.begin() + 101, sent.begin() + 433, std::byte{0x5a});
  sent[433] = std::byte{0xff};
  EXPECT_EQ(received, sent);
}

TEST_P(DeviceConformance, AStreamThatWaitsSeesTheFillOfTheOther) {
  const std::unique_ptr<Buffer> buffer = make(64);
  std::byte received{};
  ASSERT_TRUE(device().fill(kMain, buffer->base(), 42, Bytes(64)));
  const EventId event = device().record(kMain).value();
  ASSERT_TRUE(device().wait(kSide, event));
  device().forget(event);
  ASSERT_TRUE(device().copy(kSide, &received, buffer->base() + 63, Bytes(1)));
  ASSERT_TRUE(device().synchronize(kSide));
  EXPECT_EQ(received, std::byte{42});
}

TEST_P(DeviceConformance, FillsReachMappedPages) {
  VirtualMemory* const memory = device().virtual_memory();
  if (memory == nullptr) GTEST_SKIP() << "NO VIRTUAL MEMORY";
  const Bytes page = memory->granularity();
  std::byte* const base = memory->reserve(page).value();
  const PhysicalId physical = memory->create(page).value();
  ASSERT_TRUE(memory->map(base, physical, Bytes(0), page));
  std::byte received{};
  ASSERT_TRUE(device().fill(kMain, base, 7, page));
  ASSERT_TRUE(device().copy(kMain, &received, base + page.value() - 1, Bytes(1)));
  ASSERT_TRUE(device().synchronize(kMain));
  EXPECT_EQ(received, std::byte{7});
  ASSERT_TRUE(memory->unmap(base, page));
  ASSERT_TRUE(memory->release(physical));
  ASSERT_TRUE(memory->free(base, page));
}

TEST_P(DeviceConformance, AFillOfNothingIsNothingToDo) { EXPECT_TRUE(device().fill(kMain, nullptr, 1, Bytes(0))); }

TEST_P(DeviceConformance, NullAndNegativeFillsAreRefused) {
  const std::unique_ptr<Buffer> buffer = make(64);
  EXPECT_EQ(device().fill(kMain, nullptr, 0, Bytes(1)).error().code, ErrorCode::invalid);
  EXPECT_EQ(device().fill(kMain, buffer->base(), 0, Bytes(-1)).error().code, ErrorCode::invalid);
}

TEST_P(DeviceConformance, ATypeThatCanTellKnowsItsOwnMemory) {
  const std::unique_ptr<Buffer> buffer = make(64);
  const BufferType& type = device().buffer_type();
  std::byte on_the_stack{};
  EXPECT_NE(type.owns(buffer->base() + 63), std::optional(false));
  EXPECT_TRUE(type.host_visible() || type.owns(&on_the_stack) == std::optional(false));
}

TEST_P(DeviceConformance, AnEventOfAnIdleStreamCompletesByItself) {
  const EventId event = device().record(kMain).value();
  while (!device().is_complete(event).value()) std::this_thread::yield();
  device().forget(event);
}

TEST_P(DeviceConformance, SynchronizeCompletesTheEventsBeforeIt) {
  const std::unique_ptr<Buffer> buffer = make(64);
  std::byte one{1};
  ASSERT_TRUE(device().copy(kMain, buffer->base(), &one, Bytes(1)));
  const EventId event = device().record(kMain).value();
  ASSERT_TRUE(device().synchronize(kMain));
  EXPECT_TRUE(device().is_complete(event).value());
  device().forget(event);
}

TEST_P(DeviceConformance, AStreamThatWaitsSeesTheWorkOfTheOther) {
  const std::unique_ptr<Buffer> buffer = make(64);
  std::byte sent{42};
  std::byte received{};
  ASSERT_TRUE(device().copy(kMain, buffer->base(), &sent, Bytes(1)));
  const EventId event = device().record(kMain).value();
  ASSERT_TRUE(device().wait(kSide, event));
  device().forget(event);
  ASSERT_TRUE(device().copy(kSide, &received, buffer->base(), Bytes(1)));
  ASSERT_TRUE(device().synchronize(kSide));
  EXPECT_EQ(received, std::byte{42});
}

TEST_P(DeviceConformance, ForgottenAndUnknownEventsAreInvalid) {
  const EventId event = device().record(kMain).value();
  device().forget(event);
  device().forget(event);
  for (const EventId bad : {event, EventId{0}, EventId{~std::uint64_t{0}}}) {
    EXPECT_EQ(device().wait(kSide, bad).error().code, ErrorCode::invalid);
    EXPECT_EQ(device().is_complete(bad).error().code, ErrorCode::invalid);
  }
  EXPECT_NE(device().record(kMain).value(), event);
}

TEST_P(DeviceConformance, AStreamMayWaitForItself) {
  const EventId event = device().record(kMain).value();
  EXPECT_TRUE(device().wait(kMain, event));
  EXPECT_TRUE(device().synchronize(kMain));
  device().forget(event);
}

}  // namespace
}  // namespace stowage::memory
