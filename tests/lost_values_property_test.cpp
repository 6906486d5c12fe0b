#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "stowage/verify.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Plans made without a planner, for random graphs in which packed, aliased and split tensors are written again: what
/// the verifier accepts must run, and what it says is lost must be lost in some run.
namespace stowage::testing {
namespace {

constexpr std::uint64_t kOrders = 12;

/// Free of races, so that only the plan can be wrong.
ConstrainedGraphOptions graphs_that_rewrite() {
  ConstrainedGraphOptions options = tiny_constrained_graphs();
  options.conduct = Conduct::orderly;
  options.groups = 45;
  options.idle_ops = 0;
  return options;
}

/// What the first run that goes wrong shows; empty if none does.
std::string seen_by_running(const Graph& graph, const Plan& plan, bool keep_inputs) {
  using Order = ShadowOptions::Order;
  for (std::uint64_t seed = 0; seed < kOrders; ++seed) {
    const ShadowOptions options{.seed = seed,
                                .order = seed == 0 ? Order::linear : Order::random,
                                .max_findings = 1,
                                .keep_inputs = keep_inputs,
                                .runs = 3,
                                .base = AddressBase::refreshable};
    const ShadowReport report = shadow_execute(graph, plan, options);
    if (!report.findings.empty()) return report.findings.front();
  }
  return "";
}

class LostValues : public ::testing::Test {
 protected:
  void examine(const Graph& graph, std::uint64_t seed) {
    for (std::uint64_t variant = 0; variant < 6; ++variant) {
      const std::optional<Plan> plan = CarelessPlan(graph, {.seed = seed * 10 + variant, .moves = variant / 2}).make();
      if (plan) judge(graph, *plan, "seed " + std::to_string(seed) + " variant " + std::to_string(variant));
      if (HasFatalFailure()) return;
    }
  }

  void judge(const Graph& graph, const Plan& plan, const std::string& name) {
    const bool keep_inputs = plan.placements.size() % 2 == 0;
    const std::vector<Finding> findings =
        verify(graph, plan, {.keep_inputs = keep_inputs, .base = AddressBase::refreshable});
    const auto says = [&](const char* words) {
      return std::any_of(findings.begin(), findings.end(),
                         [&](const Finding& each) { return each.message.find(words) != std::string::npos; });
    };
    if (says("needed by nothing")) return;  // a needless copy or clear harms nobody
    const std::string seen = seen_by_running(graph, plan, keep_inputs);
    if (findings.empty()) {
      ++counts_["accepted"];
      if (graph.stream_count() > 1) ++counts_["accepted, with streams"];
      ASSERT_EQ(seen, "") << name;
      return;
    }
    const bool rewritten = says("which are bytes of");
    ++counts_[rewritten ? "rewritten" : "overwritten"];
    if (!seen.empty()) ++counts_[rewritten ? "rewritten, and seen" : "overwritten, and seen"];
  }

  std::map<std::string, std::size_t> counts_;
};

TEST_F(LostValues, WhatIsAcceptedRunsAndWhatIsLostIsSeen) {
  const SeedRange seeds = testing::seeds(1500);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    if (const Result<Graph> graph = draw_constrained_graph(seed, graphs_that_rewrite())) examine(*graph, seed);
    if (HasFatalFailure()) return;
  }
  for (const auto& [what, count] : counts_) std::printf("  %6zu %s\n", count, what.c_str());
  if (!seeds.is_many()) return;
  EXPECT_GT(counts_["accepted"], 500U);
  EXPECT_GT(counts_["rewritten"], 50U);
  // A run need not go wrong: what was lost may be undefined, or never compared.
  EXPECT_GT(counts_["rewritten, and seen"] * 10, counts_["rewritten"] * 8);
  EXPECT_GT(counts_["overwritten, and seen"] * 10, counts_["overwritten"] * 8);
}

}  // namespace
}  // namespace stowage::testing
