#include "support/builders/plans.hpp"

/// The rule `claim`: which lower bounds a graph supports.
namespace stowage::verification {
namespace {

using Argument = BoundProof::Argument;

/// The plan with a claim of its first arena.
Plan claiming(Plan plan, std::int64_t bound, BoundProof proof = {}) {
  plan.arenas[0].lower_bound = Bytes(bound);
  plan.arenas[0].proven_optimal = plan.arenas[0].size == plan.arenas[0].lower_bound;
  plan.arenas[0].proof = std::move(proof);
  return plan;
}

/// The plan with more room in its first arena than it needs.
Plan roomy(Plan plan) {
  fit(plan.arenas[0], Bytes(100'000));
  return plan;
}

/// The highest bound that needs no proof.
std::int64_t bound_of(const Graph& graph, const Plan& plan, const VerifyOptions& options = {}) {
  const Plan asking = claiming(roomy(plan), 100'000, {.argument = Argument::search});
  const std::vector<UncheckedClaim> unchecked = unchecked_claims(graph, asking, options);
  return unchecked.empty() ? 100'000 : unchecked.front().checked.value();
}

/// in (100) → a (60) → b (60) → out (10).
Graph chain() {
  return graph_of({tensor("in", 100, kInput), tensor("a", 60), tensor("b", 60), tensor("out", 10, kOutput)},
                  {op("A", {0}, {1}), op("B", {1}, {2}), op("C", {2}, {3})});
}
Plan plan_of_chain() { return plan_of(chain(), {0, 100, 0, 60}); }

TEST(Bounds, AreSupportedByTheBytesNeededAtSomeStep) {
  EXPECT_THAT(verify(chain(), claiming(plan_of_chain(), 160)), IsEmpty()) << "in and a at op A";
  EXPECT_THAT(verify(chain(), claiming(roomy(plan_of_chain()), 161)),
              ElementsAre(Breaks(Rule::claim,
                                 "arena 'cpu' (0) claims the lower bound 161, but at no step are more "
                                 "than 160 bytes needed")));
}

TEST(Bounds, ProofsAreCheckedAtTheirOp) {
  const BoundProof at_a{.argument = Argument::live_bytes, .op = OpId(0)};
  const BoundProof at_b{.argument = Argument::live_bytes, .op = OpId(1)};
  EXPECT_THAT(verify(chain(), claiming(plan_of_chain(), 160, at_a)), IsEmpty());
  EXPECT_THAT(verify(chain(), claiming(plan_of_chain(), 160, at_b)),
              ElementsAre(Breaks(Rule::claim,
                                 "because of the bytes that are needed at op 'B' (1), which proves only "
                                 "120")));
  const BoundProof at_none{.argument = Argument::live_bytes, .op = OpId(9)};
  EXPECT_THAT(verify(chain(), claiming(plan_of_chain(), 160, at_none)),
              ElementsAre(Breaks(Rule::reference, "the proof of the bound of arena 'cpu' (0) names an op")));
  EXPECT_THAT(verify(chain(), claiming(plan_of_chain(), 160, {.argument = Argument::given})),
              ElementsAre(Breaks(Rule::claim, "because of what the graph says")));
}

TEST(Bounds, BySearchAreNotCheckedAndSaySo) {
  const Plan plan = claiming(roomy(plan_of_chain()), 170, {.argument = Argument::search});
  EXPECT_THAT(verify(chain(), plan), IsEmpty());
  const std::vector<UncheckedClaim> unchecked = unchecked_claims(chain(), plan);
  ASSERT_EQ(unchecked.size(), 1U);
  EXPECT_EQ(unchecked[0].arena, ArenaId(0));
  EXPECT_EQ(unchecked[0].lower_bound, Bytes(170));
  EXPECT_EQ(unchecked[0].checked, Bytes(160));
  EXPECT_EQ(unchecked[0].message,
            "the lower bound 170 of arena 'cpu' (0) holds by search, not checked; at some step 160 bytes are needed");
  EXPECT_EQ(findings_to_json({}, unchecked),
            "{\"schema\":\"stowage.findings/1\",\"valid\":true,\"findings\":[],\"unchecked\":[{\"arena\":0,"
            "\"lower_bound\":170,\"checked\":160,\"message\":\"" +
                unchecked[0].message + "\"}]}\n");
  EXPECT_THAT(unchecked_claims(chain(), claiming(plan_of_chain(), 160, {.argument = Argument::search})), IsEmpty())
      << "the bytes at op A support it";
}

TEST(Bounds, AllowForEveryInPlacePair) {
  const std::vector<Tensor> tensors = {tensor("in", 100, kInput), tensor("out", 60, kOutput)};
  const Graph apart = graph_of(tensors, {op("work", {0}, {1})});
  const Graph pair = graph_of(tensors, {op_in_place("work", {0}, {1}, {{0, 0}})});
  EXPECT_EQ(bound_of(apart, plan_of(apart, {0, 100})), 160);
  EXPECT_EQ(bound_of(pair, plan_of(pair, {0, 100})), 100) << "though this plan does not use the pair";
}

TEST(Bounds, CountEachPlaceForOneOutputOnly) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("x", 60, kOutput), tensor("y", 80, kOutput)},
                               {op_in_place("work", {0}, {1, 2}, {{0, 0}, {1, 0}})});
  EXPECT_EQ(bound_of(graph, plan_of(graph, {0, 100, 160})), 160) << "the larger one saves 80 of 240";
}

TEST(Bounds, DoNotAllowForPairsThatNoPlanMayUse) {
  const std::vector<Tensor> tensors = {tensor("in", 100, kInput), tensor("out", 60, kOutput)};
  const Graph twice = graph_of(tensors, {op_in_place("work", {0, 0}, {1}, {{0, 0}})});
  EXPECT_EQ(bound_of(twice, plan_of(twice, {0, 100})), 160) << "input 1 is read without a pair";
  const Graph later = graph_of({tensor("in", 100, kInput), tensor("out", 60, kOutput), tensor("end", 1, kOutput)},
                               {op_in_place("work", {0}, {1}, {{0, 0}}), op("read", {0}, {2})});
  EXPECT_EQ(bound_of(later, plan_of(later, {0, 100, 160})), 161) << "the input is read again";
  const Graph larger =
      graph_of({tensor("in", 60, kInput), tensor("out", 100, kOutput)}, {op_in_place("work", {0}, {1}, {{0, 0}})});
  EXPECT_EQ(bound_of(larger, plan_of(larger, {0, 60})), 160);
  EXPECT_EQ(bound_of(larger, plan_of(larger, {0, 60}), {.keep_inputs = true}), 160);
}

TEST(Bounds, FollowTheRuleOfPadding) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("out", 60, kOutput)}, {op("work", {0}, {1})},
                               {Memory{.name = "cpu", .alignment = Bytes(64)}});
  EXPECT_EQ(bound_of(graph, plan_of(graph, {0, 128})), 192);
  EXPECT_EQ(bound_of(graph, plan_of(graph, {0, 128}), {.padding = Padding::none}), 160);
}

TEST(Bounds, CountAlignedBytesInMultiples) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("out", 60, kOutput)}, {op("work", {0}, {1})},
                               {Memory{.name = "cpu", .alignment = Bytes(64)}});
  Plan plan = plan_of(graph, {64, 0});
  plan.padding = Padding::none;
  const BoundProof aligned{.argument = Argument::aligned, .op = OpId(0), .alignment = Bytes(64)};
  EXPECT_EQ(bound_of(graph, plan), 160);
  EXPECT_THAT(verify(graph, claiming(plan, 164, aligned)), IsEmpty()) << "64 + 128, less the 28 above the topmost";
  EXPECT_THAT(verify(graph, claiming(roomy(plan), 165, aligned)),
              ElementsAre(Breaks(Rule::claim, "what is aligned to 64 at op 'work' (0), which proves only 164")));
}

TEST(Bounds, PartsOfAPackedWholeCountOnce) {
  Op concat = op("concat", {0, 1}, {2});
  concat.contiguous_inputs = Contiguity::packed;
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 50), tensor("all", 150), tensor("end", 7, kOutput)},
                               {op("A", {}, {0}), op("B", {}, {1}), concat, op("read", {0, 2}, {3})});
  EXPECT_EQ(bound_of(graph, plan_of(graph, {0, 100, 0, 150})), 157);
}

TEST(Bounds, OfExclusiveBatchesAreThatOfTheLargest) {
  Op first = op("first", {}, {0});
  first.batch = "1";
  Op second = op("second", {}, {1});
  second.batch = "2";
  const Graph graph = graph_of({tensor("a", 100, kOutput), tensor("b", 60, kOutput)}, {first, second});
  EXPECT_EQ(bound_of(graph, plan_of(graph, {0, 0})), 100);
}

TEST(Bounds, OfSeveralStreamsCountWhatNothingOrders) {
  const Graph graph = graph_of(
      {tensor("a", 100), tensor("b", 60), tensor("x", 1, kOutput), tensor("y", 1, kOutput)},
      {op_on(0, "A", {}, {0}), op_on(0, "ReadA", {0}, {2}), op_on(1, "B", {}, {1}), op_on(1, "ReadB", {1}, {3})});
  const Plan plan = plan_of(graph, {0, 100, 160, 161});
  EXPECT_EQ(bound_of(graph, plan), 101) << "in the linear order";
  const BoundProof both{.argument = Argument::unordered, .tensors = {TensorId(0), TensorId(1)}};
  EXPECT_THAT(verify(graph, claiming(plan, 160, both)), IsEmpty());
  const BoundProof ordered{.argument = Argument::unordered, .tensors = {TensorId(0), TensorId(1), TensorId(0)}};
  EXPECT_THAT(verify(graph, claiming(plan, 160, ordered)), ElementsAre(Breaks(Rule::claim, "which proves only 0")));
}

TEST(Bounds, AllowForCallersBuffers) {
  Tensor host = tensor("host", 80, {TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable});
  const Graph graph = graph_of({host, tensor("a", 100), tensor("b", 60), tensor("end", 10, kOutput)},
                               {op("A", {0}, {1}), op("B", {1}, {2}), op("C", {1, 2}, {3})});
  Plan plan = plan_of(graph, {std::nullopt, 0, 100, 160});
  plan.bindings = {{TensorId(0), Bytes(80), Bytes(1)}};
  EXPECT_EQ(bound_of(graph, plan), 110) << "b may lie in the buffer, a and the output may not";
}

}  // namespace
}  // namespace stowage::verification
