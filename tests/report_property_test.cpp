#include <gtest/gtest.h>

#include "report/explanation.hpp"
#include "stowage/planner.hpp"
#include "stowage/report.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"

/// Compares the claims of explanations with plans of graphs that this test shrinks with independent code.
namespace stowage {
namespace {

constexpr std::uint64_t kGraphs = 60;

ExplainOptions options() {
  ExplainOptions options;
  options.plan.time_limit.reset();
  options.plan.node_budget = 5000;
  options.time_limit.reset();
  options.top = 4;
  return options;
}

/// The tensors and ops of the scope that a path leads to.
std::pair<std::vector<Tensor>*, std::vector<Op>*> scope_at(GraphDescription& graph, const BodyPath& path) {
  std::pair<std::vector<Tensor>*, std::vector<Op>*> at{&graph.tensors, &graph.ops};
  for (std::size_t i = 0; i + 1 < path.size(); i += 2) {
    Body& body = (*at.second)[path[i]].bodies[path[i + 1]];
    at = {&body.tensors, &body.ops};
  }
  return at;
}

Result<Bytes> peak_without(const Graph& graph, const std::vector<TensorId>& tensors,
                           const std::vector<WorkspaceId>& workspaces) {
  GraphDescription changed = graph.description();
  for (const TensorId id : tensors) {
    const ScopeId scope = graph.scope_of(id);
    const TensorId local(id.index() - graph.scope(scope).first_tensor.index());
    const auto [all, ops] = scope_at(changed, graph.path(scope));
    Tensor& tensor = (*all)[local.index()];
    tensor.size = Bytes(0);
    if (tensor.view_of) tensor.view_of->offset = Bytes(0);
    for (Op& op : *ops) {
      for (Alias& alias : op.aliases) {
        if (op.outputs[alias.output] == local) alias.offset = Bytes(0);
      }
    }
  }
  for (const WorkspaceId& id : workspaces) {
    const ScopeId scope = graph.scope_of(id.op);
    const std::size_t op = id.op.index() - graph.scope(scope).first_op.index();
    (*scope_at(changed, graph.path(scope)).second)[op].workspaces[id.index].size = Bytes(0);
  }
  STOWAGE_TRY(const Graph shrunk, Graph::build(std::move(changed)));
  STOWAGE_TRY(const Planned planned, plan(shrunk, options().plan));
  return planned.plan->peak();
}

Bytes peak_without_holders(const Graph& graph, const std::vector<Holder>& holders, std::size_t mask) {
  std::vector<TensorId> tensors;
  std::vector<WorkspaceId> workspaces;
  for (std::size_t h = 0; h < holders.size(); ++h) {
    if ((mask >> h & 1) == 0) continue;
    tensors.insert(tensors.end(), holders[h].tensors.begin(), holders[h].tensors.end());
    if (holders[h].workspace) workspaces.push_back(*holders[h].workspace);
  }
  const Result<Bytes> peak = peak_without(graph, tensors, workspaces);
  EXPECT_TRUE(peak) << to_string(peak.error());
  return peak ? *peak : Bytes(0);
}

void expect_gains_hold(const Graph& graph, const Explanation& explanation) {
  for (const Gain& gain : explanation.details->gains) {
    const Result<Bytes> peak = peak_without(graph, gain.tensors, gain.workspaces);
    ASSERT_TRUE(peak) << to_string(peak.error());
    EXPECT_EQ(*peak, gain.peak);
    EXPECT_EQ(gain.gain, explanation.summary.peak - *peak);
    EXPECT_GT(gain.gain, Bytes(0));
    EXPECT_TRUE(gain.smallest);
  }
}

TEST(ExplainProperty, GainsOfSetsEqualRePlans) {
  std::size_t sets = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::random_graph(seed);
    const Result<Explanation> explanation = explain(graph, options());
    ASSERT_TRUE(explanation) << to_string(explanation.error());
    expect_gains_hold(graph, *explanation);
    sets += explanation->details->gains.size();
  }
  EXPECT_GT(sets, kGraphs);
}

TEST(ExplainProperty, GainsOfSetsEqualRePlansWithEveryConstraint) {
  std::size_t sets = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::constrained_graph(seed);
    const Result<Explanation> explanation = explain(graph, options());
    ASSERT_TRUE(explanation) << to_string(explanation.error());
    expect_gains_hold(graph, *explanation);
    sets += explanation->details->gains.size();
  }
  EXPECT_GT(sets, kGraphs);
}

TEST(ExplainProperty, NoPartOfASmallestSetGainsAsMuch) {
  std::size_t parts = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::random_graph(seed);
    const Result<Explanation> explanation = explain(graph, options());
    ASSERT_TRUE(explanation);
    for (const Gain& gain : explanation->details->gains) {
      if (gain.holders.size() > 5) continue;
      for (std::size_t mask = 1; mask + 1 < std::size_t{1} << gain.holders.size(); ++mask, ++parts)
        EXPECT_GT(peak_without_holders(graph, gain.holders, mask), gain.peak);
    }
  }
  EXPECT_GT(parts, 20U);
}

TEST(ExplainProperty, GainsOfSingleHoldersEqualRePlans) {
  std::size_t holders = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::random_graph(seed);
    const Result<Explanation> explanation = explain(graph, options());
    ASSERT_TRUE(explanation);
    for (const ArenaStory& arena : explanation->details->arenas) {
      for (const Peak& peak : arena.peaks) {
        for (const Holder& holder : peak.holders) {
          if (!holder.gain) continue;
          EXPECT_EQ(explanation->summary.peak - peak_without_holders(graph, {holder}, 1), *holder.gain);
          ++holders;
        }
      }
    }
  }
  EXPECT_GT(holders, 2 * kGraphs);
}

TEST(ExplainProperty, WhatIsShrunkForABudgetFitsIt) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::random_graph(seed, {.max_ops = 30, .max_streams = 4, .max_memories = 1});
    ExplainOptions with = options();
    const Result<Planned> planned = plan(graph, with.plan);
    ASSERT_TRUE(planned);
    with.budget = Bytes(planned->plan->peak().value() / 2);
    const Result<Explanation> explanation = explain(graph, with);
    ASSERT_TRUE(explanation);
    const BudgetAnswer& answer = *explanation->details->budget;
    ASSERT_EQ(answer.fits, planned->plan->peak() <= *with.budget);
    if (answer.fits) continue;
    ASSERT_TRUE(answer.shrink);
    const Result<Bytes> peak = peak_without(graph, answer.shrink->tensors, answer.shrink->workspaces);
    ASSERT_TRUE(peak);
    EXPECT_EQ(*peak, answer.shrink->peak);
    EXPECT_LE(*peak, *with.budget);
  }
}

TEST(ExplainProperty, HoldersOfAPeakSumToItsLiveBytesAndNoLineIsTooLong) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    ExplainOptions all = options();
    all.top = 1000;
    const Result<Explanation> explanation = explain(testing::constrained_graph(seed), all);
    ASSERT_TRUE(explanation);
    for (const ArenaStory& arena : explanation->details->arenas) {
      for (const Peak& peak : arena.peaks) {
        Bytes sum;
        for (const Holder& holder : peak.holders) sum += holder.bytes;
        EXPECT_EQ(sum, peak.live);
        EXPECT_LE(peak.live, arena.size);
      }
      for (const std::string& line : arena.map_at_peak) EXPECT_LE(line.size(), 80U);
      for (const std::string& line : arena.map_of_time) EXPECT_LE(line.size(), 80U);
    }
    std::size_t column = 0;
    for (const char c : explanation_to_text(*explanation, SizeStyle::bytes)) {
      column = c == '\n' ? 0 : column + 1;
      ASSERT_LE(column, 100U);
    }
  }
}

}  // namespace
}  // namespace stowage
