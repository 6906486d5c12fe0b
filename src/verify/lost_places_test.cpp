#include "support/builders/lost.hpp"

/// Values that share bytes for any reason but a packed op, and every way of writing these bytes while somebody still
/// needs them. Each plan is judged by the verifier and by running it. See the table in docs/verify.md.
namespace stowage::verification {
namespace {

// ------------------------------------------------------------------------------ one value: views, aliases, body inputs

TEST(OneValue, ViewsAndRefsSeeEveryWrite) {
  // r refers to x, w is a view of it: whoever reads one of them after REF finds what REF wrote, as the graph says.
  const Graph graph = graph_of({tensor("x", 64), view("w", 32, 0, 32), tensor("r", 64), tensor("o", 32, kOutput)},
                               {op("X", {}, {0}), refers(op("REF", {0}, {2})), op("O", {0, 1, 2}, {3})});
  expect_kept(graph, plan_of(graph, {0, 32, 0, 64}));
}

TEST(OneValue, AVariableIsAssignedThroughAViewAndInsideABody) {
  const Body body{.tensors = {tensor("v", 64), tensor("r", 64)},
                  .ops = {refers(op("ASSIGN", {0}, {1})), op("USE", {0, 1}, {})},
                  .inputs = {given(0, 0)},
                  .outputs = {},
                  .carried = {}};
  for (const Control control : {Control::branch, Control::loop, Control::call}) {
    const Graph graph =
        graph_of({tensor("v", 64, TensorFlag::variable), view("half", 32, 0, 0), tensor("o", 32, kOutput)},
                 {op("ASSIGN", {}, {1}), controlled(control, op("BODY", {0}, {}), {body}), op("O", {0, 1}, {2})});
    expect_kept(graph, in_weights(plan_of(graph, {0, 0, 0, 0, 0}), {3, 4}));
  }
}

TEST(OneValue, OutputClearCopyAndResultOverAView) {
  const auto build = [](Op middle, std::vector<Tensor> more) {
    std::vector<Tensor> tensors = {tensor("x", 64), view("w", 32, 0, 32), tensor("o", 32, kOutput), tensor("y", 32)};
    tensors.insert(tensors.end(), more.begin(), more.end());
    return graph_of(std::move(tensors), {op("X", {}, {0}), std::move(middle), op("O", {1, 3}, {2})});
  };
  const Graph output = build(op("Y", {}, {3}), {});
  expect_lost(output, plan_of(output, {0, 32, 64, 32}), Rule::overlap, "tensor 'y' (3)");
  expect_kept(output, plan_of(output, {0, 32, 64, 96}));
  const Graph sum = build(filled(op("Y", {}, {3})), {});
  expect_lost(sum, with(plan_of(sum, {0, 32, 64, 32}), clear_at(32, 32, 1)), Rule::overlap, "tensor 'y' (3) [32, 64)");
  const Body body{
      .tensors = {tensor("r", 32)}, .ops = {op("R", {}, {0})}, .inputs = {}, .outputs = {result(0, 3)}, .carried = {}};
  const Graph branch = build(controlled(Control::branch, op("IF", {}, {3}), {body}), {});
  expect_lost(branch, plan_of(branch, {0, 32, 64, 32, 32}), Rule::overlap, "tensor 'x' (0)");
  Op gather = op("GATHER", {4, 5}, {3});
  gather.contiguous_inputs = Contiguity::padded;
  const Graph group = build(gather, {tensor("k", 32, TensorFlag::constant), tensor("l", 32, TensorFlag::constant)});
  const Plan over = with(with(plan_of(group, {0, 32, 64, 160, 0, 32}), copy_to(32, 32, 4, 1)), copy_to(64, 32, 5, 1));
  expect_lost(group, over, Rule::overlap, "copy 0 of the plan");
}

TEST(OneValue, TheNextIterationReadsWhatABodyIsGiven) {
  const auto build = [](Control control) {
    const Body body{.tensors = {tensor("w", 64), tensor("t", 64)},
                    .ops = {op("USE", {0}, {}), op("T", {}, {1})},
                    .inputs = {given(0, 0)},
                    .outputs = {},
                    .carried = {}};
    return graph_of({tensor("w", 64)}, {op("W", {}, {0}), controlled(control, op("BODY", {0}, {}), {body})});
  };
  const Graph loop = build(Control::loop);
  expect_lost(loop, plan_of(loop, {0, 0, 0}), Rule::overlap, "tensor 't' (1) in body 0 of op 'BODY' (1)");
  const Graph once = build(Control::call);
  expect_kept(once, plan_of(once, {0, 0, 0}));
}

// ------------------------------------------------------------------------------------------------------------ in place

/// X → x, then F(x, x) → y, z with these pairs. Tensors: x 0, y 1, z 2, o 3.
Graph two_outputs(std::vector<InPlacePair> pairs) {
  return graph_of({tensor("x", 64), tensor("y", 64), tensor("z", 64), tensor("o", 8, kOutput)},
                  {op("X", {}, {0}), op_in_place("F", {0, 0}, {1, 2}, std::move(pairs)), op("O", {1, 2}, {3})});
}

TEST(InPlace, AnOutputNeedsAPairWithEveryInputThatReadsTheMemory) {
  const Plan y_over_x = plan_of(two_outputs({}), {0, 0, 64, 128});
  expect_lost(two_outputs({{0, 0}, {1, 1}}), y_over_x, Rule::overlap, "tensor 'x' (0) [0, 64) and tensor 'y' (1)");
  expect_lost(two_outputs({{0, 0}}), y_over_x, Rule::overlap, "tensor 'y' (1)");
  expect_kept(two_outputs({{0, 0}, {0, 1}}), y_over_x);
  expect_kept(two_outputs({{0, 0}, {0, 1}, {1, 1}}), y_over_x);
  expect_lost(two_outputs({{0, 0}, {0, 1}, {1, 1}}), plan_of(two_outputs({}), {0, 64, 0, 128}), Rule::overlap,
              "tensor 'z' (2)");
}

TEST(InPlace, WhatWasOverwrittenIsReadByNobody) {
  const auto build = [](std::vector<std::size_t> read, TensorFlags flags) {
    return graph_of({tensor("x", 64, flags), tensor("y", 64), tensor("r", 64), tensor("o", 8, kOutput)},
                    {op("X", {}, {0}), op_in_place("F", {0}, {1}, {{0, 0}}), refers(op("REF", {1}, {2})),
                     op("O", std::move(read), {3})});
  };
  const Offsets offsets = {0, 0, 0, 64};
  const Graph over = build({1, 2}, {});
  expect_kept(over, plan_of(over, offsets));
  const Graph again = build({0, 2}, {});
  expect_lost(again, plan_of(again, offsets), Rule::overlap, "tensor 'x' (0)");
  const Graph output = build({2}, kOutput);
  expect_lost(output, plan_of(output, offsets), Rule::overlap, "tensor 'x' (0)");
  const Graph variable = build({2}, TensorFlag::variable);
  EXPECT_THAT(rules(verify(variable, in_weights(plan_of(variable, offsets), {1, 2}))), Contains(Rule::overlap));
}

TEST(InPlace, AClearComesTooEarlyForAnInput) {
  const Graph graph = graph_of({tensor("x", 64), tensor("y", 64), tensor("o", 8, kOutput)},
                               {op("X", {}, {0}), filled(op_in_place("F", {0}, {1}, {{0, 0}})), op("O", {1}, {2})});
  expect_lost(graph, with(plan_of(graph, {0, 0, 64}), clear_at(0, 64, 1)), Rule::overlap, "clear 0 of the plan");
  expect_kept(graph, with(plan_of(graph, {0, 128, 64}), clear_at(128, 64, 1)));
}

TEST(InPlace, AnOutputMayNotOverwriteTheCopyThatItsOpReads) {
  Op gather = op_in_place("GATHER", {0, 1}, {2}, {{0, 0}});
  gather.contiguous_inputs = Contiguity::padded;
  const Graph graph = graph_of({tensor("k", 64, TensorFlag::constant), tensor("x", 64), tensor("y", 64, kOutput)},
                               {op("X", {}, {1}), gather});
  EXPECT_THAT(verify(graph, with(plan_of(graph, {0, 64, 0}), copy_to(0, 64, 0, 1))),
              Contains(Breaks(Rule::overlap, "copy 0 of the plan")));
  expect_kept(graph, with(plan_of(graph, {0, 64, 128}), copy_to(0, 64, 0, 1)));
}

TEST(InPlace, ABodyOverwritesWhatIsNotReadAfterwards) {
  // F in the body works in place on x, which the body is given; its result becomes y, at the same place.
  const auto build = [](Control control, std::vector<std::size_t> read) {
    const Body body{.tensors = {tensor("x", 64), tensor("r", 64)},
                    .ops = {op_in_place("F", {0}, {1}, {{0, 0}})},
                    .inputs = {given(0, 0)},
                    .outputs = control == Control::loop ? std::vector<BodyOutput>{} : std::vector{result(1, 1)},
                    .carried = {}};
    Op of = controlled(control, op("BODY", {0}, {}), {body});
    if (control != Control::loop) of.outputs = {TensorId(1)};
    std::vector<Op> ops = {op("X", {}, {0}), of, op("O", std::move(read), {2})};
    if (control == Control::loop) ops.insert(ops.begin(), op("Y", {}, {1}));
    return graph_of({tensor("x", 64), tensor("y", 64), tensor("o", 8, kOutput)}, std::move(ops));
  };
  const Graph branch = build(Control::branch, {1});
  expect_kept(branch, plan_of(branch, {0, 0, 64, 0, 0}));
  const Graph again = build(Control::branch, {0, 1});
  expect_lost(again, plan_of(again, {0, 0, 64, 0, 0}), Rule::overlap, "tensor 'x' (0)");
  const Graph loop = build(Control::loop, {1});
  expect_lost(loop, plan_of(loop, {0, 128, 64, 0, 0}), Rule::overlap, "tensor 'x' (0)");
}

// ------------------------------------------------------------------------------------------------- carried by a loop

/// A loop carries s: USE reads `in`, T makes t, OUT makes out from `from`. Body: in 3, t 4, out 5; x 0, y 1, o 2.
Graph loop(std::vector<std::size_t> from, Op use, std::vector<std::size_t> last = {1}, TensorFlags flags = {}) {
  const Body body{.tensors = {tensor("in", 64), tensor("t", 64), tensor("out", 64)},
                  .ops = {op("T", {0}, {1}), op("OUT", std::move(from), {2}), std::move(use)},
                  .inputs = {given(0, 0)},
                  .outputs = {result(2, 1)},
                  .carried = {carried(2, 0)}};
  std::vector<Op> ops = {controlled(Control::loop, op("LOOP", {0}, {1}), {body}), op("O", std::move(last), {2})};
  if (flags.empty()) ops.insert(ops.begin(), op("X", {}, {0}));
  return graph_of({tensor("x", 64, flags), tensor("y", 64), tensor("o", 8, kOutput)}, std::move(ops));
}

TEST(Carried, TheNextValueIsWrittenWhenNobodyNeedsTheOldOne) {
  const Offsets one_place = {0, 0, 128, 0, 64, 0};
  const Graph over = loop({1}, op("USE", {1}, {}));
  expect_kept(over, plan_of(over, one_place));
  const Graph needed = loop({1}, op("USE", {0}, {}));
  expect_lost(needed, plan_of(needed, one_place), Rule::overlap, "tensor 'out' (2) in body 0");
  const Graph outside = loop({1}, op("USE", {1}, {}), {0, 1});
  expect_lost(outside, plan_of(outside, one_place), Rule::overlap, "tensor 'x' (0)");
}

TEST(Carried, NothingElseIsWrittenThereBetweenIterations) {
  const Graph graph = loop({1}, op("USE", {1, 2}, {}));
  expect_lost(graph, plan_of(graph, {0, 0, 128, 0, 32, 0}), Rule::overlap, "tensor 't' (1) in body 0");
  expect_kept(graph, plan_of(graph, {0, 0, 128, 0, 64, 0}));
}

TEST(Carried, AVariableStartsALoopByACopyOnly) {
  const Graph graph = loop({1}, op("USE", {1}, {}), {1}, TensorFlag::variable);
  const Plan shared = in_weights(plan_of(graph, {0, 0, 128, 0, 64, 0}), {1, 3, 5});
  EXPECT_THAT(rules(verify(graph, shared)), Contains(Rule::arena));
  expect_kept(graph, with(plan_of(graph, {0, 0, 128, 0, 64, 0}), copy_to(0, 64, 0, 0)));
}

TEST(Carried, RefWriteToTheIncomingValue) {
  // REF overwrites the state of this iteration, and with it x, from which it was taken over.
  const auto build = [](std::vector<std::size_t> last) {
    const Body body{.tensors = {tensor("in", 64), tensor("ref", 64), tensor("out", 64)},
                    .ops = {refers(op("REF", {0}, {1})), op("OUT", {1}, {2})},
                    .inputs = {given(0, 0)},
                    .outputs = {},
                    .carried = {carried(2, 0)}};
    return graph_of(
        {tensor("x", 64), tensor("o", 8, kOutput)},
        {op("X", {}, {0}), controlled(Control::loop, op("LOOP", {0}, {}), {body}), op("O", std::move(last), {1})});
  };
  const Graph again = build({0});
  const Offsets one_place = {0, 192, 0, 0, 64};
  expect_lost(again, with(plan_of(again, one_place), copy_to(0, 64, 4, kBackEdge)), Rule::overlap, "tensor 'x' (0)");
  const Plan apart =
      with(with(plan_of(again, {128, 192, 0, 0, 64}), copy_to(0, 64, 4, kBackEdge)), copy_to(0, 64, 0, 1));
  expect_kept(again, apart);
}

TEST(Carried, AClearOverTheState) {
  const Body body{.tensors = {tensor("in", 64), tensor("sum", 64), tensor("out", 64)},
                  .ops = {filled(op("SUM", {0}, {1})), op("OUT", {1}, {2})},
                  .inputs = {given(0, 0)},
                  .outputs = {},
                  .carried = {carried(2, 0)}};
  const Graph sums =
      graph_of({tensor("x", 64)}, {op("X", {}, {0}), controlled(Control::loop, op("LOOP", {0}, {}), {body})});
  expect_lost(sums, with(plan_of(sums, {0, 0, 0, 0}), clear_at(0, 64, 2)), Rule::overlap, "clear 0 of the plan");
  expect_kept(sums, with(plan_of(sums, {0, 0, 64, 0}), clear_at(64, 64, 2)));
}

TEST(Carried, CopiesAtABackEdgeReadBeforeTheyAreOverwritten) {
  // Two states, of which the next value of one lies where the other comes in.
  const Body body{.tensors = {tensor("a", 64), tensor("b", 64), tensor("t", 64), tensor("na", 64), tensor("nb", 64)},
                  .ops = {op("T", {0, 1}, {2}), op("NA", {2}, {3}), op("NB", {2}, {4})},
                  .inputs = {given(0, 0), given(1, 1)},
                  .outputs = {},
                  .carried = {carried(3, 0), carried(4, 1)}};
  const Graph graph = graph_of({tensor("x", 64), tensor("y", 64)},
                               {op("X", {}, {0, 1}), controlled(Control::loop, op("LOOP", {0, 1}, {}), {body})});
  const Plan plan = plan_of(graph, {0, 64, 0, 64, 192, 64, 128});
  const Plan right = with(with(plan, copy_to(0, 64, 5, kBackEdge)), copy_to(64, 64, 6, kBackEdge));
  const Plan wrong = with(with(plan, copy_to(64, 64, 6, kBackEdge)), copy_to(0, 64, 5, kBackEdge));
  expect_kept(graph, right);
  EXPECT_FALSE(verify(graph, wrong).empty());
  EXPECT_FALSE(seen_by_running(graph, wrong).empty());
}

// ---------------------------------------------------------------------------------------------------- result of a body

/// A branch of two bodies makes y; then `middle`; O reads y. Tensors: y 0, o 1, z 2; r in each body: 3, 4.
Graph branch(Op middle) {
  const Body body{
      .tensors = {tensor("r", 64)}, .ops = {op("R", {}, {0})}, .inputs = {}, .outputs = {result(0, 0)}, .carried = {}};
  return graph_of(
      {tensor("y", 64), tensor("o", 8, kOutput), tensor("z", 64)},
      {controlled(Control::branch, op("IF", {}, {0}), {body, body}), std::move(middle), op("O", {0, 2}, {1})});
}

TEST(BodyResult, IsNotOverwrittenBeforeItIsRead) {
  const Graph output = branch(op("Z", {}, {2}));
  expect_lost(output, plan_of(output, {0, 128, 0, 0, 0}), Rule::overlap, "tensor 'z' (2)");
  expect_kept(output, plan_of(output, {0, 128, 64, 0, 0}));
  const Graph sum = branch(filled(op("Z", {}, {2})));
  expect_lost(sum, with(plan_of(sum, {0, 128, 0, 0, 0}), clear_at(0, 64, 1)), Rule::overlap, "tensor 'z' (2)");
  const Graph ref = branch(refers(op("REF", {0}, {2})));
  expect_kept(ref, plan_of(ref, {0, 128, 0, 0, 0}));
}

TEST(BodyResult, OfOneBodyIsCopiedWhereThatOfTheOtherLies) {
  const Graph graph = branch(op("Z", {}, {2}));
  const Plan plan = with(plan_of(graph, {0, 128, 64, 0, 64}), copy_to(0, 64, 4, kBodyEnd));
  expect_kept(graph, plan);
  const Plan over = with(plan_of(graph, {0, 128, 64, 0, 32}), copy_to(0, 64, 4, kBodyEnd));
  EXPECT_FALSE(verify(graph, over).empty()) << "the copy overlaps what it copies";
}

TEST(BodyResult, IsThereForTheNextIterationIfTheLoopCarriesIt) {
  // IF makes r, which is carried; T overwrites it in the same iteration, or not.
  const Body branch{
      .tensors = {tensor("q", 64)}, .ops = {op("Q", {}, {0})}, .inputs = {}, .outputs = {result(0, 1)}, .carried = {}};
  const Body body{
      .tensors = {tensor("in", 64), tensor("r", 64), tensor("t", 64)},
      .ops = {op("USE", {0}, {}), controlled(Control::branch, op("IF", {}, {1}), {branch}), op("T", {}, {2})},
      .inputs = {given(0, 0)},
      .outputs = {},
      .carried = {carried(1, 0)}};
  const Graph graph =
      graph_of({tensor("x", 64)}, {op("X", {}, {0}), controlled(Control::loop, op("LOOP", {0}, {}), {body})});
  expect_lost(graph, plan_of(graph, {0, 0, 0, 0, 0}), Rule::overlap, "tensor 't' (2) in body 0 of op 'LOOP' (1)");
  expect_kept(graph, plan_of(graph, {0, 0, 0, 64, 0}));
}

// ------------------------------------------------------------------------------------------------------------- batches

TEST(AbsentTensor, IsCopiedAllTheSame) {
  // In batch b nobody writes x, but the copy for GATHER is made there too: of whatever lies at x.
  Op gather = op("GATHER", {0, 2}, {3});
  gather.contiguous_inputs = Contiguity::padded;
  std::vector<Op> ops = {op("A", {}, {0}), op("B", {}, {1}), gather};
  ops[0].batch = "a";
  ops[1].batch = "b";
  const Graph graph = graph_of(
      {tensor("x", 64), tensor("keep", 64, kOutput), tensor("k", 64, TensorFlag::constant), tensor("o", 8, kOutput)},
      std::move(ops));
  const auto planned = [&](std::int64_t keep) {
    return with(with(plan_of(graph, {192, keep, 0, 256}), copy_to(0, 64, 0, 2)), copy_to(64, 64, 2, 2));
  };
  expect_lost(graph, planned(0), Rule::overlap, "tensor 'keep' (1)");
  expect_kept(graph, planned(128));
}

// ------------------------------------------------------------------------------------------ callers' buffers and rings

/// The caller's buffer of `in` hosts t, which T writes; then USE reads what `last` says. Tensors: in 0, t 1, o 2.
Graph hosting(Op make, std::size_t last) {
  const TensorFlags bound{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  return graph_of({tensor("in", 64, bound), tensor("t", 64), tensor("o", 8, kOutput)},
                  {op("USE", {0}, {}), std::move(make), op("O", {last, 1}, {2})});
}

Plan hosting_plan(const Graph& graph) {
  Plan plan = plan_of(graph, {{}, 0, 64});
  plan.bindings = {{TensorId(0), Bytes(64), Bytes(1)}};
  const ArenaId user = add_arena(plan, ArenaKind::user, 64);
  plan.arenas.back().tensor = TensorId(0);
  plan.placements[0].arena = user;
  return plan;
}

TEST(ReusableBuffer, HostsWhatIsWrittenAfterItsLastReader) {
  const Graph over = hosting(op("T", {}, {1}), 1);
  expect_kept(over, hosting_plan(over));
  const Graph needed = hosting(op("T", {}, {1}), 0);
  expect_lost(needed, hosting_plan(needed), Rule::overlap, "tensor 'in' (0) [0, 64) and tensor 't' (1)");
  const Graph in_place = hosting(op_in_place("T", {0}, {1}, {{0, 0}}), 1);
  EXPECT_THAT(rules(verify(in_place, hosting_plan(in_place))), Contains(Rule::overlap)) << "it is the caller's";
}

/// The plan with these tensors in the caller's buffer too.
Plan hosted_too(Plan plan, const std::vector<std::size_t>& tensors) {
  for (Placement& each : plan.placements) {
    if (std::find(tensors.begin(), tensors.end(), each.tensor.index()) != tensors.end())
      each = {each.tensor, ArenaId(2), 0, Bytes(0), each.size};
  }
  return plan;
}

TEST(ReusableBuffer, HostsRefsResultsOfBodiesAndTensorsOfALoopLikeAnythingElse) {
  const TensorFlags bound{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  const Body body{
      .tensors = {tensor("r", 64)}, .ops = {op("R", {}, {0})}, .inputs = {}, .outputs = {result(0, 3)}, .carried = {}};
  const Body alone{.tensors = {tensor("r", 64)}, .ops = {op("R", {}, {0})}, .inputs = {}, .outputs = {}, .carried = {}};
  for (const std::size_t last : {std::size_t{1}, std::size_t{0}}) {
    const auto build = [&](Op middle) {
      return graph_of({tensor("in", 64, bound), tensor("t", 64), tensor("o", 8, kOutput), tensor("y", 64)},
                      {op("USE", {0}, {}), op("T", {}, {1}), std::move(middle), op("O", {last}, {2})});
    };
    const auto judge = [&](const Graph& graph, const Plan& plan) {
      last == 0 ? expect_lost(graph, plan, Rule::overlap, "tensor 'in' (0)") : expect_kept(graph, plan);
    };
    const auto planned = [&](const Graph& graph, Offsets offsets) {
      Plan plan = plan_of(graph, offsets);
      plan.bindings = {{TensorId(0), Bytes(64), Bytes(1)}};
      add_arena(plan, ArenaKind::user, 64);
      plan.arenas.back().tensor = TensorId(0);
      return plan;
    };
    const Graph ref = build(refers(op("REF", {1}, {3})));
    judge(ref, hosted_too(planned(ref, {{}, 0, 64, 0}), {1, 3}));
    const Graph call = build(controlled(Control::call, op("CALL", {}, {3}), {body}));
    judge(call, hosted_too(planned(call, {{}, 0, 64, 128, 128}), {3, 4}));
    const Graph loop = build(controlled(Control::loop, op("LOOP", {}, {}), {alone}));
    judge(loop, hosted_too(planned(loop, {{}, 0, 64, 128, 128}), {4}));
  }
}

TEST(ReusableBuffer, HostsNothingThatIsFilledOrCopied) {
  const Graph sum = hosting(filled(op("T", {}, {1})), 1);
  Plan plan = hosting_plan(sum);
  plan.clears = {{ArenaId(2), 0, Bytes(0), Bytes(64), 0, OpId(0)}};
  EXPECT_THAT(verify(sum, plan), Contains(Breaks(Rule::arena, "it must be filled")));
  const TensorFlags bound{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  Op gather = op("GATHER", {1, 2}, {3});
  gather.contiguous_inputs = Contiguity::padded;
  const Graph group = graph_of({tensor("in", 128, bound), tensor("k", 64, TensorFlag::constant),
                                tensor("l", 64, TensorFlag::constant), tensor("o", 8, kOutput)},
                               {op("USE", {0}, {}), gather});
  Plan copied = plan_of(group, {{}, 0, 64, 0});
  copied.bindings = {{TensorId(0), Bytes(128), Bytes(1)}};
  const ArenaId user = add_arena(copied, ArenaKind::user, 128);
  copied.arenas.back().tensor = TensorId(0);
  for (const std::size_t member : {1U, 2U}) {
    copied.copies.push_back(copy_to(64 * (static_cast<std::int64_t>(member) - 1), 64, member, 1));
    copied.copies.back().arena = user;
  }
  EXPECT_THAT(rules(verify(group, copied)), ElementsAre(Rule::arena, Rule::arena));
}

TEST(ReusableBuffer, OfAnOutputHostsWhatIsOverBeforeItIsWritten) {
  const TensorFlags bound{TensorFlag::output, TensorFlag::zero_copy, TensorFlag::reusable};
  const auto build = [&](std::vector<std::size_t> read) {
    return graph_of({tensor("out", 64, bound), tensor("t", 64), tensor("o", 8, kOutput)},
                    {op("T", {}, {1}), op("OUT", {1}, {0}), op("O", std::move(read), {2})});
  };
  const Graph over = build({0});
  EXPECT_THAT(rules(verify(over, hosting_plan(over))), ElementsAre(Rule::overlap)) << "OUT reads t while it writes out";
  const Graph again = build({0, 1});
  expect_lost(again, hosting_plan(again), Rule::overlap, "tensor 't' (1)");
}

/// Two prefetches of 64 bytes through a ring of 64 on stream 1; stream 0 reads the first one, and perhaps again.
Graph ring(std::vector<std::size_t> last) {
  GraphDescription description{.name = "test",
                               .memories = {Memory{.name = "cpu"}},
                               .tensors = {tensor("p", 64), tensor("q", 64)},
                               .ops = {op_on(1, "P", {}, {0}), op_on(0, "USE P", {0}, {}), op_on(1, "Q", {}, {1}),
                                       op_on(0, "USE", std::move(last), {})},
                               .rings = {{.name = "ring", .size = Bytes(64)}}};
  description.ops[0].prefetch = description.ops[2].prefetch = RingId(0);
  return graph_from(std::move(description));
}

Plan ring_plan(const Graph& graph, std::vector<Edge> edges) {
  Plan plan = plan_of(graph, {0, 0});
  const ArenaId pool = add_arena(plan, ArenaKind::ring, 64);
  for (Placement& each : plan.placements) each.arena = pool;
  plan.arenas[0].size = plan.arenas[0].regions[0] = Bytes(0);
  plan.arenas[0].proven_optimal = true;
  plan.edges = std::move(edges);
  return plan;
}

TEST(PrefetchRing, IsFilledAgainAfterTheReadersOfWhatWasThere) {
  const Graph graph = ring({1});
  expect_kept(graph, ring_plan(graph, {{OpId(1), OpId(2)}}));
  expect_lost(graph, ring_plan(graph, {}), Rule::overlap, "nothing orders step 1 (op 'USE P' (1))");
}

}  // namespace
}  // namespace stowage::verification
