#include "gallocr.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// ggml's graph allocator as its users see it, through the functions of ggml-alloc.h.
/// All plans are verified: see settings_test.cpp.
namespace stowage::ggml {
namespace {

std::string run(const TestGraph& graph) { return shadow_run(*graph.get()); }

/// a → b → c → … of `length` adds in which everything but the chain itself is read once.
ggml_tensor* chain(TestGraph& graph, ggml_tensor* from, int length) {
  for (int i = 0; i < length; ++i) from = ggml_scale(graph.context(), ggml_cont(graph.context(), from), 2.0F);
  return from;
}

TEST(Gallocr, AllocatesAGraphThatWasNeverReserved) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 0U);
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 4));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 512U);
  EXPECT_EQ(type.bytes, 512U);
}

TEST(Gallocr, ReserveTouchesNoTensorAndAllocateNeedsNothingMoreThen) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 4));
  ASSERT_TRUE(ggml_gallocr_reserve(allocator.get(), graph.get()));
  EXPECT_TRUE(graph.is_untouched());
  EXPECT_EQ(type.allocations, 1);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(type.allocations, 1);
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, WhatNobodyReadsLivesToTheEndThoughItHasNoFlag) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const x = graph.input(64);
  ggml_tensor* const early = ggml_cont(graph.context(), x);
  ggml_tensor* const viewed = ggml_cont(graph.context(), x);
  graph.compute(early).compute(ggml_reshape_2d(graph.context(), viewed, 8, 8));
  graph.compute(chain(graph, x, 3));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
  EXPECT_NE(early->data, viewed->data);
}

TEST(Gallocr, ACastThatListsItselfIsNotItsOwnReader) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const half = ggml_cast(graph.context(), graph.input(64), GGML_TYPE_F16);
  ASSERT_EQ(half->src[1], half);
  graph.compute(half).compute(chain(graph, graph.input(64), 3));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
  graph.forget_memory();
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(type.allocations, 1);
}

TEST(Gallocr, AnInputThatNobodyReadsSharesItsBytesLater) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* const unread = graph.input(64);
  ggml_tensor* const small = ggml_sum(graph.context(), graph.input(8));
  graph.output(ggml_cont(graph.context(), ggml_repeat(graph.context(), small, unread)));
  graph.get()->leafs[graph.get()->n_leafs++] = unread;
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_NE(unread->data, nullptr);
  EXPECT_EQ(type.bytes, 512U);
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, TensorsOfOthersAreLeftAlone) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph weights;
  ggml_tensor* const weight = weights.input(64);
  ggml_backend_buffer_t const buffer = ggml_backend_alloc_ctx_tensors_from_buft(weights.context(), type.get());
  void* const data = weight->data;
  TestGraph graph;
  graph.output(ggml_mul(graph.context(), graph.input(64), weight));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(weight->data, data);
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 256U);
  ggml_backend_buffer_free(buffer);
}

TEST(Gallocr, ATensorThatHasLostItsDataForcesANewPlan) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  TestGraph graph;
  std::vector<float> data(64);
  ggml_tensor* const weight = graph.input(64);
  weight->data = data.data();
  graph.output(ggml_mul(graph.context(), graph.input(64), weight));
  ASSERT_TRUE(allocator.allocate(*graph.get()));
  EXPECT_EQ(allocator.buffer_size(0), 256U);
  graph.forget_memory();
  ASSERT_TRUE(allocator.allocate(*graph.get()));
  EXPECT_EQ(allocator.buffer_size(0), 512U);
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_NE(weight->data, nullptr);
}

TEST(Gallocr, AGraphThatIsAllocatedAlreadyStaysAsItIs) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 2));
  ASSERT_TRUE(allocator.allocate(*graph.get()));
  void* const data = graph.get()->nodes[1]->data;
  ASSERT_TRUE(allocator.allocate(*graph.get()));
  EXPECT_EQ(graph.get()->nodes[1]->data, data);
  EXPECT_EQ(allocator.counters().plans, 1U);
}

TEST(Gallocr, OneTypeGivenTwiceIsOneBufferAndCountsOnce) {
  FakeBufferType type;
  ggml_backend_buffer_type_t types[] = {type.get(), type.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 1));
  const int nodes[] = {1, 0};
  const int leafs[] = {0};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes, leafs));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 512U);
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 1), 0U);
  EXPECT_EQ(type.buffers, 1);
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, OneTypeGivenTwicePlansByItself) {
  FakeBufferType type;
  ggml_backend_buffer_type_t types[] = {type.get(), type.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 1));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
  TestGraph longer;
  longer.output(chain(longer, longer.input(64), 2));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), longer.get()));
  EXPECT_EQ(run(longer), "");
}

TEST(Gallocr, SeveralTypesWantAReserveAndTouchNothingBefore) {
  FakeBufferType one;
  FakeBufferType other;
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 1));
  EXPECT_FALSE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_TRUE(graph.is_untouched());
  const int nodes[] = {1, 1};
  const int leafs[] = {0};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes, leafs));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(ggml_backend_buffer_get_type(graph.get()->leafs[0]->buffer), one.get());
  EXPECT_EQ(ggml_backend_buffer_get_type(graph.get()->nodes[0]->buffer), other.get());

  TestGraph longer;
  longer.output(chain(longer, longer.input(64), 2));
  EXPECT_FALSE(ggml_gallocr_alloc_graph(allocator.get(), longer.get()));
  EXPECT_TRUE(longer.is_untouched());
}

TEST(Gallocr, WithSeveralTypesAnOlderPlanWithOtherBufferIdsIsNotTaken) {
  FakeBufferType one;
  FakeBufferType other;
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph large;
  large.output(chain(large, large.input(64), 1));
  TestGraph small;
  small.output(chain(small, small.input(32), 1));
  const int leafs[] = {0};
  const int first[] = {0, 0};
  const int second[] = {1, 1};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), large.get(), first, leafs));
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), small.get(), second, leafs));
  EXPECT_FALSE(ggml_gallocr_alloc_graph(allocator.get(), large.get())) << "only the first plan is large enough";
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), small.get()));
  EXPECT_EQ(ggml_backend_buffer_get_type(small.get()->nodes[0]->buffer), other.get());
}

TEST(Gallocr, ABufferIdThatDoesNotExistIsARefusal) {
  FakeBufferType one;
  FakeBufferType other;
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 1));
  const int leafs[] = {0};
  for (const int wrong : {7, -1}) {
    const int nodes[] = {1, wrong};
    EXPECT_FALSE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes, leafs)) << wrong;
  }
  EXPECT_TRUE(graph.is_untouched());
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 7), 0U);
}

TEST(Gallocr, SizesBeyondABuffersLargestAreSplit) {
  FakeBufferType type({.max_size = 512});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* sum = graph.input(64);
  for (int i = 0; i < 5; ++i) sum = ggml_add(graph.context(), sum, graph.input(64));
  graph.output(sum);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(type.buffers, 3);
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 6U * 256);
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, ThereMayBeAnyNumberOfChunks) {
  FakeBufferType type({.max_size = 256});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  ggml_tensor* sum = graph.input(64);
  for (int i = 0; i < 39; ++i) sum = ggml_add(graph.context(), sum, graph.input(64));
  graph.output(sum);
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(type.buffers, 40);
  EXPECT_EQ(run(graph), "");
}

/// How the scheduler expresses that `input` is copied to `copy` before the nodes that follow:
/// by two nodes that compute nothing.
void add_copy(TestGraph& graph, ggml_tensor* input, ggml_tensor* copy) {
  ggml_tensor* const dependency = ggml_view_tensor(graph.context(), input);
  dependency->src[0] = input;
  graph.get()->nodes[graph.get()->n_nodes++] = dependency;
  graph.get()->nodes[graph.get()->n_nodes++] = copy;
}

TEST(Gallocr, WhatTheSchedulerCopiesLivesUntilThenAndTheCopyFromThenOn) {
  FakeBufferType one;
  FakeBufferType other;
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  ggml_tensor* const x = graph.input(64);
  ggml_tensor* const made = ggml_cont(graph.context(), x);
  graph.compute(made).compute(chain(graph, x, 3));
  ggml_tensor* const copy = ggml_new_tensor_1d(graph.context(), GGML_TYPE_F32, 64);
  const int before = graph.get()->n_nodes;
  add_copy(graph, made, copy);
  graph.output(chain(graph, copy, 2));
  // ggml treats the copy as a leaf if something is computed from it. In the scheduler's graph it is only a node.
  graph.get()->n_leafs = 1;
  std::vector<int> nodes(static_cast<std::size_t>(graph.get()->n_nodes), 1);
  std::fill(nodes.begin(), nodes.begin() + before + 1, 0);
  const int leafs[] = {0};
  ASSERT_EQ(graph.get()->leafs[0], x);
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes.data(), leafs));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(run(graph), "");
  EXPECT_EQ(ggml_backend_buffer_get_type(copy->buffer), other.get());
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 1), 512U) << "the copy is not needed after it was read";
}

TEST(Gallocr, InHostMemoryANodeTakesOverASourceOfAnotherBuffer) {
  FakeBufferType one;
  FakeBufferType other;
  ggml_backend_buffer_type_t types[] = {one.get(), other.get()};
  const GallocrOwner allocator(ggml_gallocr_new_n(types, 2));
  TestGraph graph;
  ggml_tensor* const x = graph.input(64);
  ggml_tensor* const scaled = ggml_scale(graph.context(), x, 2.0F);
  graph.output(scaled);
  const int nodes[] = {1};
  const int leafs[] = {0};
  ASSERT_TRUE(ggml_gallocr_reserve_n(allocator.get(), graph.get(), nodes, leafs));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(scaled->data, x->data);
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 1), 0U);
}

TEST(Gallocr, BasesNeedNotBeAligned) {
  FakeBufferType type({.alignment = 64, .base_shift = 8});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  graph.output(chain(graph, graph.input(60), 2));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  for (int i = 0; i < graph.get()->n_nodes; ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(graph.get()->nodes[i]->data) % 64, 0U);
  }
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, BackendsThatWantToHearOfTensorsDoAndAreResetBefore) {
  FakeBufferType type({.hears_of_tensors = true});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  graph.output(ggml_reshape_2d(graph.context(), chain(graph, graph.input(64), 2), 8, 8));
  ASSERT_TRUE(ggml_gallocr_reserve(allocator.get(), graph.get()));
  EXPECT_EQ(type.tensors, 0);
  for (int round = 1; round <= 2; ++round) {
    graph.forget_memory();
    ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
    EXPECT_EQ(type.resets, round);
    EXPECT_EQ(type.tensors, round * (1 + graph.get()->n_nodes));
  }
}

TEST(Gallocr, ATensorThatABackendRefusesLeavesTheGraphUntouched) {
  FakeBufferType type({.hears_of_tensors = true});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 2));
  type.refuses_tensor = 3;
  EXPECT_FALSE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_TRUE(graph.is_untouched());
  EXPECT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
}

TEST(Gallocr, SizesThatBackendsPadAreHonoured) {
  FakeBufferType type({.padding = 32});
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  TestGraph graph;
  graph.output(chain(graph, graph.input(64), 1));
  ASSERT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(ggml_gallocr_get_buffer_size(allocator.get(), 0), 288U + 256);
  EXPECT_EQ(run(graph), "");
}

TEST(Gallocr, AnEmptyGraphAndNoAllocatorAreNothingToDo) {
  FakeBufferType type;
  const GallocrOwner allocator(ggml_gallocr_new(type.get()));
  const TestGraph graph;
  EXPECT_TRUE(ggml_gallocr_reserve(allocator.get(), graph.get()));
  EXPECT_TRUE(ggml_gallocr_alloc_graph(allocator.get(), graph.get()));
  EXPECT_EQ(type.bytes, 0U);
  ggml_gallocr_free(nullptr);
}

}  // namespace
}  // namespace stowage::ggml
