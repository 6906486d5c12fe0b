#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alloc/partition/assign.hpp"
#include "alloc/partition/traffic.hpp"
#include "alloc/partition/traffic_count.hpp"
#include "stowage/alloc/partition.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/generators/random_backends.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/shadow/families.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Whatever backends support: a partition is an equivalent graph in which every op finds its inputs in its memory.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kGraphs = 3000;

struct Case {
  Graph graph;
  Backends backends = two_sims_and_cpu();
  PartitionOptions options;
  Partition partition;
};

Partition parted(const Graph& graph, const Backends& backends, const PartitionOptions& options) {
  Result<Partition> result = partition(graph, backends.list, options);
  STOWAGE_CHECK(result.has_value(), result ? "" : to_string(result.error()).c_str());
  return std::move(result).value();
}

/// On three backends with one memory each, or on five that share three memories.
Case random_case(std::uint64_t seed) {
  Graph graph = random_graph(seed, {.max_ops = 50});
  Backends backends = seed % 3 == 2 ? backends_that_share_memory() : two_sims_and_cpu();
  PartitionOptions options = randomize(backends, graph, seed);
  if (seed % 4 == 0) options.input_sets = 1 + seed % 3;
  Partition partition = parted(graph, backends, options);
  return {std::move(graph), std::move(backends), std::move(options), std::move(partition)};
}

bool uses(const Backends& backends, std::size_t backend, MemoryId memory) {
  const BufferType* const type = backends.list[memory.index()].memory;
  const std::vector<std::size_t>& others = backends.list[backend].uses;
  return backends.list[backend].memory == type || std::any_of(others.begin(), others.end(), [&](std::size_t other) {
           return backends.list[other].memory == type;
         });
}

// ---------------------------------------------------------------------------------------------------------- structure

void expect_everything_within_reach(const Case& c) {
  const Partition& partition = c.partition;
  for (std::size_t k = 0; k < partition.graph.ops().size(); ++k) {
    const Op& op = partition.graph.ops()[k];
    if (op.no_task || !partition.origins[k]) continue;
    const std::size_t backend = partition.backends[k];
    for (const std::optional<TensorId>& input : op.inputs) {
      EXPECT_TRUE(!input || uses(c.backends, backend, partition.graph.tensor(*input).memory)) << describe(op, OpId(k));
    }
    for (const TensorId output : op.outputs)
      EXPECT_TRUE(uses(c.backends, backend, partition.graph.tensor(output).memory));
    for (const Workspace& workspace : op.workspaces) EXPECT_EQ(workspace.memory.index(), backend);
    const Backend& chosen = c.backends.list[backend];
    EXPECT_TRUE(!chosen.supports || chosen.supports(c.graph, *partition.origins[k]));
  }
}

/// The original's task ops in their order, nothing lost, nothing doubled.
void expect_order_kept(const Case& c) {
  std::vector<OpId> order;
  for (std::size_t k = 0; k < c.graph.ops().size(); ++k) {
    EXPECT_EQ(c.partition.origins[c.partition.ops[k].index()], OpId(k));
    if (!c.graph.ops()[k].no_task) order.push_back(c.partition.ops[k]);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(c.partition.graph.ops().size(), c.graph.ops().size() + c.partition.copies.size());
}

void expect_splits_are_maximal_runs(const Case& c) {
  const Partition& partition = c.partition;
  std::size_t next = 0;
  std::size_t next_copy = 0;
  for (std::size_t s = 0; s < partition.splits.size(); ++s) {
    const Split& split = partition.splits[s];
    EXPECT_EQ(split.begin.index(), next);
    EXPECT_EQ(split.first_copy, next_copy);
    EXPECT_TRUE(s == 0 || split.backend != partition.splits[s - 1].backend);
    for (std::size_t k = split.begin.index(); k < split.end.index(); ++k) {
      EXPECT_TRUE(partition.graph.ops()[k].no_task || partition.backends[k] == split.backend);
    }
    for (std::size_t i = split.first_copy; i < split.last_copy; ++i) {
      EXPECT_LE(split.begin, partition.copies[i].op);
      EXPECT_LT(partition.copies[i].op, split.end);
    }
    next = split.end.index();
    next_copy = split.last_copy;
  }
  EXPECT_EQ(next_copy, partition.copies.size());
}

/// Each value (bytes of a family, and how often any of them were written) is copied at most once to each memory.
void expect_copied_once(const Case& c) {
  const Graph& graph = c.partition.graph;
  const Families families = find_families(graph, Bytes(1));
  std::vector<std::vector<Seat>> writes(families.families.size());
  const auto version = [&](const Seat& seat) {
    const auto meets = [&](const Seat& each) {
      return each.first < seat.first + seat.count && seat.first < each.first + each.count;
    };
    return std::count_if(writes[seat.family].begin(), writes[seat.family].end(), meets);
  };
  // Family, first byte, count, version, memory.
  using Key = std::tuple<std::size_t, std::size_t, std::size_t, std::ptrdiff_t, const BufferType*>;
  std::set<Key> seen;
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (op.no_task) continue;
    if (!c.partition.origins[k] && graph.tensor(op.outputs[0]).size > Bytes(0)) {
      const Seat& seat = families.seats[op.inputs[0]->index()];
      const BufferType* const to = c.backends.list[c.partition.backends[k]].memory;
      EXPECT_NE(to, c.backends.list[graph.tensor(*op.inputs[0]).memory.index()].memory) << "nothing to copy";
      EXPECT_TRUE(seen.insert({seat.family, seat.first, seat.count, version(seat), to}).second)
          << describe(op, OpId(k));
    }
    for (const TensorId output : op.outputs)
      writes[families.seats[output.index()].family].push_back(families.seats[output.index()]);
  }
}

TEST(PartitionProperty, EverythingIsWhereItsReaderIsAndCrossesOnce) {
  std::size_t copies = 0;
  std::size_t splits = 0;
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    expect_everything_within_reach(c);
    expect_order_kept(c);
    expect_splits_are_maximal_runs(c);
    expect_copied_once(c);
    copies += c.partition.copies.size();
    splits += c.partition.splits.size();
  }
  EXPECT_GT(splits, 4 * kGraphs) << "else this shows little";
  EXPECT_GT(copies, 4 * kGraphs);
}

TEST(PartitionProperty, GraphsThatWereRefusedOnceArePartitioned) {
  // A copy for two splits named what an op without a task names only in the second.
  for (const std::uint64_t seed : {3124U, 5926U}) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = two_sims_and_cpu();
    const PartitionOptions options = randomize(backends, graph, seed);
    const Result<Partition> result = partition(graph, backends.list, options);
    ASSERT_TRUE(result) << to_string(result.error());
    const Result<Planned> planned = plan(result->graph, {.time_limit = {}, .node_budget = 2'000});
    ASSERT_TRUE(planned && planned->plan);
    EXPECT_THAT(verify(result->graph, *planned->plan), IsEmpty());
    EXPECT_THAT(shadow_execute(result->graph, *planned->plan, {.seed = seed}).findings, IsEmpty());
  }
}

TEST(PartitionProperty, ImprovingIsNeverWorseAndOftenBetter) {
  std::size_t better = 0;
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = two_sims_and_cpu();
    PartitionOptions options = randomize(backends, graph, seed);
    const Partition improved = parted(graph, backends, options);
    options.improve = false;
    const Partition plain = parted(graph, backends, options);
    EXPECT_LE(improved.splits.size(), plain.splits.size()) << seed;
    EXPECT_LE(improved.copied_bytes(), plain.copied_bytes()) << seed;
    if (improved.splits.size() < plain.splits.size() || improved.copied_bytes() < plain.copied_bytes()) ++better;
  }
  EXPECT_GT(better, kGraphs / 10);
}

Bytes traffic_of_all(const partitioning::Model& model, const partitioning::Assignment& assignment) {
  Bytes sum;
  for (std::size_t f = 0; f < model.families.list.size(); ++f) sum += partitioning::traffic_of(model, f, assignment);
  return sum;
}

TEST(PartitionProperty, TrafficThatIsKeptUpIsTrafficCountedAnew) {
  std::size_t changes = 0;
  for (std::uint64_t seed = 0; seed < kGraphs / 3 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed, {.max_ops = 50});
    Backends backends = seed % 2 == 0 ? backends_that_share_memory() : two_sims_and_cpu();
    const PartitionOptions options = randomize(backends, graph, seed);
    const partitioning::Model model = partitioning::make_model(graph, backends.list, options).value();
    if (model.groups.empty()) continue;
    partitioning::Assignment assignment = partitioning::assign(model);
    partitioning::TrafficCount count(model, assignment);
    Bytes traffic = traffic_of_all(model, assignment);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 50; ++i) {
      const std::size_t group = random() % model.groups.size();
      const std::size_t to = random() % model.backends;
      if (assignment[group] == to) continue;
      const Bytes growth = count.moved(group, std::exchange(assignment[group], to));
      const Bytes now = traffic_of_all(model, assignment);
      EXPECT_EQ(growth, now - traffic);
      traffic = now;
      if (growth != Bytes(0)) ++changes;
    }
  }
  EXPECT_GT(changes, kGraphs);
}

// ---------------------------------------------------------------------------------------------------------- execution

TEST(PartitionProperty, PlansOfPartitionsVerifyAndRunInRandomOrders) {
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    const PlanOptions options{.in_place = seed % 5 != 0, .time_limit = {}, .node_budget = 2'000};
    const Result<Planned> planned = plan(c.partition.graph, options);
    ASSERT_TRUE(planned && planned->plan) << to_string(planned.error());
    EXPECT_THAT(verify(c.partition.graph, *planned->plan), IsEmpty());
    ShadowOptions shadow{.seed = seed};
    EXPECT_THAT(shadow_execute(c.partition.graph, *planned->plan, shadow).findings, IsEmpty());
    shadow.order = ShadowOptions::Order::random;
    for (; shadow.seed < seed + 3; ++shadow.seed) {
      EXPECT_THAT(shadow_execute(c.partition.graph, *planned->plan, shadow).findings, IsEmpty())
          << "order " << shadow.seed;
    }
  }
}

}  // namespace
}  // namespace stowage::testing
