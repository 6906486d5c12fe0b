#include <array>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// Whichever allocation fails: nothing is lost, nothing leaks, and the next attempt succeeds.
namespace stowage::ggml {
namespace {

struct Wide {
  TestGraph graph;

  explicit Wide(std::int64_t floats) {
    ggml_tensor* sum = graph.input(floats);
    for (int i = 0; i < 4; ++i) sum = ggml_add(graph.context(), sum, graph.input(floats));
    graph.output(sum);
  }
};

TEST(Faults, EveryAllocationOfAReserveMayFail) {
  for (int nth = 1;; ++nth) {
    FakeBufferType type({.max_size = 1024});
    {
      Gallocr allocator(std::array{type.get()});
      Wide graph(128);
      type.fails_at = nth;
      const Status reserved = allocator.reserve(*graph.graph.get(), {});
      if (reserved) {
        EXPECT_EQ(nth, 4) << "five tensors of half a chunk take three chunks";
        break;
      }
      EXPECT_EQ(reserved.error().code, ErrorCode::out_of_memory);
      EXPECT_NE(reserved.error().message.find("fake buffer of size"), std::string::npos);
      EXPECT_EQ(type.buffers, 0);
      ASSERT_TRUE(allocator.allocate(*graph.graph.get()));
      EXPECT_EQ(shadow_run(*graph.graph.get()), "");
    }
    EXPECT_EQ(type.buffers, 0);
  }
}

TEST(Faults, EveryAllocationOfAGrowthMayFailAndTheOldGraphStillRuns) {
  for (int nth = 1; nth <= 16; ++nth) {
    FakeBufferType type({.max_size = 1024});
    {
      Gallocr allocator(std::array{type.get()});
      Wide small(64);
      Wide large(128);
      ASSERT_TRUE(allocator.reserve(*small.graph.get(), {}));
      type.fails_at = type.allocations + nth;
      static_cast<void>(allocator.reserve(*large.graph.get(), {}));
      type.fails_at.reset();
      ASSERT_TRUE(allocator.allocate(*small.graph.get())) << nth;
      EXPECT_EQ(shadow_run(*small.graph.get()), "");
      ASSERT_TRUE(allocator.allocate(*large.graph.get()));
      EXPECT_EQ(shadow_run(*large.graph.get()), "");
    }
    EXPECT_EQ(type.buffers, 0);
    EXPECT_EQ(type.bytes, 0U);
  }
}

TEST(Faults, ADeviceWithoutRoomForOldAndNewStillGrows) {
  FakeBufferType type({.capacity = 3000});
  Gallocr allocator(std::array{type.get()});
  Wide small(64);
  Wide large(128);
  ASSERT_TRUE(allocator.reserve(*small.graph.get(), {}));
  ASSERT_TRUE(allocator.reserve(*large.graph.get(), {}));
  EXPECT_EQ(allocator.buffer_size(0), 5U * 512);
  EXPECT_EQ(type.buffers, 1);
}

TEST(Faults, AGrowthBeyondTheDeviceLeavesTheOldSize) {
  FakeBufferType type({.capacity = 2000});
  Gallocr allocator(std::array{type.get()});
  Wide small(64);
  Wide large(128);
  ASSERT_TRUE(allocator.reserve(*small.graph.get(), {}));
  EXPECT_FALSE(allocator.reserve(*large.graph.get(), {}));
  EXPECT_EQ(allocator.buffer_size(0), 5U * 256);
  ASSERT_TRUE(allocator.allocate(*small.graph.get()));
  EXPECT_EQ(shadow_run(*small.graph.get()), "");
}

TEST(Faults, OneTypeOfSeveralThatFailsChangesNoneOfThem) {
  FakeBufferType one;
  FakeBufferType other;
  Gallocr allocator(std::array{one.get(), other.get()});
  Wide small(64);
  Wide large(128);
  const std::array<int, 5> leafs = {0, 0, 0, 1, 1};
  const std::array<int, 4> nodes = {0, 0, 0, 1};
  ASSERT_TRUE(allocator.reserve(*small.graph.get(), {nodes.data(), leafs.data()}));
  const std::size_t before = allocator.buffer_size(0);
  other.options.capacity = other.bytes;
  EXPECT_FALSE(allocator.reserve(*large.graph.get(), {nodes.data(), leafs.data()}));
  EXPECT_EQ(allocator.buffer_size(0), before);
  ASSERT_TRUE(allocator.allocate(*small.graph.get()));
  EXPECT_EQ(shadow_run(*small.graph.get()), "");
}

TEST(Faults, WhatDidNotFitIsNotAskedForAgain) {
  FakeBufferType type({.capacity = 3000});
  Gallocr allocator(std::array{type.get()});
  Wide huge(4096);
  Wide small(64);
  Wide between(100);
  EXPECT_FALSE(allocator.reserve(*huge.graph.get(), {}));
  EXPECT_TRUE(allocator.reserve(*small.graph.get(), {}));
  EXPECT_FALSE(allocator.reserve(*huge.graph.get(), {}));
  ASSERT_TRUE(allocator.allocate(*between.graph.get()));
  EXPECT_EQ(shadow_run(*between.graph.get()), "");
}

TEST(Faults, AskingForSizesTwiceTakesNothing) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  Wide huge(4096);
  Wide small(64);
  ASSERT_TRUE(allocator.sizes(*huge.graph.get(), {}));
  ASSERT_TRUE(allocator.sizes(*huge.graph.get(), {}));
  ASSERT_TRUE(allocator.reserve(*small.graph.get(), {}));
  EXPECT_EQ(allocator.buffer_size(0), 5U * 256);
}

}  // namespace
}  // namespace stowage::ggml
