#include <cstdio>
#include <map>

#include "support/builders/plans.hpp"
#include "support/generators/constraint_graph.hpp"
#include "support/generators/constraint_plan.hpp"
#include "support/judges/oracle/oracle.hpp"

/// The verifier judges what a plan may do in any run; the oracle runs it in every way. They must agree on random plans for random
/// graphs with groups, fills, bodies, batches, zero copy, session workspaces and streams.
namespace stowage::verification {
namespace {

bool is_about_runs(Rule rule) { return rule == Rule::overlap || rule == Rule::fill || rule == Rule::copy; }

class ConstraintAgreement : public ::testing::Test {
 protected:
  void examine(const Graph& graph, std::uint64_t seed) {
    for (std::uint64_t variant = 0; variant < 6; ++variant) {
      const std::optional<Plan> plan = oracle::ConstraintPlan(graph, seed * 10 + variant, variant).make();
      if (plan) judge(graph, *plan, "seed " + std::to_string(seed) + " variant " + std::to_string(variant));
      if (HasFatalFailure()) return;
    }
  }

  void judge(const Graph& graph, const Plan& plan, const std::string& name) {
    const bool keep_inputs = plan.placements.size() % 2 == 0;
    const auto [fault, gave_up] = oracle::Oracle(graph, {.keep_inputs = keep_inputs}).judge(plan);
    if (gave_up) {
      ++seen_["given up"];
      return;
    }
    const std::vector<Finding> findings = verify(graph, plan, {.keep_inputs = keep_inputs, .base = AddressBase::refreshable});
    for (const Finding& finding : findings) {
      // The maker of plans does not see when things happen to lie right without its copies.
      if (finding.message.find("is needed by nothing") != std::string::npos) return;
    }
    for (const Finding& finding : findings) ASSERT_TRUE(is_about_runs(finding.rule)) << name << ": " << finding.message;
    ++seen_[fault ? "broken" : "right"];
    if (!fault && graph.has_bodies()) ++seen_["right, with bodies"];
    if (!fault && !graph.batches().empty()) ++seen_["right, with batches"];
    if (!fault && !plan.copies.empty()) ++seen_["right, with copies"];
    if (!fault && !plan.clears.empty()) ++seen_["right, with clears"];
    if (!fault && graph.stream_count() > 1) ++seen_["right, with streams"];
    if (!findings.empty() && findings.front().rule == Rule::fill) ++seen_["broken: fill"];
    ASSERT_EQ(fault.has_value(), !findings.empty())
        << name << ": the oracle says " << fault.value_or("right") << ", the verifier "
        << (findings.empty() ? "right" : findings.front().message);
  }

  std::map<std::string, std::size_t> seen_;
};

TEST_F(ConstraintAgreement, VerifierAndRunsJudgeRandomPlansAlike) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const std::optional<Graph> graph = oracle::ConstraintGraph(seed).make();
    if (!graph) continue;
    ++seen_["graphs"];
    examine(*graph, seed);
    if (HasFatalFailure()) return;
  }
  for (const auto& [what, count] : seen_) std::printf("  %6zu %s\n", count, what.c_str());
  EXPECT_GT(seen_["right, with bodies"], 200U);
  EXPECT_GT(seen_["right, with batches"], 200U);
  EXPECT_GT(seen_["right, with streams"], 300U);
  EXPECT_GT(seen_["broken"], 1000U);
}

}  // namespace
}  // namespace stowage::verification
