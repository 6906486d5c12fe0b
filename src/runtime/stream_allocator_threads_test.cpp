#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/stream_allocator.hpp"
#include "support/runtime/workload.hpp"

namespace stowage::runtime {
namespace {

/// Threads use their own streams and a shared one, and mark all their bytes. The limit forces memory to move between
/// streams all the time.
TEST(StreamAllocatorThreads, NoByteHasTwoOwners) {
  StreamAllocator allocator(cpu_device(),
                            {.least_page = Bytes(64 << 10), .limit = Bytes(24 << 20), .checks = Checks::off});
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      MarkedWorkload workload(allocator,
                              {.budget = Bytes(5 << 20), .largest = Bytes(1 << 20), .streams = 1 + i, .seed = i});
      workload.run(3000,
                   [](Bytes, const Error& error) { EXPECT_EQ(error.code, ErrorCode::out_of_memory) << error.message; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator.stats().live, 0U);
}

/// One thread allocates, another one frees.
TEST(StreamAllocatorThreads, BlocksMayBeFreedByOtherThreads) {
  StreamAllocator allocator(cpu_device(), {.checks = Checks::off});
  constexpr std::size_t kBlocks = 20000;
  std::vector<std::atomic<std::byte*>> blocks(kBlocks);
  std::thread maker([&] {
    for (std::size_t i = 0; i < kBlocks; ++i)
      blocks[i] = *allocator.allocate(Bytes(512 + static_cast<std::int64_t>(i % 4096)), StreamId(1));
  });
  std::thread freer([&] {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      while (blocks[i] == nullptr) std::this_thread::yield();
      allocator.free(blocks[i], Bytes(512 + static_cast<std::int64_t>(i % 4096)), StreamId(1));
    }
  });
  maker.join();
  freer.join();
  EXPECT_EQ(allocator.stats().live, 0U);
}

/// A thread that has ended keeps no memory.
TEST(StreamAllocatorThreads, ThreadsComeAndGo) {
  StreamAllocator allocator(cpu_device(), {});
  for (int i = 0; i < 50; ++i) {
    std::byte* block = nullptr;
    std::thread([&] { block = *allocator.allocate(Bytes(1 << 20), StreamId(2)); }).join();
    std::thread([&] { allocator.free(block, Bytes(1 << 20), StreamId(2)); }).join();
  }
  EXPECT_EQ(allocator.stats().live, 0U);
  EXPECT_EQ(allocator.stats().reserved, Bytes(2 << 20));
}

/// Threads that are always short of memory wait for streams and unmap pages,
/// but never between `begin_capture` and `end_capture`.
TEST(StreamAllocatorThreads, NobodyWaitsDuringACapture) {
  const std::unique_ptr<SimDevice> device = SimDevice::make({.memory = Bytes(16 << 20)});
  {
    StreamAllocator allocator(*device, {.checks = Checks::off});
    const auto forbidden = [&] {
      return device->calls(SimCall::wait) + device->calls(SimCall::synchronize) + device->calls(SimCall::unmap);
    };
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        for (std::int64_t round = 0; !stop; ++round) {
          const Bytes size((4 + round % 8) << 20);
          const Result<std::byte*> block = allocator.allocate(size, StreamId(i));
          if (block) allocator.free(*block, size, StreamId(i));
        }
      });
    }
    while (forbidden() == 0) std::this_thread::yield();
    for (int round = 0; round < 200; ++round) {
      allocator.begin_capture();
      const std::uint64_t before = forbidden();
      std::this_thread::yield();
      EXPECT_EQ(forbidden(), before);
      allocator.end_capture();
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(device->violations().empty());
}

}  // namespace
}  // namespace stowage::runtime
