#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"

/// Graphs that choices_property_test found: what was called smallest possible was not, or what was possible was not
/// found.
namespace stowage {
namespace {

using ::testing::IsEmpty;

Graph graph_of(const std::string& tensors, const std::string& ops) {
  Result<Graph> graph =
      parse_graph(R"({"schema":"stowage.graph/1","name":"test","memories":[{"name":"cpu","alignment":8}],"tensors":[)" +
                      tensors + R"(],"ops":[)" + ops + "]}",
                  "test");
  EXPECT_TRUE(graph) << to_string(graph.error());
  return std::move(*graph);
}

Planned planned(const Graph& graph, const PlanOptions& options = {}) {
  Result<Planned> result = plan(graph, options);
  EXPECT_TRUE(result && result->plan);
  return std::move(*result);
}

TEST(Choices, AnInputThatABatchDoesNotReadIsNeededInItsRunAtTheStartOnly) {
  const Graph graph = graph_of(
      R"({"name":"x","size":8,"flags":["input"]},{"name":"a","size":8},{"name":"b","size":24},{"name":"c","size":16})",
      R"({"name":"A","kind":"X","inputs":[0],"outputs":[1],"batch":"1"},{"name":"B","kind":"X","outputs":[2,3],"batch":"2"})");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(40));
  EXPECT_EQ(result.status, SolveStatus::optimal);
}

TEST(Choices, WithoutReuseNoBatchSharesTheBytes) {
  const Graph graph = graph_of(
      R"({"name":"a","size":8,"flags":["no_reuse"]},{"name":"b","size":24})",
      R"({"name":"A","kind":"X","outputs":[0],"batch":"1"},{"name":"B","kind":"X","outputs":[1],"batch":"2"})");
  Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(32));
  EXPECT_EQ(result.status, SolveStatus::optimal);
  for (Placement& each : result.plan->placements) each.offset = Bytes(0);
  const std::vector<Finding> findings = verify(graph, *result.plan);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, Rule::overlap) << findings.front().message;
}

TEST(Choices, ASingleBatchExcludesNothing) {
  const Graph graph =
      graph_of(R"({"name":"v","size":16,"flags":["variable"]},{"name":"a","size":40},{"name":"b","size":16})",
               R"({"name":"V","kind":"X","outputs":[0],"stream":1},{"name":"A","kind":"X","outputs":[1],"batch":"1"},)"
               R"({"name":"B","kind":"X","outputs":[2]})");
  EXPECT_EQ(planned(graph).plan->peak(), Bytes(40));
}

/// What is filled with one value for two batches may lie in one place, but not where copies for an op lie beside it.
TEST(Choices, NoCopyLiesInWhatIsFilledAtTheStart) {
  const Graph graph = graph_of(
      R"({"name":"a","size":8},{"name":"c","size":16,"flags":["constant"]},{"name":"b","size":24},{"name":"d","size":8})",
      R"({"name":"A","kind":"X","outputs":[0],"zero_fill":{"outputs":[0]},"batch":"1"},)"
      R"({"name":"G","kind":"X","inputs":[0,1],"outputs":[3],"contiguous_inputs":"padded"},)"
      R"({"name":"B","kind":"X","outputs":[2],"zero_fill":{"outputs":[0]},"batch":"2"})");
  EXPECT_THAT(verify(graph, *planned(graph).plan), IsEmpty());
}

/// The op needs two inputs next to each other: 8 of the 16 bytes of `x`, and `v`, which has its own address. If both
/// are copied, `x` may be overwritten by the op: 32 + 32 bytes. If only `v` is, they are 40 + 32.
class CopiedInputs : public ::testing::Test {
 protected:
  const Graph graph_ = graph_of(
      R"({"name":"x","size":16,"flags":["input"]},{"name":"v","size":24,"flags":["variable"]},)"
      R"({"name":"part","size":8,"view_of":{"tensor":0,"offset":8}},{"name":"a","size":8},{"name":"b","size":24})",
      R"({"name":"F","kind":"X","inputs":[2,1],"outputs":[3,4],"contiguous_inputs":"padded"})");
};

TEST_F(CopiedInputs, NoBoundIsAboveThePlanThatCopiesBoth) {
  const Result<Plan> both = parse_plan(
      R"({"schema":"stowage.plan/1","graph":"test","arenas":[)"
      R"({"name":"cpu","memory":0,"kind":"shared","size":64,"regions":[64],"lower_bound":64,"proven_optimal":true},)"
      R"({"name":"own","memory":0,"kind":"persistent","size":24,"regions":[24],"lower_bound":0,"proven_optimal":false}],)"
      R"("placements":[{"tensor":0,"arena":0,"offset":32,"size":16},{"tensor":1,"arena":1,"offset":0,"size":24},)"
      R"({"tensor":2,"arena":0,"offset":40,"size":8},{"tensor":3,"arena":0,"offset":32,"size":8},)"
      R"({"tensor":4,"arena":0,"offset":40,"size":24}],)"
      R"("copies":[{"tensor":2,"before":0,"arena":0,"offset":0,"size":8,"reason":"test"},)"
      R"({"tensor":1,"before":0,"arena":0,"offset":8,"size":24,"reason":"test"}]})",
      "plan", graph_);
  ASSERT_TRUE(both) << to_string(both.error());
  for (const Finding& each : verify(graph_, *both)) ADD_FAILURE() << each.message;
  EXPECT_LE(planned(graph_).lower_bound, Bytes(64));
}

TEST_F(CopiedInputs, NoCapacityThatSufficesIsCalledTooSmall) {
  EXPECT_NE(planned(graph_, {.capacity = Bytes(64)}).status, SolveStatus::infeasible);
  EXPECT_EQ(planned(graph_, {.capacity = Bytes(56)}).status, SolveStatus::infeasible);
}

}  // namespace
}  // namespace stowage
