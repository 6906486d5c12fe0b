#include <array>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// Which graphs an existing plan can serve.
namespace stowage::ggml {
namespace {

std::string run(const TestGraph& graph) { return shadow_run(*graph.get()); }

/// Similar to a layer: norm, two projections, a view into the middle of one, an add.
void add_layer(TestGraph& graph, std::int64_t tokens, ggml_tensor*& x, ggml_tensor* weight) {
  ggml_context* const context = graph.context();
  ggml_tensor* const norm = ggml_rms_norm(context, x, 1e-5F);
  ggml_tensor* const projected = ggml_mul_mat(context, weight, norm);
  ggml_tensor* const part = ggml_view_2d(context, projected, 16, tokens, projected->nb[1], 16 * sizeof(float));
  ggml_tensor* const gate = ggml_silu(context, ggml_cont(context, part));
  ggml_tensor* const wide = ggml_concat(context, gate, ggml_cont(context, part), 0);
  x = ggml_add(context, x, ggml_repeat(context, ggml_sum_rows(context, wide), x));
}

struct Model {
  TestGraph graph;
  std::vector<float> weights = std::vector<float>(32 * 32);

  explicit Model(std::int64_t tokens, int layers = 3) {
    ggml_tensor* const weight = ggml_new_tensor_2d(graph.context(), GGML_TYPE_F32, 32, 32);
    weight->data = weights.data();
    ggml_tensor* x = ggml_new_tensor_2d(graph.context(), GGML_TYPE_F32, 32, tokens);
    ggml_set_input(x);
    for (int i = 0; i < layers; ++i) add_layer(graph, tokens, x, weight);
    graph.output(x);
  }
};

TEST(Matching, AHundredSmallerGraphsAfterAWorstCaseNeitherPlanNorGrow) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  const Model worst(101);
  ASSERT_TRUE(allocator.reserve(*worst.graph.get(), {}));
  for (std::int64_t tokens = 100; tokens >= 1; --tokens) {
    const Model model(tokens);
    ASSERT_TRUE(allocator.allocate(*model.graph.get()));
    EXPECT_EQ(run(model.graph), "") << tokens;
  }
  EXPECT_EQ(allocator.counters().plans, 1U);
  EXPECT_EQ(type.allocations, 1);
}

TEST(Matching, WithoutAnyTimeGraphsAreStillPlaced) {
  Settings settings;
  settings.time_limit = std::chrono::nanoseconds(0);
  settings.verify = true;
  for (const std::size_t max_size : {SIZE_MAX, std::size_t{16384}}) {
    FakeBufferType type({.max_size = max_size});
    Gallocr allocator(std::array{type.get()}, settings);
    const Model model(100);
    ASSERT_TRUE(allocator.allocate(*model.graph.get()));
    EXPECT_EQ(run(model.graph), "");
  }
}

TEST(Matching, ALargerGraphIsPlannedAnewAndGrows) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  const Model small(10);
  const Model large(11);
  ASSERT_TRUE(allocator.allocate(*small.graph.get()));
  ASSERT_TRUE(allocator.allocate(*large.graph.get()));
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_EQ(allocator.counters().growths, 2U);
  EXPECT_EQ(type.buffers, 1);
  EXPECT_EQ(run(large.graph), "");
}

TEST(Matching, FiveGraphsSwitchTenThousandTimesWithoutAllocating) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  std::vector<std::unique_ptr<Model>> models;
  for (int layers = 1; layers <= 5; ++layers) models.push_back(std::make_unique<Model>(64 >> layers, layers));
  for (const auto& model : models) ASSERT_TRUE(allocator.reserve(*model->graph.get(), {}));
  const int allocations = type.allocations;
  const std::uint64_t plans = allocator.counters().plans;
  for (int i = 0; i < 10'000; ++i) {
    Model& model = *models[static_cast<std::size_t>(i * 7 % 5)];
    model.graph.forget_memory();
    ggml_graph_node(model.graph.get(), 0)->src[0]->data = nullptr;
    for (int leaf = 0; leaf < model.graph.get()->n_leafs; ++leaf) {
      ggml_tensor* const t = model.graph.get()->leafs[leaf];
      if ((t->flags & GGML_TENSOR_FLAG_INPUT) == 0) t->data = model.weights.data();
    }
    ASSERT_TRUE(allocator.allocate(*model.graph.get()));
  }
  EXPECT_EQ(type.allocations, allocations);
  EXPECT_EQ(allocator.counters().plans, plans);
}

TEST(Matching, MoreGraphsThanAreKeptArePlannedAgainWithoutGrowing) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  for (int round = 0; round < 2; ++round) {
    for (int layers = 20; layers >= 1; --layers) {
      const Model model(8, layers);
      ASSERT_TRUE(allocator.allocate(*model.graph.get()));
      EXPECT_EQ(run(model.graph), "");
    }
  }
  EXPECT_EQ(allocator.counters().plans, 40U);
  EXPECT_LE(type.allocations, 2);
}

/// A node that may overwrite its source; without `same_strides` the source has another layout.
void add_pair(TestGraph& graph, bool same_strides) {
  ggml_context* const context = graph.context();
  ggml_tensor* const x = ggml_new_tensor_2d(context, GGML_TYPE_F32, 8, 8);
  ggml_set_input(x);
  ggml_tensor* const made = ggml_cont(context, x);
  ggml_tensor* const view = ggml_view_2d(context, made, 8, 4, same_strides ? made->nb[1] : 2 * made->nb[1], 0);
  ggml_tensor* const scaled = ggml_scale(context, view, 2.0F);
  graph.output(ggml_cont(context, scaled));
}

TEST(Matching, WhatLiesInPlaceMustStillHaveTheLayoutOfItsSource) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  TestGraph first;
  add_pair(first, true);
  TestGraph second;
  add_pair(second, false);
  ASSERT_TRUE(allocator.allocate(*first.get()));
  ASSERT_EQ(first.get()->nodes[2]->data, first.get()->nodes[0]->data);
  ASSERT_TRUE(allocator.allocate(*second.get()));
  EXPECT_EQ(allocator.counters().plans, 2U);
  EXPECT_NE(second.get()->nodes[2]->data, second.get()->nodes[0]->data);
  EXPECT_EQ(run(second), "");
}

TEST(Matching, EveryDifferenceThatMattersIsNoticedAndLeavesTheGraphUntouched) {
  FakeBufferType one;
  FakeBufferType other;
  const std::array types = {one.get(), other.get()};
  Gallocr allocator(types);
  Model model(8, 2);
  const auto forget = [&] {
    model.graph.forget_memory();
    for (int leaf = 0; leaf < model.graph.get()->n_leafs; ++leaf) {
      ggml_tensor* const t = model.graph.get()->leafs[leaf];
      if ((t->flags & GGML_TENSOR_FLAG_INPUT) == 0) t->data = model.weights.data();
    }
  };
  ASSERT_TRUE(allocator.reserve(*model.graph.get(), {}));
  const auto expect_refusal = [&](const char* what, auto change) {
    ggml_cgraph* const graph = model.graph.get();
    for (int i = 0; i < graph->n_nodes; ++i) {
      const ggml_tensor before = *graph->nodes[i];
      if (!change(*graph->nodes[i])) continue;
      EXPECT_FALSE(allocator.allocate(*graph)) << what << " of node " << i;
      *graph->nodes[i] = before;
      for (int j = 0; j < graph->n_nodes; ++j) EXPECT_EQ(graph->nodes[j]->buffer, nullptr) << what << " of node " << i;
    }
  };
  expect_refusal("op", [](ggml_tensor& t) { return t.op = static_cast<ggml_op>(t.op + 1), true; });
  expect_refusal("output flag", [](ggml_tensor& t) { return t.flags ^= GGML_TENSOR_FLAG_OUTPUT, true; });
  expect_refusal("input flag", [](ggml_tensor& t) { return t.flags ^= GGML_TENSOR_FLAG_INPUT, true; });
  expect_refusal("size", [](ggml_tensor& t) { return t.ne[3] = 100, !t.view_src; });
  expect_refusal("type", [](ggml_tensor& t) { return t.type = GGML_TYPE_F16, true; });
  expect_refusal("source", [](ggml_tensor& t) { return t.src[0] = nullptr, true; });
  expect_refusal("another source", [](ggml_tensor& t) { return t.src[9] = t.src[0], true; });
  expect_refusal("view", [](ggml_tensor& t) { return t.view_src = t.view_src ? t.view_src->src[0] : t.src[0], true; });
  forget();
  EXPECT_TRUE(allocator.allocate(*model.graph.get()));
}

/// Allocates one graph after another; whatever plan serves the second, nothing that it still needs is overwritten.
void expect_told_apart(const FakeBufferType::Options& options, const ggml_cgraph& first, const ggml_cgraph& second) {
  FakeBufferType type(options);
  Gallocr allocator(std::array{type.get()});
  ASSERT_TRUE(allocator.allocate(first));
  EXPECT_EQ(shadow_run(first), "");
  ASSERT_TRUE(allocator.allocate(second));
  EXPECT_EQ(shadow_run(second), "");
  EXPECT_EQ(allocator.counters().plans, 2U);
}

/// Adds cont(cont(cont(a))) and a view, which is a view of a tensor with its own data, or of `a` itself.
void add_view(TestGraph& graph, bool of_a, float* data) {
  ggml_context* const context = graph.context();
  ggml_tensor* const a = ggml_new_tensor_1d(context, GGML_TYPE_F32, 64);
  ggml_tensor* const other = ggml_new_tensor_1d(context, GGML_TYPE_F32, 64);
  other->data = data;
  ggml_tensor* const copies = ggml_cont(context, ggml_cont(context, ggml_cont(context, a)));
  graph.output(ggml_add(context, copies, ggml_view_tensor(context, of_a ? a : other)));
}

TEST(Matching, AViewOfAnInputIsNotOneOfSomethingElse) {
  std::vector<float> data(64);
  for (const bool hears : {false, true}) {
    TestGraph first;
    TestGraph second;
    add_view(first, false, data.data());
    add_view(second, true, data.data());
    expect_told_apart({.hears_of_tensors = hears}, *first.get(), *second.get());
  }
}

/// cont(cont(a + b)) times a third tensor or `a` again. The graph lists only the nodes.
ggml_cgraph nodes_only(TestGraph& graph, bool again, float* data) {
  ggml_context* const context = graph.context();
  ggml_tensor* const a = ggml_new_tensor_1d(context, GGML_TYPE_F32, 64);
  ggml_tensor* const b = ggml_new_tensor_1d(context, GGML_TYPE_F32, 64);
  ggml_tensor* const c = ggml_new_tensor_1d(context, GGML_TYPE_F32, 64);
  c->data = data;
  ggml_tensor* const copies = ggml_cont(context, ggml_cont(context, ggml_add(context, a, b)));
  graph.output(ggml_mul(context, copies, again ? a : c));
  return ggml_graph_view(graph.get(), 0, ggml_graph_n_nodes(graph.get()));
}

TEST(Matching, ASourceThatIsReadAgainIsNotAnotherOne) {
  std::vector<float> data(64);
  for (const bool hears : {false, true}) {
    for (float* const third : {static_cast<float*>(nullptr), data.data()}) {
      TestGraph first;
      TestGraph second;
      const ggml_cgraph one = nodes_only(first, false, third);
      const ggml_cgraph other = nodes_only(second, true, third);
      expect_told_apart({.hears_of_tensors = hears}, one, other);
    }
  }
}

TEST(Matching, AnEmptyTensorWithStridesFitsItsOwnPlan) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  TestGraph graph;
  ggml_tensor* const empty = ggml_new_tensor_3d(graph.context(), GGML_TYPE_F32, 10, 0, 5);
  empty->nb[2] = 320;
  ggml_set_input(empty);
  graph.output(ggml_cont(graph.context(), empty)).output(ggml_cont(graph.context(), graph.input(8)));
  EXPECT_TRUE(allocator.allocate(*graph.get()));
}

TEST(Matching, NothingGoesInPlaceOfAViewOfAView) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  TestGraph graph;
  ggml_tensor* const base = ggml_cont(graph.context(), graph.input(128));
  ggml_tensor* const half = ggml_view_1d(graph.context(), base, 64, 64 * sizeof(float));
  ggml_tensor* const again = ggml_view_1d(graph.context(), half, 64, 0);
  again->view_src = half;  // ggml itself would use the base
  again->view_offs = 0;
  ggml_tensor* const scaled = ggml_scale(graph.context(), again, 2);
  graph.output(ggml_cont(graph.context(), scaled));
  ASSERT_TRUE(allocator.allocate(*graph.get()));
  EXPECT_NE(scaled->data, base->data);
}

}  // namespace
}  // namespace stowage::ggml
