#include "support/generators/annotations.hpp"

#include <gtest/gtest.h>

#include "stowage/alloc.hpp"
#include "stowage/memory.hpp"
#include "stowage/planner.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"

/// What rewrites and people know about ops changes no plan.
namespace stowage::testing {
namespace {

Graph without_annotations(const Graph& graph) {
  GraphDescription description = graph.description();
  remove_annotations(description);
  return Graph::build(std::move(description)).value();
}

TEST(Annotations, RandomGraphsHaveThem) {
  std::size_t annotated = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = constrained_graph(seed);
    if (without_annotations(graph).description() != graph.description()) ++annotated;
  }
  EXPECT_GE(annotated, 90U);
}

TEST(Annotations, ChangeNoPlan) {
  const PlanOptions options{.time_limit = {}, .node_budget = 300};
  for (std::uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = seed % 2 == 0 ? random_graph(seed) : constrained_graph(seed);
    const Result<Planned> with = plan(graph, options);
    const Result<Planned> without = plan(without_annotations(graph), options);
    ASSERT_TRUE(with && without);
    EXPECT_EQ(with->plan, without->plan);
  }
}

TEST(Annotations, APlanServesGraphsWithOthers) {
  const std::unique_ptr<BufferType> type = *make_cpu_buffer_type("bytes", {.alignment = Bytes(1)});
  for (std::uint64_t seed = 0; seed < 50 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_memories = 1});
    GraphAllocator allocator(*type);
    ASSERT_TRUE(allocator.reserve(graph));
    ASSERT_TRUE(allocator.allocate(without_annotations(graph)));
    EXPECT_EQ(allocator.last_replan(), Replan{});
    EXPECT_EQ(allocator.counters().plans, 1U);
  }
}

}  // namespace
}  // namespace stowage::testing
