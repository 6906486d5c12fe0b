#include "stowage/alloc/graph_allocator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liveness/test_graph.hpp"
#include "stowage/memory/sim.hpp"
#include "stowage/verify.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Sketch;

/// Same input, same plan: no clock.
GraphAllocatorOptions steady() { return {.plan = {.time_limit = {}, .node_budget = 2'000}}; }

/// x → a → b → y, `size` bytes each; nothing in place: two live at a time.
Graph chain(std::int64_t size) {
  Sketch s;
  const TensorId x = s.tensor("x", size, TensorFlag::input);
  const TensorId a = s.tensor("a", size);
  const TensorId b = s.tensor("b", size);
  const TensorId y = s.tensor("y", size, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({b}, {y});
  return s.build();
}

TEST(GraphAllocator, GivesEveryTensorAnAddressInOneBuffer) {
  auto sim = SimDevice::make({.alignment = Bytes(64)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  EXPECT_EQ(allocator.buffer_size(0), Bytes(0));
  EXPECT_EQ(allocator.buffer_count(0), 0U);
  const Graph graph = chain(64);
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128));
  EXPECT_EQ(allocator.buffer_count(0), 1U);
  for (const Address& address : (*allocation)->tensors) {
    EXPECT_EQ(address.buffer, &allocator.buffer(0, 0));
    EXPECT_LE(address.offset, Bytes(64));
  }
  EXPECT_THAT(verify(graph, (*allocation)->plan), IsEmpty());
  EXPECT_EQ(to_string(allocator.last_replan()), "first");
}

}  // namespace
}  // namespace stowage
