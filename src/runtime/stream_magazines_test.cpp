#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/stream_allocator.hpp"
#include "support/runtime/streams.hpp"

/// Blocks that threads keep in magazines of a `StreamAllocator`: they are reclaimed whenever they are needed.
namespace stowage {
namespace {

constexpr StreamId kStream{1};

/// With checks, magazines would not be used.
struct OnSim : runtime::StreamsOnSim {
  explicit OnSim(SimOptions sim = {}) : StreamsOnSim(std::move(sim), {.checks = Checks::off}) {}
};

TEST(StreamMagazines, AThreadGetsBackWhatItFreed) {
  OnSim sim;
  std::byte* const low = sim.get(Bytes(600));
  std::byte* const high = sim.get(Bytes(600));
  sim.put(low, Bytes(600));
  sim.put(high, Bytes(600));
  EXPECT_EQ(sim.get(Bytes(1000)), high) << "the last one freed, where best fit would give the lowest";
  EXPECT_EQ(sim.get(Bytes(1024)), low);
}

TEST(StreamMagazines, AnotherStreamGetsThemOnlyAfterWaiting) {
  OnSim sim;
  std::byte* const block = sim.get(Bytes(600));
  sim.launch(1, block);
  sim.put(block, Bytes(600));
  EXPECT_EQ(sim.get(Bytes(600), 2), block) << "together with the idle page that contains it";
  EXPECT_EQ(sim.allocator->stats().event_waits, 1U);
}

TEST(StreamMagazines, FiguresAreExact) {
  OnSim sim;
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(sim.get(Bytes(100)));
  EXPECT_EQ(sim.allocator->stats().requested, Bytes(4000));
  for (int i = 0; i < 30; ++i) sim.put(blocks[static_cast<std::size_t>(i)], Bytes(100));
  for (int i = 0; i < 5; ++i) blocks.push_back(sim.get(Bytes(7)));
  const AllocatorStats stats = sim.allocator->stats();
  EXPECT_EQ(stats.live, 15U);
  EXPECT_EQ(stats.allocations, 45U);
  EXPECT_EQ(stats.requested, Bytes(1035));
  EXPECT_EQ(stats.rounded, Bytes(15 * 512));
  sim.allocator->reset_peaks();
  EXPECT_EQ(sim.allocator->stats().allocations, 0U);
  for (std::size_t i = 30; i < 40; ++i) sim.put(blocks[i], Bytes(100));
  for (std::size_t i = 40; i < 45; ++i) sim.put(blocks[i], Bytes(7));
  EXPECT_EQ(sim.allocator->stats().requested, Bytes(0));
  EXPECT_EQ(sim.allocator->stats().live, 0U);
}

/// The page is full of small blocks that a thread keeps; a request for the whole page must get it.
TEST(StreamMagazines, NoneIsHiddenWhenMemoryIsShort) {
  OnSim sim({.memory = Bytes(2 << 20)});
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 256; ++i) blocks.push_back(sim.get(Bytes(8192)));
  std::thread([&] {
    for (std::byte* const block : blocks) sim.put(block, Bytes(8192));
  }).join();
  EXPECT_TRUE(sim.allocator->allocate(Bytes(2 << 20), kStream));
}

/// Blocks of any size that were freed by a thread other than the allocating one wait to be sent back in a batch.
TEST(StreamMagazines, NoLargeOneThatAnotherThreadFreedIsHidden) {
  OnSim sim({.memory = Bytes(16 << 20)});
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(sim.get(Bytes(2 << 20)));
  std::thread([&] {
    for (std::byte* const block : blocks) sim.put(block, Bytes(2 << 20));
  }).join();
  EXPECT_TRUE(sim.allocator->allocate(Bytes(16 << 20), kStream));
  EXPECT_EQ(sim.device->calls(SimCall::create), 8U) << "no memory had to be returned to the device";
}

TEST(StreamMagazines, FiguresCountWhatOtherThreadsFreed) {
  OnSim sim;
  std::byte* const block = sim.get(Bytes(3 << 20));
  std::thread([&] { sim.put(block, Bytes(3 << 20)); }).join();
  EXPECT_EQ(sim.allocator->stats().live, 0U);
  EXPECT_EQ(sim.allocator->stats().requested, Bytes(0));
  EXPECT_EQ(sim.allocator->trim(), Bytes(4 << 20));
}

TEST(StreamMagazines, TrimReturnsPagesThatMagazinesHeld) {
  OnSim sim;
  sim.put(sim.get(Bytes(512)), Bytes(512));
  EXPECT_EQ(sim.allocator->trim(), Bytes(2 << 20));
  EXPECT_EQ(sim.allocator->stats().reserved, Bytes(0));
}

/// A use on another stream must be waited for, so the block is not kept.
TEST(StreamMagazines, ThoseThatOtherStreamsUseWaitForThem) {
  OnSim sim;
  std::byte* const block = sim.get(Bytes(512));
  ASSERT_TRUE(sim.allocator->record_use(block, StreamId(2)));
  sim.launch(2, block);
  sim.put(block, Bytes(512));
  EXPECT_NE(sim.get(Bytes(512)), block);
  sim.device->finish_all();
  EXPECT_EQ(sim.allocator->stats().live, 1U) << "stats() collects";
  EXPECT_EQ(sim.get(Bytes(512)), block) << "the lowest that fits";
  std::byte* const higher = sim.get(Bytes(512));
  sim.put(block, Bytes(512));
  sim.put(higher, Bytes(512));
  EXPECT_EQ(sim.get(Bytes(512)), higher) << "kept again, now that no other stream uses any: the last one freed";
}

/// Whether blocks are kept: then the last one freed comes next, where best fit would give the lowest.
bool keeps_blocks(OnSim& sim) {
  std::byte* const a = sim.get(Bytes(512));
  std::byte* const b = sim.get(Bytes(512));
  sim.put(std::min(a, b), Bytes(512));
  sim.put(std::max(a, b), Bytes(512));
  std::byte* const next = sim.get(Bytes(512));
  sim.put(next, Bytes(512));
  return next == std::max(a, b);
}

TEST(StreamMagazines, NoneIsKeptAsLongAsAnotherStreamUsesSomeSmallBlock) {
  OnSim sim;
  std::byte* const large = sim.get(Bytes(2 << 20));
  ASSERT_TRUE(sim.allocator->record_use(large, StreamId(2)));
  EXPECT_TRUE(keeps_blocks(sim)) << "only a large one is used";
  sim.put(large, Bytes(2 << 20));
  EXPECT_TRUE(keeps_blocks(sim));

  std::byte* const first = sim.get(Bytes(512));
  std::byte* const second = sim.get(Bytes(512));
  for (const std::size_t stream : {2U, 3U, 2U}) ASSERT_TRUE(sim.allocator->record_use(first, StreamId(stream)));
  ASSERT_TRUE(sim.allocator->record_use(first, kStream)) << "its own: no use";
  ASSERT_TRUE(sim.allocator->record_use(second, StreamId(2)));
  EXPECT_FALSE(keeps_blocks(sim));
  sim.put(first, Bytes(512));
  EXPECT_FALSE(keeps_blocks(sim)) << "the second is still used";
  sim.put(second, Bytes(512));
  EXPECT_TRUE(keeps_blocks(sim));
}

/// While another stream uses some small block, other blocks go back through the outbox;
/// nothing is lost or counted twice.
TEST(StreamMagazines, FiguresAreExactWhileOtherStreamsUseSmallBlocks) {
  OnSim sim;
  std::byte* const used = sim.get(Bytes(100));
  ASSERT_TRUE(sim.allocator->record_use(used, StreamId(2)));
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(sim.get(Bytes(100)));
  std::thread([&] {
    for (std::byte* const block : blocks) sim.put(block, Bytes(100));
  }).join();
  EXPECT_EQ(sim.allocator->stats().requested, Bytes(100));
  EXPECT_EQ(sim.allocator->stats().live, 1U);
  sim.put(used, Bytes(100));
  EXPECT_EQ(sim.allocator->stats().requested, Bytes(0));
}

/// Delays callers that record an event.
class SlowDevice final : public Device {
 public:
  explicit SlowDevice(Device& device) : device_(device) {}

  std::atomic<bool> slow{false};

  [[nodiscard]] DeviceId id() const override { return device_.id(); }
  [[nodiscard]] std::string_view name() const override { return "slow"; }
  [[nodiscard]] BufferType& buffer_type() override { return device_.buffer_type(); }
  [[nodiscard]] VirtualMemory* virtual_memory() override { return device_.virtual_memory(); }
  Status copy(StreamId stream, std::byte* to, const std::byte* from, Bytes size) override {
    return device_.copy(stream, to, from, size);
  }
  Status fill(StreamId stream, std::byte* to, std::uint8_t value, Bytes size) override {
    return device_.fill(stream, to, value, size);
  }
  Result<EventId> record(StreamId stream) override {
    while (slow.load()) std::this_thread::yield();
    return device_.record(stream);
  }
  Status wait(StreamId stream, EventId event) override { return device_.wait(stream, event); }
  Result<bool> is_complete(EventId event) override { return device_.is_complete(event); }
  Status synchronize(StreamId stream) override { return device_.synchronize(stream); }
  void forget(EventId event) override { device_.forget(event); }

 private:
  Device& device_;
};

/// A thread frees for the first time while another holds the heap's lock and waits for the device.
/// The free does not wait.
TEST(StreamMagazines, AFirstFreeWaitsForNobody) {
  const std::unique_ptr<SimDevice> sim = SimDevice::make();
  SlowDevice device(*sim);
  StreamAllocator allocator(device, {.checks = Checks::off});
  std::byte* const large = allocator.allocate(Bytes(1 << 20), kStream).value();
  std::byte* const small = allocator.allocate(Bytes(512), kStream).value();
  device.slow = true;
  std::thread trimming([&] { allocator.trim(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // by then it most likely holds the locks
  std::thread([&] {
    allocator.free(large, Bytes(1 << 20), kStream);
    allocator.free(small, Bytes(512), kStream);
  }).join();
  device.slow = false;
  trimming.join();
  EXPECT_EQ(allocator.stats().live, 0U);
}

TEST(StreamMagazines, ThoseOfAThreadThatIsGoneAreNotLost) {
  OnSim sim({.memory = Bytes(2 << 20)});
  for (int i = 0; i < 100; ++i) {
    std::thread([&] {
      std::vector<std::byte*> blocks;
      for (int k = 0; k < 64; ++k) blocks.push_back(sim.get(Bytes(4096)));
      for (std::byte* const block : blocks) sim.put(block, Bytes(4096));
    }).join();
  }
  EXPECT_EQ(sim.allocator->stats().reserved, Bytes(2 << 20));
  EXPECT_TRUE(sim.allocator->allocate(Bytes(2 << 20), kStream));
}

TEST(StreamMagazines, AThreadOutlivesAllocators) {
  for (int i = 0; i < 40; ++i) {
    OnSim sim;
    for (std::size_t stream = 0; stream < 5; ++stream) sim.put(sim.get(Bytes(1), stream), Bytes(1), stream);
    EXPECT_EQ(sim.allocator->stats().live, 0U);
  }
}

}  // namespace
}  // namespace stowage
