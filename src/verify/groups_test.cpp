#include "graph/interface/notes.hpp"
#include "plan/interface/plan_file.hpp"
#include "support/builders/plans.hpp"

/// Contiguous groups: where members lie, how long each of them is needed, and the copies that make members contiguous.
namespace stowage::verification {
namespace {

const std::vector<Memory> kAligned64 = {Memory{.name = "cpu", .alignment = Bytes(64)}};

/// Two ops write `a` of 100 bytes and `b` of 50; a third requires them to be contiguous.
Graph gather(Contiguity kind, const std::vector<Memory>& memories = {Memory{.name = "cpu"}}) {
  Op last = op("gather", {0, 1}, {2});
  last.contiguous_inputs = kind;
  return graph_of({tensor("a", 100), tensor("b", 50), tensor("sum", 150, kOutput)},
                  {op("a", {}, {0}), op("b", {}, {1}), last}, memories);
}

/// One op writes `x`, or reads it and splits it, and two more read the halves.
Graph scatter(Contiguity kind) {
  Op split = op("scatter", {0}, {1, 2});
  split.contiguous_outputs = kind;
  return graph_of(
      {tensor("x", 150), tensor("lo", 100), tensor("hi", 50), tensor("p", 10, kOutput), tensor("q", 100, kOutput)},
      {op("x", {}, {0}), split, op("p", {1}, {3}), op("q", {2}, {4})});
}

TEST(Groups, PaddedMembersLieAtTheNextMultipleOfTheirAlignment) {
  const Graph graph = gather(Contiguity::padded, kAligned64);
  const VerifyOptions exact{.padding = Padding::none};
  EXPECT_THAT(verify(graph, plan_of(graph, {64, 192, 256}), exact), IsEmpty()) << "100 bytes take 128";
  EXPECT_THAT(verify(graph, plan_of(graph, {64, 256, 320}), exact),
              ElementsAre(Breaks(Rule::group,
                                 "tensor 'b' (1) at 256 of region 0 of arena 'cpu' (0) is not 128 bytes after the "
                                 "start of the padded inputs of op 'gather' (2) at 64")));
}

TEST(Groups, WhatIsExternalNeedsACopyToLieInAPaddedGroup) {
  for (const std::size_t external : {0U, 1U}) {
    std::vector<Tensor> tensors = {tensor("a", 100), tensor("b", 100), tensor("sum", 10, kOutput)};
    tensors[external].flags = TensorFlag::external;
    Op gather = op("gather", {0, 1}, {2});
    gather.contiguous_inputs = Contiguity::padded;
    const Graph graph = graph_of(tensors, {op("write", {}, {1 - external}), gather});
    Offsets offsets = {100, 200, 300};
    offsets[external].reset();
    const Plan plan = plan_of(graph, offsets);
    EXPECT_THAT(verify(graph, plan),
                ElementsAre(Breaks(Rule::group, external == 0 ? "tensor 'a' (0) is external, so it cannot be in"
                                                              : "tensor 'b' (1) is external, so op 'gather' (1), which "
                                                                "needs it in a contiguous group, needs a copy of it")));
    EXPECT_THAT(verify(graph, with(plan, copy_to(external == 0 ? 100 : 200, 100, external, 1))), IsEmpty())
        << "at the place where it belongs beside the other " << external;
  }
}

TEST(Groups, APaddedGroupStartsAtAMultipleOfItsLargestAlignment) {
  Op last = op("gather", {0, 1}, {2});
  last.contiguous_inputs = Contiguity::padded;
  Tensor coarse = tensor("b", 64);
  coarse.alignment = Bytes(64);
  const Graph graph =
      graph_of({tensor("a", 64), coarse, tensor("sum", 8, kOutput)}, {op("a", {}, {0}), op("b", {}, {1}), last});
  EXPECT_THAT(verify(graph, plan_of(graph, {64, 128, 192})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {32, 96, 192})), Contains(Breaks(Rule::group, "largest alignment 64")));
}

TEST(Groups, OneByteAsideIsFoundInEachOfTheFourKinds) {
  const Graph padded_in = gather(Contiguity::padded);
  EXPECT_THAT(verify(padded_in, plan_of(padded_in, {0, 100, 200})), IsEmpty());
  EXPECT_THAT(rules(verify(padded_in, plan_of(padded_in, {0, 101, 200}))), ElementsAre(Rule::group));
  const Graph packed_in = gather(Contiguity::packed);
  EXPECT_THAT(verify(packed_in, plan_of(packed_in, {0, 100, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(packed_in, plan_of(packed_in, {0, 101, 0}))), Contains(Rule::group));
  const Graph padded_out = scatter(Contiguity::padded);
  EXPECT_THAT(verify(padded_out, plan_of(padded_out, {0, 150, 250, 300, 400})), IsEmpty());
  EXPECT_THAT(rules(verify(padded_out, plan_of(padded_out, {0, 150, 251, 310, 400}))), ElementsAre(Rule::group));
  const Graph packed_out = scatter(Contiguity::packed);
  EXPECT_THAT(verify(packed_out, plan_of(packed_out, {0, 0, 100, 300, 400})), IsEmpty());
  EXPECT_THAT(rules(verify(packed_out, plan_of(packed_out, {0, 0, 99, 300, 400}))), Contains(Rule::group));
}

TEST(Groups, TheWholeOfAPackedGroupStartsWithItsFirstMember) {
  const Graph graph = gather(Contiguity::packed);
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 100, 150}))), Contains(Rule::group));
}

TEST(Groups, OmittedInputsAreNoMembers) {
  Op last = op("gather", {0, 1}, {2});
  last.inputs.insert(last.inputs.begin() + 1, std::nullopt);
  last.contiguous_inputs = Contiguity::padded;
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 50), tensor("sum", 150, kOutput)},
                               {op("a", {}, {0}), op("b", {}, {1}), last});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 150})), IsEmpty());
}

TEST(Groups, AMemberOwnsItsOwnPartForItsOwnTimeOnly) {
  // The bytes of `b` are free until `b` is written, and those of `lo` after `lo` was read.
  Op concat = op("concat", {0, 2}, {3});
  concat.contiguous_inputs = Contiguity::packed;
  const Graph join = graph_of({tensor("a", 100), tensor("early", 50), tensor("b", 50), tensor("all", 150, kOutput)},
                              {op("a", {}, {0}), op("early", {}, {1}), op("b", {}, {2}), concat});
  EXPECT_THAT(verify(join, plan_of(join, {0, 100, 100, 0})), IsEmpty());
  const Graph split = scatter(Contiguity::packed);
  EXPECT_THAT(verify(split, plan_of(split, {0, 0, 100, 150, 0})), IsEmpty()) << "q takes what lo had";
  EXPECT_THAT(verify(split, plan_of(split, {0, 0, 100, 40, 200})),
              Contains(Breaks(Rule::overlap, "tensor 'lo' (1) [0, 100) and tensor 'p' (3) [40, 50)")));
}

TEST(Groups, APartThatIsLostBeforeTheConcatIsFound) {
  Op concat = op("concat", {0, 2}, {3});
  concat.contiguous_inputs = Contiguity::packed;
  const Graph graph = graph_of({tensor("a", 100), tensor("late", 50), tensor("b", 50), tensor("all", 150, kOutput)},
                               {op("a", {}, {0}), op("late", {}, {1}), op("b", {}, {2}), concat});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 100, 0})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 50, 100, 0})),
              Contains(Breaks(Rule::overlap, "tensor 'late' (1) [50, 100)")));
}

TEST(Groups, TwoGroupsThatShareAMemberMayNotShareTheOthersWhileTheyAreNeeded) {
  // [a, b] and [a, c]: b and c have the same place.
  const auto build = [](bool b_again) {
    Op first = op("first", {0, 1}, {3});
    Op second = op("second", {0, 2}, {4});
    first.contiguous_inputs = second.contiguous_inputs = Contiguity::padded;
    return graph_of({tensor("a", 100), tensor("b", 50), tensor("c", 50), tensor("p", 10, kOutput),
                     tensor("q", 10, kOutput), tensor("r", 10, kOutput)},
                    {op("a", {}, {0}), op("b", {}, {1}), first, op("c", {}, {2}), second,
                     op("end", {b_again ? std::size_t{1} : std::size_t{2}}, {5})});
  };
  const Graph over = build(false);
  EXPECT_THAT(verify(over, plan_of(over, {0, 100, 100, 150, 160, 170})), IsEmpty());
  const Graph again = build(true);
  EXPECT_THAT(verify(again, plan_of(again, {0, 100, 100, 150, 160, 170})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'b' (1) [100, 150) and tensor 'c' (2) [100, 150)")));
}

TEST(Groups, WhatTwoPackedWholesShareIsWrittenOnce) {
  // The same with packed groups, where b is needed only as a part of the first whole.
  const auto build = [](bool first_again) {
    Op first = op("first", {0, 1}, {3});
    Op second = op("second", {0, 2}, {4});
    first.contiguous_inputs = second.contiguous_inputs = Contiguity::packed;
    return graph_of({tensor("a", 100), tensor("b", 50), tensor("c", 50), tensor("ab", 150), tensor("ac", 150),
                     tensor("p", 10, kOutput), tensor("q", 10, kOutput)},
                    {op("a", {}, {0}), op("b", {}, {1}), first, op("p", {3}, {5}), op("c", {}, {2}), second,
                     op("end", {first_again ? std::size_t{3} : std::size_t{4}}, {6})});
  };
  const Graph over = build(false);
  EXPECT_THAT(verify(over, plan_of(over, {0, 100, 100, 0, 0, 150, 160})), IsEmpty());
  const Graph again = build(true);
  EXPECT_THAT(verify(again, plan_of(again, {0, 100, 100, 0, 0, 150, 160})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'ab' (3) [0, 150) and tensor 'c' (2) [100, 150)")));
}

TEST(Groups, AcrossStreamsAPackedGroupNeedsAnOrderLikeAnythingElse) {
  // c on stream 1 takes the place of a whole whose part was read on stream 0.
  const auto build = [](const std::vector<std::size_t>& after) {
    Op concat = op_on(0, "concat", {0, 1}, {2});
    concat.contiguous_inputs = Contiguity::packed;
    return graph_of(
        {tensor("a", 100), tensor("b", 50), tensor("ab", 150), tensor("p", 10, kOutput), tensor("c", 50, kOutput)},
        {op_on(0, "a", {}, {0}), op_on(0, "b", {}, {1}), concat, op_on(0, "p", {2}, {3}),
         op_on(1, "c", {}, {4}, after)});
  };
  const Graph racing = build({});
  EXPECT_THAT(rules(verify(racing, plan_of(racing, {0, 100, 0, 150, 100}))), Contains(Rule::overlap));
  const Graph early = build({2});
  EXPECT_THAT(rules(verify(early, plan_of(early, {0, 100, 0, 150, 100}))), Contains(Rule::overlap));
  const Graph ordered = build({3});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 0, 150, 100})), IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------ batches

/// In batches 'a' and 'b', an op makes two tensors next to each other. Tensors: a0 0, a1 1, b0 2, b1 3.
Graph scatter_in_batches() {
  std::vector<Op> ops = {op("a", {}, {0, 1}), op("b", {}, {2, 3})};
  for (Op& each : ops) {
    each.batch = each.name;
    each.contiguous_outputs = Contiguity::padded;
  }
  return graph_of({tensor("a0", 64), tensor("a1", 64), tensor("b0", 100), tensor("b1", 64)}, ops);
}

TEST(BatchStarts, TheNthGroupsOfAllBatchesBeginAtOnePlaceIfTheOptionsSaySo) {
  const Graph graph = scatter_in_batches();
  const Plan apart = plan_of(graph, {0, 64, 28, 128});
  EXPECT_THAT(verify(graph, apart), IsEmpty());
  EXPECT_THAT(
      verify(graph, apart, {.batch_start = BatchStart::same}),
      ElementsAre(Breaks(Rule::group,
                         "the outputs of op 'b' (1) start at 28 of region 0 of arena 'cpu' (0), but those of op "
                         "'a' (0) in another batch at 0 of region 0 of arena 'cpu' (0)")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 64, 0, 100}), {.batch_start = BatchStart::same}), IsEmpty());
}

TEST(BatchStarts, ANoteOfThePlanExcusesAGroup) {
  const Graph graph = scatter_in_batches();
  Plan plan = plan_of(graph, {0, 64, 28, 128});
  plan.notes = {{TensorId(2), "something else"}};
  EXPECT_THAT(rules(verify(graph, plan, {.batch_start = BatchStart::same})), ElementsAre(Rule::group));
  plan.notes = {{TensorId(2), std::string(kGroupBeginsElsewhere)}};
  EXPECT_THAT(verify(graph, plan, {.batch_start = BatchStart::same}), IsEmpty());
}

TEST(BatchStarts, GroupsOfInputsAndOfOutputsCountSeparately) {
  std::vector<Op> ops = {op("x", {}, {0}), op("y", {}, {1}), op("a", {0, 1}, {}), op("b", {}, {2, 3})};
  ops[2].batch = "a";
  ops[2].contiguous_inputs = Contiguity::padded;
  ops[3].batch = "b";
  ops[3].contiguous_outputs = Contiguity::padded;
  const Graph graph = graph_of({tensor("x", 64), tensor("y", 64), tensor("b0", 64), tensor("b1", 64)}, ops);
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 64, 128, 192}), {.batch_start = BatchStart::same}), IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------- copies

/// A constant in a group with `b`: it has its own address, so the op reads a copy of it.
Graph constant_member() {
  Op last = op("gather", {0, 1}, {2});
  last.contiguous_inputs = Contiguity::padded;
  return graph_of(
      {tensor("c", 100, TensorFlag::constant), tensor("b", 50), tensor("sum", 10, kOutput), tensor("x", 100)},
      {op("b", {}, {1}), op("x", {}, {3}), op("use", {3}, {}), last});
}

TEST(GroupCopies, AMemberElsewhereNeedsACopy) {
  const Graph graph = constant_member();
  const Plan bare = plan_of(graph, {0, 100, 150, 200});
  EXPECT_THAT(rules(verify(graph, bare)), ElementsAre(Rule::group));
  EXPECT_THAT(verify(graph, with(bare, copy_to(0, 100, 0, 3))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(bare, copy_to(1, 100, 0, 3)))), Contains(Rule::group));
}

TEST(GroupCopies, ACopyTakesItsBytesBeforeItsOpAndOnlyThen) {
  const Graph graph = constant_member();
  EXPECT_THAT(verify(graph, with(plan_of(graph, {0, 100, 150, 0}), copy_to(0, 100, 0, 3))), IsEmpty()) << "x is over";
  const Plan over_b = with(plan_of(graph, {0, 100, 20, 200}), copy_to(0, 100, 0, 3));
  EXPECT_THAT(verify(graph, over_b),
              ElementsAre(Breaks(Rule::overlap, "copy 0 of the plan [0, 100) and tensor 'sum' (2)")));
}

TEST(GroupCopies, ACopyThatNothingNeedsIsRefused) {
  const Graph graph = constant_member();
  const Plan good = with(plan_of(graph, {0, 100, 150, 200}), copy_to(0, 100, 0, 3));
  EXPECT_THAT(verify(graph, with(good, copy_to(400, 100, 3, 2))),
              ElementsAre(Breaks(
                  Rule::copy, "copy 1 of tensor 'x' (3) at 400 of region 0 of arena 'cpu' (0) is needed by nothing")));
  Plan unexplained = good;
  unexplained.copies[0].reason.clear();
  EXPECT_THAT(verify(graph, unexplained), ElementsAre(Breaks(Rule::copy, "gives no reason")));
}

TEST(GroupCopies, EntriesThatDoNotExistAreNamed) {
  const Graph graph = constant_member();
  const Plan good = with(plan_of(graph, {0, 100, 150, 200}), copy_to(0, 100, 0, 3));
  EXPECT_THAT(verify(graph, with(good, copy_to(0, 100, 9, 3))), ElementsAre(Breaks(Rule::reference, "tensor 9")));
  EXPECT_THAT(verify(graph, with(good, copy_to(0, 100, 0, 4))), ElementsAre(Breaks(Rule::reference, "before op 4")));
  PlanFile file = localise(graph, good);
  file.copies.push_back({copy_to(0, 100, 0, 0), {0, 0}});
  EXPECT_THAT(verify(graph, file), ElementsAre(Breaks(Rule::reference, "copy 1 is in body [0, 0]")));
  Plan small = good;
  small.copies[0].size = Bytes(99);
  EXPECT_THAT(rules(verify(graph, small)), ElementsAre(Rule::size));
}

TEST(GroupCopies, ASplitPartElsewhereIsFilledByACopy) {
  const Graph graph = scatter(Contiguity::packed);
  const Plan apart = plan_of(graph, {0, 0, 200, 300, 400});
  EXPECT_THAT(rules(verify(graph, apart)), Contains(Rule::group));
  EXPECT_THAT(verify(graph, with(apart, copy_to(200, 50, 2, 1))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(plan_of(graph, {0, 0, 100, 300, 400}), copy_to(100, 50, 2, 1)))),
              Contains(Rule::copy))
      << "it lies in the input already";
}

}  // namespace
}  // namespace stowage::verification
