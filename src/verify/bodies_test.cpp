#include "plan/interface/plan_file.hpp"
#include "support/builders/plans.hpp"

/// Branches, calls and loops: what goes in, what comes out, and which tensors may share bytes.
namespace stowage::verification {
namespace {

Op control(Control kind, std::string name, const std::vector<std::size_t>& inputs,
           const std::vector<std::size_t>& outputs, std::vector<Body> bodies) {
  Op result = op(std::move(name), inputs, outputs);
  result.control = kind;
  result.bodies = std::move(bodies);
  return result;
}

BodyInput given(std::size_t outer, std::size_t inner) { return {TensorId(outer), TensorId(inner)}; }
BodyOutput result(std::size_t inner, std::size_t outer) { return {TensorId(inner), TensorId(outer)}; }
Carried carried(std::size_t out, std::size_t in) { return {TensorId(out), TensorId(in)}; }

/// in → branch → out. Body 0: x → t → r. Body 1: x → r.
/// Tensors: in 0, out 1, last 2; body 0: x 3, t 4, r 5; body 1: x 6, r 7.
Graph branch() {
  const Body first{.tensors = {tensor("x", 100), tensor("t", 100), tensor("r", 100)},
                   .ops = {op("t", {0}, {1}), op("r", {1}, {2})},
                   .inputs = {given(0, 0)},
                   .outputs = {result(2, 1)},
                   .carried = {}};
  const Body second{.tensors = {tensor("x", 100), tensor("r", 100)},
                    .ops = {op("r", {0}, {1})},
                    .inputs = {given(0, 0)},
                    .outputs = {result(1, 1)},
                    .carried = {}};
  return graph_of({tensor("in", 100, kInput), tensor("out", 100), tensor("last", 100, kOutput)},
                  {control(Control::branch, "if", {0}, {1}, {first, second}), op("end", {1}, {2})});
}

TEST(Branch, BodiesShareWithEachOtherAndTakeWhatIsOver) {
  const Graph graph = branch();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 0, 200, 100, 0, 100})), IsEmpty());
}

TEST(Branch, WhatABodyIsGivenLiesWhereItIs) {
  const Graph graph = branch();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 300, 200, 100, 0, 100})),
              Contains(Breaks(Rule::layout, "tensor 'x' (0) in body 0 of op 'if' (0) at 300")));
}

TEST(Branch, AResultLiesWhereTheOutputDoesOrIsCopied) {
  const Graph graph = branch();
  const Plan apart = plan_of(graph, {0, 100, 200, 0, 200, 300, 0, 100});
  EXPECT_THAT(verify(graph, apart), Contains(Breaks(Rule::copy, "tensor 'r' (2) in body 0 of op 'if' (0)")));
  EXPECT_THAT(verify(graph, with(apart, copy_to(100, 100, 5, kBodyEnd))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(apart, copy_to(100, 100, 7, kBodyEnd)))), ElementsAre(Rule::copy, Rule::copy))
      << "the copy of the other body does nothing for this one";
}

TEST(Branch, InsideABodyTheRulesAreTheSame) {
  const Graph graph = branch();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 0, 150, 100, 0, 100})),
              ElementsAre(Breaks(Rule::overlap,
                                 "tensor 't' (1) in body 0 of op 'if' (0) [150, 250) and tensor 'r' (2) in body 0 of "
                                 "op 'if' (0) [100, 200)")));
}

TEST(Branch, WhatOneBodyOverwritesIsGoneAfterwards) {
  // `keep` is read after the branch; only body 0 has a tensor in its place.
  const Body writes{.tensors = {tensor("t", 100), tensor("r", 100)},
                    .ops = {op("t", {}, {0}), op("r", {0}, {1})},
                    .inputs = {},
                    .outputs = {result(1, 1)},
                    .carried = {}};
  const Body does_not{
      .tensors = {tensor("r", 100)}, .ops = {op("r", {}, {0})}, .inputs = {}, .outputs = {result(0, 1)}, .carried = {}};
  const Graph graph = graph_of(
      {tensor("keep", 100), tensor("out", 100), tensor("last", 100, kOutput)},
      {op("keep", {}, {0}), control(Control::branch, "if", {}, {1}, {writes, does_not}), op("end", {0, 1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 200, 100, 100})), IsEmpty());
  EXPECT_THAT(
      verify(graph, plan_of(graph, {0, 100, 200, 0, 100, 100})),
      ElementsAre(Breaks(Rule::overlap, "tensor 'keep' (0) [0, 100) and tensor 't' (0) in body 0 of op 'if' (1)")));
}

TEST(Branch, OrderGoesThroughTheOpOnly) {
  // `side` on stream 1 reads a while the body on stream 1 might overwrite it.
  const auto build = [](const std::vector<std::size_t>& after) {
    Body body{
        .tensors = {tensor("t", 100)}, .ops = {op_on(1, "t", {}, {0})}, .inputs = {}, .outputs = {}, .carried = {}};
    Op call = control(Control::call, "call", {}, {}, {body});
    for (const std::size_t id : after) call.after.emplace_back(id);
    return graph_of({tensor("a", 100), tensor("p", 10, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(1, "side", {0}, {1}), call});
  };
  const Graph racing = build({});
  EXPECT_THAT(verify(racing, plan_of(racing, {0, 100, 0})),
              ElementsAre(Breaks(Rule::overlap, "nothing orders step 1")));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 0})), IsEmpty());
}

TEST(Branch, AWorkspaceOfTheOpLivesThroughItsBodies) {
  const Body body{.tensors = {tensor("t", 50)}, .ops = {op("t", {}, {0})}, .inputs = {}, .outputs = {}, .carried = {}};
  Op call = control(Control::call, "call", {}, {}, {body});
  call.workspaces = {{Bytes(50)}};
  const Graph graph = graph_of({}, {call});
  EXPECT_THAT(verify(graph, plan_of(graph, {0}, {50})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0}, {0}))), ElementsAre(Rule::overlap));
}

// -------------------------------------------------------------------------------------------------------------- loops

/// The loop carries x: in → t → out. With `x_again`, x is read after the loop. Tensors: x 0, y 1, last 2; body: in 3, t
/// 4, out 5.
Graph loop(bool x_again, std::vector<InPlacePair> pairs = {}) {
  Body body{.tensors = {tensor("in", 100), tensor("t", 100), tensor("out", 100)},
            .ops = {op("t", {0}, {1}), op_in_place("out", {1}, {2}, std::move(pairs))},
            .inputs = {given(0, 0)},
            .outputs = {result(2, 1)},
            .carried = {carried(2, 0)}};
  return graph_of({tensor("x", 100), tensor("y", 100), tensor("last", 100, kOutput)},
                  {op("x", {}, {0}), control(Control::loop, "loop", {0}, {1}, {body}),
                   op("end", x_again ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1}, {2})});
}

TEST(Loop, OnePlaceServesAllThatIsCarried) {
  const Graph graph = loop(false);
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 0, 100, 0})), IsEmpty()) << "`in` is dead when `out` is written";
}

TEST(Loop, TheIncomingValueIsCopiedWhereItIsNeededAgain) {
  const Graph graph = loop(true);
  const Offsets shared = {0, 0, 200, 0, 100, 0};
  EXPECT_THAT(verify(graph, plan_of(graph, shared)), Contains(Breaks(Rule::overlap, "tensor 'x' (0)")));
  const Plan apart = plan_of(graph, {300, 0, 200, 0, 100, 0});
  EXPECT_THAT(verify(graph, apart), Contains(Breaks(Rule::copy, "nothing copies it there")));
  EXPECT_THAT(verify(graph, with(apart, copy_to(0, 100, 0, 1))), IsEmpty());
}

TEST(Loop, TheOutgoingValueIsCopiedAtTheBackEdgeWhereItLiesElsewhere) {
  const Graph graph = loop(false);
  const Plan apart = plan_of(graph, {0, 0, 200, 0, 100, 200});
  EXPECT_THAT(verify(graph, apart), Contains(Breaks(Rule::copy, "nothing copies it there")));
  EXPECT_THAT(verify(graph, with(apart, copy_to(0, 100, 5, kBackEdge))), IsEmpty());
  EXPECT_THAT(rules(verify(graph, with(apart, copy_to(50, 100, 5, kBackEdge)))), Contains(Rule::copy));
}

TEST(Loop, TheResultLiesWhereTheIncomingValueDoes) {
  const Graph graph = loop(false);
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 300, 200, 0, 100, 0})),
              Contains(Breaks(Rule::layout, "the result of its loop")));
}

TEST(Loop, TheOutgoingValueMayNotOverwriteTheIncomingOneTooEarly) {
  Body body{.tensors = {tensor("in", 100), tensor("out", 100), tensor("u", 100)},
            .ops = {op("out", {}, {1}), op("u", {0}, {2})},
            .inputs = {given(0, 0)},
            .outputs = {},
            .carried = {carried(1, 0)}};
  const Graph graph = graph_of({tensor("x", 100)}, {op("x", {}, {0}), control(Control::loop, "loop", {0}, {}, {body})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 0, 100}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(verify(graph, with(plan_of(graph, {0, 0, 200, 100}), copy_to(0, 100, 2, kBackEdge))), IsEmpty());
}

TEST(Loop, WhatIsReadInEveryIterationOutlivesThemAll) {
  // `w` is an input of the body; `t` takes its bytes after the body has read it, but the next iteration reads it again.
  Body body{.tensors = {tensor("w", 100), tensor("s", 100), tensor("t", 100)},
            .ops = {op("s", {0}, {1}), op("t", {1}, {2})},
            .inputs = {given(0, 0)},
            .outputs = {},
            .carried = {}};
  const Graph graph = graph_of({tensor("w", 100)}, {op("w", {}, {0}), control(Control::loop, "loop", {0}, {}, {body})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 200})), IsEmpty());
  EXPECT_THAT(
      verify(graph, plan_of(graph, {0, 0, 100, 0})),
      ElementsAre(Breaks(Rule::overlap, "tensor 'w' (0) [0, 100) and tensor 't' (2) in body 0 of op 'loop' (1)")));
}

TEST(Loop, ACallMayTakeWhatALoopMayNot) {
  Body body{.tensors = {tensor("w", 100), tensor("s", 100), tensor("t", 100)},
            .ops = {op("s", {0}, {1}), op("t", {1}, {2})},
            .inputs = {given(0, 0)},
            .outputs = {},
            .carried = {}};
  const Graph graph = graph_of({tensor("w", 100)}, {op("w", {}, {0}), control(Control::call, "call", {0}, {}, {body})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 0})), IsEmpty());
}

TEST(Loop, ZeroTripsLeaveTheIncomingValue) {
  // Between the loop's entry and its end, nothing may lie at y except for what is carried.
  const Graph graph = loop(false);
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 100, 0, 50, 0})),
              Contains(Breaks(Rule::overlap, "tensor 't' (1) in body 0 of op 'loop' (1)")));
}

// --------------------------------------------------------------------------------------------------------- references

TEST(BodyReference, WrongPathsAndIdsAreNamed) {
  const Graph graph = branch();
  const PlanFile good = localise(graph, plan_of(graph, {0, 100, 0, 0, 200, 100, 0, 100}));
  EXPECT_THAT(verify(graph, good), IsEmpty());
  PlanFile file = good;
  file.placements[3].body = {0, 2};
  EXPECT_THAT(verify(graph, file),
              Contains(Breaks(Rule::reference, "placement 3 is in body [0, 2], which does not exist")));
  file.placements[3].body = {0, 1};
  file.placements[3].entry.tensor = TensorId(5);
  EXPECT_THAT(verify(graph, file), Contains(Breaks(Rule::reference, "placement 3 names tensor 5 in body [0, 1]")));
  file = good;
  file.notes.push_back({{TensorId(0), "why"}, {1, 0}});
  EXPECT_THAT(verify(graph, file), ElementsAre(Breaks(Rule::reference, "note 0 is in body [1, 0]")));
  EXPECT_THAT(verify(graph, file, {.max_findings = 1}), ElementsAre(Breaks(Rule::reference, "note 0")));
}

TEST(BodyReference, ACopyIsBeforeAnOpOfTheBodyThatItsTensorIsIn) {
  const Graph graph = branch();
  const Plan good = plan_of(graph, {0, 100, 0, 0, 200, 100, 0, 100});
  EXPECT_THAT(
      verify(graph, with(good, copy_to(100, 100, 5, 1))),
      ElementsAre(Breaks(Rule::reference,
                         "copy 0 is before op 'end' (1), which is not in the same scope as tensor 'r' (2) in body 0")));
  EXPECT_THAT(
      verify(graph, with(good, copy_to(100, 100, 0, kBodyEnd))),
      ElementsAre(Breaks(Rule::reference, "copy 0 is at the end of a body, but tensor 'in' (0) is in no body")));
}

TEST(BodyReference, TensorsOfBodiesNeedAPlaceLikeAnyOther) {
  const Graph graph = branch();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 0, {}, 100, 0, 100})),
              ElementsAre(Breaks(Rule::missing, "tensor 't' (1) in body 0 of op 'if' (0)")));
}

}  // namespace
}  // namespace stowage::verification
