#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/graph.hpp"

/// Costs, trip counts, bandwidths, and tensors that are kept apart.
namespace stowage {
namespace {

using ::testing::HasSubstr;

/// x (input) → a → y, z
GraphDescription chain() {
  return {.name = "chain",
          .memories = {{.name = "cpu"}, {.name = "gpu"}},
          .tensors = {{.name = "x", .size = Bytes(64), .flags = TensorFlag::input},
                      {.name = "y", .size = Bytes(64)},
                      {.name = "z", .size = Bytes(64)}},
          .ops = {{.name = "a", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1), TensorId(2)}}}};
}

void expect_fault(GraphDescription description, const std::string& path, const std::string& message) {
  const Result<Graph> graph = Graph::build(std::move(description));
  ASSERT_FALSE(graph) << message;
  EXPECT_EQ(graph.error().code, ErrorCode::invalid);
  EXPECT_EQ(graph.error().where.path, path);
  EXPECT_THAT(graph.error().message, HasSubstr(message));
}

/// y is the result of a loop that carries x.
GraphDescription loop() {
  GraphDescription graph = chain();
  Op& op = graph.ops[0];
  op.outputs = {TensorId(1)};
  op.control = Control::loop;
  op.bodies = {{.tensors = {{.name = "in", .size = Bytes(64)}, {.name = "out", .size = Bytes(64)}},
                .ops = {{.name = "f", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}}},
                .inputs = {{TensorId(0), TensorId(0)}},
                .outputs = {{TensorId(1), TensorId(1)}},
                .carried = {{TensorId(1), TensorId(0)}}}};
  return graph;
}

TEST(GraphFields, CostsAreNumbersOfAtLeast0) {
  GraphDescription graph = chain();
  graph.ops[0].cost = 0;
  graph.ops[0].flops = 1e300;
  EXPECT_TRUE(Graph::build(graph));
  graph.ops[0].cost = -0.5;
  expect_fault(graph, "ops[0].cost", "op 'a' (0) has the cost -0.5, which is not a number of at least 0");
  graph.ops[0].cost = std::numeric_limits<double>::quiet_NaN();
  expect_fault(graph, "ops[0].cost", "op 'a' (0) has the cost nan");
  graph.ops[0].cost = 0;
  graph.ops[0].flops = std::numeric_limits<double>::infinity();
  expect_fault(graph, "ops[0].flops", "op 'a' (0) has the number of operations inf");
}

TEST(GraphFields, FaultsOfCostsInBodiesNameTheWayToThem) {
  GraphDescription graph = loop();
  graph.ops[0].bodies[0].ops[0].cost = -1;
  expect_fault(graph, "ops[0].bodies[0].ops[0].cost", "has the cost -1");
}

TEST(GraphFields, BandwidthsAreAbove0) {
  GraphDescription graph = chain();
  graph.memories[1].bandwidth = 0.25;
  EXPECT_TRUE(Graph::build(graph));
  graph.memories[1].bandwidth = 0;
  expect_fault(graph, "memories[1].bandwidth", "memory 'gpu' (1) has the bandwidth 0, which is not a number above 0");
}

TEST(GraphFields, OnlyLoopsHaveATripCount) {
  GraphDescription graph = loop();
  graph.ops[0].trip_count = 0;
  const Result<Graph> built = Graph::build(graph);
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->op(OpId(0)).trip_count, 0);
  graph.ops[0].trip_count = -1;
  expect_fault(graph, "ops[0].trip_count", "op 'a' (0) has the trip count -1, which is not from 0 to 2^62");
  graph = chain();
  graph.ops[0].trip_count = 3;
  expect_fault(graph, "ops[0].trip_count", "op 'a' (0) has a trip count, which only loops have");
}

TEST(GraphFields, AnOriginIsAnIdOfAnotherGraph) {
  GraphDescription graph = chain();
  graph.ops[0].origin = OpId(99);
  graph.tensors[2].origin = TensorId(77);
  EXPECT_TRUE(Graph::build(graph));
}

TEST(GraphFields, TensorsAreKeptApartByThePairsOfTheRoot) {
  GraphDescription graph = chain();
  graph.apart = {{TensorId(1), TensorId(0)}, {TensorId(0), TensorId(1)}};
  EXPECT_EQ(Graph::build(graph).value().apart().size(), 2U) << "said twice is said once";
  graph.apart = {{TensorId(0), TensorId(1)}, {TensorId(2), TensorId(2)}};
  expect_fault(graph, "apart[1]", "tensor 'z' (2) cannot be kept apart from itself");
  graph.apart = {{TensorId(0), TensorId(3)}};
  expect_fault(graph, "apart[0]", "names tensor 3, which does not exist");
  graph = loop();
  graph.apart = {{TensorId(0), TensorId(3)}};
  expect_fault(graph, "apart[0]", "names tensor 3, which does not exist in the graph's own list");
}

TEST(GraphFields, AViewIsNotApartFromTheBytesItLiesOn) {
  GraphDescription graph = chain();
  graph.tensors.push_back({.name = "first", .size = Bytes(32), .view_of = ViewOf{TensorId(1), Bytes(0)}});
  graph.tensors.push_back({.name = "last", .size = Bytes(32), .view_of = ViewOf{TensorId(1), Bytes(32)}});
  graph.apart = {{TensorId(3), TensorId(4)}};
  EXPECT_TRUE(Graph::build(graph)) << "two halves of one tensor";
  graph.apart = {{TensorId(4), TensorId(1)}};
  expect_fault(graph, "apart[0]",
               "tensor 'last' (4) and tensor 'y' (1) are to be kept apart, but a view, an alias, a body or a ring puts "
               "them on the same bytes");
  graph.tensors[4].size = Bytes(0);
  EXPECT_TRUE(Graph::build(graph)) << "nothing shares no bytes";
}

TEST(GraphFields, AnAliasIsNotApartFromItsInput) {
  GraphDescription graph = chain();
  graph.ops[0].aliases = {{.output = 0, .input = 0, .offset = Bytes(0)}};
  graph.apart = {{TensorId(0), TensorId(1)}};
  expect_fault(graph, "apart[0]", "tensor 'x' (0) and tensor 'y' (1) are to be kept apart");
  graph.ops[0].aliases[0].offset = Bytes(64);
  EXPECT_TRUE(Graph::build(graph)) << "behind the input";
}

TEST(GraphFields, WhatALoopCarriesMayBeApartFromItsResult) {
  GraphDescription graph = loop();
  graph.apart = {{TensorId(0), TensorId(1)}};
  EXPECT_TRUE(Graph::build(graph)) << "a copy moves the value";
}

TEST(GraphFields, ARingMayPutTensorsOnTheSameBytes) {
  GraphDescription graph{.name = "ring", .memories = {}, .tensors = {}, .ops = {}};
  graph.rings = {{.name = "r", .size = Bytes(128)}};
  for (std::size_t i = 0; i < 3; ++i) {
    graph.tensors.push_back({.name = "w" + std::to_string(i), .size = Bytes(64)});
    graph.ops.push_back({.name = "load", .kind = "X", .outputs = {TensorId(i)}, .prefetch = RingId(0)});
  }
  graph.apart = {{TensorId(0), TensorId(1)}, {TensorId(2), TensorId(1)}};
  EXPECT_TRUE(Graph::build(graph));
  graph.apart = {{TensorId(0), TensorId(2)}};
  expect_fault(graph, "apart[0]", "tensor 'w0' (0) and tensor 'w2' (2) are to be kept apart");
}

TEST(GraphFields, TheBuilderKeepsPairs) {
  GraphBuilder builder("pairs");
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(8)});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(8)});
  builder.add(ApartTensors{a, b});
  EXPECT_EQ(builder.build().value().apart().front(), (ApartTensors{a, b}));
}

}  // namespace
}  // namespace stowage
