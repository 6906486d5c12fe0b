#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/verify.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/scheduled_run.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Graphs distributed over the CPU and two simulated devices compute the same as on one device, bit for bit.
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

/// Several evaluations without waiting in between; the outputs and variables of the last one are compared.
SchedulerCounters expect_same(const Graph& graph, Backends& backends, const SchedulerOptions& options,
                              Evaluations evaluations) {
  const auto [count, seed] = evaluations;
  const TestKernels kernels(graph);
  ReferenceRun reference(graph, kernels, seed);
  ScheduledRun scheduled(graph, kernels, backends, options);
  scheduled.write_own_addresses(reference);
  for (std::size_t i = 0; i < count; ++i) {
    const Status allocated = scheduled.allocate();
    EXPECT_TRUE(allocated) << to_string(allocated.error());
    if (!allocated) return {};
    EXPECT_TRUE(scheduled.scheduler().begin());
    reference.write_inputs(seed + i);
    scheduled.write_inputs(reference);
    reference.run();
    const Status status = scheduled.run(seed % 2 == 0 ? std::optional(seed) : std::nullopt);
    EXPECT_TRUE(status) << to_string(status.error());
    if (!status) return {};
  }
  EXPECT_TRUE(scheduled.scheduler().synchronize());
  EXPECT_EQ(scheduled.difference(reference).value_or(""), "");
  EXPECT_THAT(verify(scheduled.scheduler().served_graph().value(), scheduled.scheduler().plan()), IsEmpty());
  EXPECT_EQ(scheduled.scheduler().counters().partitions, 1U) << "the same graph is not partitioned again";
  return scheduled.scheduler().counters();
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

TEST(SchedulerRun, InputSetsLetEvaluationsFollowEachOtherWithoutMixing) {
  for (std::uint64_t seed = 0; seed < kGraphs / 3 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = two_sims_and_cpu();
    SchedulerOptions options = options_for(randomize(backends, graph, seed));
    options.partition.input_sets = 2 + seed % 3;
    expect_same(graph, backends, options, {.count = 6, .seed = seed});
    expect_clean(backends);
  }
}

TEST(SchedulerRun, BackendsThatShareAMemoryComputeTheSameAsInOnePiece) {
  std::uint64_t event_waits = 0;
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = backends_that_share_memory();
    SchedulerOptions options = options_for(randomize(backends, graph, seed));
    options.partition.input_sets = 1 + seed % 2;
    event_waits += expect_same(graph, backends, options, {.count = 3, .seed = seed}).event_waits;
    expect_clean(backends);
  }
  EXPECT_GT(event_waits, kGraphs) << "streams of one device wait for each other";
}

/// Ops "gpu" on the first device, "blas" and "cpu" on one memory.
Graph mixed_graph() {
  GraphBuilder builder("mixed");
  const auto tensor = [&](const char* name, std::int64_t size, TensorFlags flags = {}) {
    return builder.add(Tensor{.name = name, .size = Bytes(size), .flags = flags});
  };
  const TensorId x = tensor("x", 64, TensorFlag::input);
  const TensorId small = tensor("small", 64);
  const TensorId large = tensor("large", 256);
  const TensorId host = tensor("host", 256);
  const TensorId a = tensor("a", 64);
  const TensorId b = tensor("b", 64);
  const TensorId y = tensor("y", 64, TensorFlag::output);
  builder.add(Op{.name = "small", .kind = "gpu", .inputs = {x}, .outputs = {small}});
  builder.add(Op{.name = "large", .kind = "gpu", .inputs = {x}, .outputs = {large}});
  builder.add(Op{.name = "host", .kind = "blas", .inputs = {x}, .outputs = {host}});
  builder.add(Op{.name = "a", .kind = "cpu", .inputs = {small}, .outputs = {a}});
  builder.add(Op{.name = "b", .kind = "cpu", .inputs = {host, a}, .outputs = {b}});
  builder.add(Op{.name = "y", .kind = "cpu", .inputs = {large, b}, .outputs = {y}});
  return builder.build().value();
}

TEST(SchedulerRun, ACopyDoesNotOverwriteWhatALaterOneReadsInTheSameMemory) {
  // Between "blas" and "cpu" nothing is copied: where it was, the memory of `host` was free for the copy of `large`,
  // but the copies of one device were made together, before.
  const Graph graph = mixed_graph();
  Backends backends = backends_that_share_memory();
  PartitionOptions options{
      .pins = {{OpId(0), 0}, {OpId(1), 0}, {OpId(2), 3}, {OpId(3), 4}, {OpId(4), 4}, {OpId(5), 4}}};
  const SchedulerCounters counters =
      expect_same(graph, backends, options_for(std::move(options)), {.count = 1, .seed = 1});
  EXPECT_EQ(counters.copied, Bytes(64 + 64 + 256)) << "x, small, large";
  expect_clean(backends);
}

}  // namespace
}  // namespace stowage::testing
