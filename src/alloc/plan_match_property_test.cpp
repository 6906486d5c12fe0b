#include <array>
#include <map>
#include <memory>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alloc/kept_plan.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/generators/random_graph.hpp"
#include "support/generators/shrink_graph.hpp"

/// The rules of plan_match.hpp on random graphs. If a plan matches, the verifier agrees; and each condition of the
/// match is needed: serving graphs that violate it has produced invalid plans.
namespace stowage::alloc {
namespace {

using ::testing::IsEmpty;

class PlanMatchProperty : public ::testing::Test {
 protected:
  /// A plan that is bound to buffers.
  std::unique_ptr<KeptPlan> keep(const Graph& graph, const PlanOptions& options) {
    std::vector<std::size_t> numbers(graph.memories().size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    const std::vector<BufferType*> types(numbers.size(), type_.get());
    auto kept = std::make_unique<KeptPlan>(graph, ServedGraph{graph, numbers}, *plan(graph, options)->plan,
                                           TypesOf{types, numbers});
    std::vector<ChunkList> lists;
    for (std::size_t list = 0; list < 2 * types.size(); ++list) lists.emplace_back(*type_, std::nullopt);
    buffers_ = std::make_unique<BufferSet>(std::move(lists));
    kept->bind(*buffers_->provide(kept->needs()), *buffers_);
    return kept;
  }

  std::unique_ptr<BufferType> type_ = *make_cpu_buffer_type("bytes", {.alignment = Bytes(1)});
  std::unique_ptr<BufferSet> buffers_;
};

/// The buffers are those of the larger graph, which kept to the limits: a smaller one must not be judged by them again.
Graph without_limits(const Graph& graph) {
  GraphDescription description = graph.description();
  for (Memory& memory : description.memories) memory.max_size.reset();
  return Graph::build(std::move(description)).value();
}

PlanOptions options_for(std::uint64_t seed) {
  return {.in_place = seed % 7 != 0, .keep_inputs = seed % 5 == 0, .time_limit = {}, .node_budget = 500};
}

TEST_F(PlanMatchProperty, WhatFitsIsSafeAndWhatDoesNotMayNotBe) {
  std::size_t fits = 0;
  std::size_t built = 0;
  std::map<ReplanReason, std::size_t> refused;
  std::map<ReplanReason, std::size_t> rightly;
  for (std::uint64_t seed = 0; seed < 2'000 && !HasFailure(); ++seed) {
    const Graph graph = testing::random_graph(seed);
    const PlanOptions options = options_for(seed);
    const std::unique_ptr<KeptPlan> kept = keep(graph, options);
    EXPECT_EQ(kept->match(graph).misfit, Replan{}) << graph.name() << ": a plan fits the graph that it was made for";
    for (std::uint64_t change = 0; change < 8; ++change) {
      const std::optional<Graph> smaller = testing::shrink_graph(graph, seed * 8 + change);
      if (!smaller) continue;
      ++built;
      const Replan misfit = kept->match(*smaller).misfit;
      kept->serve(*smaller);
      const std::vector<Finding> findings =
          verify(without_limits(*smaller), kept->allocation().plan, {.keep_inputs = options.keep_inputs});
      if (misfit.reason == ReplanReason::none) {
        ++fits;
        EXPECT_THAT(findings, IsEmpty()) << graph.name() << ", change " << change << ": " << findings.front().message;
      } else {
        ++refused[misfit.reason];
        if (!findings.empty()) ++rightly[misfit.reason];
      }
    }
  }
  RecordProperty("built", static_cast<int>(built));
  RecordProperty("fits", static_cast<int>(fits));
  EXPECT_GT(fits, built / 2);
  for (const ReplanReason reason : {ReplanReason::view, ReplanReason::in_place}) {
    EXPECT_GT(refused[reason], 50U) << to_string(reason);
    EXPECT_GT(rightly[reason], refused[reason] / 4) << to_string(reason) << ", of " << refused[reason];
  }
  EXPECT_EQ(refused[ReplanReason::size], 0U);
  EXPECT_EQ(refused[ReplanReason::structure], 0U);
}

}  // namespace
}  // namespace stowage::alloc
