#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Bytes kPage{4096};
constexpr StreamId kMain{0};
constexpr StreamId kSide{1};
constexpr StreamId kThird{2};

/// One device with a buffer of 64 bytes.
class SimPending : public ::testing::Test {
 protected:
  Status launch(StreamId stream) { return device_->launch(stream, std::array<const std::byte*, 1>{buffer_->base()}); }
  EventId record(StreamId stream) { return device_->record(stream).value(); }
  bool is_complete(EventId event) { return device_->is_complete(event).value(); }

  std::unique_ptr<SimDevice> device_ = SimDevice::make({.granularity = kPage});
  std::unique_ptr<Buffer> buffer_ = device_->buffer_type().allocate(Bytes(64)).value();
};

TEST_F(SimPending, WorkIsPendingUntilItIsFinishedOldestFirst) {
  ASSERT_TRUE(launch(kMain));
  const EventId first = record(kMain);
  ASSERT_TRUE(launch(kMain));
  const EventId second = record(kMain);
  EXPECT_FALSE(is_complete(first));
  device_->finish(kSide);
  EXPECT_FALSE(is_complete(first));
  device_->finish(kMain);
  EXPECT_TRUE(is_complete(first));
  EXPECT_FALSE(is_complete(second));
  device_->finish(kMain, 100);
  EXPECT_TRUE(is_complete(second));
}

TEST_F(SimPending, BytesAreCopiedWhenTheCopyFinishes) {
  ASSERT_TRUE(buffer_->clear(1));
  std::byte sent{2};
  std::byte now{};
  ASSERT_TRUE(device_->copy(kMain, buffer_->base(), &sent, Bytes(1)));
  ASSERT_TRUE(buffer_->read(Bytes(0), {&now, 1}));
  EXPECT_EQ(now, std::byte{1});
  device_->finish(kMain);
  ASSERT_TRUE(buffer_->read(Bytes(0), {&now, 1}));
  EXPECT_EQ(now, std::byte{2});
}

TEST_F(SimPending, BytesAreFilledWhenTheFillFinishes) {
  const std::unique_ptr<Buffer> buffer = device_->buffer_type().allocate(Bytes(8)).value();
  ASSERT_TRUE(device_->fill(kMain, buffer->base() + 2, 9, Bytes(4)));
  std::array<std::byte, 8> bytes = {};
  ASSERT_TRUE(buffer->read(Bytes(0), bytes));
  EXPECT_EQ(bytes[2], std::byte{0xa5});
  device_->finish(kMain);
  ASSERT_TRUE(buffer->read(Bytes(0), bytes));
  EXPECT_EQ(bytes[1], std::byte{0xa5});
  EXPECT_EQ(bytes[2], std::byte{9});
  EXPECT_EQ(bytes[5], std::byte{9});
  EXPECT_EQ(bytes[6], std::byte{0xa5});
  EXPECT_THAT(device_->violations(), IsEmpty());
}

TEST_F(SimPending, AKernelComputesWhenItIsFinished) {
  ASSERT_TRUE(buffer_->fill({Bytes(0), Bytes(4)}, 3));
  std::array<std::byte, 2> host{};
  const SimRange input{buffer_->base(), Bytes(4)};
  const SimRange nothing{buffer_->base(), Bytes(0)};
  const SimRange output{host.data(), Bytes(2)};
  const auto sum = [](std::span<const std::vector<std::byte>> inputs, std::span<std::vector<std::byte>> outputs) {
    int total = 0;
    for (const std::byte value : inputs[0]) total += std::to_integer<int>(value);
    outputs[0].back() = static_cast<std::byte>(total + static_cast<int>(inputs[1].size()));
  };
  ASSERT_TRUE(
      device_->launch_kernel(kMain, SimKernel{.inputs = {input, nothing}, .outputs = {output}, .compute = sum}));
  ASSERT_TRUE(buffer_->fill({Bytes(0), Bytes(2)}, 4));
  EXPECT_EQ(host[1], std::byte{0});
  device_->finish(kMain);
  EXPECT_EQ(host[1], std::byte{14});
  EXPECT_FALSE(device_->launch_kernel(
      kMain, SimKernel{.inputs = {{buffer_->base(), Bytes(65)}}, .outputs = {}, .compute = sum}));
  EXPECT_FALSE(
      device_->launch_kernel(kMain, SimKernel{.inputs = {{nullptr, Bytes(1)}}, .outputs = {}, .compute = sum}));
  EXPECT_EQ(device_->violations().size(), 2U);
}

TEST_F(SimPending, AnOutputThatItsKernelResizesIsAViolationAndHarmless) {
  std::array<std::byte, 4> host{};
  for (const std::size_t size : {std::size_t{64}, std::size_t{1}}) {
    const auto compute = [size](auto, auto outputs) { outputs[0].assign(size, std::byte{7}); };
    ASSERT_TRUE(device_->launch_kernel(kMain, {{}, {{host.data(), Bytes(2)}}, compute}));
    device_->finish_all();
  }
  EXPECT_THAT(host, ElementsAre(std::byte{7}, std::byte{0}, std::byte{0}, std::byte{0}));
  EXPECT_THAT(device_->violations(),
              ElementsAre(HasSubstr("output 0 has 2 bytes, but the kernel returned 64"), HasSubstr("returned 1")));
}

TEST_F(SimPending, AWaitHoldsBackWhatComesAfterIt) {
  ASSERT_TRUE(launch(kMain));
  const EventId main = record(kMain);
  ASSERT_TRUE(launch(kSide));
  const EventId before = record(kSide);
  ASSERT_TRUE(device_->wait(kSide, main));
  const EventId after_wait = record(kSide);
  ASSERT_TRUE(launch(kSide));
  const EventId after = record(kSide);
  device_->finish(kSide, 2);
  EXPECT_TRUE(is_complete(before));
  EXPECT_FALSE(is_complete(after_wait));
  EXPECT_FALSE(is_complete(after));
  device_->finish(kMain);
  EXPECT_TRUE(is_complete(after_wait));
  EXPECT_FALSE(is_complete(after));
  device_->finish(kSide);
  EXPECT_TRUE(is_complete(after));
}

TEST_F(SimPending, SynchronizeFinishesWhatTheStreamWaitsForAndNoMore) {
  ASSERT_TRUE(launch(kMain));
  const EventId main = record(kMain);
  ASSERT_TRUE(launch(kMain));
  const EventId later = record(kMain);
  ASSERT_TRUE(device_->wait(kSide, main));
  ASSERT_TRUE(launch(kSide));
  const EventId side = record(kSide);
  ASSERT_TRUE(device_->wait(kThird, side));
  ASSERT_TRUE(device_->synchronize(kThird));
  EXPECT_TRUE(is_complete(main));
  EXPECT_TRUE(is_complete(side));
  EXPECT_FALSE(is_complete(later));
  device_->finish_all();
  EXPECT_TRUE(is_complete(later));
}

TEST_F(SimPending, ABufferFreedUnderPendingWorkIsAViolation) {
  ASSERT_TRUE(launch(kMain));
  buffer_.reset();
  EXPECT_THAT(device_->violations(), ElementsAre("sim: a buffer of 64 bytes was freed while pending work uses it"));
  EXPECT_EQ(device_->live_objects(), 0U);
  device_->finish_all();
}

TEST_F(SimPending, ABufferFreedUnderAPendingCopyIsAViolationAndHarmless) {
  auto other = device_->buffer_type().allocate(Bytes(64)).value();
  ASSERT_TRUE(device_->copy(kMain, other->base(), buffer_->base(), Bytes(64)));
  other.reset();
  buffer_.reset();
  EXPECT_EQ(device_->violations().size(), 2U);
  device_->finish_all();
}

TEST_F(SimPending, ABufferFreedAfterItsWorkIsFine) {
  ASSERT_TRUE(launch(kMain));
  device_->finish(kMain);
  buffer_.reset();
  EXPECT_THAT(device_->violations(), IsEmpty());
}

TEST_F(SimPending, UnmapUnderPendingWorkIsRefusedThereOnly) {
  VirtualMemory& memory = *device_->virtual_memory();
  std::byte* const range = memory.reserve(kPage + kPage).value();
  const PhysicalId physical = memory.create(kPage).value();
  ASSERT_TRUE(memory.map(range, physical, Bytes(0), kPage));
  ASSERT_TRUE(memory.map(range + kPage.value(), physical, Bytes(0), kPage));
  ASSERT_TRUE(device_->launch(kMain, std::array<const std::byte*, 1>{range + 100}));
  EXPECT_TRUE(memory.unmap(range + kPage.value(), kPage));
  const Status status = memory.unmap(range, kPage);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::invalid);
  EXPECT_EQ(device_->violations().size(), 1U);
  device_->finish(kMain);
  EXPECT_TRUE(memory.unmap(range, kPage));
}

TEST_F(SimPending, CopiesBeyondABufferAreRefused) {
  std::array<std::byte, 100> host{};
  EXPECT_FALSE(device_->copy(kMain, buffer_->base(), host.data(), Bytes(65)));
  EXPECT_FALSE(device_->copy(kMain, host.data(), buffer_->base() + 64, Bytes(1)));
  EXPECT_FALSE(device_->copy(kMain, host.data(), buffer_->base() - 1, Bytes(1)));
  EXPECT_EQ(device_->violations().size(), 3U);
  EXPECT_TRUE(is_complete(record(kMain)));
}

TEST_F(SimPending, KernelsUseMemoryOfTheirDeviceOnly) {
  std::byte host{};
  EXPECT_EQ(device_->launch(kMain, std::array<const std::byte*, 1>{&host}).error().code, ErrorCode::invalid);
  EXPECT_EQ(device_->launch(kMain, std::array<const std::byte*, 2>{buffer_->base(), nullptr}).error().code,
            ErrorCode::invalid);
  EXPECT_TRUE(device_->launch(kMain, {}));
  buffer_.reset();
  EXPECT_EQ(device_->violations().size(), 2U);
}

/// Device 1 gets addresses, events and memory that belong to device 2.
class SimWrongDevice : public ::testing::Test {
 protected:
  void expect_refused(const Status& status) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::invalid);
    ASSERT_FALSE(one_->violations().empty());
    EXPECT_THAT(one_->violations().back(), HasSubstr("belongs to device 2, not to device 1"));
    EXPECT_THAT(two_->violations(), IsEmpty());
  }

  std::unique_ptr<SimDevice> one_ = SimDevice::make({.id = DeviceId(1), .granularity = kPage});
  std::unique_ptr<SimDevice> two_ = SimDevice::make({.id = DeviceId(2), .granularity = kPage});
};

TEST_F(SimWrongDevice, AddressesAreRefused) {
  const auto mine = one_->buffer_type().allocate(Bytes(64)).value();
  const auto theirs = two_->buffer_type().allocate(Bytes(64)).value();
  expect_refused(one_->copy(kMain, mine->base(), theirs->base(), Bytes(8)));
  expect_refused(one_->copy(kMain, theirs->base(), mine->base(), Bytes(8)));
  expect_refused(one_->launch(kMain, std::array<const std::byte*, 1>{theirs->base()}));
}

TEST_F(SimWrongDevice, EventsAreRefused) {
  const EventId event = two_->record(kMain).value();
  expect_refused(one_->wait(kMain, event));
  EXPECT_EQ(one_->is_complete(event).error().code, ErrorCode::invalid);
  one_->forget(event);
  EXPECT_TRUE(two_->is_complete(event).value());
}

TEST_F(SimWrongDevice, PhysicalMemoryAndReservationsAreRefused) {
  VirtualMemory& mine = *one_->virtual_memory();
  std::byte* const range = mine.reserve(kPage).value();
  const PhysicalId own = mine.create(kPage).value();
  std::byte* const their_range = two_->virtual_memory()->reserve(kPage).value();
  const PhysicalId theirs = two_->virtual_memory()->create(kPage).value();
  expect_refused(mine.map(range, theirs, Bytes(0), kPage));
  expect_refused(mine.release(theirs));
  expect_refused(mine.map(their_range, own, Bytes(0), kPage));
  expect_refused(mine.unmap(their_range, kPage));
  expect_refused(mine.free(their_range, kPage));
}

}  // namespace
}  // namespace stowage::memory
