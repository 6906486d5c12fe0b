#include "support/builders/plans.hpp"

/// The program of a plan: what must be there, in which order, and what must not be there.
namespace stowage::verification {
namespace {

using Kind = ProgramStep::Kind;
using Steps = std::vector<ProgramStep>;

ProgramStep on(std::size_t stream, Kind kind, std::uint32_t index) { return {kind, index, StreamId(stream)}; }
ProgramStep in(std::size_t scope, ProgramStep step) {
  step.scope = ScopeId(scope);
  return step;
}
ProgramStep only(std::uint32_t batch, ProgramStep step) {
  step.batch = batch;
  return step;
}

std::vector<Finding> check(const Graph& graph, Plan plan, Steps steps) {
  plan.program = Program{std::move(steps)};
  return verify(graph, plan);
}

/// Stream 0: a → c. Stream 1: b, which reads a. Stream 0: d reads b and c.
struct Diamond {
  Graph graph =
      graph_of({tensor("a", 8), tensor("b", 8), tensor("c", 8), tensor("d", 8, kOutput)},
               {op_on(0, "a", {}, {0}), op_on(1, "b", {0}, {1}), op_on(0, "c", {0}, {2}), op_on(0, "d", {1, 2}, {3})});
  Plan plan = plan_of(graph, {0, 8, 16, 24});
  Steps steps = {on(0, Kind::op, 0),     on(0, Kind::record, 0), on(1, Kind::wait, 0), on(1, Kind::op, 1),
                 on(1, Kind::record, 1), on(0, Kind::op, 2),     on(0, Kind::wait, 1), on(0, Kind::op, 3)};

  [[nodiscard]] std::vector<Finding> without(std::size_t step) const {
    Steps rest = steps;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(step));
    return check(graph, plan, rest);
  }
};

TEST(ProgramRule, EverythingInOrderIsRight) {
  const Diamond diamond;
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps), IsEmpty());
}

TEST(ProgramRule, WithoutAProgramAPlanIsJudgedAsBefore) {
  const Diamond diamond;
  EXPECT_THAT(verify(diamond.graph, diamond.plan), IsEmpty());
}

TEST(ProgramRule, AProgramCanBeIgnored) {
  Diamond diamond;
  diamond.plan.program = Program{};
  EXPECT_THAT(verify(diamond.graph, diamond.plan, {.program = false}), IsEmpty());
  EXPECT_EQ(verify(diamond.graph, diamond.plan).size(), 4U) << "an empty program runs none of the ops";
}

TEST(ProgramRule, APlanThatIsWrongHasNoOtherFindings) {
  Diamond diamond;
  diamond.plan.placements[1].offset = Bytes(0);
  diamond.plan.program = Program{};
  EXPECT_THAT(rules(verify(diamond.graph, diamond.plan)), testing::Not(Contains(Rule::program)));
}

TEST(ProgramRule, AnOpThatDoesNotRunIsNamed) {
  EXPECT_THAT(Diamond().without(5), ElementsAre(Breaks(Rule::program, "op 'c' (2) does not run")));
}

TEST(ProgramRule, WhatIsNotWaitedForIsNamed) {
  EXPECT_THAT(Diamond().without(6),
              ElementsAre(Breaks(Rule::wait, "step 6 of the program (op 'd' (3)) does not wait for op 'b' (1)")));
}

TEST(ProgramRule, OpsOfOneStreamKeepTheirOrder) {
  Diamond diamond;
  std::swap(diamond.steps[0], diamond.steps[5]);
  EXPECT_THAT(rules(check(diamond.graph, diamond.plan, diamond.steps)), Contains(Rule::wait));
}

TEST(ProgramRule, OpsOfDifferentStreamsMayBeSubmittedInAnotherOrder) {
  Diamond diamond;  // c before b
  std::rotate(diamond.steps.begin() + 2, diamond.steps.begin() + 5, diamond.steps.begin() + 6);
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps), IsEmpty());
}

TEST(ProgramRule, AWaitForWhatIsKnownIsNeedless) {
  Diamond diamond;  // c is on the stream of a
  diamond.steps.insert(diamond.steps.begin() + 5, on(0, Kind::wait, 0));
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps),
              ElementsAre(Breaks(Rule::wait, "step 5 of the program (wait for event 0 on stream 0) is not needed")));
}

TEST(ProgramRule, AWaitThatOrdersMoreThanNecessaryIsNeedlessIfItOrdersNothingThatIs) {
  Diamond diamond;  // nothing on stream 1 follows
  diamond.steps.insert(diamond.steps.end(), on(0, Kind::record, 2));
  diamond.steps.insert(diamond.steps.end(), on(1, Kind::wait, 2));
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps),
              ElementsAre(Breaks(Rule::wait, "step 9 of the program (wait for event 2 on stream 1) is not needed")));
}

TEST(ProgramRule, AWaitMayBeMadeEarlierThanNecessary) {
  Diamond diamond;
  std::swap(diamond.steps[5], diamond.steps[6]);  // c waits too
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps), IsEmpty());
}

TEST(ProgramRule, ARecordThatNothingWaitsForIsNeedless) {
  Diamond diamond;
  diamond.steps.push_back(on(0, Kind::record, 2));
  EXPECT_THAT(check(diamond.graph, diamond.plan, diamond.steps),
              ElementsAre(Breaks(Rule::wait, "step 8 of the program (record of event 2 on stream 0) is not needed")));
}

TEST(ProgramRule, OfTwoEqualWaitsEachIsNeedless) {
  Diamond diamond;
  diamond.steps.insert(diamond.steps.begin() + 2, diamond.steps[2]);
  EXPECT_THAT(rules(check(diamond.graph, diamond.plan, diamond.steps)), ElementsAre(Rule::wait, Rule::wait));
}

TEST(ProgramRule, StepsAreWhereTheyMayBe) {
  const auto with = [](std::size_t at, ProgramStep step) {
    Diamond diamond;
    diamond.steps[at] = step;
    return check(diamond.graph, diamond.plan, diamond.steps);
  };
  EXPECT_THAT(
      with(0, on(1, Kind::op, 0)),
      Contains(Breaks(Rule::program, "step 0 of the program (op 'a' (0)) is not on stream 0, that of op 'a' (0)")));
  EXPECT_THAT(with(0, on(0, Kind::op, 4)),
              Contains(Breaks(Rule::reference, "step 0 of the program names op 4, which does not exist")));
  EXPECT_THAT(with(0, on(0, Kind::fill, 0)),
              Contains(Breaks(Rule::reference, "step 0 of the program names clear 0, which does not exist")));
  EXPECT_THAT(with(0, in(1, on(0, Kind::op, 0))),
              Contains(Breaks(Rule::reference, "step 0 of the program is in body 1, which does not exist")));
  EXPECT_THAT(with(0, only(1, on(0, Kind::op, 0))),
              Contains(Breaks(Rule::reference, "step 0 of the program is for batch 1, which does not exist")));
  EXPECT_THAT(
      with(1, on(0, Kind::record, 1)),
      Contains(Breaks(Rule::program,
                      "step 1 of the program (record of event 1 on stream 0) should record event 0, the next one")));
  EXPECT_THAT(
      with(2, on(1, Kind::wait, 1)),
      Contains(Breaks(Rule::wait,
                      "step 2 of the program (wait for event 1 on stream 1) comes before the event is recorded")));
  EXPECT_THAT(with(1, on(7, Kind::record, 0)),
              Contains(Breaks(Rule::program,
                              "step 1 of the program (record of event 0 on stream 7) is on a stream that no op has")));
}

/// Stream 1: g, which writes tensor 1. Stream 0: f, which fills tensor 0 and is read by h.
struct Filled {
  explicit Filled(std::int64_t other) {
    Op f = op_on(0, "f", {}, {0});
    f.zero_fill = {.outputs = {0}};
    graph = graph_of({tensor("filled", 8, kOutput), tensor("other", 8, kOutput)}, {op_on(1, "g", {}, {1}), f});
    plan = plan_of(*graph, {0, other});
    plan.clears = {clear_at(0, 16, 0)};
    fit(plan.arenas[0], Bytes(24));
  }
  std::optional<Graph> graph;
  Plan plan;
};

TEST(ProgramRule, AFillAtTheStartIsMadeOnceBeforeWhatMeetsIt) {
  const Filled apart(16);
  const ProgramStep fill = on(0, Kind::fill, 0);
  EXPECT_THAT(check(*apart.graph, apart.plan, {fill, on(1, Kind::op, 0), on(0, Kind::op, 1)}), IsEmpty());
  EXPECT_THAT(check(*apart.graph, apart.plan, {on(1, Kind::op, 0), on(0, Kind::op, 1)}),
              ElementsAre(Breaks(Rule::program, "clear 0 at the start is not made")));
  EXPECT_THAT(check(*apart.graph, apart.plan, {fill, fill, on(1, Kind::op, 0), on(0, Kind::op, 1)}),
              ElementsAre(Breaks(Rule::program, "step 1 of the program (clear 0 on stream 0) was done before")));
  EXPECT_THAT(check(*apart.graph, apart.plan, {on(1, Kind::op, 0), on(0, Kind::op, 1), fill}),
              ElementsAre(Breaks(Rule::wait, "step 1 of the program (op 'f' (1)) does not wait for clear 0")));
}

TEST(ProgramRule, AnOpThatUsesBytesOfAFillForSomethingElseComesAfterItToo) {
  const Filled shared(8);
  const ProgramStep fill = on(0, Kind::fill, 0);
  EXPECT_THAT(check(*shared.graph, shared.plan, {fill, on(1, Kind::op, 0), on(0, Kind::op, 1)}),
              ElementsAre(Breaks(Rule::wait, "step 1 of the program (op 'g' (0)) does not wait for clear 0")));
  EXPECT_THAT(check(*shared.graph, shared.plan,
                    {fill, on(0, Kind::record, 0), on(1, Kind::wait, 0), on(1, Kind::op, 0), on(0, Kind::op, 1)}),
              IsEmpty());
}

TEST(ProgramRule, AFillBeforeAnOpComesAfterItsWaits) {
  Op f = op_on(0, "f", {0}, {1});
  f.zero_fill = {.outputs = {0}};
  const Graph graph = graph_of({tensor("a", 8), tensor("b", 8, kOutput)}, {op_on(1, "g", {}, {0}), f});
  Plan plan = plan_of(graph, {0, 8});
  plan.clears = {clear_at(8, 8, 1)};
  const ProgramStep g = on(1, Kind::op, 0);
  const ProgramStep record = on(1, Kind::record, 0);
  const ProgramStep wait = on(0, Kind::wait, 0);
  const ProgramStep fill = on(0, Kind::fill, 0);
  const ProgramStep op = on(0, Kind::op, 1);
  EXPECT_THAT(check(graph, plan, {g, record, wait, fill, op}), IsEmpty());
  EXPECT_THAT(check(graph, plan, {g, record, fill, wait, op}),
              Contains(Breaks(Rule::wait, "step 2 of the program (clear 0 on stream 0) does not wait for op 'g' (0)")));
  EXPECT_THAT(
      check(graph, plan, {g, record, wait, op, fill}),
      Contains(Breaks(Rule::program, "step 3 of the program (op 'f' (1)) was done before, or its turn has not come")));
  EXPECT_THAT(check(graph, plan, {g, record, wait, op}),
              Contains(Breaks(Rule::program, "clear 0 before op 'f' (1) is not made")));
}

TEST(ProgramRule, ABatchHasItsOwnSteps) {
  Op one = op_on(0, "one", {}, {0});
  one.batch = "one";
  Op two = op_on(1, "two", {}, {1});
  two.batch = "two";
  const Graph graph = graph_of({tensor("a", 8, kOutput), tensor("b", 8, kOutput)}, {one, two});
  const Plan plan = plan_of(graph, {0, 8});
  EXPECT_THAT(check(graph, plan, {only(1, on(0, Kind::op, 0)), only(2, on(1, Kind::op, 1))}), IsEmpty());
  EXPECT_THAT(check(graph, plan, {on(0, Kind::op, 0), only(2, on(1, Kind::op, 1))}),
              ElementsAre(Breaks(Rule::program,
                                 "step 0 of the program (op 'one' (0)) is not needed in the runs of batch 'two'")));
  EXPECT_THAT(check(graph, plan, {only(2, on(1, Kind::op, 1))}),
              ElementsAre(Breaks(Rule::program, "op 'one' (0) does not run in the runs of batch 'one'")));
}

/// On stream 0: op 0, then op 1, which calls a body with an op on stream 1. `last`: another op on stream 0 follows.
Graph calling(bool last) {
  Op call = op_on(0, "call", {}, {});
  call.control = Control::call;
  call.bodies = {{.tensors = {}, .ops = {op_on(1, "inside", {}, {})}, .inputs = {}, .outputs = {}, .carried = {}}};
  std::vector<Op> ops = {op_on(0, "first", {}, {}), call};
  if (last) ops.push_back(op_on(0, "last", {}, {}));
  return graph_of({}, ops);
}

TEST(ProgramRule, ABodyComesAfterTheStreamOfItsOpAndBeforeWhatFollows) {
  const Graph graph = calling(true);
  const Plan plan = plan_of(graph, {});
  const Steps right = {on(0, Kind::op, 0),          on(0, Kind::op, 1),        in(1, on(0, Kind::record, 0)),
                       in(1, on(1, Kind::wait, 0)), in(1, on(1, Kind::op, 3)), in(1, on(1, Kind::record, 1)),
                       in(1, on(0, Kind::wait, 1)), on(0, Kind::op, 2)};
  EXPECT_THAT(check(graph, plan, right), IsEmpty());
  Steps late = right;
  late.erase(late.begin() + 6);
  EXPECT_THAT(check(graph, plan, late),
              ElementsAre(Breaks(Rule::wait, "step 6 of the program (op 'last' (2)) does not wait for op 'call' (1)")));
  Steps early = right;
  early.erase(early.begin() + 3);
  EXPECT_THAT(check(graph, plan, early),
              ElementsAre(Breaks(Rule::wait,
                                 "step 3 of the program (op 'inside' (0) in body 0 of op 'call' (1)) does not wait for "
                                 "op 'call' (1), in whose body it is")));
  Steps elsewhere = right;
  std::rotate(elsewhere.begin() + 2, elsewhere.begin() + 7, elsewhere.end());
  EXPECT_THAT(rules(check(graph, plan, elsewhere)), Contains(Rule::program)) << "the body follows its op";
}

TEST(ProgramRule, TheEndOfABodyIsNotWaitedForIfNothingFollows) {
  const Graph graph = calling(false);
  const Plan plan = plan_of(graph, {});
  const Steps right = {on(0, Kind::op, 0), on(0, Kind::op, 1), in(1, on(0, Kind::record, 0)),
                       in(1, on(1, Kind::wait, 0)), in(1, on(1, Kind::op, 2))};
  EXPECT_THAT(check(graph, plan, right), IsEmpty());
  Steps joined = right;
  joined.push_back(in(1, on(1, Kind::record, 1)));
  joined.push_back(in(1, on(0, Kind::wait, 1)));
  EXPECT_THAT(check(graph, plan, joined),
              ElementsAre(Breaks(Rule::wait, "step 6 of the program (wait for event 1 on stream 0) is not needed")));
}

TEST(ProgramRule, TheEndOfAnIterationIsWaitedForBeforeTheNextOne) {
  Op loop = op_on(0, "loop", {}, {});
  loop.control = Control::loop;
  loop.bodies = {{.tensors = {}, .ops = {op_on(1, "inside", {}, {})}, .inputs = {}, .outputs = {}, .carried = {}}};
  const Graph graph = graph_of({}, {loop});
  const Plan plan = plan_of(graph, {});
  const Steps right = {on(0, Kind::op, 0),        in(1, on(0, Kind::record, 0)), in(1, on(1, Kind::wait, 0)),
                       in(1, on(1, Kind::op, 1)), in(1, on(1, Kind::record, 1)), in(1, on(0, Kind::wait, 1))};
  EXPECT_THAT(check(graph, plan, right), IsEmpty());
  Steps endless = right;
  endless.erase(endless.begin() + 5);
  EXPECT_THAT(check(graph, plan, endless),
              ElementsAre(Breaks(Rule::wait,
                                 "stream 0 goes on after body 0 of op 'loop' (0) although nothing makes it wait for "
                                 "all ops there")));
}

/// On stream 0: op 0, then a branch with two bodies, of which the first has an op on stream 1, and perhaps the second
/// too; then an op on stream 1 that comes after op 0.
struct Behind {
  explicit Behind(bool both) {
    const Body body{.tensors = {}, .ops = {op_on(1, "inside", {}, {})}, .inputs = {}, .outputs = {}, .carried = {}};
    const Body empty{.tensors = {}, .ops = {}, .inputs = {}, .outputs = {}, .carried = {}};
    Op branch = op_on(0, "branch", {}, {});
    branch.control = Control::branch;
    branch.bodies = {body, both ? body : empty};
    graph = graph_of({}, {op_on(0, "first", {}, {}), branch, op_on(1, "behind", {}, {}, {0})});
    for (std::uint32_t b = 0; b < (both ? 2U : 1U); ++b) {
      for (const ProgramStep& step : {on(0, Kind::record, b + 1), on(1, Kind::wait, b + 1), on(1, Kind::op, b + 3)})
        bodies.push_back(in(b + 1, step));
    }
  }
  [[nodiscard]] std::vector<Finding> check(bool waits) const {
    Steps steps = {on(0, Kind::op, 0)};
    if (waits) steps.push_back(on(0, Kind::record, 0));
    steps.push_back(on(0, Kind::op, 1));
    for (ProgramStep step : bodies) {
      if (!waits && step.kind != Kind::op) --step.index;
      steps.push_back(step);
    }
    if (waits) steps.push_back(on(1, Kind::wait, 0));
    steps.push_back(on(1, Kind::op, 2));
    return verification::check(*graph, plan_of(*graph, {}), steps);
  }
  std::optional<Graph> graph;
  Steps bodies;
};

TEST(ProgramRule, WhatEveryBodyHasWaitedForIsOverBehindThem) {
  EXPECT_THAT(Behind(true).check(false), IsEmpty());
  EXPECT_THAT(rules(Behind(true).check(true)), ElementsAre(Rule::wait)) << "a wait behind them is not needed";
}

TEST(ProgramRule, ABodyThatMayNotRunWaitsForNobodyBehindIt) {
  EXPECT_THAT(Behind(false).check(true), IsEmpty());
  EXPECT_THAT(
      Behind(false).check(false),
      ElementsAre(Breaks(Rule::wait, "step 5 of the program (op 'behind' (2)) does not wait for op 'first' (0)")));
}

TEST(ProgramRule, CopiesAtTheEndOfABodyWithoutOpsComeAfterWhatItsOpComesAfter) {
  Op call = op_on(0, "call", {0}, {1});
  call.control = Control::call;
  call.bodies = {{.tensors = {tensor("in", 8)},
                  .ops = {},
                  .inputs = {{TensorId(0), TensorId(0)}},
                  .outputs = {{TensorId(0), TensorId(1)}},
                  .carried = {}}};
  const Graph graph = graph_of({tensor("a", 8), tensor("y", 8, kOutput)}, {op_on(1, "f", {}, {0}), call});
  Plan plan = plan_of(graph, {0, 8, 0});
  plan.copies = {{.tensor = TensorId(2),
                  .when = CopyMoment::at_body_end(),
                  .arena = ArenaId(0),
                  .offset = Bytes(8),
                  .size = Bytes(8),
                  .reason = "r"}};
  const Steps right = {on(1, Kind::op, 0), on(1, Kind::record, 0), on(0, Kind::wait, 0), on(0, Kind::op, 1),
                       in(1, on(0, Kind::copy, 0))};
  EXPECT_THAT(check(graph, plan, right), IsEmpty());
  const Steps early = {on(1, Kind::op, 0), on(0, Kind::op, 1), in(1, on(0, Kind::copy, 0))};
  EXPECT_THAT(check(graph, plan, early),
              ElementsAre(Breaks(Rule::wait, "step 2 of the program (copy 0) does not wait for op 'call' (1)")));
}

TEST(ProgramRule, BindingsAreCheckedOnceBeforeAnythingRuns) {
  const Graph graph = graph_of({tensor("x", 8, {TensorFlag::input, TensorFlag::zero_copy})}, {op("f", {0}, {})});
  Plan plan = plan_of(graph, {std::nullopt});
  plan.bindings = {{TensorId(0), Bytes(8), Bytes(1)}};
  const ProgramStep bind{Kind::bind, 0};
  const ProgramStep run = on(0, Kind::op, 0);
  EXPECT_THAT(check(graph, plan, {bind, run}), IsEmpty());
  EXPECT_THAT(check(graph, plan, {run}), ElementsAre(Breaks(Rule::program, "binding 0 is not checked")));
  EXPECT_THAT(check(graph, plan, {bind, bind, run}),
              ElementsAre(Breaks(Rule::program, "step 1 of the program (binding 0) was done before")));
  EXPECT_THAT(check(graph, plan, {run, bind}),
              ElementsAre(Breaks(Rule::program, "step 1 of the program (binding 0) comes after something has run")));
}

TEST(ProgramRule, EveryOneOfManyEarlyWaitsMayBeNeeded) {
  // Each op of stream 1 waits for one of stream 0, one step too early, so that every wait is left out for a try.
  constexpr std::size_t kPairs = 1500;
  std::vector<Op> ops;
  for (std::size_t k = 0; k < kPairs; ++k) {
    ops.push_back(op_on(0, "a", {}, {}));
    ops.push_back(op_on(1, "b", {}, {}));
    ops.push_back(op_on(1, "c", {}, {}, {3 * k}));
  }
  const Graph graph = graph_of({}, ops);
  Steps steps;
  for (std::uint32_t k = 0; k < kPairs; ++k) {
    for (const ProgramStep& step : {on(0, Kind::op, 3 * k), on(0, Kind::record, k), on(1, Kind::wait, k),
                                    on(1, Kind::op, 3 * k + 1), on(1, Kind::op, 3 * k + 2)})
      steps.push_back(step);
  }
  EXPECT_THAT(check(graph, plan_of(graph, {}), steps), IsEmpty());
}

}  // namespace
}  // namespace stowage::verification
