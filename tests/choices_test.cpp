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

TEST_F(CopiedInputs, BothAreCopiedUnlessExtraCopiesAreForbidden) {
  const Planned both = planned(graph_);
  EXPECT_EQ(both.plan->peak(), Bytes(64));
  EXPECT_EQ(both.plan->copies.size(), 2U);
  const Planned one = planned(graph_, {.extra_copies = false});
  EXPECT_EQ(one.plan->peak(), Bytes(72));
  EXPECT_EQ(one.plan->copies.size(), 1U);
}

TEST_F(CopiedInputs, ThePlanThatCopiesBothFitsACapacityThatTheUsualOneExceeds) {
  EXPECT_EQ(planned(graph_, {.extra_copies = false, .capacity = Bytes(64)}).has_answer(), false);
  const Planned limited = planned(graph_, {.capacity = Bytes(64)});
  EXPECT_TRUE(limited.has_answer());
  EXPECT_EQ(limited.plan->peak(), Bytes(64));
}

TEST_F(CopiedInputs, NoCapacityThatSufficesIsCalledTooSmall) {
  EXPECT_NE(planned(graph_, {.capacity = Bytes(64)}).status, SolveStatus::infeasible);
  EXPECT_EQ(planned(graph_, {.capacity = Bytes(56)}).status, SolveStatus::infeasible);
}

/// The op needs `x` next to a copy of the constant `v`. Its pair with `v` does not let it overwrite that copy, so x,
/// the copy and y take 16 bytes each.
TEST(Choices, TheCopyOfAConstantIsNeededBesideTheOutputThatHasAPairWithIt) {
  const Graph graph = graph_of(
      R"({"name":"x","size":16,"flags":["input"]},{"name":"v","size":16,"flags":["constant"]},{"name":"y","size":16})",
      R"({"name":"F","kind":"X","inputs":[0,1],"outputs":[2],"in_place":[[0,1]],"contiguous_inputs":"padded"})");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(48));
  EXPECT_EQ(result.status, SolveStatus::optimal);
  EXPECT_EQ(planned(graph, {.capacity = Bytes(40)}).status, SolveStatus::infeasible);
}

/// An output cannot overwrite an input that is smaller, whatever its pairs say.
TEST(Choices, AMemberIsNeededBesideALargerOutputThatHasAPairWithIt) {
  const Graph graph = graph_of(
      R"({"name":"x","size":16,"flags":["input"]},{"name":"z","size":16,"flags":["input"]},{"name":"y","size":24})",
      R"({"name":"F","kind":"X","inputs":[0,1],"outputs":[2],"in_place":[[0,1]],"contiguous_inputs":"padded"})");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(56));
  EXPECT_EQ(result.status, SolveStatus::optimal);
}

/// `x` has 64 bytes and is needed from the start; op G reads the last 8 of them next to the 8 of `b`, and writes `y`
/// with 56. In one place the three take 64 + 8 + 56 bytes. With a copy, `x` is free when G writes: then the most is
/// needed when the copy is made, 64 + 8 + 8 bytes.
class LongLivedMember : public ::testing::Test {
 protected:
  static Graph with(const std::string& more_of_g, const std::string& more_tensors = "",
                    const std::string& more_ops = "") {
    return graph_of(
        R"({"name":"x","size":64,"flags":["input"]},{"name":"part","size":8,"view_of":{"tensor":0,"offset":56}},)"
        R"({"name":"b","size":8},{"name":"y","size":56,"flags":["output"]})" +
            more_tensors,
        R"({"name":"B","kind":"X","inputs":[0],"outputs":[2]},)"
        R"({"name":"G","kind":"X","inputs":[1,2],"outputs":[3],"contiguous_inputs":"padded")" +
            more_of_g + "}" + more_ops);
  }
};

TEST_F(LongLivedMember, IsCopiedSoThatTheOpMayOverwriteIt) {
  const Graph graph = with("");
  const Planned copied = planned(graph);
  EXPECT_EQ(copied.plan->peak(), Bytes(80));
  ASSERT_EQ(copied.plan->copies.size(), 1U);
  EXPECT_EQ(copied.plan->copies.front().tensor, TensorId(1)) << "a copy of b would save nothing";
  EXPECT_EQ(copied.plan->copies.front().reason, "a copy takes less memory: its own is free while the op runs");
  EXPECT_THAT(verify(graph, *copied.plan), IsEmpty());
  const Planned joined = planned(graph, {.extra_copies = false});
  EXPECT_EQ(joined.plan->peak(), Bytes(128));
  EXPECT_THAT(joined.plan->copies, IsEmpty());
}

TEST_F(LongLivedMember, IsNotCopiedIfItIsNeededLater) {
  const Planned result = planned(with("", R"(,{"name":"z","size":8,"flags":["output"]})",
                                      R"(,{"name":"Z","kind":"X","inputs":[0],"outputs":[4]})"));
  EXPECT_EQ(result.plan->peak(), Bytes(128));
  EXPECT_THAT(result.plan->copies, IsEmpty());
}

TEST_F(LongLivedMember, IsNotOverwrittenByFillsBecauseTheyComeBeforeCopies) {
  const Graph graph = with(R"(,"zero_fill":{"outputs":[0]})");
  const Planned result = planned(graph, {.zero_fill = FillPolicy::separate});
  EXPECT_EQ(result.plan->peak(), Bytes(128));
  EXPECT_THAT(verify(graph, *result.plan), IsEmpty());
}

TEST_F(LongLivedMember, IsOverwrittenByOutputsThatAreNotFilled) {
  const Graph graph = with(R"(,"workspaces":[{"size":8}],"zero_fill":{"workspaces":[0]})");
  const Planned result = planned(graph, {.zero_fill = FillPolicy::separate});
  EXPECT_EQ(result.plan->peak(), Bytes(88));
  EXPECT_THAT(verify(graph, *result.plan), IsEmpty());
}

TEST_F(LongLivedMember, IsCopiedAgainByWhoKeepsThePlacesOfThatPlan) {
  const Graph graph = with("");
  const Plan before = *planned(graph).plan;
  const Planned again = planned(graph, {.previous = before, .keep_offsets = true});
  EXPECT_EQ(again.plan->placements, before.placements);
  EXPECT_EQ(again.plan->copies, before.copies);
}

TEST_F(LongLivedMember, OnAnotherStreamIsCopiedToo) {
  const Graph graph = with(R"(,"stream":1)");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(80));
  EXPECT_THAT(verify(graph, *result.plan), IsEmpty());
}

/// The whole has 32 bytes: `a` with 16, 8 of the 16 of `x`, and a constant with 8. `x` cannot lie in it. Once its part
/// has been copied, the constant is copied over the rest of it: 16 + 8 + 16 bytes instead of 32 + 16.
TEST(Choices, CopiesAreMadeOverWhatHasBeenCopied) {
  const Graph graph = graph_of(
      R"({"name":"a","size":16,"flags":["input"]},{"name":"x","size":16,"flags":["input"]},)"
      R"({"name":"part","size":8,"view_of":{"tensor":1,"offset":0}},{"name":"c","size":8,"flags":["constant"]},)"
      R"({"name":"whole","size":32})",
      R"({"name":"CONCAT","kind":"X","inputs":[0,2,3],"outputs":[4],"contiguous_inputs":"packed"})");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(40));
  EXPECT_THAT(verify(graph, *result.plan), IsEmpty());
  ASSERT_EQ(result.plan->copies.size(), 2U);
  EXPECT_EQ(result.plan->copies.front().tensor, TensorId(2));
  EXPECT_EQ(planned(graph, {.extra_copies = false}).plan->peak(), Bytes(48));
}

/// A part of a whole keeps only its own bytes alive, so that a copy saves nothing: after the concat 16 of the 72 bytes
/// are needed, and `y` with 56.
TEST(Choices, ThePartOfAWholeIsNotCopied) {
  const Planned result = planned(graph_of(
      R"({"name":"x","size":64,"flags":["input"]},{"name":"part","size":8,"view_of":{"tensor":0,"offset":56}},)"
      R"({"name":"b","size":8},{"name":"whole","size":16},{"name":"y","size":56,"flags":["output"]})",
      R"({"name":"B","kind":"X","inputs":[0],"outputs":[2]},)"
      R"({"name":"CONCAT","kind":"X","inputs":[1,2],"outputs":[3],"contiguous_inputs":"packed"},)"
      R"({"name":"Y","kind":"X","inputs":[3],"outputs":[4]})"));
  EXPECT_EQ(result.plan->peak(), Bytes(72));
  EXPECT_THAT(result.plan->copies, IsEmpty());
}

/// The planner and `verify` have one rule for what tensors that are kept apart may share.
TEST(Choices, TensorsThatAreKeptApartShareNoPadding) {
  const Graph graph = graph_of(
      R"({"name":"x","size":8,"flags":["input"]},{"name":"a","size":8,"alignment":16},{"name":"c","size":8},)"
      R"({"name":"b","size":8,"flags":["output"]})",
      R"({"name":"A","kind":"X","inputs":[0],"outputs":[1]},{"name":"B","kind":"X","inputs":[1],"outputs":[2]},)"
      R"({"name":"C","kind":"X","inputs":[2],"outputs":[3]}],"apart":[[1,3])");
  const auto with = [&](Padding padding) { return planned(graph, {.padding = padding}); };
  EXPECT_EQ(with(Padding::own).plan->peak(), Bytes(32));
  EXPECT_EQ(with(Padding::none).plan->peak(), Bytes(24));
  Plan shares = *with(Padding::none).plan;
  EXPECT_THAT(verify(graph, shares), IsEmpty());
  shares.padding = Padding::own;
  EXPECT_FALSE(verify(graph, shares).empty());
}

Graph with_limit(std::int64_t limit, const std::string& tensors, const std::string& ops) {
  GraphDescription description = graph_of(tensors, ops).description();
  description.memories[0].max_size = Bytes(limit);
  return Graph::build(std::move(description)).value();
}

TEST(Choices, OthersUseTheRegionOfATensorThatIsLargerThanARegion) {
  const Graph graph = with_limit(
      32, R"({"name":"x","size":24,"flags":["input"]},{"name":"q","size":0},{"name":"big","size":48})",
      R"({"name":"A","kind":"X","inputs":[0],"outputs":[1]},{"name":"B","kind":"X","inputs":[1],"outputs":[2]})");
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(48));
  EXPECT_EQ(result.status, SolveStatus::optimal);
  EXPECT_EQ(planned(graph, {.capacity = Bytes(48)}).plan->peak(), Bytes(48));
}

TEST(Choices, TensorsThatAreLargerThanARegionShareOne) {
  const Graph graph =
      with_limit(32, R"({"name":"a","size":64},{"name":"m","size":8},{"name":"b","size":48})",
                 R"({"name":"A","kind":"X","outputs":[0]},{"name":"M","kind":"X","inputs":[0],"outputs":[1]},)"
                 R"({"name":"B","kind":"X","inputs":[1],"outputs":[2]})");
  EXPECT_EQ(planned(graph).plan->peak(), Bytes(72));
}

TEST(Choices, ATensorThatIsLargerThanARegionOverwritesAnotherInPlace) {
  const Graph graph = with_limit(32, R"({"name":"a","size":64},{"name":"b","size":64})",
                                 R"({"name":"A","kind":"X","outputs":[0]},)"
                                 R"({"name":"B","kind":"X","inputs":[0],"outputs":[1],"in_place":[[0,0]]})");
  EXPECT_EQ(planned(graph).plan->peak(), Bytes(64));
}

/// Whatever comes first in a solver's order, the large tensor finds its region.
TEST(Choices, EverySolverPlacesATensorThatIsLargerThanARegion) {
  const Graph graph = with_limit(
      32, R"({"name":"x","size":24,"flags":["input"]},{"name":"y","size":24},{"name":"big","size":48})",
      R"({"name":"A","kind":"X","inputs":[0],"outputs":[1]},{"name":"B","kind":"X","inputs":[0],"outputs":[2]},)"
      R"({"name":"C","kind":"X","inputs":[0,1]})");
  for (const char* solver : {"first_fit_by_life", "best_fit_by_life", "first_fit_by_area", "blocks", "auto"})
    EXPECT_GE(planned(graph, {.solver = solver}).plan->peak(), Bytes(72)) << solver;
}

TEST(Choices, ThePaddingOfWhatIsFilledAtTheStartIsFreeUntilItsOp) {
  const Graph graph =
      graph_of(R"({"name":"t","size":56},{"name":"u","size":8},{"name":"f","size":8,"alignment":64})",
               R"({"name":"T","kind":"X","outputs":[0]},{"name":"U","kind":"X","inputs":[0],"outputs":[1]},)"
               R"({"name":"F","kind":"X","inputs":[1],"outputs":[2],"zero_fill":{"outputs":[0]}})");
  const Planned result = planned(graph);
  ASSERT_EQ(result.plan->clears.size(), 1U);
  Plan smaller = *result.plan;
  smaller.placements[0].offset = Bytes(8);  // behind f, which is filled already
  smaller.placements[1].offset = Bytes(64);
  smaller.placements[2].offset = Bytes(0);
  smaller.clears[0].offset = Bytes(0);
  smaller.arenas[0].size = smaller.arenas[0].regions[0] = Bytes(72);
  smaller.arenas[0].lower_bound = Bytes(0);
  smaller.arenas[0].proof = {};
  smaller.arenas[0].proven_optimal = false;
  const std::vector<Finding> findings = verify(graph, smaller);
  EXPECT_THAT(findings, IsEmpty()) << findings.front().message;
  EXPECT_LE(result.lower_bound, Bytes(72));
}

TEST(Choices, WithARefreshableBaseNothingElseLiesInTheFixedArena) {
  const Graph graph =
      graph_of(R"({"name":"x","size":32,"flags":["input"]},{"name":"r","size":32},{"name":"y","size":32},)"
               R"({"name":"z","size":8,"flags":["output"]})",
               R"({"name":"F","kind":"X","inputs":[0],"outputs":[1],"fixed_address":true},)"
               R"({"name":"Y","kind":"X","inputs":[1],"outputs":[2],"in_place":[[0,0]]},)"
               R"({"name":"Z","kind":"X","inputs":[2],"outputs":[3]})");
  const Planned result = planned(graph, {.base = AddressBase::refreshable});
  EXPECT_EQ(result.plan->peak(), Bytes(104));
  EXPECT_EQ(result.status, SolveStatus::optimal);
  Plan smaller = *result.plan;
  smaller.placements[2] = smaller.placements[1];
  smaller.placements[2].tensor = TensorId(2);
  const std::vector<Finding> findings = verify(graph, smaller, {.base = AddressBase::refreshable});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, Rule::arena) << findings.front().message;
}

TEST(Choices, APlanWithLargeItemsInRegionsOfOthersIsKeptForItsOwnGraph) {
  const Graph graph = graph_of(
      R"({"name":"x","size":4096,"flags":["input"]},{"name":"a","size":512},{"name":"b","size":1024},)"
      R"({"name":"y","size":512})",
      R"({"name":"A","kind":"X","inputs":[0],"outputs":[1]},{"name":"B","kind":"X","inputs":[1],"outputs":[2]},)"
      R"({"name":"Y","kind":"X","inputs":[2],"outputs":[3]})");
  PlanOptions options{.region_limit = Bytes(128)};
  const Planned first = planned(graph, options);
  EXPECT_LT(first.plan->peak(), Bytes(4096 + 512 + 1024 + 512));
  options.previous = *first.plan;
  options.keep_offsets = true;
  const Planned second = planned(graph, options);
  EXPECT_EQ(second.plan->placements, first.plan->placements);
}

}  // namespace
}  // namespace stowage
