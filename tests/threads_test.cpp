#include <thread>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/generators/random_backends.hpp"
#include "support/generators/random_graph.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/scheduled_run.hpp"

namespace stowage {
namespace {

/// Limited by nodes, not by time: only then are plans equal on every machine.
const PlanOptions kBudget{.time_limit = std::nullopt, .node_budget = 2'000};

/// One const graph, eight threads: planned, verified and compared at the same time, for ThreadSanitizer.
TEST(Threads, EightThreadsPlanOneGraphAndAgree) {
  constexpr std::size_t kThreads = 8;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Graph graph = testing::random_graph(seed);
    std::vector<std::optional<Plan>> plans(kThreads);
    {
      std::vector<std::jthread> threads;
      for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&graph, &mine = plans[t], t] {
          PlanOptions options = kBudget;
          options.in_place = t % 2 == 0;
          mine = plan(graph, options)->plan;
          if (mine && !verify(graph, *mine).empty()) mine.reset();
        });
      }
    }
    for (std::size_t t = 2; t < kThreads; ++t) ASSERT_EQ(plans[t], plans[t % 2]) << seed;
  }
}

/// Strategies share the graph and nothing else, neither with each other nor with those of another call.
TEST(Threads, ManyStrategiesPlanOneGraphForTwoCallersAtOnce) {
  PlanOptions options = kBudget;
  options.memory_priority = true;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph graph = testing::random_graph(seed);
    options.threads = 1;
    const Planned expected = *plan(graph, options);
    options.threads = 8;
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 2; ++caller) {
      callers.emplace_back([&] {
        const Planned planned = *plan(graph, options);
        EXPECT_EQ(planned.plan, expected.plan) << seed;
        EXPECT_EQ(planned.candidates, expected.candidates) << seed;
      });
    }
  }
}

TEST(Threads, ALargeGraphIsPlannedByEightThreads) {
  GraphBuilder builder("chain of diamonds");
  TensorId last = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  for (int i = 0; i < 500; ++i) {
    const TensorId left = builder.add(Tensor{.name = "left", .size = Bytes(64 + i % 7)});
    const TensorId right = builder.add(Tensor{.name = "right", .size = Bytes(64 + i % 5)});
    const TensorId next = builder.add(Tensor{.name = "next", .size = Bytes(64)});
    builder.add(Op{.name = "split", .kind = "X", .inputs = {last}, .outputs = {left, right}});
    builder.add(Op{.name = "join", .kind = "X", .inputs = {left, right}, .outputs = {next}, .in_place = {{0, 0}}});
    last = next;
  }
  const Graph graph = *builder.build();
  const Planned expected = *plan(graph, kBudget);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back([&] { EXPECT_EQ(plan(graph, kBudget)->plan, expected.plan); });
}

TEST(Threads, EightThreadsPartitionOneGraphAndAgree) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Graph graph = testing::random_graph(seed);
    testing::Backends backends = testing::two_sims_and_cpu();
    const PartitionOptions options = testing::randomize(backends, graph, seed);
    const Partition expected = *partition(graph, backends.list, options);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        const Result<Partition> mine = partition(graph, backends.list, options);
        EXPECT_EQ(mine->graph.description(), expected.graph.description());
        EXPECT_EQ(mine->splits, expected.splits);
      });
    }
  }
}

/// Each thread has its own scheduler, but they share devices and streams: either may complete the other's work.
TEST(Threads, TwoSchedulersShareTheirDevices) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph graph = testing::random_graph(seed);
    testing::Backends backends = testing::two_sims_and_cpu();
    const PartitionOptions options = testing::randomize(backends, graph, seed);
    const testing::TestKernels kernels(graph);
    const auto evaluate = [&](std::uint64_t inputs) {
      testing::ReferenceRun reference(graph, kernels, inputs);
      testing::ScheduledRun run(graph, kernels, backends, {.partition = options, .allocator = {.plan = kBudget}});
      run.write_own_addresses(reference);
      EXPECT_TRUE(run.allocate());
      EXPECT_TRUE(run.scheduler().begin());
      reference.write_inputs(inputs);
      run.write_inputs(reference);
      reference.run();
      EXPECT_TRUE(run.run());
      EXPECT_TRUE(run.scheduler().synchronize());
      EXPECT_EQ(run.difference(reference).value_or(""), "") << seed;
    };
    std::jthread other([&] { evaluate(2); });
    evaluate(1);
  }
}

/// The threads of the search race for the first answer of a round; the result must not depend on the winner.
TEST(Threads, OneProblemIsSolvedAlikeByOneTwoAndEightThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(60));
    SolveOptions options{.seed = seed, .node_budget = 20'000};
    const SolveOutcome alone = *solve(problem, options);
    for (const std::uint32_t threads : {2U, 8U}) {
      options.threads = threads;
      const SolveOutcome together = *solve(problem, options);
      ASSERT_EQ(together.positions, alone.positions) << seed;
      ASSERT_EQ(together.bound, alone.bound) << seed;
      ASSERT_EQ(together.nodes, alone.nodes) << seed;
    }
  }
}

}  // namespace
}  // namespace stowage
