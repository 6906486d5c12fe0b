#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "replay/interface/lagged_device.hpp"

namespace stowage::replaying {
namespace {

TEST(LaggedDeviceThreads, StreamsOfManyThreadsWaitForEachOtherWhileTimePasses) {
  constexpr std::size_t kThreads = 4;
  constexpr int kRounds = 2000;
  const std::unique_ptr<SimDevice> memory = SimDevice::make();
  LaggedDevice device(*memory, 5);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&device, t] {
      const StreamId own(t);
      for (int round = 0; round < kRounds; ++round) {
        const EventId event = device.record(own).value();
        ASSERT_TRUE(device.wait(StreamId((t + 1) % kThreads), event));
        if (round % 7 == 0) {
          ASSERT_TRUE(device.synchronize(own));
          ASSERT_TRUE(device.is_complete(event).value());
        }
        device.forget(event);
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) device.advance();
}

}  // namespace
}  // namespace stowage::replaying
