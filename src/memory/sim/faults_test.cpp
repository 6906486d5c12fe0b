#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory/devices.hpp"

namespace stowage::memory {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Bytes kPage{4096};
constexpr StreamId kMain{0};

std::unique_ptr<SimDevice> make(std::optional<Bytes> limit = {}) {
  return SimDevice::make({.memory = limit, .granularity = kPage});
}

/// Makes one call of every kind on a device, and holds what the calls create.
struct Workload {
  SimDevice& device;
  std::unique_ptr<Buffer> buffer = {};
  std::byte* range = nullptr;
  std::optional<PhysicalId> physical = {};
  std::optional<EventId> event = {};
  bool mapped = false;

  /// One call of every kind, in the order of `SimCall`.
  Status run() {
    VirtualMemory& memory = *device.virtual_memory();
    STOWAGE_TRY(buffer, device.buffer_type().allocate(Bytes(100)));
    STOWAGE_TRY(range, memory.reserve(kPage));
    STOWAGE_TRY(physical, memory.create(kPage));
    STOWAGE_TRY_STATUS(memory.map(range, *physical, Bytes(0), kPage));
    mapped = true;
    STOWAGE_TRY_STATUS(memory.unmap(range, kPage));
    mapped = false;
    STOWAGE_TRY_STATUS(device.copy(kMain, buffer->base(), buffer->base() + 50, Bytes(50)));
    STOWAGE_TRY_STATUS(device.fill(kMain, buffer->base(), 0, Bytes(50)));
    STOWAGE_TRY(event, device.record(kMain));
    STOWAGE_TRY_STATUS(device.wait(kMain, *event));
    return device.synchronize(kMain);
  }

  ~Workload() {
    VirtualMemory& memory = *device.virtual_memory();
    device.finish_all();
    EXPECT_TRUE(!mapped || memory.unmap(range, kPage));
    EXPECT_TRUE(!physical || memory.release(*physical));
    EXPECT_TRUE(range == nullptr || memory.free(range, kPage));
    if (event) device.forget(*event);
  }
};

TEST(SimFaults, TheNthCallOfAnyKindFailsAndARetrySucceeds) {
  const std::unique_ptr<SimDevice> device = make();
  for (std::uint64_t nth = 1; nth <= kSimCalls; ++nth) {
    device->fail_any(nth);
    const Status status = Workload{*device}.run();
    ASSERT_FALSE(status) << nth;
    EXPECT_EQ(status.error().code, nth <= 4 ? ErrorCode::out_of_memory : ErrorCode::device);
    EXPECT_EQ(device->live_objects(), 0U) << nth;
    EXPECT_EQ(device->in_use(), Bytes(0));
    EXPECT_TRUE(Workload{*device}.run()) << nth;
  }
  EXPECT_THAT(device->violations(), IsEmpty());
}

TEST(SimFaults, TheNthCallOfEachKindFails) {
  for (std::size_t kind = 0; kind < kSimCalls; ++kind) {
    const auto call = static_cast<SimCall>(kind);
    const std::unique_ptr<SimDevice> device = make();
    device->fail(call, 2);
    EXPECT_TRUE(Workload{*device}.run());
    EXPECT_FALSE(Workload{*device}.run());
    EXPECT_TRUE(Workload{*device}.run());
    EXPECT_GE(device->calls(call), 3U);
    EXPECT_EQ(device->live_objects(), 0U);
  }
}

TEST(SimFaults, SeveralCallsInARowFail) {
  const std::unique_ptr<SimDevice> device = make();
  device->fail(SimCall::allocate, 2, 2);
  for (const bool granted : {true, false, false, true}) {
    EXPECT_EQ(device->buffer_type().allocate(Bytes(1)).has_value(), granted);
  }
}

TEST(SimFaults, AFailureNamesDeviceAndSize) {
  const std::unique_ptr<SimDevice> device = make();
  device->fail(SimCall::allocate, 1);
  const auto buffer = device->buffer_type().allocate(Bytes(1234));
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().message, "sim: cannot allocate 1234 bytes: this call of allocate was scripted to fail");
}

TEST(SimFaults, NthZeroTakesAFailureBack) {
  const std::unique_ptr<SimDevice> device = make();
  device->fail(SimCall::allocate, 1);
  device->fail(SimCall::allocate, 0);
  device->fail_any(1);
  device->fail_any(0);
  EXPECT_TRUE(device->buffer_type().allocate(Bytes(1)));
}

TEST(SimFaults, CallsCountRefusedOnesToo) {
  const std::unique_ptr<SimDevice> device = make();
  EXPECT_FALSE(device->virtual_memory()->reserve(Bytes(1)));
  EXPECT_TRUE(device->record(kMain));
  EXPECT_EQ(device->calls(SimCall::reserve), 1U);
  EXPECT_EQ(device->calls(SimCall::record), 1U);
  EXPECT_EQ(device->calls(SimCall::map), 0U);
  EXPECT_EQ(device->calls(), 2U);
}

TEST(SimFaults, MapAllThatFailsInTheMiddleTakesAllOfItAwayAgain) {
  const std::unique_ptr<SimDevice> device = make();
  VirtualMemory& memory = *device->virtual_memory();
  const Bytes three{3 * kPage.value()};
  std::byte* const base = memory.reserve(three).value();
  const PhysicalId physical = memory.create(kPage).value();
  const std::vector<PhysicalRange> ranges(3, {physical, Bytes(0), kPage});
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    device->fail(SimCall::map, nth);
    EXPECT_EQ(memory.map_all(base, ranges).error().code, ErrorCode::out_of_memory);
  }
  EXPECT_EQ(device->calls(SimCall::map), 6U);
  EXPECT_EQ(device->calls(SimCall::unmap), 2U);
  ASSERT_TRUE(memory.map_all(base, ranges));
  EXPECT_TRUE(memory.unmap(base, three));
  EXPECT_TRUE(memory.release(physical));
  EXPECT_TRUE(memory.free(base, three));
  EXPECT_THAT(device->violations(), IsEmpty());
}

TEST(SimFaults, MapAllSaysSoWhenWhatItMappedStays) {
  const std::unique_ptr<SimDevice> device = make();
  VirtualMemory& memory = *device->virtual_memory();
  const Bytes two{2 * kPage.value()};
  std::byte* const base = memory.reserve(two).value();
  const PhysicalId physical = memory.create(kPage).value();
  device->fail(SimCall::map, 2);
  device->fail(SimCall::unmap, 1);
  const Status status = memory.map_all(base, std::vector<PhysicalRange>(2, {physical, Bytes(0), kPage}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::device);
  EXPECT_THAT(status.error().message, HasSubstr("4096 bytes stay mapped"));
  EXPECT_TRUE(memory.unmap(base, kPage));
  EXPECT_TRUE(memory.release(physical));
  EXPECT_TRUE(memory.free(base, two));
}

TEST(SimLimit, CountsBuffersAndPhysicalMemoryTogether) {
  const std::unique_ptr<SimDevice> device = make(Bytes(10'000));
  VirtualMemory& memory = *device->virtual_memory();
  auto buffer = device->buffer_type().allocate(Bytes(5'904)).value();
  const PhysicalId physical = memory.create(kPage).value();
  EXPECT_EQ(device->in_use(), Bytes(10'000));
  const auto more = device->buffer_type().allocate(Bytes(1));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(more.error().message, HasSubstr("10000 of 10000 bytes are in use"));
  EXPECT_EQ(memory.create(kPage).error().code, ErrorCode::out_of_memory);
  buffer.reset();
  EXPECT_EQ(device->in_use(), kPage);
  EXPECT_EQ(device->peak(), Bytes(10'000));
  EXPECT_TRUE(device->buffer_type().allocate(Bytes(5'904)));
  EXPECT_TRUE(memory.release(physical));
  EXPECT_THAT(device->violations(), IsEmpty());
}

TEST(SimLimit, ReleasedMemoryCountsWhileItIsMapped) {
  const std::unique_ptr<SimDevice> device = make(kPage);
  VirtualMemory& memory = *device->virtual_memory();
  std::byte* const range = memory.reserve(kPage).value();
  const PhysicalId physical = memory.create(kPage).value();
  ASSERT_TRUE(memory.map(range, physical, Bytes(0), kPage));
  ASSERT_TRUE(memory.release(physical));
  EXPECT_EQ(device->in_use(), kPage);
  EXPECT_EQ(device->live_objects(), 2U);
  EXPECT_FALSE(memory.create(kPage));
  ASSERT_TRUE(memory.unmap(range, kPage));
  EXPECT_EQ(device->in_use(), Bytes(0));
  EXPECT_EQ(device->live_objects(), 1U);
}

TEST(SimDevice, LiveObjectsAreBuffersReservationsPhysicalMemoryAndEvents) {
  const std::unique_ptr<SimDevice> device = make();
  VirtualMemory& memory = *device->virtual_memory();
  auto empty = device->buffer_type().allocate(Bytes(0)).value();
  EXPECT_EQ(device->live_objects(), 1U);
  std::byte* const range = memory.reserve(kPage).value();
  const PhysicalId physical = memory.create(kPage).value();
  const EventId event = device->record(kMain).value();
  EXPECT_EQ(device->live_objects(), 4U);
  empty.reset();
  device->forget(event);
  EXPECT_TRUE(memory.release(physical));
  EXPECT_TRUE(memory.free(range, kPage));
  EXPECT_EQ(device->live_objects(), 0U);
}

TEST(SimDevice, HasNoVirtualMemoryWhereItIsToHaveNone) {
  EXPECT_EQ(SimDevice::make({.virtual_memory = false})->virtual_memory(), nullptr);
}

TEST(SimDevice, MayBeLargerThanTheMachine) {
  const std::unique_ptr<SimDevice> device = make();
  const auto buffer = device->buffer_type().allocate(Bytes(std::int64_t{1} << 43)).value();
  EXPECT_TRUE(buffer->clear());
  EXPECT_EQ(device->buffer_type().allocate(Bytes(std::int64_t{1} << 45)).error().code, ErrorCode::out_of_memory);
}

TEST(SimDevice, NewBuffersAreNotZero) {
  const std::unique_ptr<SimDevice> device = make();
  std::byte first{};
  ASSERT_TRUE(device->buffer_type().allocate(Bytes(8)).value()->read(Bytes(0), {&first, 1}));
  EXPECT_EQ(first, std::byte{0xa5});
}

TEST(SimDevice, NewPhysicalMemoryIsNotZero) {
  const std::unique_ptr<SimDevice> device = make();
  VirtualMemory& memory = *device->virtual_memory();
  std::byte* const base = memory.reserve(kPage).value();
  const PhysicalId physical = memory.create(kPage).value();
  ASSERT_TRUE(memory.map(base, physical, Bytes(0), kPage));
  std::byte first{};
  ASSERT_TRUE(device->copy(kMain, &first, base, Bytes(1)));
  ASSERT_TRUE(device->synchronize(kMain));
  EXPECT_EQ(first, std::byte{0xa5});
}

TEST(SimDevice, SkewedBasesAreOffByTheSkew) {
  const std::unique_ptr<SimDevice> device = SimDevice::make({.alignment = Bytes(256), .skew = Bytes(24)});
  const auto a = device->buffer_type().allocate(Bytes(100)).value();
  const auto b = device->buffer_type().allocate(Bytes(100)).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a->base()) % 256, 24U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b->base()) % 256, 24U);
}

TEST(SimDevice, SameCallsGiveSameAddresses) {
  const std::byte* const first = make()->buffer_type().allocate(Bytes(8)).value()->base();
  EXPECT_EQ(make()->buffer_type().allocate(Bytes(8)).value()->base(), first);
}

}  // namespace
}  // namespace stowage::memory
