#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// Defects of ggml's own graph allocator, each reproduced there, which must not occur here.
namespace stowage::ggml {
namespace {

std::string run(const TestGraph& graph) { return shadow_run(*graph.get()); }

// P1: the branch that would do this is unreachable.
TEST(GgmlDefects, AViewOfADyingTensorIsOverwrittenInPlace) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const made = ggml_cont(graph.context(), graph.input(64));
  ggml_tensor* const view = ggml_reshape_2d(graph.context(), made, 8, 8);
  ggml_tensor* const scaled = ggml_scale(graph.context(), view, 2.0F);
  graph.output(ggml_cont(graph.context(), scaled));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(scaled->data, made->data);
  EXPECT_EQ(run(graph), "");
}

TEST(GgmlDefects, AViewOfATensorThatIsStillReadIsNotOverwritten) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const made = ggml_cont(graph.context(), graph.input(64));
  ggml_tensor* const scaled = ggml_scale(graph.context(), ggml_reshape_2d(graph.context(), made, 8, 8), 2.0F);
  graph.output(ggml_add(graph.context(), scaled, ggml_reshape_2d(graph.context(), made, 8, 8)));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_NE(scaled->data, made->data);
  EXPECT_EQ(run(graph), "");
}

/// c = a + b or another sum; counts and sizes are the same whatever is added.
struct Sums {
  TestGraph graph;
  ggml_tensor* a;
  ggml_tensor* b;
  ggml_tensor* c;

  explicit Sums(bool late_a) {
    ggml_tensor* const x = graph.input(64);
    a = ggml_cont(graph.context(), x);
    b = ggml_cont(graph.context(), a);
    c = ggml_cont(graph.context(), b);
    ggml_tensor* const d = ggml_cont(graph.context(), c);
    graph.output(ggml_concat(graph.context(), d, late_a ? a : c, 0));
  }
};

// P2 (llama.cpp#28448): only counts and sizes are compared.
TEST(GgmlDefects, AGraphWithOtherEdgesIsPlannedAnew) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  const Sums first(false);
  const Sums second(true);
  ASSERT_TRUE(allocator.reserve(*first.graph.get(), {}));
  ASSERT_TRUE(allocator.allocate(*second.graph.get()));
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_EQ(run(second.graph), "");
}

TEST(GgmlDefects, AGraphWithANewOutputIsPlannedAnew) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  Sums sums(false);
  ASSERT_TRUE(allocator.reserve(*sums.graph.get(), {}));
  ggml_set_output(sums.a);
  ASSERT_TRUE(allocator.allocate(*sums.graph.get()));
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_EQ(run(sums.graph), "");
}

// P3 (llama.cpp#27817): after a failed reserve the next call reads freed data.
TEST(GgmlDefects, AFailedReserveIsNotTheEnd) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  Sums sums(true);
  type.options.capacity = 100;
  EXPECT_FALSE(ggml_gallocr_reserve(allocator.get(), sums.graph.get()));
  EXPECT_FALSE(ggml_gallocr_alloc_graph(allocator.get(), sums.graph.get()));
  EXPECT_TRUE(sums.graph.is_untouched());
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 0U);
  type.options.capacity = SIZE_MAX;
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), sums.graph.get()));
  EXPECT_EQ(run(sums.graph), "");
}

TEST(GgmlDefects, GrowthOfASharedTypeThatFailsLeavesWhatWasThere) {
  FakeBufferType type;
  ggml_backend_buffer_type_t types[] = {type.get(), type.get()};
  GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph small;
  small.output(ggml_cont(small.context(), small.input(64)));
  TestGraph large;
  large.output(ggml_cont(large.context(), large.input(4096)));
  const int ids[] = {1};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), small.get(), ids, ids));
  type.options.capacity = 2048;
  EXPECT_FALSE(ggml_gallocr_reserve_n(allocator.get(), large.get(), ids, ids));
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 512U);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), small.get()));
  EXPECT_EQ(run(small), "");
  allocator.reset();
  EXPECT_EQ(type.buffers, 0);
}

// P4: 256 free blocks, then an abort.
TEST(GgmlDefects, ThousandsOfFreeBlocksAreNoTrouble) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph(8192);
  std::vector<ggml_tensor*> short_lived;
  std::vector<ggml_tensor*> long_lived;
  ggml_tensor* const x = graph.input(8);
  for (int i = 0; i < 600; ++i) {
    short_lived.push_back(ggml_cont(graph.context(), x));
    long_lived.push_back(ggml_cont(graph.context(), x));
    graph.compute(short_lived.back()).compute(long_lived.back());
  }
  for (ggml_tensor* const each : short_lived) graph.compute(ggml_sum(graph.context(), each));
  for (ggml_tensor* const each : long_lived) graph.compute(ggml_sum(graph.context(), each));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
}

// P5: asking for sizes frees the buffers.
TEST(GgmlDefects, AskingForSizesChangesNothing) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  Sums sums(true);
  std::size_t size = 0;
  ggml_gallocr_reserve_n_size(allocator.get(), sums.graph.get(), nullptr, nullptr, &size);
  EXPECT_GT(size, 0U);
  EXPECT_EQ(type.allocations, 0);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), sums.graph.get()));
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), size);
  EXPECT_EQ(run(sums.graph), "");

  TestGraph large;
  large.output(ggml_cont(large.context(), large.input(4096)));
  ggml_gallocr_reserve_n_size(allocator.get(), large.get(), nullptr, nullptr, &size);
  EXPECT_EQ(size, 2U * 4096 * 4);
  sums.graph.forget_memory();
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), sums.graph.get()));
  EXPECT_EQ(type.allocations, 1);
}

/// One input of each size, all needed at the same time.
void add_all(TestGraph& graph, std::initializer_list<std::int64_t> floats) {
  ggml_tensor* sum = nullptr;
  for (const std::int64_t count : floats) {
    ggml_tensor* const each = ggml_sum(graph.context(), graph.input(count));
    sum = sum ? ggml_add(graph.context(), sum, each) : each;
  }
  graph.output(sum);
}

// P7: with several chunks and equal totals every switch reallocates.
TEST(GgmlDefects, SwitchingBetweenGraphsWithSeveralChunksReallocatesNothingOnceBothAreKnown) {
  FakeBufferType type({.max_size = 1024});
  Gallocr allocator(std::array{type.get()});
  TestGraph one;
  TestGraph other;
  add_all(one, {240, 100});
  add_all(other, {170, 170});
  for (TestGraph* const graph : {&one, &other, &one, &other}) {
    graph->forget_memory();
    ASSERT_TRUE(allocator.allocate(*graph->get()));
  }
  const int allocations = type.allocations;
  for (int i = 0; i < 100; ++i) {
    for (TestGraph* const graph : {&one, &other}) {
      graph->forget_memory();
      ASSERT_TRUE(allocator.allocate(*graph->get()));
    }
  }
  EXPECT_EQ(type.allocations, allocations);
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_EQ(run(other), "");
}

TEST(GgmlDefects, GraphsThatWereReservedNeverReallocate) {
  FakeBufferType type({.max_size = 1024});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph one;
  TestGraph other;
  add_all(one, {240, 100});
  add_all(other, {170, 170});
  ASSERT_TRUE(ggml_gallocr_reserve(allocator.get(), one.get()));
  ASSERT_TRUE(ggml_gallocr_reserve(allocator.get(), other.get()));
  const int allocations = type.allocations;
  for (TestGraph* const graph : {&one, &other, &one}) {
    graph->forget_memory();
    ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph->get()));
  }
  EXPECT_EQ(type.allocations, allocations);
}

// P10: in place, a node ends up in the memory of its source.
TEST(GgmlDefects, ANodeLiesInItsOwnMemoryThoughItCouldOverwriteASourceInAnother) {
  FakeBufferType one({.host = false});
  FakeBufferType other({.host = false});
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  ggml_tensor* const scaled = ggml_scale(graph.context(), graph.input(64), 2.0F);
  graph.output(scaled);
  const int nodes[] = {1};
  const int leafs[] = {0};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes, leafs));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(ggml_backend_buffer_get_type(scaled->buffer), other.get());
}

// P13: a leaf that is a view is freed once too often.
TEST(GgmlDefects, ALeafThatIsAViewDoesNotEndTheLifeOfItsBase) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const x = graph.input(64);
  ggml_tensor* const leaf = ggml_view_tensor(graph.context(), x);
  ggml_tensor* const first = ggml_cont(graph.context(), leaf);
  ggml_tensor* const second = ggml_cont(graph.context(), ggml_reshape_2d(graph.context(), x, 8, 8));
  graph.compute(first).compute(ggml_cont(graph.context(), first)).output(second);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
}

}  // namespace
}  // namespace stowage::ggml
