#include "support/builders/plans.hpp"

/// Lives and in-place pairs on a single stream: which tensors may share bytes.
namespace stowage::verification {
namespace {

/// The chain a → b → c → d → e of five ops, each of which writes 100 bytes.
Graph chain() {
  return graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100), tensor("d", 100), tensor("e", 100, kOutput)},
                  {op("a", {}, {0}), op("b", {0}, {1}), op("c", {1}, {2}), op("d", {2}, {3}), op("e", {3}, {4})});
}

TEST(Overlap, ChainNeedsTwoPlaces) {
  const Graph graph = chain();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 100, 0})), IsEmpty());
}

TEST(Overlap, ChainWithAnOpOnItsOwnInputNamesBoth) {
  const Graph graph = chain();
  EXPECT_THAT(
      verify(graph, plan_of(graph, {0, 100, 0, 50, 150})),
      ElementsAre(Breaks(
          Rule::overlap,
          "tensor 'c' (2) [0, 100) and tensor 'd' (3) [50, 150) of arena 'cpu' share bytes [50, 100) while both are "
          "needed at step 3 (op 'd' (3)); tensor 'c' (2) is needed from step 2 (op 'c' (2)) to step 3 (op 'd' (3)), "
          "tensor 'd' (3) from step 3 (op 'd' (3)) to step 4 (op 'e' (4))")));
}

TEST(Overlap, TouchingIsNotSharing) {
  const Graph graph = chain();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 100, 200})), IsEmpty());
}

TEST(Overlap, DifferentRegionsAndArenasDoNotShare) {
  const Graph graph = chain();
  Plan plan = plan_of(graph, {0, 100, 0, 0, 100});
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::overlap));
  plan.arenas[0].regions = {Bytes(200), Bytes(100)};
  plan.arenas[0].size = Bytes(300);
  plan.placements[3].region = 1;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

TEST(Overlap, AValueInTheMiddleOfALongLivingOneIsFound) {
  const Graph graph = graph_of({tensor("long", 1000), tensor("s", 10), tensor("t", 10), tensor("out", 10, kOutput)},
                               {op("w", {}, {0}), op("a", {}, {1}), op("b", {1}, {2}), op("r", {0, 2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 500, 1000, 1010})), ElementsAre(Breaks(Rule::overlap, "'long'")));
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 500, 700, 1010}))), ElementsAre(Rule::overlap, Rule::overlap))
      << "the longer one keeps its bytes";
}

TEST(Overlap, EachPairIsReportedOnce) {
  const Graph graph = graph_of(
      {tensor("base", 100), view("a", 50, 0, 0), view("b", 50, 0, 50), tensor("x", 100), tensor("y", 10, kOutput)},
      {op("a", {}, {1}), op("b", {}, {2}), op("x", {}, {3}), op("y", {0, 3}, {4})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 50, 0, 100}))), ElementsAre(Rule::overlap));
}

// -------------------------------------------------------------------------------------------------------------- lives

TEST(Lives, InputsAreOwnedFromTheStartToTheirLastRead) {
  const Graph graph =
      graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput)},
               {op("make", {}, {1}), op("use", {0, 1}, {2}), op("end", {2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 0})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 200, 100})), ElementsAre(Breaks(Rule::overlap, "tensor 'in' (0)")));
}

TEST(Lives, KeptInputsLiveToTheEnd) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("b", 100, kOutput)},
                               {op("x", {0}, {1}), op("y", {1}, {2})});
  const Plan plan = plan_of(graph, {0, 100, 0});
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  EXPECT_THAT(verify(graph, plan, {.keep_inputs = true}),
              ElementsAre(Breaks(Rule::overlap, "is needed from the start to the end")));
}

TEST(Lives, UnreadInputsHoldTheFirstStepOnly) {
  const Graph graph = graph_of({tensor("unread", 100, kInput), tensor("a", 100), tensor("b", 100, kOutput)},
                               {op("x", {}, {1}), op("y", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(Lives, TheInputFlagOnAComputedTensorOwnsItsBytesFromTheStart) {
  const Graph graph = graph_of({tensor("a", 100), tensor("late", 100, kInput), tensor("b", 100, kOutput)},
                               {op("x", {}, {0}), op("y", {0}, {1}), op("z", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(Lives, InputsNeverShareWithEachOther) {
  const Graph graph = graph_of({tensor("a", 100, kInput), tensor("b", 100, kInput), tensor("c", 100, kInput)},
                               {op("x", {0}, {}), op("y", {1}, {})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 100, 0}))), ElementsAre(Rule::overlap));
}

TEST(Lives, OutputsAreNeverOverwritten) {
  const Graph graph = graph_of({tensor("early", 100, kOutput), tensor("a", 100), tensor("b", 100, kOutput)},
                               {op("x", {}, {0}), op("y", {}, {1}), op("z", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'early' (0) is needed from step 0 (op 'x' (0)) to the end")));
}

TEST(Lives, OutputsMayTakeWhatWasFreedBefore) {
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 100), tensor("out", 100, kOutput)},
                               {op("x", {}, {0}), op("y", {0}, {1}), op("z", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
}

TEST(Lives, AnOutputThatNobodyWritesSharesWithNobody) {
  const Graph graph = graph_of({tensor("idle", 100, kOutput), tensor("a", 100)}, {op("x", {}, {1})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0}))), ElementsAre(Rule::overlap));
}

TEST(Lives, ResultsWithoutReaderHoldTheirStepOnly) {
  const Graph graph = graph_of({tensor("suspended", 100), tensor("twin", 100), tensor("out", 100, kOutput)},
                               {op("x", {}, {0, 1}), op("y", {}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap)) << "two outputs of one op";
}

TEST(Lives, ConstantsAndVariablesShareWithNobody) {
  const Graph graph = graph_of({tensor("c", 100, TensorFlag::constant), tensor("v", 100, TensorFlag::variable)},
                               {op("x", {0}, {}), op("y", {1}, {})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 50})), ElementsAre(Breaks(Rule::overlap, "arena 'weights'")));
}

TEST(Lives, NoReuseOwnsItsBytesForTheWholeRun) {
  const auto build = [](TensorFlags flags, bool op_wide) {
    Op second = op("y", {0}, {1});
    second.no_reuse = op_wide;
    return graph_of({tensor("a", 100), tensor("b", 100, flags), tensor("c", 100), tensor("d", 100)},
                    {op("x", {}, {0}), second, op("z", {1}, {2}), op("w", {2}, {3})});
  };
  const Graph plain = build({}, false);
  const Graph flagged = build(TensorFlag::no_reuse, false);
  const Graph by_op = build({}, true);
  const Offsets after = {0, 100, 200, 100};
  EXPECT_THAT(verify(plain, plan_of(plain, after)), IsEmpty());
  EXPECT_THAT(rules(verify(flagged, plan_of(flagged, after))), ElementsAre(Rule::overlap));
  EXPECT_THAT(rules(verify(by_op, plan_of(by_op, after))), ElementsAre(Rule::overlap));
}

TEST(Lives, AViewKeepsItsBaseAlive) {
  const Graph graph = graph_of(
      {tensor("base", 100), view("part", 10, 0, 0), tensor("a", 100), tensor("b", 100), tensor("out", 10, kOutput)},
      {op("x", {}, {0}), op("y", {}, {2}), op("z", {2}, {3}), op("w", {1, 3}, {4})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 200, 300})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 50, 200, 300})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'base' (0)")))
      << "bytes outside the view still belong to the base";
}

TEST(Lives, AnAliasKeepsItsInputAlive) {
  Op update = op("update", {0}, {1});
  update.aliases = {{0, 0, Bytes(20)}};
  const Graph graph = graph_of({tensor("state", 100), tensor("part", 80), tensor("a", 100), tensor("out", 10, kOutput)},
                               {op("x", {}, {0}), update, op("y", {}, {2}), op("z", {1, 2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 20, 100, 200})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {100, 120, 10, 200}))), ElementsAre(Rule::overlap));
}

TEST(Lives, WorkspacesLiveDuringTheirOpOnly) {
  Op work = op("work", {0}, {1});
  work.workspaces = {{Bytes(50)}, {Bytes(50)}};
  const Graph graph =
      graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("b", 100, kOutput)}, {work, op("end", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200}, {200, 250})), IsEmpty());
  EXPECT_THAT(
      verify(graph, plan_of(graph, {0, 100, 200}, {200, 220})),
      ElementsAre(Breaks(Rule::overlap,
                         "workspace 0 of op 'work' (0) [200, 250) and workspace 1 of op 'work' (0) [220, 270)")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200}, {50, 250})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'in' (0)")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200}, {200, 150})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'a' (1)")));
}

TEST(Lives, WorkspacesWithoutReuseShareWithNobody) {
  Op work = op("work", {0}, {1});
  work.workspaces = {{.size = Bytes(50), .no_reuse = true}};
  const Graph graph =
      graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("b", 100, kOutput)}, {work, op("end", {1}, {2})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 100, 200}, {200}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200}, {300})), IsEmpty());
}

// ----------------------------------------------------------------------------------------------------------- in place

/// x → a → (add) → b → out; the flags are those of `a`, the pairs those of `add`.
Graph adder(std::vector<InPlacePair> pairs, TensorFlags flags = {}, std::int64_t size_of_a = 100) {
  return graph_of({tensor("a", size_of_a, flags), tensor("b", 100), tensor("out", 100, kOutput)},
                  {op("x", {}, {0}), op_in_place("add", {0}, {1}, std::move(pairs)), op("end", {1}, {2})});
}

TEST(InPlace, ListedPairMayShare) {
  const Graph graph = adder({{0, 0}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100})), IsEmpty());
}

TEST(InPlace, UnlistedPairMayNot) {
  const Graph graph = adder({});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, OnlyAtTheSameAddress) {
  const Graph graph = adder({{0, 0}}, {}, 200);
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 200})), IsEmpty()) << "the parent may be larger";
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 100, 200}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {50, 0, 250}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, NotWhenTheOutputIsLarger) {
  const Graph graph = adder({{0, 0}}, {}, 99);
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, TheTailOfALargerParentIsFreeFromTheNextStepOn) {
  const auto build = [](bool at_once) {
    Op add = op_in_place("add", {0}, {1}, {{0, 0}});
    if (at_once) add.workspaces = {{Bytes(50)}};
    return graph_of({tensor("a", 200), tensor("b", 100), tensor("c", 100), tensor("out", 10, kOutput)},
                    {op("x", {}, {0}), add, op("y", {1}, {2}), op("end", {1, 2}, {3})});
  };
  const Graph later = build(false);
  EXPECT_THAT(verify(later, plan_of(later, {0, 0, 100, 200})), IsEmpty());
  const Graph at_once = build(true);
  EXPECT_THAT(rules(verify(at_once, plan_of(at_once, {0, 0, 100, 200}, {150}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, NeverOnWhatIsKept) {
  for (const TensorFlag flag : {TensorFlag::output, TensorFlag::no_reuse}) {
    const Graph graph = adder({{0, 0}}, flag);
    EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
  }
  const Graph variable = adder({{0, 0}}, TensorFlag::variable);
  Plan plan = plan_of(variable, {0, 0, 100});
  plan.placements[1].arena = ArenaId(1);
  EXPECT_THAT(rules(verify(variable, plan)), ElementsAre(Rule::arena, Rule::overlap));
}

TEST(InPlace, InputsMayBeOverwrittenUnlessTheyAreKept) {
  const Graph graph =
      graph_of({tensor("in", 100, kInput), tensor("out", 100, kOutput)}, {op_in_place("relu", {0}, {1}, {{0, 0}})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0}), {.keep_inputs = true})), ElementsAre(Rule::overlap));
}

TEST(InPlace, NotWhenTheResultOwnsItsBytesFromTheStart) {
  const auto build = [](TensorFlags flags) {
    return graph_of({tensor("a", 100), tensor("b", 100, flags)},
                    {op("x", {}, {0}), op_in_place("add", {0}, {1}, {{0, 0}}), op("y", {1}, {})});
  };
  const Graph plain = build({});
  EXPECT_THAT(verify(plain, plan_of(plain, {0, 0})), IsEmpty());
  for (const TensorFlag flag : {TensorFlag::input, TensorFlag::no_reuse}) {
    const Graph graph = build(flag);
    EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0}))), ElementsAre(Rule::overlap));
  }
}

TEST(InPlace, NotWhenTheInputIsReadLater) {
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 100), tensor("out", 100, kOutput)},
                               {op("x", {}, {0}), op_in_place("add", {0}, {1}, {{0, 0}}), op("end", {0, 1}, {2})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, NotWhenAViewOfTheInputIsReadLater) {
  const Graph graph = graph_of({tensor("a", 100), view("v", 10, 0, 0), tensor("b", 100), tensor("out", 100, kOutput)},
                               {op("x", {}, {0}), op_in_place("add", {0}, {2}, {{0, 0}}), op("end", {1, 2}, {3})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, NotWhenTheOpReadsTheSameValueWithoutAPair) {
  const auto build = [](std::vector<InPlacePair> pairs) {
    return graph_of({tensor("a", 100), view("v", 50, 0, 50), tensor("b", 100), tensor("out", 100, kOutput)},
                    {op("x", {}, {0}), op_in_place("mul", {0, 1}, {2}, std::move(pairs)), op("end", {2}, {3})});
  };
  const Graph unpaired = build({{0, 0}});
  EXPECT_THAT(rules(verify(unpaired, plan_of(unpaired, {0, 50, 0, 100}))), ElementsAre(Rule::overlap));
  const Graph paired = build({{0, 0}, {0, 1}});
  EXPECT_THAT(rules(verify(paired, plan_of(paired, {0, 50, 0, 100}))), ElementsAre(Rule::overlap))
      << "element 50 of the first input is element 0 of the second";
}

TEST(InPlace, BothReadsOfOneValueMayBePaired) {
  const Graph graph =
      graph_of({tensor("a", 100), view("v", 100, 0, 0), tensor("b", 100), tensor("out", 100, kOutput)},
               {op("x", {}, {0}), op_in_place("mul", {0, 1}, {2}, {{0, 0}, {0, 1}}), op("end", {2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 0, 100})), IsEmpty());
}

TEST(InPlace, ThroughAView) {
  const Graph graph = graph_of({tensor("a", 200), view("v", 100, 0, 64), tensor("b", 100), tensor("out", 100, kOutput)},
                               {op("x", {}, {0}), op_in_place("relu", {1}, {2}, {{0, 0}}), op("end", {2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 64, 64, 200})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 64, 0, 200}))), ElementsAre(Rule::overlap))
      << "at the base, not at the view";
}

TEST(InPlace, OnlyInsideTheInputsOwnBytes) {
  const Graph graph = graph_of(
      {tensor("a", 200), view("v", 50, 0, 0), tensor("b", 100), view("w", 50, 2, 0), tensor("out", 100, kOutput)},
      {op("x", {}, {0}), op_in_place("relu", {1}, {3}, {{0, 0}}), op("end", {2}, {4})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 0, 0, 200}))), ElementsAre(Rule::overlap))
      << "the base of the output reaches beyond the view that is read";
}

TEST(InPlace, NotWhenTheOutputIsTheMiddleOfItsBase) {
  const Graph graph =
      graph_of({tensor("a", 100), tensor("b", 200), view("w", 100, 1, 100), tensor("out", 100, kOutput)},
               {op("x", {}, {0}), op_in_place("relu", {0}, {2}, {{0, 0}}), op("end", {1}, {3})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {100, 0, 100, 200}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, NotWhenTheOpWritesTheBytesThroughASecondOutput) {
  const Graph graph = graph_of(
      {tensor("a", 100), tensor("b", 100), view("lo", 50, 1, 0), view("hi", 50, 1, 50), tensor("out", 100, kOutput)},
      {op("x", {}, {0}), op_in_place("split", {0}, {2, 3}, {{0, 0}}), op("end", {1}, {4})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 0, 50, 100}))), ElementsAre(Rule::overlap));
}

TEST(InPlace, TwoOutputsMayNotTakeTheSameInput) {
  const Graph graph =
      graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100), tensor("out", 100, kOutput)},
               {op("x", {}, {0}), op_in_place("both", {0}, {1, 2}, {{0, 0}, {1, 0}}), op("end", {1, 2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 200})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 200})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 0, 200})),
              ElementsAre(Breaks(Rule::overlap, "tensor 'b' (1) [0, 100) and tensor 'c' (2)")));
}

TEST(InPlace, ALongChainIsOnePlace) {
  std::vector<Tensor> tensors = {tensor("t0", 100, kInput)};
  std::vector<Op> ops;
  for (std::size_t i = 1; i <= 50; ++i) {
    tensors.push_back(tensor("t" + std::to_string(i), 100));
    ops.push_back(op_in_place("op" + std::to_string(i), {i - 1}, {i}, {{0, 0}}));
  }
  const Graph graph = graph_of(tensors, ops);
  EXPECT_THAT(verify(graph, plan_of(graph, Offsets(51, 0))), IsEmpty());
}

}  // namespace
}  // namespace stowage::verification
