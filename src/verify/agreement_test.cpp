#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "support/builders/plans.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/judges/oracle/oracle.hpp"

/// The verifier decides whether a plan is safe in every run; the oracle tries every run. They must agree on random
/// plans for random graphs, in both directions.
namespace stowage::verification {
namespace {

using testing::CarelessPlan;

class AgreementOnRandomPlans : public ::testing::Test {
 protected:
  void count(const std::string& what, bool is = true) { seen_[what] += is ? 1 : 0; }
  std::size_t seen(const std::string& what) { return seen_[what]; }
  void print() const {
    for (const auto& [what, count] : seen_) std::printf("  %6zu %s\n", count, what.c_str());
  }

 private:
  std::map<std::string, std::size_t> seen_;
};

class Agreement : public AgreementOnRandomPlans {
 protected:
  void judge(const Graph& graph, const oracle::Oracle& oracle, const Plan& plan, const VerifyOptions& options,
             const std::string& name) {
    const std::optional<std::string> broken = oracle.judge(plan).fault;
    const std::vector<Finding> findings = verify(graph, plan, options);
    count(broken ? "broken: " + broken->substr(0, broken->find_last_not_of("0123456789 ") + 1).substr(0, 12) : "right");
    ASSERT_EQ(broken.has_value(), !findings.empty())
        << name << ": the oracle says " << broken.value_or("right") << ", the verifier "
        << (findings.empty() ? "right" : findings.front().message);
  }
};

TEST_F(Agreement, VerifierAndOracleJudgeRandomPlansAlike) {
  const testing::SeedRange seeds = testing::seeds(3000);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Result<Graph> graph = testing::draw_constrained_graph(seed, testing::tiny_graphs());
    if (!graph) continue;
    count("graphs");
    count("graphs with streams", graph->stream_count() > 1);
    for (const bool keep_inputs : {false, true}) {
      const oracle::Oracle oracle(*graph, {.keep_inputs = keep_inputs});
      for (std::uint64_t variant = 0; variant < 8; ++variant) {
        const std::optional<Plan> plan = CarelessPlan(*graph, {.seed = seed * 100 + variant, .moves = variant}).make();
        judge(*graph, oracle, *plan, {.keep_inputs = keep_inputs},
              "seed " + std::to_string(seed) + " variant " + std::to_string(variant));
        if (HasFatalFailure()) return;
      }
    }
  }
  print();
  if (!seeds.is_many()) return;
  EXPECT_GT(seen("right"), 1000U);
  EXPECT_GT(seen("graphs with streams"), 200U);
}

bool is_about_runs(Rule rule) {
  return rule == Rule::overlap || rule == Rule::fill || rule == Rule::copy || rule == Rule::apart;
}

/// The same for graphs with groups, fills, bodies, batches, zero copy, session workspaces and fixed addresses.
class ConstraintAgreement : public AgreementOnRandomPlans {
 protected:
  void examine(const Graph& graph, std::uint64_t seed) {
    for (std::uint64_t variant = 0; variant < 6; ++variant) {
      const std::optional<Plan> plan = CarelessPlan(graph, {.seed = seed * 10 + variant, .moves = variant}).make();
      if (plan) judge(graph, *plan, "seed " + std::to_string(seed) + " variant " + std::to_string(variant));
      if (HasFatalFailure()) return;
    }
  }

  void judge(const Graph& graph, const Plan& plan, const std::string& name) {
    const bool keep_inputs = plan.placements.size() % 2 == 0;
    const auto [fault, gave_up] = oracle::Oracle(graph, {.keep_inputs = keep_inputs}).judge(plan);
    count("given up", gave_up);
    if (gave_up) return;
    const std::vector<Finding> findings =
        verify(graph, plan, {.keep_inputs = keep_inputs, .base = AddressBase::refreshable});
    for (const Finding& finding : findings) {
      // The generator of plans does not notice when a copy is unnecessary because its tensor happens
      // to be in the right place.
      if (finding.message.find("is needed by nothing") != std::string::npos) return;
    }
    for (const Finding& finding : findings) {
      ASSERT_TRUE(is_about_runs(finding.rule) || graph.needs_addresses_only()) << name << ": " << finding.message;
    }
    count(fault ? "broken" : "right");
    count("right, with bodies", !fault && graph.has_bodies());
    count("right, with batches", !fault && !graph.batches().empty());
    count("right, with copies", !fault && !plan.copies.empty());
    count("right, with clears", !fault && !plan.clears.empty());
    count("right, with streams", !fault && graph.stream_count() > 1);
    count("broken: fill", !findings.empty() && findings.front().rule == Rule::fill);
    count("broken: shared bytes", fault && (fault->starts_with("stale") || fault->starts_with("overwritten through")));
    ASSERT_EQ(fault.has_value(), !findings.empty())
        << name << ": the oracle says " << fault.value_or("right") << ", the verifier "
        << (findings.empty() ? "right" : findings.front().message);
  }
};

TEST_F(ConstraintAgreement, VerifierAndRunsJudgeRandomPlansAlike) {
  const testing::SeedRange seeds = testing::seeds(1500);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Result<Graph> graph = testing::draw_constrained_graph(seed, testing::tiny_constrained_graphs());
    if (!graph) continue;
    count("graphs");
    examine(*graph, seed);
    if (HasFatalFailure()) return;
  }
  print();
  if (!seeds.is_many()) return;
  EXPECT_GT(seen("right, with bodies"), 200U);
  EXPECT_GT(seen("right, with batches"), 200U);
  EXPECT_GT(seen("right, with streams"), 300U);
  EXPECT_GT(seen("broken"), 1000U);
  EXPECT_GT(seen("broken: shared bytes"), 50U);
}

}  // namespace
}  // namespace stowage::verification
