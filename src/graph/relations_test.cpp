#include "graph/interface/relations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders/sketch.hpp"
#include "support/generators/constrained_graph.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Sketch;

TEST(Relations, AViewLiesInItsBaseAndAnAliasInItsInput) {
  Sketch s;
  const TensorId x = s.tensor("x", 16, TensorFlag::input);
  const TensorId view = s.view("view", 8, x, 4);
  const TensorId inner = s.view("inner", 2, view, 2);
  const TensorId y = s.tensor("y", 4);
  const TensorId alone = s.tensor("alone", 4);
  s.op({.name = "op", .kind = "X", .inputs = {view}, .outputs = {y}, .aliases = {{0, 0, Bytes(3)}}});
  const Graph graph = s.build();
  const Relations& relations = graph.relations();
  const auto distance = [&](TensorId tensor) { return relations.place(tensor).offset - relations.place(x).offset; };
  EXPECT_EQ(distance(view), Bytes(4));
  EXPECT_EQ(distance(inner), Bytes(6));
  EXPECT_EQ(distance(y), Bytes(7));
  for (const TensorId each : {view, inner, y})
    EXPECT_EQ(relations.place(each).representative, relations.place(x).representative);
  EXPECT_EQ(relations.place(alone), (AliasPlace{alone, Bytes(0)}));
}

TEST(Relations, APaddedGroupHasTheOffsetsOfItsMembers) {
  Sketch s;
  const TensorId a = s.tensor({.name = "a", .size = Bytes(5), .flags = TensorFlag::input});
  const TensorId b = s.tensor({.name = "b", .size = Bytes(8), .alignment = Bytes(8), .flags = TensorFlag::input});
  const OpId op =
      s.op({.name = "op", .kind = "X", .inputs = {a, std::nullopt, b}, .contiguous_inputs = Contiguity::padded});
  const Graph graph = s.build();
  ASSERT_EQ(graph.relations().groups.size(), 1U);
  const Group& group = graph.relations().groups.front();
  EXPECT_EQ(group.op, op);
  EXPECT_EQ(group.size, Bytes(16));
  EXPECT_EQ(group.members[1].position, 2U);
  EXPECT_EQ(group.members[1].offset, Bytes(8));
}

TEST(Relations, ARingGivesItsRangesOutInOrderAndSaysWhoIsEvicted) {
  GraphDescription graph{.name = "ring", .memories = {}, .tensors = {}, .ops = {}};
  graph.rings = {{.name = "ring", .size = Bytes(10)}};
  for (std::size_t i = 0; i < 3; ++i) {
    graph.tensors.push_back({.name = "t", .size = Bytes(4)});
    graph.ops.push_back({.name = "fetch", .kind = "X", .outputs = {TensorId(i)}, .prefetch = RingId(0)});
  }
  const Graph built = Graph::build(graph).value();
  const std::vector<RingRange>& ranges = built.relations().ring_ranges;
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[1].offset, Bytes(4));
  EXPECT_THAT(ranges[1].evicted, IsEmpty());
  EXPECT_EQ(ranges[2].offset, Bytes(0)) << "it does not fit before the end";
  EXPECT_THAT(ranges[2].evicted, ElementsAre(0U));
}

/// All distances that the graph requires hold.
void expect_distances(const Graph& graph) {
  const Relations& relations = graph.relations();
  const auto expect = [&](TensorId inner, TensorId outer, Bytes offset) {
    EXPECT_EQ(relations.place(inner).representative, relations.place(outer).representative);
    EXPECT_EQ(relations.place(inner).offset, relations.place(outer).offset + offset);
  };
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const TensorId representative = relations.place(TensorId(t)).representative;
    EXPECT_EQ(relations.place(representative), (AliasPlace{representative, Bytes(0)}));
    if (const std::optional<ViewOf>& view = graph.tensors()[t].view_of) expect(TensorId(t), view->tensor, view->offset);
  }
  for (const Op& op : graph.ops()) {
    for (const Alias& alias : op.aliases) expect(op.outputs[alias.output], *op.inputs[alias.input], alias.offset);
  }
  for (const Scope& scope : graph.scopes()) {
    for (const BodyInput& pair : scope.inputs) {
      const bool carried =
          std::any_of(scope.carried.begin(), scope.carried.end(), [&](Carried each) { return each.in == pair.inner; });
      if (!carried) expect(pair.inner, pair.outer, Bytes(0));
    }
  }
}

TEST(RelationsProperty, AllDistancesHold) {
  for (std::uint64_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::constrained_graph(seed);
    expect_distances(graph);
    OffsetUnion joined = graph.relations().to_union();
    for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
      EXPECT_EQ(TensorId(joined.find(t).representative), graph.relations().place(TensorId(t)).representative);
      EXPECT_EQ(joined.find(t).offset, graph.relations().place(TensorId(t)).offset);
    }
  }
}

}  // namespace
}  // namespace stowage
