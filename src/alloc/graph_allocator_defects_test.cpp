#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/verify.hpp"
#include "support/builders/allocator_graphs.hpp"

/// Defects that were reproduced in ggml's allocators, each with its number in our notes. Our allocators have none of
/// them.
namespace stowage {
namespace {

using testing::chain;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::overlap;
using testing::Sketch;
using testing::steady;

std::unique_ptr<SimDevice> bytes_device(SimOptions options = {}) {
  options.alignment = Bytes(1);
  return SimDevice::make(options);
}

TEST(GgmlDefects, P1InPlaceGoesThroughAView) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId a = s.tensor("a", 64);
  const TensorId flat = s.view("flat", 64, a, 0);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({x}, {a});
  s.op({.name = "reshape", .kind = "RESHAPE", .inputs = {a}, .outputs = {flat}, .no_task = true});
  s.op({flat}, {y}, {{0, 0}});
  const Graph graph = s.build();
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Allocation& allocation = **allocator.allocate(graph);
  EXPECT_EQ(allocation.tensors[y.index()], allocation.tensors[a.index()]);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128));
  EXPECT_THAT(verify(graph, allocation.plan), IsEmpty());
}

/// x → a → b → y, and y also reads `also`. Counts and sizes are the same whatever `also` is.
Graph with_second_reader(std::size_t also) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId a = s.tensor("a", 64);
  const TensorId b = s.tensor("b", 64);
  const TensorId c = s.tensor("c", 64);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({b}, {c});
  s.op({c, TensorId(also)}, {y});
  return s.build();
}

TEST(GgmlDefects, P2AStalePlanIsNotTakenForAGraphWithOtherEdges) {
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(with_second_reader(2)));
  for (const std::size_t also : {1U, 0U, 2U}) {
    const Graph graph = with_second_reader(also);
    const Allocation& allocation = **allocator.allocate(graph);
    EXPECT_THAT(verify(graph, allocation.plan), IsEmpty()) << also;
    EXPECT_FALSE(overlap(allocation, graph, TensorId(also), TensorId(3))) << also;
  }
}

TEST(GgmlDefects, P2AStalePlanIsNotTakenWhenATensorBecomesAnOutput) {
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), steady());
  ASSERT_TRUE(allocator.allocate(chain(64)));
  GraphDescription kept = chain(64).description();
  kept.tensors[1].flags = TensorFlag::output;
  const Graph graph = *Graph::build(kept);
  const Allocation& allocation = **allocator.allocate(graph);
  EXPECT_EQ(allocator.last_replan(), (Replan{.reason = ReplanReason::flags, .tensor = TensorId(1)}));
  EXPECT_THAT(verify(graph, allocation.plan), IsEmpty());
  EXPECT_FALSE(overlap(allocation, graph, TensorId(1), TensorId(3)));
}

TEST(GgmlDefects, P3AfterAFailedReserveAllocateFailsOrWorksButDoesNotCrash) {
  auto sim = bytes_device({.memory = Bytes(200)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Status failed = allocator.reserve(chain(1000));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(failed.error().message, HasSubstr("sim: cannot allocate 2000 bytes"));
  EXPECT_EQ(allocator.allocate(chain(1000)).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(0));
  ASSERT_TRUE(allocator.allocate(chain(100)));
}

TEST(GgmlDefects, P3AfterAGrowthThatFailsTheOldPlanAndBufferServeOn) {
  auto sim = bytes_device({.memory = Bytes(300)});
  {
    // The same type twice: in ggml, freeing both after a failed growth freed one buffer twice.
    GraphAllocator allocator({&sim->buffer_type(), &sim->buffer_type()}, steady());
    const Allocation before = **allocator.allocate(chain(100));
    ASSERT_FALSE(allocator.reserve(chain(1000)));
    ASSERT_FALSE(allocator.allocate(chain(1000)));
    EXPECT_EQ(allocator.buffer_size(0), Bytes(200));
    const Result<const Allocation*> again = allocator.allocate(chain(100));
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->tensors, before.tensors);
    EXPECT_TRUE(before.tensors[3].buffer->fill({before.tensors[3].offset, before.tensors[3].offset + Bytes(100)}, 1));
  }
  EXPECT_EQ(sim->live_objects(), 0U);
  EXPECT_THAT(sim->violations(), IsEmpty());
}

TEST(GgmlDefects, P4ThousandsOfFreeBlocksAreNoLimit) {
  // Tensors of different sizes, all live at once; then every second one is freed while the others are still needed.
  Sketch s;
  std::vector<TensorId> all;
  constexpr int kCount = 1200;
  for (int i = 0; i < kCount; ++i) all.push_back(s.tensor("t" + std::to_string(i), 8 + i % 13 * 8));
  for (const TensorId tensor : all) s.op({}, {tensor});
  for (std::size_t i = 0; i < all.size(); i += 2)
    s.op({all[i]}, {s.tensor("r" + std::to_string(i), 4, TensorFlag::output)});
  s.op(std::vector<TensorId>{all[1], all[301], all[601], all[1199]}, {s.tensor("end", 4, TensorFlag::output)});
  const Graph graph = s.build();
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), {.plan = {.solver = "online_best_fit", .time_limit = {}}});
  const Result<const Allocation*> allocation = allocator.allocate(graph);
  ASSERT_TRUE(allocation) << to_string(allocation.error());
  EXPECT_THAT(verify(graph, (*allocation)->plan), IsEmpty());
}

TEST(GgmlDefects, P5AllocateAfterReserveSizesWorks) {
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), steady());
  EXPECT_THAT(*allocator.reserve_sizes(chain(64)), ElementsAre(Bytes(128)));
  EXPECT_EQ(sim->calls(), 0U);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(0));
  const Result<const Allocation*> allocation = allocator.allocate(chain(64));
  ASSERT_TRUE(allocation);
  EXPECT_NE((*allocation)->tensors[0].data(), nullptr);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(128));
}

/// Tensors of these sizes, all live at once.
Graph together(const std::vector<std::int64_t>& sizes) {
  Sketch s;
  std::vector<TensorId> all;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    all.push_back(s.tensor("t" + std::to_string(i), sizes[i], TensorFlag::input));
  s.op(all, {s.tensor("y", 0, TensorFlag::output)});
  return s.build();
}

TEST(GgmlDefects, P7GraphsOfEqualTotalInSeveralChunksTakeTurnsWithoutReallocation) {
  auto sim = bytes_device({.max_size = Bytes(100)});
  GraphAllocator allocator(sim->buffer_type(), steady());
  const std::vector<Graph> graphs = {together({100, 60, 90}), together({60, 90, 100}), together({90, 100, 60}),
                                     together({55, 100, 45, 40})};
  for (const Graph& graph : graphs) ASSERT_TRUE(allocator.allocate(graph));
  const std::uint64_t calls = sim->calls();
  for (int round = 0; round < 100; ++round) {
    for (const Graph& graph : graphs) {
      const Allocation& allocation = **allocator.allocate(graph);
      ASSERT_THAT(verify(*allocator.as_served(graph), allocation.plan), IsEmpty());
      for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
        const Address& address = allocation.tensors[t];
        ASSERT_LE(address.offset + graph.tensors()[t].size, address.buffer->size());
      }
    }
  }
  EXPECT_EQ(sim->calls(), calls);
  EXPECT_EQ(allocator.buffer_size(0), Bytes(260)) << "the last one has 100, 55 + 45 and 40";
}

TEST(GgmlDefects, P10InPlaceMindsTheMemoryOfTheOutput) {
  GraphBuilder builder("two memories");
  builder.add(Memory{.name = "near"});
  builder.add(Memory{.name = "far"});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId y =
      builder.add(Tensor{.name = "y", .size = Bytes(64), .memory = MemoryId(1), .flags = TensorFlag::output});
  builder.add(Op{.name = "relu", .kind = "RELU", .inputs = {x}, .outputs = {y}, .in_place = {{0, 0}}});
  const Graph graph = *builder.build();
  auto near = bytes_device({.id = DeviceId(1)});
  auto far = bytes_device({.id = DeviceId(2)});
  GraphAllocator allocator({&near->buffer_type(), &far->buffer_type()}, steady());
  ASSERT_TRUE(allocator.reserve(graph));
  const Allocation& allocation = **allocator.allocate(graph);
  EXPECT_EQ(allocation.tensors[x.index()].buffer, &allocator.buffer(0, 0));
  EXPECT_EQ(allocation.tensors[y.index()].buffer, &allocator.buffer(1, 0));
  EXPECT_EQ(allocator.buffer_size(1), Bytes(64));
}

TEST(GgmlDefects, P13AViewThatNoOpMakesKeepsItsBaseAlive) {
  Sketch s;
  const TensorId leaf = s.tensor("leaf", 64, TensorFlag::input);
  const TensorId part = s.view("part", 16, leaf, 16);
  const TensorId a = s.tensor("a", 64);
  const TensorId b = s.tensor("b", 64);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({leaf}, {a});
  s.op({a}, {b});
  s.op({b, part}, {y});
  const Graph graph = s.build();
  auto sim = bytes_device();
  GraphAllocator allocator(sim->buffer_type(), steady());
  const Allocation& allocation = **allocator.allocate(graph);
  for (const TensorId other : {a, b, y}) EXPECT_FALSE(overlap(allocation, graph, leaf, other)) << other.index();
  EXPECT_EQ(allocation.tensors[part.index()].offset, allocation.tensors[leaf.index()].offset + Bytes(16));
  EXPECT_THAT(verify(graph, allocation.plan), IsEmpty());
}

}  // namespace
}  // namespace stowage
