#include "support/builders/plans.hpp"

/// Tensors that the graph keeps apart.
namespace stowage::verification {
namespace {

Graph with_apart(const Graph& graph, std::vector<ApartTensors> apart) {
  GraphDescription description = graph.description();
  description.apart = std::move(apart);
  return Graph::build(std::move(description)).value();
}

/// a → b → c → d: a is dead before c is written.
Graph chain() {
  return graph_of({tensor("a", 100, kInput), tensor("b", 100), tensor("c", 60), tensor("d", 100, kOutput)},
                  {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {2}, {3})});
}

TEST(Apart, LivesThatDoNotMeetAreNoExcuse) {
  const Graph graph = with_apart(chain(), {{TensorId(2), TensorId(0)}});
  const Plan plan = plan_of(graph, {0, 100, 0, 100});
  EXPECT_THAT(verify(chain(), plan), IsEmpty()) << "without the pair";
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::apart,
                                 "tensor 'c' (2) at [0, 60) and tensor 'a' (0) at [0, 100) of arena 'cpu' "
                                 "(0) share bytes, but the graph keeps them apart")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 200, 100})), IsEmpty());
}

TEST(Apart, OneByteIsEnoughAndTouchingIsNot) {
  const Graph graph = with_apart(chain(), {{TensorId(0), TensorId(2)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 160, 100, 260})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 160, 99, 260}))), ElementsAre(Rule::apart));
  EXPECT_THAT(verify(graph, plan_of(graph, {60, 160, 0, 260})), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {60, 160, 1, 260}))), ElementsAre(Rule::apart));
}

TEST(Apart, ATakeOverInPlaceIsNoExcuse) {
  const Graph graph = with_apart(
      graph_of({tensor("a", 100, kInput), tensor("b", 100, kOutput)}, {op_in_place("f", {0}, {1}, {{0, 0}})}),
      {{TensorId(0), TensorId(1)}});
  EXPECT_THAT(rules(verify(graph, plan_of(graph, {0, 0}))), ElementsAre(Rule::apart));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100})), IsEmpty());
}

TEST(Apart, AViewCountsWithItsOwnBytes) {
  const Graph graph = with_apart(graph_of({tensor("a", 100, kInput), tensor("b", 100), tensor("c", 50),
                                           tensor("d", 10, kOutput), view("head", 50, 0, 0), view("tail", 50, 0, 50)},
                                          {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {2}, {3})}),
                                 {{TensorId(2), TensorId(5)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 0, 100, 0, 50})), IsEmpty()) << "c lies on the head";
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 50, 100, 0, 50})),
              ElementsAre(Breaks(Rule::apart, "tensor 'tail' (5) at [50, 100)")));
}

TEST(Apart, OtherArenasAndRegionsAreApart) {
  const Graph graph = with_apart(chain(), {{TensorId(0), TensorId(2)}});
  Plan plan = plan_of(graph, {0, 100, 0, 100});
  plan.arenas[0].regions = {Bytes(200), Bytes(60)};
  plan.arenas[0].size = Bytes(260);
  plan.placements[2].region = 1;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

TEST(Apart, ACallersBufferThatHostsOthersCounts) {
  const TensorFlags lent = {TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  const Graph graph = with_apart(graph_of({tensor("a", 100, lent), tensor("b", 100), tensor("c", 60),
                                           tensor("d", 100, kOutput), view("tail", 50, 0, 50)},
                                          {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {2}, {3})}),
                                 {{TensorId(2), TensorId(4)}});
  Plan plan = plan_of(graph, {{}, 0, 0, 100, {}});
  plan.bindings = {{TensorId(0), Bytes(100), Bytes(1)}};
  const ArenaId user = add_arena(plan, ArenaKind::user, 100);
  plan.arenas[user.index()].tensor = TensorId(0);
  plan.placements[1].arena = user;
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::apart, "tensor 'c' (2) at [0, 60) and tensor 'tail' (4) at [50, 100)")));
  GraphDescription shorter = graph.description();
  shorter.tensors[2].size = plan.placements[1].size = Bytes(50);
  EXPECT_THAT(verify(Graph::build(shorter).value(), plan), IsEmpty()) << "the buffer's head is another matter";
}

TEST(Apart, PaddingIsSharedNeitherNowNorLater) {
  GraphDescription description = chain().description();
  description.tensors[0].alignment = Bytes(64);
  description.apart = {{TensorId(0), TensorId(2)}};
  const Graph graph = Graph::build(std::move(description)).value();
  const Plan plan = plan_of(graph, {0, 200, 100, 300});
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::apart, "tensor 'a' (0) at [0, 128) with its padding and tensor 'c' (2)")));
  EXPECT_THAT(verify(graph, plan, {.padding = Padding::none}), IsEmpty()) << "exact bytes";
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 200, 128, 300})), IsEmpty());
}

TEST(Apart, AViewHasThePaddingOnlyIfItEndsThere) {
  const auto build = [](std::size_t view_of_b) {
    GraphDescription description = graph_of({tensor("a", 100, kInput), tensor("b", 100), tensor("c", 20),
                                             tensor("d", 10, kOutput), view("head", 50, 0, 0), view("tail", 50, 0, 50)},
                                            {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {2}, {3})})
                                       .description();
    description.tensors[0].alignment = Bytes(128);
    description.apart = {{TensorId(2), TensorId(view_of_b)}};
    return Graph::build(std::move(description)).value();
  };
  const Graph tail = build(5);
  EXPECT_THAT(rules(verify(tail, plan_of(tail, {0, 200, 104, 300, 0, 50}))), ElementsAre(Rule::apart));
  const Graph head = build(4);
  EXPECT_THAT(verify(head, plan_of(head, {0, 200, 104, 300, 0, 50})), IsEmpty());
}

TEST(Apart, EachPairIsAFinding) {
  const Graph graph = with_apart(chain(), {{TensorId(0), TensorId(2)}, {TensorId(1), TensorId(3)}});
  const Plan plan = plan_of(graph, {0, 100, 0, 100});
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::apart, Rule::apart));
  EXPECT_THAT(rules(verify(graph, plan, {.max_findings = 1})), ElementsAre(Rule::apart));
}

}  // namespace
}  // namespace stowage::verification
