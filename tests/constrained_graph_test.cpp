#include "support/generators/constrained_graph.hpp"

#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/generators/dump_graph.hpp"
#include "support/generators/graph_features.hpp"
#include "support/generators/naive_plan.hpp"
#include "support/generators/reduce_graph.hpp"
#include "support/generators/scope_draft.hpp"
#include "support/judges/shadow/shadow.hpp"

namespace stowage::testing {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kGraphs = 3'000;

TEST(ConstrainedGraph, AlmostEveryDrawIsAGraph) {
  std::map<std::string, std::size_t> refused;
  std::size_t accepted = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Result<Graph> graph = draw_constrained_graph(seed);
    if (graph) {
      ++accepted;
    } else {
      ++refused[graph.error().message];
    }
  }
  for (const auto& [message, times] : refused) std::cout << times << " × " << message << "\n";
  EXPECT_GE(accepted * 100, kGraphs * 99);
}

TEST(ConstrainedGraph, EveryFeatureOccursOften) {
  std::map<std::string, std::size_t> graphs_with;
  for (const std::string& feature : all_graph_features()) graphs_with[feature] = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    for (const std::string& feature : graph_features(constrained_graph(seed))) {
      ASSERT_TRUE(graphs_with.contains(feature)) << feature << " is not in the list of features";
      ++graphs_with[feature];
    }
  }
  for (const auto& [feature, graphs] : graphs_with) {
    EXPECT_GE(graphs * 100, kGraphs) << feature << ": in " << graphs << " of " << kGraphs << " graphs";
    std::cout << feature << ": " << graphs * 100 / kGraphs << "%\n";
  }
}

TEST(ConstrainedGraph, EqualSeedsGiveEqualGraphs) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_EQ(constrained_graph(seed).description(), constrained_graph(seed).description());
}

/// If nothing shares bytes, every order is correct, unless the graph itself has a race.
TEST(ConstrainedGraph, NoGraphRacesWithItself) {
  std::size_t copies = 0;
  for (std::uint64_t seed = 0; seed < kGraphs && !HasFailure(); ++seed) {
    const Graph graph = constrained_graph(seed);
    const Plan plan = naive_plan(graph);
    for (std::uint64_t order = 0; order < 3; ++order) {
      const ShadowReport report = shadow_execute(graph, plan,
                                                 {.seed = order,
                                                  .order = ShadowOptions::Order::random,
                                                  .keep_inputs = order == 0,
                                                  .runs = 3,
                                                  .base = AddressBase::refreshable});
      EXPECT_THAT(report.findings, IsEmpty()) << "seed " << seed << ", order " << order << "\n" << dump_graph(graph);
      copies += report.copies;
    }
  }
  EXPECT_GT(copies, 10 * kGraphs);
}

/// Introduces one error into a correct plan: removes a copy or a clear, or moves a tensor onto another one.
std::optional<Plan> broken(Plan plan, std::uint64_t seed) {
  Dice dice(seed);
  const auto pick = [&](auto& list) { return list.begin() + static_cast<std::ptrdiff_t>(dice.below(list.size())); };
  const std::size_t kind = dice.below(3);
  if (kind == 0 && !plan.copies.empty()) {
    const auto copy = pick(plan.copies);
    if (copy->size == Bytes(0)) return std::nullopt;
    plan.copies.erase(copy);
  } else if (kind == 1 && !plan.clears.empty()) {
    const auto clear = pick(plan.clears);
    if (clear->size == Bytes(0)) return std::nullopt;
    plan.clears.erase(clear);
  } else if (kind == 2 && plan.placements.size() > 1) {
    const auto moved = pick(plan.placements);
    const auto other = pick(plan.placements);
    const bool shared = moved->arena == other->arena && moved->offset < other->offset + other->size &&
                        other->offset < moved->offset + moved->size;
    if (shared || moved->arena != other->arena || moved->size == Bytes(0) || other->size < moved->size)
      return std::nullopt;
    moved->offset = other->offset;
  } else {
    return std::nullopt;
  }
  return plan;
}

TEST(ConstrainedGraph, MostPlansWithOneFaultAreFound) {
  std::size_t tried = 0;
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = constrained_graph(seed);
    const std::optional<Plan> plan = broken(naive_plan(graph), seed);
    if (!plan) continue;
    ++tried;
    const ShadowOptions options{.seed = seed, .order = ShadowOptions::Order::random, .runs = 8};
    if (!shadow_execute(graph, *plan, options).findings.empty()) ++found;
  }
  std::cout << found << " of " << tried << " faults\n";
  EXPECT_GT(tried, kGraphs / 4);
  EXPECT_GT(found * 100, tried * 60) << "some do no harm: what is never read, what is overwritten as a whole";
}

TEST(ReduceGraph, LeavesWhatMakesItFail) {
  std::size_t reduced = 0;
  for (std::uint64_t seed = 0; seed < 300 && reduced < 10; ++seed) {
    const Graph graph = constrained_graph(seed);
    const auto fails = [](const Graph& each) {
      const std::set<std::string> features = graph_features(each);
      return features.contains("carried, overlapping") && features.contains("concat");
    };
    if (!fails(graph)) continue;
    ++reduced;
    const Graph least = reduce_graph(graph, fails);
    EXPECT_TRUE(fails(least));
    EXPECT_LE(least.ops().size(), 10U) << dump_graph(least);
    EXPECT_LE(least.tensors().size(), 20U) << dump_graph(least);
  }
  EXPECT_EQ(reduced, 10U);
}

TEST(ConstrainedGraph, FeaturesCanBeLeftOut) {
  const ConstrainedGraphOptions plain{.max_streams = 1,
                                      .groups = 0,
                                      .bodies = 0,
                                      .fills = 0,
                                      .zero_copy = 0,
                                      .graphs_with_batches = 0,
                                      .graphs_with_rings = 0};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::set<std::string> features = graph_features(constrained_graph(seed, plain));
    for (const char* const absent :
         {"concat", "padded inputs", "loop", "filled output", "batches", "prefetch", "several streams"})
      EXPECT_FALSE(features.contains(absent)) << absent;
  }
}

}  // namespace
}  // namespace stowage::testing
