#include "support/builders/lost.hpp"

/// Values that share bytes because a packed concat or split copies nothing, and every way of writing these bytes while
/// somebody still needs them. Each plan is judged by the verifier and by running it. See the table in docs/verify.md.
namespace stowage::verification {
namespace {

constexpr const char* kTooLate = "needs their former value";

// ------------------------------------------------------------------------------------------------------------- concat

/// A → a, B → b, c is both; then `middle`, which may write `more` tensors (5, …), and last O, which reads `read`.
/// Tensors: i 0, a 1, b 2, c 3, o 4.
Graph concat(Op middle, const std::vector<std::size_t>& read, const std::vector<Tensor>& more) {
  std::vector<Tensor> tensors = {tensor("i", 64, kInput), tensor("a", 64), tensor("b", 64), tensor("c", 128),
                                 tensor("o", 64, kOutput)};
  tensors.insert(tensors.end(), more.begin(), more.end());
  return graph_of(std::move(tensors), {op("A", {0}, {1}), op("B", {0}, {2}), packed_inputs(op("CAT", {1, 2}, {3})),
                                       std::move(middle), op("O", read, {4})});
}

/// i at 128, the concat at 0, o at 192.
Plan concat_plan(const Graph& graph, std::vector<std::int64_t> more) {
  Offsets offsets = {128, 0, 64, 0, 192};
  offsets.insert(offsets.end(), more.begin(), more.end());
  return plan_of(graph, offsets);
}

TEST(LostConcat, OutputOfAnOpOverAPart) {
  const Graph graph = concat(op("X", {0}, {5}), {3, 5}, {tensor("x", 64)});
  expect_lost(graph, concat_plan(graph, {64}), Rule::overlap, "tensor 'x' (5)");
  expect_kept(graph, concat_plan(graph, {256}));
}

TEST(LostConcat, RefWriteToAPart) {
  const Graph graph = concat(refers(op("REF", {1}, {5})), {3, 5}, {tensor("a2", 64)});
  expect_lost(graph, concat_plan(graph, {0}), Rule::overlap,
              "step 3 (op 'REF' (3)) writes tensor 'a2' (5), and with it bytes [0, 64) of arena 'cpu', which are bytes "
              "of tensor 'c' (3) too; step 4 (op 'O' (4)) needs their former value");
}

TEST(LostConcat, RefWriteToAPartIsHarmlessOnceTheWholeIsRead) {
  const Graph graph = concat(refers(op("REF", {1}, {5})), {2, 5}, {tensor("a2", 64)});
  expect_kept(graph, concat_plan(graph, {0}));
}

TEST(LostConcat, RefWriteToTheWhole) {
  const Graph graph = concat(refers(op("REF", {3}, {5})), {1, 5}, {tensor("c2", 128)});
  expect_lost(graph, concat_plan(graph, {0}), Rule::overlap, "which are bytes of tensor 'a' (1) too");
  const Graph other = concat(refers(op("REF", {3}, {5}), 64), {1, 5}, {tensor("c2", 64)});
  expect_kept(other, concat_plan(other, {64}));
}

TEST(LostConcat, ViewOfAPartAsAnOutput) {
  const auto build = [](std::int64_t offset, std::size_t read) {
    return concat(op("X", {0}, {5}), {read}, {view("a1", 32, 1, offset), view("c0", 32, 3, 0)});
  };
  const Graph first = build(0, 6);
  expect_lost(first, concat_plan(first, {0, 0}), Rule::overlap, "writes tensor 'a1' (5)");
  const Graph second = build(32, 6);
  expect_kept(second, concat_plan(second, {32, 0}));
}

TEST(LostConcat, RefWriteToAPartOfAPart) {
  // d is c and e; a is in both.
  const auto build = [](std::vector<std::size_t> read) {
    return graph_of(
        {tensor("i", 64, kInput), tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("e", 64), tensor("d", 192),
         tensor("a2", 64), tensor("o", 64, kOutput)},
        {op("A", {0}, {1}), op("B", {0}, {2}), packed_inputs(op("CAT", {1, 2}, {3})), op("E", {0}, {4}),
         packed_inputs(op("CAT2", {3, 4}, {5})), refers(op("REF", {1}, {6})), op("O", std::move(read), {7})});
  };
  const Offsets offsets = {192, 0, 64, 0, 128, 0, 0, 256};
  const Graph whole = build({5, 6});
  expect_lost(whole, plan_of(whole, offsets), Rule::overlap, "tensor 'd' (5) too");
  const Graph part = build({4, 6});
  expect_kept(part, plan_of(part, offsets));
}

TEST(LostConcat, RefWriteOnAnotherStream) {
  const auto build = [](std::vector<std::size_t> after) {
    Op ref = refers(op_on(1, "REF", {1}, {4}, std::move(after)));
    return graph_of({tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("o", 64, kOutput), tensor("a2", 64)},
                    {op_on(0, "A", {}, {0}), op_on(0, "B", {}, {1}), packed_inputs(op_on(0, "CAT", {0, 1}, {2})),
                     op_on(0, "O", {2}, {3}), [&] {
                       ref.inputs = {TensorId(0)};
                       return ref;
                     }()});
  };
  const Offsets offsets = {0, 64, 0, 128, 0};
  const Graph racing = build({2});
  expect_lost(racing, plan_of(racing, offsets), Rule::overlap,
              "nothing orders step 3 (op 'O' (3)), which accesses them, before that");
  const Graph ordered = build({3});
  expect_kept(ordered, plan_of(ordered, offsets));
}

TEST(LostConcat, RefWriteByTheOpThatReadsTheWhole) {
  const Graph graph = concat(refers(op("REF", {1, 3}, {5})), {5}, {tensor("a2", 64)});
  expect_lost(graph, concat_plan(graph, {0}), Rule::overlap, "the same op reads them");
}

TEST(LostConcat, VariableAsAPart) {
  // It keeps its own address, so it can be in the whole by a copy only; then its assignment changes nothing there.
  const Graph graph =
      graph_of({tensor("i", 64, kInput), tensor("v", 64, TensorFlag::variable), tensor("b", 64), tensor("c", 128),
                tensor("o", 64, kOutput)},
               {op("B", {0}, {2}), packed_inputs(op("CAT", {1, 2}, {3})), op("ASSIGN", {0}, {1}), op("O", {3}, {4})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {128, 0, 64, 0, 192}))), Contains(Rule::group));
  EXPECT_THAT(rules(verify(graph, in_weights(plan_of(graph, {128, 0, 64, 0, 192}), {2, 3}))), Contains(Rule::arena));
  expect_kept(graph, with(plan_of(graph, {128, 0, 64, 0, 192}), copy_to(0, 64, 1, 1)));
}

TEST(LostConcat, ClearOverAPart) {
  const Graph graph = concat(filled(op("SUM", {0}, {5})), {3, 5}, {tensor("sum", 64)});
  expect_lost(graph, with(concat_plan(graph, {64}), clear_at(64, 64, 3)), Rule::overlap, "tensor 'sum' (5) [64, 128)");
  expect_kept(graph, with(concat_plan(graph, {256}), clear_at(256, 64, 3)));
}

TEST(LostConcat, CopyOverAPart) {
  // The padded group [k, x] begins with a copy of the constant k.
  Op gather = op("GATHER", {5, 6}, {7});
  gather.contiguous_inputs = Contiguity::padded;
  const Graph graph =
      graph_of({tensor("i", 64, kInput), tensor("a", 64), tensor("b", 64), tensor("c", 128), tensor("o", 64, kOutput),
                tensor("k", 64, TensorFlag::constant), tensor("x", 64), tensor("y", 64)},
               {op("A", {0}, {1}), op("B", {0}, {2}), packed_inputs(op("CAT", {1, 2}, {3})), op("X", {0}, {6}), gather,
                op("O", {3, 7}, {4})});
  expect_lost(graph, with(plan_of(graph, {256, 0, 64, 0, 320, 0, 128, 384}), copy_to(64, 64, 5, 4)), Rule::overlap,
              "copy 0 of the plan");
  expect_kept(graph, with(plan_of(graph, {256, 0, 64, 0, 320, 0, 192, 384}), copy_to(128, 64, 5, 4)));
}

TEST(LostConcat, ResultOfABodyOverAPart) {
  const Body body{
      .tensors = {tensor("r", 64)}, .ops = {op("r", {}, {0})}, .inputs = {}, .outputs = {result(0, 5)}, .carried = {}};
  const Graph graph = concat(controlled(Control::branch, op("IF", {}, {5}), {body, body}), {3, 5}, {tensor("y", 64)});
  expect_lost(graph, concat_plan(graph, {0, 0, 0}), Rule::overlap, "tensor 'c' (3)");
  expect_kept(graph, concat_plan(graph, {256, 256, 256}));
}

TEST(LostConcat, RefWriteInsideABody) {
  // Only one of the two bodies writes the part.
  const Body writes{.tensors = {tensor("a", 64), tensor("a2", 64)},
                    .ops = {refers(op("REF", {0}, {1}))},
                    .inputs = {given(1, 0)},
                    .outputs = {},
                    .carried = {}};
  const Body reads{
      .tensors = {tensor("a", 64)}, .ops = {op("USE", {0}, {})}, .inputs = {given(1, 0)}, .outputs = {}, .carried = {}};
  const Graph graph = concat(controlled(Control::branch, op("IF", {1}, {}), {writes, reads}), {3}, {});
  expect_lost(graph, concat_plan(graph, {0, 0, 0}), Rule::overlap, "writes tensor 'a2' (1) in body 0 of op 'IF' (3)");
  const Graph harmless = concat(controlled(Control::branch, op("IF", {1}, {}), {writes, reads}), {2}, {});
  expect_kept(harmless, concat_plan(harmless, {0, 0, 0}));
}

TEST(LostConcat, RefWriteThatTheNextIterationSees) {
  // The body reads c first, and overwrites a afterwards: the second iteration finds another c.
  const auto build = [](Control control) {
    const Body body{.tensors = {tensor("a", 64), tensor("c", 128), tensor("a2", 64)},
                    .ops = {op("USE", {1}, {}), refers(op("REF", {0}, {2}))},
                    .inputs = {given(1, 0), given(3, 1)},
                    .outputs = {},
                    .carried = {}};
    return concat(controlled(control, op("BODY", {1, 3}, {}), {body}), {2}, {});
  };
  const Graph loop = build(Control::loop);
  expect_lost(loop, concat_plan(loop, {0, 0, 0}), Rule::overlap, kTooLate);
  const Graph once = build(Control::call);
  expect_kept(once, concat_plan(once, {0, 0, 0}));
}

TEST(LostConcat, NextIterationTakesAPartThatIsCarried) {
  // c is made of the state; the state of the next iteration lies where it did.
  const auto build = [](std::vector<std::size_t> last) {
    const Body body{.tensors = {tensor("s", 64), tensor("t", 64), tensor("b", 64), tensor("c", 128)},
                    .ops = {op("B", {}, {2}), packed_inputs(op("CAT", {0, 2}, {3})), op("T", {}, {1}),
                            op("USE", std::move(last), {})},
                    .inputs = {given(0, 0)},
                    .outputs = {},
                    .carried = {carried(1, 0)}};
    return graph_of({tensor("x", 64)}, {op("X", {}, {0}), controlled(Control::loop, op("LOOP", {0}, {}), {body})});
  };
  const Graph needed = build({3});
  expect_lost(needed, plan_of(needed, {0, 0, 0, 64, 0}), Rule::overlap, "in body 0 of op 'LOOP' (1)");
  const Graph over = build({2});
  expect_kept(over, plan_of(over, {0, 0, 0, 64, 0}));
}

TEST(LostConcat, RefWriteToAPartOfAnOutput) {
  const Graph graph = graph_of(
      {tensor("a", 64), tensor("b", 64), tensor("c", 128, kOutput), tensor("a2", 64)},
      {op("A", {}, {0}), op("B", {}, {1}), packed_inputs(op("CAT", {0, 1}, {2})), refers(op("REF", {0}, {3}))});
  expect_lost(graph, plan_of(graph, {0, 64, 0, 0}), Rule::overlap,
              "tensor 'c' (2) too; the caller or the next run needs their former value");
}

// -------------------------------------------------------------------------------------------------------------- split

/// `first` makes v, of 128 bytes, unless it is given; s0 and s1 are its halves; `middle` may write `more` tensors
/// (5, …); O reads `read`. Tensors: i 0, v 1, s0 2, s1 3, o 4.
struct SplitGraph {
  TensorFlags flags = {};
  Op middle;
  std::vector<std::size_t> read;
  std::vector<Tensor> more = {};
};

Graph split(SplitGraph draft) {
  std::vector<Tensor> tensors = {tensor("i", 64, kInput), tensor("v", 128, draft.flags), tensor("s0", 64),
                                 tensor("s1", 64), tensor("o", 64, kOutput)};
  tensors.insert(tensors.end(), draft.more.begin(), draft.more.end());
  std::vector<Op> ops = {packed_outputs(op("SPLIT", {1}, {2, 3})), std::move(draft.middle), op("O", draft.read, {4})};
  if (draft.flags.empty()) ops.insert(ops.begin(), op("V", {0}, {1}));
  return graph_of(std::move(tensors), std::move(ops));
}

/// v and its halves at 0, i at 128, o at 192.
Plan split_plan(const Graph& graph, std::vector<std::int64_t> more = {}) {
  Offsets offsets = {128, 0, 0, 64, 192};
  offsets.insert(offsets.end(), more.begin(), more.end());
  return plan_of(graph, offsets);
}

const TensorFlags kVariable = TensorFlag::variable;

TEST(LostSplit, AssignmentOfAVariable) {
  const Graph graph = split({kVariable, op("ASSIGN", {0, 1}, {1}), {2, 3, 1}});
  expect_lost(graph, in_weights(split_plan(graph), {2, 3}), Rule::overlap,
              "step 1 (op 'ASSIGN' (1)) writes tensor 'v' (1), and with it bytes [0, 64) of arena 'weights', which are "
              "bytes of tensor 's0' (2) too; step 2 (op 'O' (2)) needs their former value");
  const Plan copied =
      with(with(plan_of(graph, {128, 0, 192, 256, 320}), copy_to(192, 64, 2, 0)), copy_to(256, 64, 3, 0));
  expect_kept(graph, copied);
}

TEST(LostSplit, AssignmentOfAVariableAfterItsPartsWereRead) {
  const Graph graph = split({kVariable, op("USE", {2, 3}, {}), {0}});
  std::vector<Op> ops(graph.ops().begin(), graph.ops().end());
  ops.push_back(op("ASSIGN", {0}, {1}));
  const Graph assigned = graph_of({graph.tensors().begin(), graph.tensors().end()}, std::move(ops));
  expect_kept(assigned, in_weights(split_plan(assigned), {2, 3}));
}

TEST(LostSplit, AssignmentOfAPartOfAVariable) {
  const auto build = [](std::size_t read) {
    return split({kVariable, op("ASSIGN", {0}, {5}), {read}, {view("v1", 64, 1, 64)}});
  };
  const Graph touched = build(3);
  expect_lost(touched, in_weights(split_plan(touched, {64}), {2, 3}), Rule::overlap, "writes tensor 'v1' (5)");
  const Graph other = build(2);
  expect_kept(other, in_weights(split_plan(other, {64}), {2, 3}));
}

TEST(LostSplit, RefWriteToTheWhole) {
  const Graph graph = split({{}, refers(op("REF", {1}, {5})), {2, 5}, {tensor("v2", 128)}});
  expect_lost(graph, split_plan(graph, {0}), Rule::overlap, "which are bytes of tensor 's0' (2) too");
  const Graph unread = split({{}, refers(op("REF", {1}, {5})), {5}, {tensor("v2", 128)}});
  expect_kept(unread, split_plan(unread, {0}));
}

TEST(LostSplit, RefWriteToAPart) {
  const auto build = [](std::vector<std::size_t> read) {
    return split({{}, refers(op("REF", {2}, {5})), std::move(read), {tensor("s2", 64)}});
  };
  const Graph whole = build({1, 5});
  expect_lost(whole, split_plan(whole, {0}), Rule::overlap, "which are bytes of tensor 'v' (1) too");
  const Graph other = build({3, 5});
  expect_kept(other, split_plan(other, {0}));
}

TEST(LostSplit, RefWriteToAPartOfAConstantOrVariable) {
  for (const TensorFlags flags : {TensorFlags(TensorFlag::constant), kVariable}) {
    const Graph graph = split({flags, refers(op("REF", {2}, {5})), {3, 5}, {tensor("s2", 64)}});
    expect_lost(graph, in_weights(split_plan(graph, {0}), {2, 3, 5}), Rule::overlap,
                "tensor 'v' (1) too; the caller or the next run needs their former value");
    const Plan copied = with(plan_of(graph, {128, 0, 0, 64, 192, 0}), copy_to(0, 64, 2, 0));
    expect_kept(graph, in_weights(copied, {3}));
  }
}

TEST(LostSplit, RefWriteToTheSamePartOfAnotherSplit) {
  const Graph graph =
      graph_of({tensor("v", 128), tensor("s0", 64), tensor("s1", 64), tensor("t0", 64), tensor("t1", 64),
                tensor("s2", 64), tensor("o", 64, kOutput)},
               {op("V", {}, {0}), packed_outputs(op("SPLIT", {0}, {1, 2})), packed_outputs(op("SPLIT2", {0}, {3, 4})),
                refers(op("REF", {1}, {5})), op("O", {3, 5}, {6})});
  expect_lost(graph, plan_of(graph, {0, 0, 64, 0, 64, 0, 128}), Rule::overlap,
              "which are bytes of tensor 't0' (3) too");
}

TEST(LostSplit, TwoSplitsOfOneVariableOrTensorHaveTheirPartsAtOnePlace) {
  for (const TensorFlags flags : {TensorFlags{}, kVariable, TensorFlags(TensorFlag::constant)}) {
    std::vector<Op> ops = {packed_outputs(op("SPLIT", {0}, {1, 2})), packed_outputs(op("SPLIT2", {0}, {3, 4})),
                           op("O", {1, 2, 3, 4}, {5})};
    if (flags.empty()) ops.insert(ops.begin(), op("V", {}, {0}));
    const Graph graph = graph_of({tensor("v", 128, flags), tensor("s0", 64), tensor("s1", 64), tensor("t0", 64),
                                  tensor("t1", 64), tensor("o", 64, kOutput)},
                                 std::move(ops));
    const Plan plan = plan_of(graph, {0, 0, 64, 0, 64, 128});
    expect_kept(graph, flags.empty() ? plan : in_weights(plan, {1, 2, 3, 4}));
  }
}

TEST(LostSplit, OutputClearAndCopyOverAPart) {
  const Graph output = split({{}, op("X", {0}, {5}), {2, 5}, {tensor("x", 64)}});
  expect_lost(output, split_plan(output, {0}), Rule::overlap, "tensor 's0' (2)");
  expect_kept(output, split_plan(output, {64}));
  const Graph sum = split({{}, filled(op("SUM", {0}, {5})), {2, 5}, {tensor("sum", 64)}});
  expect_lost(sum, with(split_plan(sum, {0}), clear_at(0, 64, 2)), Rule::overlap, "tensor 'sum' (5) [0, 64)");
  expect_kept(sum, with(split_plan(sum, {64}), clear_at(64, 64, 2)));
  // s1 is copied out of v, to where s0 is.
  const Graph copied = split({{}, op("USE", {3}, {}), {2}});
  expect_lost(copied, with(plan_of(copied, {128, 0, 0, 0, 192}), copy_to(0, 64, 3, 1)), Rule::overlap, "'s1' (3)");
  expect_kept(copied, with(plan_of(copied, {128, 0, 0, 256, 192}), copy_to(256, 64, 3, 1)));
}

TEST(LostSplit, ResultOfABodyOverAPart) {
  const Body body{
      .tensors = {tensor("r", 64)}, .ops = {op("r", {}, {0})}, .inputs = {}, .outputs = {result(0, 5)}, .carried = {}};
  const Graph graph = split({{}, controlled(Control::call, op("CALL", {}, {5}), {body}), {2, 5}, {tensor("y", 64)}});
  expect_lost(graph, split_plan(graph, {0, 0}), Rule::overlap, "tensor 's0' (2)");
  expect_kept(graph, split_plan(graph, {64, 64}));
}

TEST(LostSplit, AssignmentThatTheNextIterationSees) {
  const auto build = [](Control control) {
    const Body body{.tensors = {tensor("v", 128), tensor("s0", 64), tensor("v2", 128)},
                    .ops = {op("USE", {1}, {}), refers(op("ASSIGN", {0}, {2}))},
                    .inputs = {given(1, 0), given(2, 1)},
                    .outputs = {},
                    .carried = {}};
    return split({kVariable, controlled(control, op("BODY", {1, 2}, {}), {body}), {0}});
  };
  const Graph loop = build(Control::loop);
  expect_lost(loop, in_weights(split_plan(loop, {0, 0, 0}), {2, 3, 5, 6, 7}), Rule::overlap, "'s0'");
  const Graph once = build(Control::call);
  expect_kept(once, in_weights(split_plan(once, {0, 0, 0}), {2, 3, 5, 6, 7}));
}

TEST(LostSplit, EveryIterationSplitsWhatItFinds) {
  const Body body{
      .tensors = {tensor("v", 128), tensor("s0", 64), tensor("s1", 64), tensor("v2", 128)},
      .ops = {packed_outputs(op("SPLIT", {0}, {1, 2})), op("USE", {1, 2}, {}), refers(op("ASSIGN", {0}, {3}))},
      .inputs = {given(0, 0)},
      .outputs = {},
      .carried = {}};
  const Graph graph = graph_of({tensor("v", 128, kVariable)}, {controlled(Control::loop, op("LOOP", {0}, {}), {body})});
  expect_kept(graph, in_weights(plan_of(graph, {0, 0, 0, 64, 0}), {1, 2, 3, 4}));
}

}  // namespace
}  // namespace stowage::verification
