#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/stowage.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Executes plans of graphs with bodies that were once wrong.
namespace stowage {
namespace {

using ::testing::IsEmpty;

Planned planned(const std::string& json, PlanOptions options = {}) {
  Result<Graph> graph = parse_graph(json, "test");
  EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
  options.time_limit = {};
  options.node_budget = 10'000;
  Result<Planned> result = plan(*graph, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  EXPECT_TRUE(result->plan.has_value());
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const testing::ShadowReport run = testing::shadow_execute(*graph, *result->plan, {.seed = seed, .runs = 3});
    EXPECT_THAT(run.findings, IsEmpty());
  }
  return std::move(*result);
}

TEST(BodiesPlan, NestedLoopsCarryOneValueInOnePlace) {
  const Planned result = planned(R"({"schema":"stowage.graph/1","name":"nested","tensors":[
    {"name":"x","size":64,"flags":["input"]},{"name":"y","size":64,"flags":["output"]}],"ops":[
    {"name":"outer","inputs":[0],"outputs":[1],"control":"loop","bodies":[{
      "tensors":[{"name":"I","size":64},{"name":"O","size":64}],
      "ops":[{"name":"inner","inputs":[0],"outputs":[1],"control":"loop","bodies":[{
        "tensors":[{"name":"i","size":64},{"name":"o","size":64}],
        "ops":[{"name":"f","inputs":[0],"outputs":[1],"in_place":[[0,0]]}],
        "inputs":[[0,0]],"outputs":[[1,1]],"carried":[[1,0]]}]}],
      "inputs":[[0,0]],"outputs":[[1,1]],"carried":[[1,0]]}]}]})");
  EXPECT_THAT(result.plan->copies, IsEmpty());
  EXPECT_EQ(result.plan->peak(), Bytes(64));
}

TEST(BodiesPlan, ALoopThatReadsWhatCameInAfterWritingCopiesAtTheBackEdge) {
  const Planned result = planned(R"({"schema":"stowage.graph/1","name":"late","tensors":[
    {"name":"x","size":64,"flags":["input"]},{"name":"y","size":64,"flags":["output"]}],"ops":[
    {"name":"loop","inputs":[0],"outputs":[1],"control":"loop","bodies":[{
      "tensors":[{"name":"i","size":64},{"name":"o","size":64}],
      "ops":[{"name":"f","inputs":[0],"outputs":[1]},{"name":"late","inputs":[0,1],"outputs":[]}],
      "inputs":[[0,0]],"outputs":[[1,1]],"carried":[[1,0]]}]}]})");
  ASSERT_EQ(result.plan->copies.size(), 1U);
  EXPECT_EQ(result.plan->copies.front().when, CopyMoment::at_back_edge());
  EXPECT_EQ(result.plan->peak(), Bytes(128));
}

TEST(BodiesPlan, BlocksOfOneSizeKeepToTheLargestBuffer) {
  planned(
      R"({"schema":"stowage.graph/1","name":"one size","memories":[{"name":"m","alignment":32,"max_size":2048}],"tensors":[
    {"name":"x","size":512,"flags":["input"]},{"name":"y","size":100,"flags":["output"]},{"name":"a","size":64},{"name":"b","size":640,"flags":["output"]},
    {"name":"c","size":64,"flags":["output"]}],"ops":[{"name":"f","inputs":[0],"outputs":[1,2,3,4]}]})",
      {.memory_priority = true});
}

}  // namespace
}  // namespace stowage
