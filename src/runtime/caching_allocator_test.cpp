#include "stowage/runtime/caching_allocator.hpp"

#include <limits>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "support/runtime/contract.hpp"
#include "support/runtime/workload.hpp"

namespace stowage::runtime {
namespace {

using ::testing::HasSubstr;

constexpr Bytes kMiB{1 << 20};
Bytes mib(std::int64_t count) { return Bytes(count << 20); }

INSTANTIATE_TEST_SUITE_P(Caching, AllocatorContract,
                         ::testing::Values(on_cpu<CachingAllocator>("cpu", CachingOptions{}),
                                           on_sim<CachingAllocator>("sim", SimOptions{}, CachingOptions{}),
                                           on_sim<CachingAllocator>("sim_without_virtual_memory",
                                                                    SimOptions{.virtual_memory = false},
                                                                    CachingOptions{})),
                         kind_name);

struct OnSim {
  explicit OnSim(SimOptions sim = {}, CachingOptions options = {.checks = Checks::on})
      : device(SimDevice::make(std::move(sim))), allocator(std::make_unique<CachingAllocator>(*device, options)) {}
  ~OnSim() {
    allocator.reset();
    EXPECT_EQ(device->live_objects(), 0U);
    EXPECT_THAT(device->violations(), ::testing::IsEmpty());
  }

  std::byte* get(Bytes size) {
    const Result<std::byte*> address = allocator->allocate(size);
    EXPECT_TRUE(address) << address.error().message;
    return address ? *address : nullptr;
  }
  void put(std::byte* address, Bytes size) { allocator->free(address, size, StreamId(0)); }

  struct Holes {
    std::byte* first = nullptr;  ///< Start of the first hole.
    std::byte* kept = nullptr;   ///< The block between them.
  };
  /// Three adjacent blocks of this size, of which the outer two are free again.
  Holes two_holes(Bytes size) {
    std::byte* const first = get(size);
    std::byte* const kept = get(size);
    put(get(size), size);
    put(first, size);
    return {first, kept};
  }

  std::unique_ptr<SimDevice> device;
  std::unique_ptr<CachingAllocator> allocator;
};

TEST(CachingAllocator, AHitCallsNothing) {
  OnSim sim;
  sim.put(sim.get(mib(3)), mib(3));
  const std::uint64_t before = sim.device->calls();
  for (int i = 0; i < 100; ++i) sim.put(sim.get(mib(3)), mib(3));
  EXPECT_EQ(sim.device->calls(), before);
}

TEST(CachingAllocator, NeighboursShareAPage) {
  OnSim sim;
  std::byte* const a = sim.get(Bytes(3 * 1024 * 1024 + 100));
  std::byte* const b = sim.get(Bytes(3 * 1024 * 1024 - 1000));
  EXPECT_EQ(b, a + 3 * 1024 * 1024 + 512);
  EXPECT_EQ(sim.allocator->stats().reserved, mib(6));  // three pages, the middle one shared
  sim.put(a, Bytes(3 * 1024 * 1024 + 100));
  sim.put(b, Bytes(3 * 1024 * 1024 - 1000));
}

/// Neither of two 6 MiB holes can hold 10 MiB, but their pages, mapped one after the other, can.
TEST(CachingAllocator, FragmentedIdlePagesServeOneRequest) {
  OnSim sim({.memory = mib(18)});
  const auto [a, b] = sim.two_holes(mib(6));
  std::byte* const stitched = sim.get(mib(10));
  EXPECT_TRUE(stitched < a || stitched >= a + mib(18).value());
  EXPECT_EQ(sim.allocator->stats().reserved, mib(18));
  std::byte* const rest = sim.get(mib(2));  // the part of the second hole that the stitch did not use
  EXPECT_TRUE(rest >= a && rest < a + mib(18).value());
  sim.put(stitched, mib(10));
  const std::uint64_t before = sim.device->calls(SimCall::map);
  sim.put(sim.get(mib(10)), mib(10));
  EXPECT_EQ(sim.device->calls(SimCall::map), before);  // the stitch exists already
  sim.put(rest, mib(2));
  sim.put(b, mib(6));
}

TEST(CachingAllocator, TheLastPageOfAStitchIsSharedWithOthers) {
  OnSim sim({.memory = mib(12)});
  std::byte* const b = sim.two_holes(mib(4)).kept;
  std::byte* const stitched = sim.get(mib(7));
  std::byte* const inside = sim.get(kMiB);
  EXPECT_EQ(sim.allocator->stats().rounded, mib(12));
  sim.put(stitched, mib(7));
  sim.put(inside, kMiB);
  sim.put(b, mib(4));
}

TEST(CachingAllocator, TrimReturnsIdlePages) {
  OnSim sim;
  std::byte* const kept = sim.get(mib(2));
  sim.put(sim.get(mib(20)), mib(20));
  EXPECT_EQ(sim.device->in_use(), mib(22));
  EXPECT_EQ(sim.allocator->trim(), mib(20));
  EXPECT_EQ(sim.device->in_use(), mib(2));
  EXPECT_EQ(sim.allocator->stats().reserved, mib(2));
  sim.put(kept, mib(2));
}

/// PyTorch's #196258 and similar issues: pages are not unmapped while work uses them.
TEST(CachingAllocator, TrimLeavesWhatPendingWorkMayUse) {
  OnSim sim;
  std::byte* const block = sim.get(mib(4));
  const std::byte* const used = block;
  ASSERT_TRUE(sim.device->launch(StreamId(0), {&used, 1}));
  sim.put(block, mib(4));
  EXPECT_EQ(sim.allocator->trim(), Bytes(0));
  sim.device->finish_all();
  EXPECT_EQ(sim.allocator->trim(), mib(4));
}

/// PyTorch's #189504: a request that fits once the stream is done is not refused.
TEST(CachingAllocator, SynchronizesBeforeItGivesUp) {
  OnSim sim({.memory = mib(8)});
  std::byte* const a = sim.get(mib(2));
  std::byte* const b = sim.get(mib(2));
  std::byte* const c = sim.get(mib(4));
  sim.put(a, mib(2));
  sim.put(c, mib(4));
  const std::byte* const used = a;
  ASSERT_TRUE(sim.device->launch(StreamId(0), {&used, 1}));
  std::byte* const d = sim.get(mib(6));
  sim.put(d, mib(6));
  sim.put(b, mib(2));
}

/// PyTorch's #193400: sizes that never repeat do not make it grow without bound, and stitches are bounded.
TEST(CachingAllocator, NeverRepeatingSizesStayWithinTheSlack) {
  OnSim sim;
  std::byte* kept = nullptr;
  Bytes kept_size(0);
  for (std::int64_t i = 0; i < 3000; ++i) {
    const Bytes size(mib(10).value() + (i * 7919) % mib(10).value());
    std::byte* const block = sim.get(size);
    if (kept != nullptr) sim.put(kept, kept_size);
    kept = block;
    kept_size = size;
  }
  sim.put(kept, kept_size);
  EXPECT_LE(sim.allocator->stats().reserved, mib(44));
}

TEST(CachingAllocator, OutOfMemorySaysWhatThereIs) {
  OnSim sim({.memory = mib(8)});
  std::byte* const kept = sim.get(mib(5));
  const Result<std::byte*> refused = sim.allocator->allocate(mib(4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(refused.error().message, HasSubstr("4194304 bytes requested; 5242880 live"));
  EXPECT_THAT(refused.error().message, HasSubstr("free"));
  EXPECT_EQ(sim.allocator->stats().failures, 1U);
  sim.put(kept, mib(5));
  sim.put(sim.get(mib(8)), mib(8));
}

TEST(CachingAllocator, TakesWhatAnotherAllocatorOfTheDeviceDoesNotUse) {
  OnSim sim({.memory = mib(16)});
  {
    CachingAllocator other(*sim.device, {.stream = StreamId(1)});
    other.free(*other.allocate(mib(12)), mib(12), StreamId(1));
    sim.put(sim.get(mib(10)), mib(10));
    EXPECT_EQ(other.stats().reserved, Bytes(0));
  }
}

TEST(CachingAllocator, ServesNoOtherStream) {
  OnSim sim;
  EXPECT_EQ(sim.allocator->allocate(kMiB, StreamId(3)).error().code, ErrorCode::invalid);
  std::byte* const block = sim.get(kMiB);
  EXPECT_EQ(sim.allocator->record_use(block, StreamId(3)).error().code, ErrorCode::unsupported);
  sim.put(block, kMiB);
}

TEST(CachingAllocator, WithoutVirtualMemoryItServesFromBuffers) {
  OnSim sim({.virtual_memory = false});
  std::byte* const a = sim.get(mib(3));
  std::byte* const b = sim.get(mib(5));
  sim.put(a, mib(3));
  sim.put(b, mib(5));
  EXPECT_GT(sim.allocator->trim(), Bytes(0));
  EXPECT_EQ(sim.device->in_use(), Bytes(0));
}

TEST(CachingAllocator, ReturnsBuffersThatAreTooSmallBeforeItGivesUp) {
  OnSim sim({.memory = mib(9), .virtual_memory = false});
  std::byte* const a = sim.get(mib(4));
  std::byte* const b = sim.get(mib(4));
  sim.put(a, mib(4));
  sim.put(b, mib(4));
  sim.put(sim.get(mib(6)), mib(6));
  EXPECT_EQ(sim.allocator->stats().failures, 0U);
}

TEST(CachingAllocator, UnpagedBuffersKeepToTheLimitToo) {
  OnSim sim({.virtual_memory = false}, {.limit = mib(4), .checks = Checks::on});
  EXPECT_EQ(sim.allocator->allocate(mib(64)).error().code, ErrorCode::out_of_memory);
  sim.put(sim.get(mib(3)), mib(3));
}

TEST(CachingAllocator, WithoutAddressesItServesFromBuffers) {
  OnSim sim;
  sim.device->fail(SimCall::reserve, 1, 1000000);
  std::byte* const a = sim.get(mib(3));
  std::byte* const b = sim.get(mib(30));
  sim.put(a, mib(3));
  sim.put(b, mib(30));
}

/// Pages grow with the heap; the rest of a device may be smaller than such a page, but is used all the same.
TEST(CachingAllocator, TheLastBytesOfADeviceAreWithinReach) {
  OnSim sim({.memory = mib(1022)});
  std::byte* const most = sim.get(mib(1020));
  std::byte* const last = sim.get(mib(1));
  sim.put(most, mib(1020));
  sim.put(last, mib(1));
}

TEST(CachingAllocator, ALargeRequestIsMadeOfFewPages) {
  OnSim sim;
  sim.put(sim.get(mib(80 << 10)), mib(80 << 10));
  EXPECT_LE(sim.device->calls(SimCall::create), 512U);
}

TEST(CachingAllocator, MoreThanThereAreBytesIsOutOfMemory) {
  OnSim sim;
  sim.put(sim.get(mib(1)), mib(1));
  EXPECT_EQ(sim.allocator->allocate(Bytes(std::numeric_limits<std::int64_t>::max())).error().code,
            ErrorCode::out_of_memory);
}

TEST(CachingAllocator, AnImpossibleRequestLeavesNothingReserved) {
  OnSim sim({}, {.limit = mib(64), .checks = Checks::on});
  EXPECT_FALSE(sim.allocator->allocate(mib(100)));
  EXPECT_EQ(sim.device->in_use(), Bytes(0));
}

/// Two holes and a stitch over both, again and again: nothing accumulates.
TEST(CachingAllocator, AStitchThatIsUsedAgainAndAgainLeavesNoTrace) {
  OnSim sim({.memory = mib(18)});
  std::byte* const b = sim.two_holes(mib(6)).kept;
  sim.put(sim.get(mib(10)), mib(10));
  const std::size_t before = sim.device->live_objects();
  for (int i = 0; i < 1000; ++i) sim.put(sim.get(mib(10)), mib(10));
  EXPECT_EQ(sim.device->live_objects(), before);
  sim.put(b, mib(6));
}

/// If the device cannot be waited for, memory that work may still use is not
/// given to anyone else when its allocator is destroyed.
TEST(CachingAllocator, MemoryThatCannotBeWaitedForIsWrittenOff) {
  const std::unique_ptr<SimDevice> device = SimDevice::make({.memory = mib(4)});
  PhysicalPool pool(*device->virtual_memory());
  {
    CachingAllocator allocator(*device, {.stream = StreamId(1), .pool = &pool});
    const std::byte* const block = allocator.allocate(mib(4)).value();
    ASSERT_TRUE(device->launch(StreamId(1), {&block, 1}));
    device->fail(SimCall::synchronize, 1);
  }
  CachingAllocator other(*device, {.stream = StreamId(2), .pool = &pool});
  EXPECT_FALSE(other.allocate(mib(2)));
  EXPECT_THAT(device->violations(), ::testing::IsEmpty());
}

/// Idle pages and the device's free memory always suffice, and no byte has two owners.
TEST(CachingAllocator, NoFalseRefusalAtTheLimitOfADevice) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "this system has no memfd";
  constexpr Bytes kLimit{std::int64_t{16} << 20};
  constexpr Bytes kPage{64 << 10};
  PhysicalPool pool(*cpu_device().virtual_memory(), kLimit);
  CachingAllocator allocator(cpu_device(), {.least_page = kPage, .pool = &pool, .checks = Checks::on});
  MarkedWorkload workload(allocator, {.budget = kLimit, .largest = Bytes(kLimit.value() / 3), .seed = 5});
  const auto outcome = workload.run(20000, [&](Bytes size, const Error& error) {
    ASSERT_EQ(error.code, ErrorCode::out_of_memory) << error.message;
    ASSERT_LT(kLimit - pool.counts().created, size) << error.message;
  });
  EXPECT_GT(outcome.granted, 15000U);
}

using CachingAllocatorDeathTest = ::testing::Test;

TEST(CachingAllocatorDeathTest, MisuseIsSaid) {
  OnSim sim;
  std::byte* const block = sim.get(mib(2));
  std::byte* const other = sim.get(mib(2));
  EXPECT_DEATH(sim.put(block, kMiB), "with size 1048576: it was allocated with size 2097152");
  EXPECT_DEATH(sim.put(block + 512, mib(2)), "not the start of an allocation, but 512 bytes into one");
  EXPECT_DEATH(sim.allocator->free(block, mib(2), StreamId(4)), "on stream 4: it belongs to stream 0");
  EXPECT_DEATH(sim.put(reinterpret_cast<std::byte*>(&sim), kMiB), "not memory of this allocator");
  EXPECT_DEATH(std::thread([&] { sim.put(block, mib(2)); }).join(), "a thread other than its own");
  sim.put(block, mib(2));
  EXPECT_DEATH(sim.put(block, mib(2)), "freed twice");
  sim.put(other, mib(2));
}

TEST(CachingAllocatorPool, OfAnotherDeviceIsRefused) {
  const auto device = SimDevice::make();
  const auto other = SimDevice::make({.id = DeviceId(7)});
  PhysicalPool pool(*other->virtual_memory());
  CachingAllocator allocator(*device, {.pool = &pool});
  const std::uint64_t before = device->calls() + other->calls();
  for (int i = 0; i < 2; ++i) {
    const Result<std::byte*> refused = allocator.allocate(Bytes(1 << 20), StreamId(0));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_EQ(refused.error().message, "the allocator is on device 1, but its pages are on device 7");
  }
  EXPECT_EQ(allocator.allocate(Bytes(0), StreamId(0)).value(), nullptr) << "nothing needs no pages";
  EXPECT_EQ(device->calls() + other->calls(), before);
  EXPECT_EQ(allocator.stats().reserved, Bytes(0));
  EXPECT_EQ(pool.counts().created, Bytes(0));
}

}  // namespace
}  // namespace stowage::runtime
