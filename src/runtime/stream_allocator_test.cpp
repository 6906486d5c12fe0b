#include "stowage/runtime/stream_allocator.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "support/runtime/contract.hpp"
#include "support/runtime/streams.hpp"
#include "support/runtime/workload.hpp"

namespace stowage::runtime {
namespace {

using ::testing::HasSubstr;

Bytes mib(std::int64_t count) { return Bytes(count << 20); }

INSTANTIATE_TEST_SUITE_P(Stream, AllocatorContract,
                         ::testing::Values(sampled(on_cpu<StreamAllocator>("cpu", StreamOptions{}, 3)),
                                           sampled(on_sim<StreamAllocator>("sim", SimOptions{}, StreamOptions{}, 3)),
                                           sampled(on_sim<StreamAllocator>("sim_without_virtual_memory",
                                                                           SimOptions{.virtual_memory = false},
                                                                           StreamOptions{}, 3))),
                         kind_name);

using OnSim = StreamsOnSim;

TEST(StreamAllocator, AStreamUsesItsOwnMemoryAgainAtOnce) {
  OnSim sim;
  std::byte* const block = sim.get(mib(4), 1);
  sim.launch(1, block);
  sim.put(block, mib(4), 1);
  EXPECT_EQ(sim.get(mib(4), 1), block);
  EXPECT_EQ(sim.allocator->stats().event_waits, 0U);
  sim.put(block, mib(4), 1);
}

/// The other stream gets the same bytes, and waits for the work submitted to the first.
TEST(StreamAllocator, IdleMemoryMovesToAStreamThatWouldHaveToGrow) {
  OnSim sim({.memory = mib(8)});
  std::byte* const block = sim.get(mib(8), 1);
  sim.launch(1, block);
  sim.put(block, mib(8), 1);
  EXPECT_EQ(sim.get(mib(8), 2), block);
  EXPECT_EQ(sim.allocator->stats().event_waits, 1U);
  EXPECT_EQ(sim.device->calls(SimCall::wait), 1U);
  sim.put(block, mib(8), 2);
}

TEST(StreamAllocator, MemoryInUseByAnotherStreamWaitsForIt) {
  OnSim sim;
  std::byte* const block = sim.get(mib(4), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  sim.put(block, mib(4), 1);
  std::byte* const other = sim.get(mib(4), 1);
  EXPECT_NE(other, block);
  sim.device->finish(StreamId(2));
  sim.put(other, mib(4), 1);
  std::byte* const both = sim.get(mib(8), 1);  // falls short, collects, and finds the first block idle
  EXPECT_EQ(sim.allocator->stats().reserved, mib(8));
  sim.put(both, mib(8), 1);
}

TEST(StreamAllocator, UseOfWhatIsNotAllocatedIsRefused) {
  OnSim sim;
  EXPECT_EQ(sim.allocator->record_use(reinterpret_cast<std::byte*>(&sim), StreamId(1)).error().code,
            ErrorCode::invalid);
}

TEST(StreamAllocator, WaitsForOtherStreamsBeforeItGivesUp) {
  OnSim sim({.memory = mib(4)});
  std::byte* const block = sim.get(mib(4), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  sim.put(block, mib(4), 1);
  EXPECT_EQ(sim.get(mib(4), 1), block);
  sim.put(block, mib(4), 1);
}

TEST(StreamAllocator, ReturnsBuffersThatAreTooSmallBeforeItGivesUp) {
  OnSim sim({.memory = mib(9), .virtual_memory = false});
  std::byte* const a = sim.get(mib(4), 1);
  std::byte* const b = sim.get(mib(4), 2);
  sim.put(a, mib(4), 1);
  sim.put(b, mib(4), 2);
  sim.put(sim.get(mib(6), 3), mib(6), 3);
}

TEST(StreamAllocator, AUseThatCouldNotBeRecordedIsNotOver) {
  OnSim sim;
  std::byte* const block = sim.get(mib(4), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  const auto state = [&] { return sim.allocator->snapshot().segments.at(0).blocks.at(0).state; };
  sim.device->fail(SimCall::record, 1, 100);
  sim.put(block, mib(4), 1);
  EXPECT_EQ(state(), MemorySnapshot::BlockState::pending) << "recorded neither when it was freed nor now";
  sim.device->fail(SimCall::record, 0);
  EXPECT_EQ(state(), MemorySnapshot::BlockState::pending) << "recorded, but not complete";
  sim.device->finish(StreamId(2));
  EXPECT_EQ(state(), MemorySnapshot::BlockState::idle);
}

TEST(StreamAllocator, AFailedSynchronizeFreesNothing) {
  OnSim sim({.memory = mib(4)});
  std::byte* const block = sim.get(mib(4), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  sim.put(block, mib(4), 1);
  sim.device->fail(SimCall::synchronize, 1, 100);
  EXPECT_FALSE(sim.allocator->allocate(mib(4), StreamId(1)));
  sim.device->fail(SimCall::synchronize, 0);
  EXPECT_EQ(sim.get(mib(4), 1), block);
  sim.put(block, mib(4), 1);
}

TEST(StreamAllocator, OutOfMemorySaysWhatThereIs) {
  OnSim sim({.memory = mib(8)});
  std::byte* const kept = sim.get(mib(6), 7);
  const Result<std::byte*> refused = sim.allocator->allocate(mib(4), StreamId(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("4194304 bytes requested; 6291456 live"));
  sim.put(kept, mib(6), 7);
}

TEST(StreamAllocator, TrimReturnsWhatNoStreamUses) {
  OnSim sim;
  for (std::size_t stream = 0; stream < 70; ++stream) sim.put(sim.get(mib(2), stream), mib(2), stream);
  EXPECT_GT(sim.device->in_use(), Bytes(0));
  EXPECT_GT(sim.allocator->trim(), Bytes(0));
  EXPECT_EQ(sim.device->in_use(), Bytes(0));
}

TEST(StreamAllocator, TrimReturnsWhatQuietStreamsHaveWhileAnotherIsBusy) {
  OnSim sim;
  std::byte* const busy = sim.get(mib(2), 1);
  sim.launch(1, busy);
  sim.put(sim.get(mib(8), 2), mib(8), 2);
  EXPECT_EQ(sim.allocator->trim(), mib(8));
  EXPECT_EQ(sim.device->in_use(), mib(2));
  sim.put(busy, mib(2), 1);
}

TEST(StreamAllocator, ReturnsToItsPeersWhatOtherStreamsWereUsing) {
  OnSim sim({.memory = mib(8)});
  std::byte* const block = sim.get(mib(8), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  sim.put(block, mib(8), 1);
  StreamAllocator other(*sim.device, {});
  const Result<std::byte*> taken = other.allocate(mib(8), StreamId(3));
  ASSERT_TRUE(taken) << taken.error().message;
  other.free(*taken, mib(8), StreamId(3));
}

TEST(StreamAllocator, MemoryThatOthersUseIsWaitedForWhenItGoes) {
  OnSim sim;
  std::byte* const block = sim.get(mib(2), 1);
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(9)));
  sim.launch(9, block);  // the allocator is destroyed while the block is live
}

TEST(StreamAllocator, GrowthServesTheStreamThatGrew) {
  OnSim sim({}, {.slack = 10, .checks = Checks::on});
  std::byte* const a = sim.get(mib(10), 0);
  std::byte* const b = sim.get(mib(2), 0);
  sim.put(a, mib(10), 0);
  std::byte* const c = sim.get(mib(10), 1);
  EXPECT_NE(c, a);
  EXPECT_EQ(sim.allocator->stats().event_waits, 0U);
  sim.put(b, mib(2), 0);
  sim.put(c, mib(10), 1);
}

TEST(StreamAllocator, TheSnapshotShowsWhatIsPendingAndWhatIsStitched) {
  OnSim sim({.memory = mib(18)});
  std::byte* const a = sim.get(mib(6), 1);
  std::byte* const b = sim.get(mib(6), 1);
  std::byte* const c = sim.get(mib(6), 1);
  sim.put(a, mib(6), 1);
  sim.put(c, mib(6), 1);
  std::byte* const stitched = sim.get(mib(10), 1);
  ASSERT_TRUE(sim.allocator->record_use(b, StreamId(2)));
  sim.launch(2, b);
  sim.put(b, mib(6), 1);
  const MemorySnapshot snapshot = sim.allocator->snapshot();
  ASSERT_EQ(snapshot.segments.size(), 2U);
  EXPECT_TRUE(snapshot.segments[1].stitched);
  EXPECT_EQ(snapshot.segments[1].address, stitched);
  EXPECT_EQ(snapshot.segments[1].size, mib(10));
  const auto pending = std::ranges::count(snapshot.segments[0].blocks, MemorySnapshot::BlockState::pending,
                                          &MemorySnapshot::Block::state);
  EXPECT_EQ(pending, 1);
  sim.put(stitched, mib(10), 1);
}

TEST(StreamAllocator, NoFalseRefusalAtTheLimitOfADeviceWithManyStreams) {
  if (cpu_device().virtual_memory() == nullptr) GTEST_SKIP() << "this system has no memfd";
  constexpr Bytes kLimit{std::int64_t{16} << 20};
  StreamAllocator allocator(cpu_device(), {.least_page = Bytes(64 << 10), .limit = kLimit, .checks = Checks::on});
  MarkedWorkload workload(allocator,
                          {.budget = kLimit, .largest = Bytes(kLimit.value() / 3), .streams = 70, .seed = 6});
  const auto outcome = workload.run(10000, [&](Bytes size, const Error& error) {
    ASSERT_EQ(error.code, ErrorCode::out_of_memory) << error.message;
    ASSERT_LT(kLimit - allocator.stats().reserved, size) << error.message;
  });
  EXPECT_GT(outcome.granted, 7000U);
}

using StreamAllocatorDeathTest = ::testing::Test;

TEST(StreamAllocatorDeathTest, MisuseIsSaid) {
  OnSim sim;
  std::byte* const block = sim.get(mib(2), 1);
  EXPECT_DEATH(sim.put(block, mib(1), 1), "with size 1048576: it was allocated with size 2097152");
  EXPECT_DEATH(sim.put(block, mib(2), 2), "not memory of this allocator on stream 2");
  sim.put(block, mib(2), 1);
  EXPECT_DEATH(sim.put(block, mib(2), 1), "freed twice");
}

TEST(StreamAllocatorPool, OfAnotherDeviceIsRefused) {
  const auto device = SimDevice::make();
  const auto other = SimDevice::make({.id = DeviceId(7)});
  PhysicalPool pool(*other->virtual_memory());
  StreamAllocator allocator(*device, {.pool = &pool});
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
