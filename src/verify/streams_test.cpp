#include "support/builders/plans.hpp"

/// Several streams: the linear order is not enough; something must order the ops.
namespace stowage::verification {
namespace {

/// Stream 0: a → b → c. Stream 1: d → e, after the given ops. Tensors are named after their ops.
Graph two_streams(const std::vector<std::size_t>& d_after) {
  return graph_of(
      {tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput), tensor("d", 100), tensor("e", 100, kOutput)},
      {op_on(0, "a", {}, {0}), op_on(0, "b", {0}, {1}), op_on(0, "c", {1}, {2}), op_on(1, "d", {}, {3}, d_after),
       op_on(1, "e", {3}, {4})});
}

TEST(Streams, WhatNothingOrdersMayNotShare) {
  const Graph graph = two_streams({});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 300, 400})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 100, 400})),
              ElementsAre(Breaks(
                  Rule::overlap,
                  "tensor 'b' (1) [100, 200) and tensor 'd' (3) [100, 200) of arena 'cpu' share bytes [100, 200) "
                  "while nothing orders step 2 (op 'c' (2)) before step 3 (op 'd' (3))")));
}

TEST(Streams, AfterTheLastReaderMayShare) {
  const Graph ordered = two_streams({2});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 200, 100, 400})), IsEmpty());
  const Graph too_early = two_streams({1});
  EXPECT_THAT(rules(verify(too_early, plan_of(too_early, {0, 100, 200, 100, 400}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(verify(too_early, plan_of(too_early, {0, 100, 200, 0, 400})), IsEmpty()) << "a is over with b";
}

TEST(Streams, DataOrdersToo) {
  const auto build = [](bool reads) {
    return graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(0, "b", {0}, {1}),
                     op_on(1, "c", reads ? std::vector<std::size_t>{1} : std::vector<std::size_t>{}, {2})});
  };
  const Graph reads = build(true);
  EXPECT_THAT(verify(reads, plan_of(reads, {0, 100, 0})), IsEmpty());
  const Graph does_not = build(false);
  EXPECT_THAT(rules(verify(does_not, plan_of(does_not, {0, 100, 0}))), ElementsAre(Rule::overlap));
}

TEST(Streams, ASerialHopIsOrdered) {
  const Graph graph =
      graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100), tensor("d", 100, kOutput)},
               {op_on(0, "a", {}, {0}), op_on(1, "b", {0}, {1}), op_on(2, "c", {1}, {2}), op_on(0, "d", {2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 100})), IsEmpty());
}

TEST(Streams, CrossedEdgesOrderWhatIsBehindThem) {
  // s0: a, d. s1: b, c. b before d, a before c: each second op comes after both first ones.
  const auto build = [](bool crossed) {
    const std::vector<std::size_t> after_a = crossed ? std::vector<std::size_t>{0} : std::vector<std::size_t>{};
    const std::vector<std::size_t> after_b = crossed ? std::vector<std::size_t>{1} : std::vector<std::size_t>{};
    return graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput), tensor("d", 100, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(1, "b", {}, {1}), op_on(1, "c", {}, {2}, after_a),
                     op_on(0, "d", {}, {3}, after_b)});
  };
  const Graph crossed = build(true);
  EXPECT_THAT(verify(crossed, plan_of(crossed, {0, 100, 0, 100})), IsEmpty());
  EXPECT_THAT(verify(crossed, plan_of(crossed, {0, 100, 100, 0})), IsEmpty());
  const Graph apart = build(false);
  EXPECT_THAT(rules(verify(apart, plan_of(apart, {0, 100, 0, 100}))), ElementsAre(Rule::overlap, Rule::overlap));
}

TEST(Streams, AMergeDoesNotOrderWhatFeedsIt) {
  // x is read on stream 1 while c is written on stream 0; the merge on stream 2 comes after both, but c does not come
  // after the reader.
  const Graph graph =
      graph_of({tensor("x", 100), tensor("c", 100), tensor("d", 100), tensor("m", 100, kOutput)},
               {op_on(1, "x", {}, {0}), op_on(1, "d", {0}, {2}), op_on(0, "c", {}, {1}), op_on(2, "m", {1, 2}, {3})});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100, 200}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 200, 100, 0})), IsEmpty()) << "m comes after the reader of x";
}

TEST(Streams, AReaderOnAnotherStreamHoldsTheValue) {
  const auto build = [](const std::vector<std::size_t>& after) {
    return graph_of({tensor("a", 100), tensor("side", 100, kOutput), tensor("b", 100, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(1, "side", {0}, {1}), op_on(0, "b", {}, {2}, after)});
  };
  const Graph unordered = build({});
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {0, 100, 0}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 0})), IsEmpty());
}

TEST(Streams, EveryStreamThatUsesTheNewValueMustBeBehindTheOldOne) {
  // `base` is first accessed on stream 0 after everything else, but on stream 1 without any order.
  const auto build = [](const std::vector<std::size_t>& after) {
    return graph_of(
        {tensor("a", 100), tensor("base", 100), view("lo", 50, 1, 0), view("hi", 50, 1, 50)},
        {op_on(0, "a", {}, {0}), op_on(0, "use", {0}, {}), op_on(0, "lo", {}, {2}), op_on(1, "hi", {}, {3}, after)});
  };
  const Graph unordered = build({});
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {0, 0, 0, 50}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 0, 0, 50})), IsEmpty());
}

TEST(Streams, OpsWithoutTaskOrderNothing) {
  Op data = op_on(0, "data", {}, {3}, {1});
  data.no_task = true;
  const auto build = [&](const std::vector<std::size_t>& after) {
    return graph_of({tensor("a", 100), tensor("b", 100, kOutput), tensor("c", 100, kOutput), tensor("none", 0)},
                    {op_on(0, "a", {}, {0}), op_on(0, "b", {0}, {1}), data, op_on(1, "c", {}, {2}, after)});
  };
  const Graph through_data = build({2});
  EXPECT_THAT(rules(verify(through_data, plan_of(through_data, {0, 100, 0, {}}))), ElementsAre(Rule::overlap));
  const Graph direct = build({1});
  EXPECT_THAT(verify(direct, plan_of(direct, {0, 100, 0, {}})), IsEmpty());
}

TEST(Streams, AViewDependsOnWhoeverWroteItsBase) {
  Op reshape = op_on(1, "reshape", {1}, {2});
  reshape.no_task = true;
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 100), view("flat", 100, 1, 0), tensor("c", 100, kOutput)},
                               {op_on(0, "a", {}, {0}), op_on(0, "b", {0}, {1}), reshape, op_on(1, "c", {2}, {3})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 100, 0})), IsEmpty());
}

TEST(Streams, AnAliasWithoutTaskPassesItsInputsProducerOn) {
  const auto build = [](bool alias) {
    Op reshape = op_on(1, "reshape", {1}, {2});
    reshape.no_task = true;
    if (alias) reshape.aliases = {{0, 0, Bytes(0)}};
    return graph_of({tensor("a", 100), tensor("b", 100), tensor("flat", 100, alias ? TensorFlags{} : kInput),
                     tensor("c", 100, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(0, "b", {0}, {1}), reshape, op_on(1, "c", {2}, {3})});
  };
  const Graph aliased = build(true);
  EXPECT_THAT(verify(aliased, plan_of(aliased, {0, 100, 100, 0})), IsEmpty());
  const Graph apart = build(false);
  EXPECT_THAT(rules(verify(apart, plan_of(apart, {0, 100, 200, 0}))), ElementsAre(Rule::overlap));
}

TEST(Streams, ManyPathsToOneTensorAreWalkedOnce) {
  // Each link is a view and an alias of the previous one: 2^60 paths to the first.
  std::vector<Tensor> tensors = {tensor("t0", 8)};
  std::vector<Op> ops = {op_on(1, "start", {}, {0})};
  for (std::size_t i = 1; i <= 60; ++i) {
    tensors.push_back(view("t" + std::to_string(i), 8, i - 1, 0));
    ops.push_back(op("reshape", {i - 1}, {i}));
    ops.back().no_task = true;
    ops.back().aliases = {{0, 0, Bytes(0)}};
  }
  ops.push_back(op("end", {60}, {}));
  const Graph graph = graph_of(tensors, ops);
  EXPECT_THAT(verify(graph, plan_of(graph, Offsets(61, 0))), IsEmpty());
}

TEST(Streams, InputsPrecedeEverything) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("a", 100), tensor("b", 100)},
                               {op_on(0, "a", {}, {1}), op_on(0, "use", {0, 1}, {}), op_on(1, "b", {}, {2}, {1})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0, 100}))), ElementsAre(Rule::overlap));
}

TEST(Streams, AnUnreadInputCountsAsReadByTheFirstTask) {
  const auto build = [](const std::vector<std::size_t>& after) {
    return graph_of({tensor("unread", 100, kInput), tensor("a", 100), tensor("b", 100)},
                    {op_on(0, "a", {}, {1}), op_on(1, "b", {}, {2}, after)});
  };
  const Graph unordered = build({});
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {0, 100, 0}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({0});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 0})), IsEmpty());
}

TEST(Streams, AnUnreadInputIsNeededUntilTheFirstTaskIsOver) {
  const Graph graph =
      graph_of({tensor("unread", 100, kInput), tensor("a", 100)}, {op_on(0, "none", {}, {}), op_on(1, "a", {}, {1})});
  GraphDescription description = graph.description();
  description.ops[0].batch = "1";
  description.ops[1].batch = "2";
  const Graph batches = Graph::build(std::move(description)).value();
  EXPECT_THAT(verify(batches, plan_of(batches, {0, 0})),
              ElementsAre(Breaks(Rule::overlap,
                                 "while tensor 'unread' (0), which is not read in this run, is needed "
                                 "until step 1 (op 'a' (1)) is over")));
}

TEST(Streams, AnUnreadInputIsNotReadByAnOpWithoutTask) {
  Op nothing = op_on(1, "nothing", {}, {});
  nothing.no_task = true;
  const auto build = [&](const std::vector<std::size_t>& after) {
    return graph_of({tensor("unread", 100, kInput), tensor("a", 100), tensor("b", 100)},
                    {nothing, op_on(1, "a", {}, {1}), op_on(0, "b", {}, {2}, after)});
  };
  const Graph unordered = build({0});
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {0, 100, 0}))), ElementsAre(Rule::overlap));
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {0, 0, 100}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 100, 0})), IsEmpty());
}

TEST(Streams, AnUnreadInputWaitsForTheFirstTaskAlsoWhenAllTasksShareOneStream) {
  Op nothing = op("nothing", {}, {});
  nothing.no_task = true;
  const auto build = [&](std::size_t stream) {
    return graph_of({tensor("unread", 100, kInput), tensor("a", 100)}, {nothing, op_on(stream, "a", {}, {1})});
  };
  const Graph one = build(0);
  EXPECT_THAT(verify(one, plan_of(one, {0, 0})), IsEmpty()) << "one stream: the input lives at step 0 only";
  const Graph two = build(1);
  EXPECT_THAT(rules(verify(two, plan_of(two, {0, 0}))), ElementsAre(Rule::overlap));
}

TEST(Streams, WorkspacesOfUnorderedOpsMayNotShare) {
  const auto build = [](const std::vector<std::size_t>& after) {
    Op first = op_on(0, "first", {}, {});
    Op second = op_on(1, "second", {}, {}, after);
    first.workspaces = second.workspaces = {{Bytes(64)}};
    return graph_of({}, {first, second});
  };
  const Graph unordered = build({});
  EXPECT_THAT(rules(verify(unordered, plan_of(unordered, {}, {0, 32}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({0});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {}, {0, 32})), IsEmpty());
}

TEST(Streams, InPlaceNeedsAllOtherReadersBeforeIt) {
  const auto build = [](const std::vector<std::size_t>& after) {
    Op add = op_on(0, "add", {0}, {1}, after);
    add.in_place = {{0, 0}};
    return graph_of({tensor("a", 100), tensor("b", 100, kOutput)},
                    {op_on(0, "a", {}, {0}), op_on(1, "peek", {0}, {}), add});
  };
  const Graph racing = build({});
  EXPECT_THAT(rules(verify(racing, plan_of(racing, {0, 0}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 0})), IsEmpty());
}

TEST(Streams, InPlaceNeedsAllOtherWritersAfterIt) {
  // `b` is begun in place by the first half; the second half is written on another stream.
  const auto build = [](const std::vector<std::size_t>& after) {
    Op relu = op_on(0, "relu", {0}, {2});
    relu.in_place = {{0, 0}};
    return graph_of({tensor("a", 100), tensor("b", 100), view("lo", 50, 1, 0), view("hi", 50, 1, 50)},
                    {op_on(0, "a", {}, {0}), relu, op_on(1, "hi", {}, {3}, after)});
  };
  const Graph racing = build({});
  EXPECT_THAT(rules(verify(racing, plan_of(racing, {0, 0, 0, 50}))), ElementsAre(Rule::overlap));
  const Graph ordered = build({1});
  EXPECT_THAT(verify(ordered, plan_of(ordered, {0, 0, 0, 50})), IsEmpty());
}

TEST(Streams, UnusedStreamNumbersCostNothing) {
  const Graph graph = graph_of({tensor("a", 8), tensor("b", 8)},
                               {op_on(1023, "a", {}, {0}), op_on(1023, "b", {0}, {1}), op_on(7, "c", {1}, {})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 8})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0}))), ElementsAre(Rule::overlap));
}

}  // namespace
}  // namespace stowage::verification
