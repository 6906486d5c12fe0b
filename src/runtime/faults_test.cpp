#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/caching_allocator.hpp"
#include "stowage/runtime/stream_allocator.hpp"

namespace stowage {
namespace {

struct Block {
  std::byte* address = nullptr;
  Bytes size;
  StreamId stream;
};

/// Random requests on a small device whose streams have work pending, with some frees and an occasional trim. Requests
/// may fail; nothing else may go wrong.
template <class Rng>
void work(Allocator& allocator, SimDevice& device, std::size_t streams, Rng& random) {
  std::vector<Block> live;
  for (int i = 0; i < 120; ++i) {
    const StreamId stream(random() % streams);
    const Bytes size(static_cast<std::int64_t>(1 + random() % (6U << 20)));
    if (const Result<std::byte*> address = allocator.allocate(size, stream)) {
      live.push_back({*address, size, stream});
      const std::byte* const used = *address;
      if (random() % 4 == 0) {
        [[maybe_unused]] const Status launched = device.launch(stream, {&used, 1});
      }
    }
    if (live.size() > 4 || (random() % 3 == 0 && !live.empty())) {
      std::swap(live.back(), live[random() % live.size()]);
      allocator.free(live.back().address, live.back().size, live.back().stream);
      live.pop_back();
    }
    if (random() % 16 == 0) device.finish(stream);
    if (random() % 40 == 0) allocator.trim();
  }
  for (const Block& block : live) allocator.free(block.address, block.size, block.stream);
}

template <class MakeAllocator>
void fail_every_call(std::size_t streams, MakeAllocator make) {
  for (std::uint64_t nth = 1; nth < 400; ++nth) {
    const std::unique_ptr<SimDevice> device = SimDevice::make({.memory = Bytes(24 << 20)});
    {
      const std::unique_ptr<Allocator> allocator = make(*device);
      std::mt19937 random(static_cast<std::uint32_t>(nth));
      device->fail_any(nth);
      work(*allocator, *device, streams, random);
      EXPECT_EQ(allocator->stats().live, 0U);
      EXPECT_EQ(allocator->stats().requested, Bytes(0));
      device->fail_any(0);  // a failure during destruction would leak, and nothing could be done about it
    }
    ASSERT_EQ(device->live_objects(), 0U) << "call " << nth;
    ASSERT_THAT(device->violations(), ::testing::IsEmpty()) << "call " << nth;
  }
}

TEST(RuntimeFaults, CachingAllocatorSurvivesTheFailureOfAnyCall) {
  fail_every_call(1, [](Device& device) {
    return std::make_unique<CachingAllocator>(device, CachingOptions{.checks = Checks::on});
  });
}

TEST(RuntimeFaults, StreamAllocatorSurvivesTheFailureOfAnyCall) {
  fail_every_call(
      5, [](Device& device) { return std::make_unique<StreamAllocator>(device, StreamOptions{.checks = Checks::on}); });
}

/// Each kind of call fails permanently from some point on: requests fail, and everything granted before can be freed.
TEST(RuntimeFaults, ACallThatNeverWorksAgainLosesNothing) {
  for (const SimCall call : {SimCall::reserve, SimCall::create, SimCall::map, SimCall::unmap, SimCall::record,
                             SimCall::wait, SimCall::synchronize}) {
    for (const std::uint64_t nth : {1U, 2U, 5U, 20U}) {
      const std::unique_ptr<SimDevice> device = SimDevice::make({.memory = Bytes(24 << 20)});
      {
        StreamAllocator allocator(*device, {.checks = Checks::on});
        std::mt19937 random(static_cast<std::uint32_t>(nth));
        device->fail(call, nth, 1000000);
        work(allocator, *device, 3, random);
        EXPECT_EQ(allocator.stats().live, 0U);
        device->fail(call, 0);
      }
      ASSERT_EQ(device->live_objects(), 0U);
      ASSERT_THAT(device->violations(), ::testing::IsEmpty());
    }
  }
}

}  // namespace
}  // namespace stowage
