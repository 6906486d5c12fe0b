#pragma once

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/runtime/allocator.hpp"

/// What the tests of PyTorch's modes share: a model on a simulated device, which must have everything back in the end.
namespace stowage::replaying {

constexpr Bytes mib(std::int64_t count) { return Bytes(count << 20); }
constexpr StreamId kMain{0};
constexpr StreamId kSide{1};

/// A derived class makes the model.
class TorchModelTest : public ::testing::Test {
 protected:
  explicit TorchModelTest(Bytes memory) : sim_(SimDevice::make({.memory = memory})) {}

  std::byte* take(Bytes size, StreamId stream = kMain) { return model_->allocate(size, stream).value(); }
  void free(std::byte* address, Bytes size, StreamId stream = kMain) { model_->free(address, size, stream); }
  Bytes reserved() { return model_->stats().reserved; }

  void TearDown() override {
    model_.reset();
    EXPECT_EQ(sim_->live_objects(), 0U);
    EXPECT_EQ(sim_->in_use(), Bytes(0));
    EXPECT_THAT(sim_->violations(), ::testing::IsEmpty());
  }

  std::unique_ptr<SimDevice> sim_;
  std::unique_ptr<Allocator> model_;
};

}  // namespace stowage::replaying
