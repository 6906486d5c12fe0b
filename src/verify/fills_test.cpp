#include "plan/interface/plan_file.hpp"
#include "support/builders/plans.hpp"

/// Memory that must hold a value when its op starts, and batches, which exclude each other.
namespace stowage::verification {
namespace {

/// in → a → (accumulate) → sum → end; `sum` and a workspace of 50 must be filled.
Graph accumulate(std::uint8_t value = 0) {
  Op add = op("accumulate", {1}, {2});
  add.workspaces = {{Bytes(50)}};
  add.zero_fill = {.outputs = {0}, .workspaces = {0}, .value = value};
  return graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("sum", 100), tensor("end", 100, kOutput)},
                  {op("a", {0}, {1}), add, op("end", {2}, {3})});
}

TEST(Fill, EveryByteMustBeCleared) {
  const Graph graph = accumulate();
  const Plan plan = plan_of(graph, {0, 100, 200, 0}, {300});
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::fill, Rule::fill));
  EXPECT_THAT(verify(graph, with(plan, clear_at(200, 150, 1))), IsEmpty()) << "one range for both";
  EXPECT_THAT(verify(graph, with(with(plan, clear_at(200, 100, 1)), clear_at(300, 50, 1))), IsEmpty());
  EXPECT_THAT(verify(graph, with(plan, clear_at(200, 149, 1))),
              ElementsAre(Breaks(Rule::fill,
                                 "workspace 0 of op 'accumulate' (1) [300, 350) must be filled with 0 when step 1 (op "
                                 "'accumulate' (1)) starts, but bytes [349, 350) of arena 'cpu' are not")));
}

TEST(Fill, TheValueCounts) {
  const Graph graph = accumulate(7);
  const Plan plan = plan_of(graph, {0, 100, 200, 0}, {300});
  EXPECT_THAT(verify(graph, with(plan, clear_at(200, 150, 1, 7))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(plan, clear_at(200, 150, 1, 0)))), ElementsAre(Rule::fill, Rule::fill));
}

TEST(Fill, AClearComesBeforeItsOpAndNotEarlierThanTheMemoryIsFree) {
  const Graph graph = accumulate();
  const Plan shared = plan_of(graph, {0, 100, 0, 300}, {200});
  EXPECT_THAT(verify(graph, with(shared, clear_at(0, 250, 1))), Contains(Breaks(Rule::overlap, "clear 0 of the plan")))
      << "a is written in between";
  const Plan both = with(with(shared, clear_at(0, 100, 1)), clear_at(200, 50, 1));
  EXPECT_THAT(verify(graph, both), IsEmpty()) << "in is over";
  const Plan late = with(with(shared, clear_at(0, 100, 2)), clear_at(200, 50, 1));
  EXPECT_THAT(rules(verify(graph, late)), Contains(Rule::fill));
}

TEST(Fill, AClearedTensorAndAnInputNeverShareBeforeTheClear) {
  const Graph graph = accumulate();
  const Plan central = with(with(plan_of(graph, {0, 100, 0, 300}, {200}), clear_at(0, 100, 0)), clear_at(200, 50, 1));
  EXPECT_THAT(verify(graph, central),
              Contains(Breaks(Rule::overlap, "tensor 'in' (0) [0, 100) and clear 0 of the plan [0, 100)")));
}

TEST(Fill, NobodyWritesBetweenTheClearAndTheOp) {
  const Graph graph = accumulate();
  const Plan plan = plan_of(graph, {0, 100, 200, 0}, {300});
  const Plan central = with(plan, clear_at(200, 150, 0));
  EXPECT_THAT(verify(graph, central), IsEmpty());
  Plan touched = central;
  touched.placements[1].offset = Bytes(250);
  fit(touched.arenas[0], Bytes(350));
  EXPECT_THAT(verify(graph, touched), Contains(Breaks(Rule::fill, "belong to tensor 'a' (1)")));
}

TEST(Fill, AClearThatNoOpFindsIsRefused) {
  const Graph graph = accumulate();
  const Plan good = with(plan_of(graph, {0, 100, 200, 0}, {300}), clear_at(200, 150, 1));
  EXPECT_THAT(verify(graph, with(good, clear_at(100, 100, 0))),
              Contains(Breaks(Rule::fill,
                              "clear 1 of bytes [100, 200) of arena 'cpu' (0) before step 0 (op 'a' (0)) is "
                              "needed by nothing")))
      << "a is written there";
  EXPECT_THAT(verify(graph, with(good, clear_at(200, 150, 2))), Contains(Breaks(Rule::fill, "clear 1 of bytes")))
      << "after the op";
  const Plan twice = with(with(plan_of(graph, {0, 100, 200, 0}, {300}), clear_at(200, 100, 0)), clear_at(200, 150, 1));
  EXPECT_THAT(verify(graph, twice), ElementsAre(Breaks(Rule::fill, "clear 0 of bytes [200, 300)"))) << "cleared again";
}

TEST(Fill, AClearThatCoversMoreThanIsNeededIsAccepted) {
  const Graph graph = accumulate();
  Plan plan = with(plan_of(graph, {0, 100, 200, 0}, {320}), clear_at(200, 180, 1));
  fit(plan.arenas[0], Bytes(400));
  EXPECT_THAT(verify(graph, plan), IsEmpty()) << "one range for both, with the gap between them and bytes behind";
}

TEST(Fill, InALoopEveryIterationNeedsItsOwn) {
  Op add = op("accumulate", {}, {0});
  add.zero_fill.outputs = {0};
  Body body{.tensors = {tensor("sum", 100)}, .ops = {add}, .inputs = {}, .outputs = {}, .carried = {}};
  Op loop = op("loop", {}, {});
  loop.control = Control::loop;
  loop.bodies = {body};
  const Graph graph = graph_of({}, {op("first", {}, {}), loop});
  EXPECT_THAT(verify(graph, with(plan_of(graph, {0}), clear_at(0, 100, 2))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(plan_of(graph, {0}), clear_at(0, 100, 0)))), ElementsAre(Rule::fill));
}

TEST(Fill, OnStreamsTheClearWaitsForWhomItWipes) {
  const auto build = [](const std::vector<std::size_t>& after) {
    Op add = op_on(1, "accumulate", {}, {1}, after);
    add.zero_fill.outputs = {0};
    return graph_of({tensor("a", 100), tensor("sum", 100)}, {op_on(0, "a", {}, {0}), op_on(0, "use", {0}, {}), add});
  };
  const Graph racing = build({});
  EXPECT_THAT(rules(verify(racing, with(plan_of(racing, {0, 0}), clear_at(0, 100, 2)))), Contains(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, with(plan_of(ordered, {0, 0}), clear_at(0, 100, 2))), IsEmpty());
}

TEST(Fill, EntriesOutsideAreNamed) {
  const Graph graph = accumulate();
  const Plan good = with(plan_of(graph, {0, 100, 200, 0}, {300}), clear_at(200, 150, 1));
  EXPECT_THAT(rules(verify(graph, with(good, clear_at(300, 51, 1)))), ElementsAre(Rule::bounds))
      << "beyond the end of the region";
  EXPECT_THAT(verify(graph, with(good, clear_at(200, 100, 3))), ElementsAre(Breaks(Rule::reference, "before op 3")));
  PlanFile file = localise(graph, good);
  file.clears.push_back({clear_at(200, 100, 0), {1, 0}});
  EXPECT_THAT(verify(graph, file), ElementsAre(Breaks(Rule::reference, "clear 1 is in body [1, 0]")));
  Clear nowhere = clear_at(200, 100, 1);
  nowhere.region = 1;
  EXPECT_THAT(rules(verify(graph, with(good, nowhere))), ElementsAre(Rule::reference));
}

// ------------------------------------------------------------------------------------------------------------ batches

Op in_batch(std::string batch, Op op) {
  op.batch = std::move(batch);
  return op;
}

/// in → t → out in each of two batches, then a merge.
Graph batches() {
  return graph_of({tensor("in", 100, kInput), tensor("a1", 100), tensor("a2", 100), tensor("b1", 200),
                   tensor("b2", 100), tensor("end", 100, kOutput)},
                  {in_batch("a", op("a1", {0}, {1})), in_batch("a", op("a2", {1}, {2})),
                   in_batch("b", op("b1", {0}, {3})), in_batch("b", op("b2", {3}, {4})), op("merge", {2, 4}, {5})});
}

TEST(Batches, DifferentOnesDoNotMeet) {
  const Graph graph = batches();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 100, 0, 300})), IsEmpty()) << "a1, a2 and b1 share";
}

TEST(Batches, WithinOneTheRulesAreTheSame) {
  const Graph graph = batches();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 150, 100, 300, 400})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'a1' (1) [100, 200) and tensor 'a2' (2) [150, 250)")));
}

TEST(Batches, WhatIsUnlabelledMeetsThemAll) {
  const Graph graph = batches();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 50, 300, 400})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'in' (0) [0, 100) and tensor 'b1' (3) [50, 250)")));
}

TEST(Batches, AMergeReadsNothingOfTheOthers) {
  // In the run of b, b1 takes the bytes of `a2`, which does not exist in that run.
  const Graph graph = batches();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 200, 100, 500})), IsEmpty());
}

TEST(Batches, OrderOfARunCountsOnlyWhatRuns) {
  // c on stream 1 comes after the op of batch b only, which does not run in batch a.
  const auto build = [](const std::string& last) {
    return graph_of({tensor("t", 100), tensor("c", 100, kOutput)},
                    {op_on(0, "t", {}, {0}), op_on(0, "use", {0}, {}), in_batch(last, op_on(0, "hop", {}, {})),
                     in_batch("a", op_on(0, "other", {}, {})), op_on(1, "c", {}, {1}, {2})});
  };
  const Graph always = build("");
  EXPECT_THAT(verify(always, plan_of(always, {0, 0})), IsEmpty());
  const Graph only_b = build("b");
  EXPECT_THAT(rules(verify(only_b, plan_of(only_b, {0, 0}))), ElementsAre(Rule::overlap));
}

}  // namespace
}  // namespace stowage::verification
