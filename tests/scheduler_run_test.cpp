#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shadow/shadow.hpp"
#include "stowage/verify.hpp"
#include "support/random_graph.hpp"
#include "support/scheduled_run.hpp"

/// Graphs over the CPU and two simulated devices compute what they compute in one piece, bit by bit.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kGraphs = 1500;

SchedulerOptions options_for(PartitionOptions partition) {
  return {.partition = std::move(partition), .allocator = {.plan = {.time_limit = {}, .node_budget = 2'000}}};
}

void expect_clean(const Backends& backends) {
  for (const SimDevice* device : {backends.first.get(), backends.second.get()}) {
    EXPECT_THAT(device->violations(), IsEmpty());
    EXPECT_EQ(device->live_objects(), 0U);
  }
}

struct Evaluations {
  std::size_t count = 0;
  std::uint64_t seed = 0;
};

/// One evaluation after the other, without waiting in between; the last one's outputs and variables count.
void expect_same(const Graph& graph, Backends& backends, const SchedulerOptions& options, Evaluations evaluations) {
  const auto [count, seed] = evaluations;
  const TestKernels kernels(graph);
  ReferenceRun reference(graph, kernels, seed);
  ScheduledRun scheduled(graph, kernels, backends, options);
  scheduled.write_own_addresses(reference);
  for (std::size_t i = 0; i < count; ++i) {
    const Status allocated = scheduled.allocate();
    ASSERT_TRUE(allocated) << to_string(allocated.error());
    ASSERT_TRUE(scheduled.scheduler().begin());
    reference.write_inputs(seed + i);
    scheduled.write_inputs(reference);
    reference.run();
    const Status status = scheduled.run(seed % 2 == 0 ? std::optional(seed) : std::nullopt);
    ASSERT_TRUE(status) << to_string(status.error());
  }
  ASSERT_TRUE(scheduled.scheduler().synchronize());
  EXPECT_EQ(scheduled.difference(reference).value_or(""), "");
  EXPECT_THAT(verify(scheduled.scheduler().served_graph().value(), scheduled.scheduler().plan()), IsEmpty());
  EXPECT_EQ(scheduled.scheduler().counters().partitions, 1U) << "the same graph is not partitioned again";
}

TEST(SchedulerRun, RandomGraphsComputeTheSameAsInOnePiece) {
  std::size_t copies = 0;
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = two_sims_and_cpu();
    const SchedulerOptions options = options_for(randomize(backends, graph, seed));
    expect_same(graph, backends, options, {.count = 2, .seed = seed});
    copies += partition(graph, backends.list, options.partition)->copies.size();
    expect_clean(backends);
  }
  EXPECT_GT(copies, kGraphs);
}

TEST(SchedulerRun, InputSlotsLetEvaluationsFollowEachOtherWithoutMixing) {
  for (std::uint64_t seed = 0; seed < kGraphs / 3 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = two_sims_and_cpu();
    SchedulerOptions options = options_for(randomize(backends, graph, seed));
    options.partition.input_slots = 2 + seed % 3;
    expect_same(graph, backends, options, {.count = 6, .seed = seed});
    expect_clean(backends);
  }
}

}  // namespace
}  // namespace stowage::testing
