#include "support/constrained_graph.hpp"

#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/graph_features.hpp"

namespace stowage::testing {
namespace {

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

TEST(ConstrainedGraph, FeaturesCanBeLeftOut) {
  const ConstrainedGraphOptions plain{
      .max_streams = 1, .groups = 0, .bodies = 0, .fills = 0, .zero_copy = 0, .graphs_with_batches = 0, .graphs_with_rings = 0};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::set<std::string> features = graph_features(constrained_graph(seed, plain));
    for (const char* const absent :
         {"concat", "padded inputs", "loop", "filled output", "batches", "prefetch", "several streams"})
      EXPECT_FALSE(features.contains(absent)) << absent;
  }
}

}  // namespace
}  // namespace stowage::testing
