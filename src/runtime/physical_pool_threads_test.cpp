#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/physical_pool.hpp"

namespace stowage {
namespace {

using ::testing::IsEmpty;

TEST(PhysicalPoolThreads, NoPageHasTwoOwnersAndTheLimitHolds) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  VirtualMemory& memory = *device->virtual_memory();
  constexpr int kThreads = 4;
  const Bytes limit(64 * 1024);
  {
    PhysicalPool pool(memory, limit);
    const auto work = [&](int thread) {
      std::byte* const base = memory.reserve(Bytes(4096)).value();
      for (int round = 0; round < 300; ++round) {
        const Bytes size(1024 * (1 + (round + thread) % 4));
        const Result<Page> page = pool.allocate(size);
        ASSERT_TRUE(page) << "four threads with 4 KiB each are far below the limit";
        // A page given to two threads would be written by both.
        ASSERT_TRUE(memory.map(base, page->physical, Bytes(0), size));
        int sent = thread * 1000 + round;
        int received = 0;
        const StreamId stream(static_cast<std::size_t>(thread));
        ASSERT_TRUE(device->copy(stream, base, reinterpret_cast<std::byte*>(&sent), Bytes(sizeof sent)));
        ASSERT_TRUE(device->copy(stream, reinterpret_cast<std::byte*>(&received), base, Bytes(sizeof sent)));
        ASSERT_TRUE(device->synchronize(stream));
        ASSERT_EQ(received, sent);
        ASSERT_TRUE(memory.unmap(base, size));
        pool.free(*page);
        if (round % 16 == 0) pool.trim(Bytes(2048));
      }
      ASSERT_TRUE(memory.free(base, Bytes(4096)));
    };
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
    }
    const PhysicalPool::Counts counts = pool.counts();
    EXPECT_EQ(counts.created, counts.idle);
    EXPECT_LE(counts.created_peak, limit);
  }
  EXPECT_EQ(device->live_objects(), 0U);
  EXPECT_THAT(device->violations(), IsEmpty());
}

}  // namespace
}  // namespace stowage
