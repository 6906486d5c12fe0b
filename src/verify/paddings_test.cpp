#include "support/builders/plans.hpp"

/// The rule `padding`: the bytes up to the alignment of a tensor or workspace are its own.
namespace stowage::verification {
namespace {

const VerifyOptions kExact{.padding = Padding::none};

/// in (100) → out (100), at multiples of 64, `next` of alignment 1.
Graph two_at_64() {
  Tensor next = tensor("next", 20, kOutput);
  next.alignment = Bytes(1);
  return graph_of({tensor("in", 100, kInput), next}, {op("work", {0}, {1})},
                  {Memory{.name = "cpu", .alignment = Bytes(64)}});
}

/// The plan with a region of 256 bytes.
Plan roomy(Plan plan) {
  fit(plan.arenas[0], Bytes(256));
  return plan;
}

TEST(Paddings, AreSharedByNothingThatIsLive) {
  EXPECT_THAT(verify(two_at_64(), plan_of(two_at_64(), {0, 128})), IsEmpty());
  EXPECT_THAT(verify(two_at_64(), plan_of(two_at_64(), {0, 127})),
              ElementsAre(Breaks(Rule::padding,
                                 "tensor 'in' (0) [0, 128) and tensor 'next' (1) [127, 147) of arena "
                                 "'cpu' share padding [127, 128)")));
  EXPECT_THAT(verify(two_at_64(), roomy(plan_of(two_at_64(), {0, 99}))),
              ElementsAre(Breaks(Rule::overlap, "share bytes [99, 119)")));
}

TEST(Paddings, AreNobodysWhereThePlanOrTheOptionSaysSo) {
  Plan plan = roomy(plan_of(two_at_64(), {0, 100}));
  EXPECT_THAT(rules(verify(two_at_64(), plan)), ElementsAre(Rule::padding));
  EXPECT_THAT(verify(two_at_64(), plan, kExact), IsEmpty());
  plan.padding = Padding::none;
  EXPECT_THAT(verify(two_at_64(), plan), IsEmpty());
  EXPECT_THAT(rules(verify(two_at_64(), plan, {.padding = Padding::own})), ElementsAre(Rule::padding));
}

TEST(Paddings, LieInsideTheRegion) {
  const Graph graph =
      graph_of({tensor("in", 100, kInput)}, {op("read", {0}, {})}, {Memory{.name = "cpu", .alignment = Bytes(64)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0})),
              ElementsAre(Breaks(Rule::padding, "tensor 'in' (0) [0, 100) is padded up to 128, outside [0, 100)")));
  Plan plan = plan_of(graph, {0});
  fit(plan.arenas[0], Bytes(128));
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0}), kExact), IsEmpty());
}

TEST(Paddings, MayBeUsedWhenTheirTensorIsOver) {
  Tensor last = tensor("last", 28, kOutput);
  last.alignment = Bytes(4);
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("mid", 64), last},
                               {op("A", {0}, {1}), op("B", {1}, {2})}, {Memory{.name = "cpu", .alignment = Bytes(64)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 128, 100})), IsEmpty()) << "last begins when in is over";
}

TEST(Paddings, GoOverInPlace) {
  const Graph graph =
      graph_of({tensor("in", 100, kInput), tensor("out", 90, kOutput)}, {op_in_place("work", {0}, {1}, {{0, 0}})},
               {Memory{.name = "cpu", .alignment = Bytes(64)}});
  Plan plan = plan_of(graph, {0, 0});
  fit(plan.arenas[0], Bytes(128));
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

TEST(Paddings, OfWorkspacesAndClassesCount) {
  Op work = op("work", {0}, {});
  work.workspaces = {{.size = Bytes(10), .alignment = Bytes(32)}};
  Tensor inside = view("inside", 4, 0, 96);
  inside.alignment = Bytes(32);
  const Graph graph = graph_of({tensor("in", 100, kInput), inside}, {work});
  Plan plan = plan_of(graph, {0, 96}, {128});
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::padding)) << "the workspace ends at 160";
  fit(plan.arenas[0], Bytes(160));
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.workspaces[0].offset = Bytes(96);
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::overlap));
}

TEST(Paddings, OfAGroupEndWhereTheNextMemberLies) {
  Op gather = op("gather", {0, 1}, {2});
  gather.contiguous_inputs = Contiguity::padded;
  Tensor fine = tensor("fine", 20);
  fine.alignment = Bytes(4);
  const Graph graph =
      graph_of({tensor("coarse", 100), fine, tensor("sum", 64, kOutput)}, {op("A", {}, {0}), op("B", {}, {1}), gather},
               {Memory{.name = "cpu", .alignment = Bytes(64)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 128})), IsEmpty()) << "the group demands 100";
}

TEST(Paddings, PartsOfAPackedWholeHaveNone) {
  Op concat = op("concat", {0, 1}, {2});
  concat.contiguous_inputs = Contiguity::packed;
  const Graph graph =
      graph_of({tensor("a", 100), tensor("b", 28), tensor("all", 128, kOutput)},
               {op("A", {}, {0}), op("B", {}, {1}), concat}, {Memory{.name = "cpu", .alignment = Bytes(64)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
}

}  // namespace
}  // namespace stowage::verification
