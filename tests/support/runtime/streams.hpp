#pragma once

#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/stream_allocator.hpp"

namespace stowage::runtime {

/// A `StreamAllocator` on a simulated device that nothing may be left on, and that must not have been misused.
struct StreamsOnSim {
  explicit StreamsOnSim(SimOptions sim = {}, StreamOptions options = {.checks = Checks::on})
      : device(SimDevice::make(std::move(sim))), allocator(std::make_unique<StreamAllocator>(*device, options)) {}
  ~StreamsOnSim() {
    allocator.reset();
    device->finish_all();
    EXPECT_EQ(device->live_objects(), 0U);
    EXPECT_THAT(device->violations(), ::testing::IsEmpty());
  }
  StreamsOnSim(const StreamsOnSim&) = delete;
  StreamsOnSim& operator=(const StreamsOnSim&) = delete;

  std::byte* get(Bytes size, std::size_t stream = 1) {
    const Result<std::byte*> address = allocator->allocate(size, StreamId(stream));
    EXPECT_TRUE(address) << address.error().message;
    return address ? *address : nullptr;
  }
  void put(std::byte* address, Bytes size, std::size_t stream = 1) { allocator->free(address, size, StreamId(stream)); }
  void launch(std::size_t stream, const std::byte* used) { ASSERT_TRUE(device->launch(StreamId(stream), {&used, 1})); }

  std::unique_ptr<SimDevice> device;
  std::unique_ptr<StreamAllocator> allocator;
};

}  // namespace stowage::runtime
