#include <array>
#include <random>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

/// Random ggml graphs, allocated by their own plans and by those of others, and run with marks.
namespace stowage::ggml {
namespace {

class RandomGraph {
 public:
  /// The structure comes from `seed`; `rows` scales all sizes.
  RandomGraph(std::uint64_t seed, std::int64_t rows) : graph_(2048), random_(seed), rows_(rows) {
    for (int i = 0; i < 3; ++i) values_.push_back(input());
    const std::size_t nodes = 5 + below(40);
    for (std::size_t i = 0; i < nodes; ++i) add_node();
    for (std::size_t i = 0; i < 3; ++i) graph_.compute(values_[values_.size() - 1 - i]);
  }

  [[nodiscard]] ggml_cgraph& get() { return *graph_.get(); }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  ggml_tensor* input() {
    ggml_tensor* const tensor = ggml_new_tensor_2d(graph_.context(), GGML_TYPE_F32, 8, rows_);
    ggml_set_input(tensor);
    return tensor;
  }

  /// A value of the common shape.
  ggml_tensor* value() { return values_[values_.size() - 1 - below(std::min<std::size_t>(values_.size(), 8))]; }

  void add_node() {
    ggml_context* const c = graph_.context();
    ggml_tensor* const x = value();
    ggml_tensor* made = nullptr;
    switch (below(12)) {
      case 0:
        made = ggml_add(c, x, value());
        break;
      case 1:
        made = ggml_mul(c, x, value());
        break;
      case 2:
        made = ggml_scale(c, x, 2.0F);
        break;
      case 3:
        made = ggml_rms_norm(c, x, 1e-5F);
        break;
      case 4:
        made = ggml_cont(c, x);
        break;
      case 5:
        made = ggml_scale(c, ggml_reshape_2d(c, x, 8, rows_), 2.0F);
        break;
      case 6:
        made = ggml_cont(c, ggml_transpose(c, ggml_cont(c, ggml_transpose(c, x))));
        break;
      case 7:
        made = ggml_add_inplace(c, ggml_cont(c, x), value());
        break;
      case 8:
        made = ggml_cpy(c, x, ggml_cont(c, value()));
        break;
      case 9:
        made = ggml_cast(c, ggml_cast(c, x, GGML_TYPE_F16), GGML_TYPE_F32);
        break;
      case 10: {
        ggml_tensor* const wide = ggml_concat(c, x, value(), 1);
        made = ggml_silu(
            c, ggml_view_2d(c, wide, 8, rows_, wide->nb[1], below(2) * static_cast<std::size_t>(rows_) * wide->nb[1]));
        break;
      }
      default:
        graph_.compute(x);  // a view that is a leaf does not make the graph compute its base
        made = ggml_soft_max(c, ggml_view_tensor(c, x));
        break;
    }
    if (below(12) == 0) ggml_set_output(made);
    if (below(4) == 0) graph_.compute(made);
    values_.push_back(made);
  }

  TestGraph graph_;
  std::mt19937_64 random_;
  std::int64_t rows_;
  std::vector<ggml_tensor*> values_;
};

class RandomGraphs : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGraphs, RunOnPlansOfTheirOwnAndOfLargerOnes) {
  FakeBufferType type;
  Gallocr allocator(std::array{type.get()});
  RandomGraph large(GetParam(), 16);
  ASSERT_TRUE(allocator.allocate(large.get()));
  EXPECT_EQ(shadow_run(large.get()), "");
  for (const std::int64_t rows : {15, 4, 1}) {
    RandomGraph small(GetParam(), rows);
    ASSERT_TRUE(allocator.allocate(small.get()));
    EXPECT_EQ(shadow_run(small.get()), "") << rows;
  }
}

TEST_P(RandomGraphs, RunWhateverPlansAreHeld) {
  FakeBufferType type({.max_size = 2048, .hears_of_tensors = true});
  Gallocr allocator(std::array{type.get()});
  for (std::uint64_t i = 0; i < 8; ++i) {
    RandomGraph graph(GetParam() + i % 5, static_cast<std::int64_t>(4 + i));
    ASSERT_TRUE(allocator.allocate(graph.get()));
    EXPECT_EQ(shadow_run(graph.get()), "");
  }
}

TEST_P(RandomGraphs, RunInSeveralMemories) {
  FakeBufferType one;
  FakeBufferType other({.host = GetParam() % 2 == 0});
  Gallocr allocator(std::array{one.get(), other.get()});
  RandomGraph graph(GetParam(), 8);
  std::mt19937_64 random(GetParam());
  std::vector<int> nodes(static_cast<std::size_t>(graph.get().n_nodes));
  std::vector<int> leafs(static_cast<std::size_t>(graph.get().n_leafs));
  for (int& id : nodes) id = static_cast<int>(random() % 2);
  for (int& id : leafs) id = static_cast<int>(random() % 2);
  ASSERT_TRUE(allocator.reserve(graph.get(), {nodes.data(), leafs.data()}));
  ASSERT_TRUE(allocator.allocate(graph.get()));
  EXPECT_EQ(shadow_run(graph.get()), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, ::testing::Range<std::uint64_t>(0, 150));

}  // namespace
}  // namespace stowage::ggml
