#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/session_arena.hpp"

namespace stowage {
namespace {

using ::testing::IsEmpty;

TEST(SessionArenaThreads, ModelsOfManyThreadsLoadRunAndUnloadWithoutHarmingEachOther) {
  const auto device = SimDevice::make({.granularity = Bytes(1024)});
  std::atomic<int> runs = 0;
  {
    const auto arena = SessionArena::make(*device).value();
    const auto work = [&](int thread) {
      const StreamId stream(static_cast<std::size_t>(thread));
      for (int round = 0; round < 100; ++round) {
        const std::array sizes = {Bytes(256 * (1 + (thread + round) % 7)), Bytes(512)};
        const LoadedModel model = arena->load(sizes).value();
        if (arena->begin(model.id, stream)) {
          int sent = thread * 1000 + round;
          int received = 0;
          ASSERT_TRUE(
              device->copy(stream, model.addresses[0], reinterpret_cast<std::byte*>(&sent), Bytes(sizeof sent)));
          ASSERT_TRUE(
              device->copy(stream, reinterpret_cast<std::byte*>(&received), model.addresses[0], Bytes(sizeof sent)));
          ASSERT_TRUE(device->synchronize(stream));
          ASSERT_EQ(received, sent) << "nobody else writes there while the model is active";
          ASSERT_TRUE(arena->end(model.id));
          ++runs;
        }
        ASSERT_TRUE(arena->unload(model.id));
        if (round % 10 == 0) arena->trim();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
    }
    EXPECT_EQ(arena->models(), 0U);
    arena->trim();
    EXPECT_EQ(device->in_use(), Bytes(0));
  }
  EXPECT_GT(runs, 0);
  EXPECT_EQ(device->live_objects(), 0U);
  EXPECT_THAT(device->violations(), IsEmpty());
}

}  // namespace
}  // namespace stowage
