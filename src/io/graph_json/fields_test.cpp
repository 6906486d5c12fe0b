#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "support/generators/constrained_graph.hpp"

/// The fields about cost, origin and what is kept apart.
namespace stowage {
namespace {

std::string message_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text, "g.json");
  return graph ? "no error" : to_string(graph.error());
}

/// Every one of these fields once, with a value that is not its default; written as the program writes it.
constexpr std::string_view kAll = R"({"schema":"stowage.graph/1","name":"all",
"memories":[
{"name":"gpu","bandwidth":1555.5}],
"tensors":[
{"name":"x","size":64,"flags":["input"]},
{"name":"y","size":64,"origin":7},
{"name":"z","size":64}],
"ops":[
{"name":"f","inputs":[0],"outputs":[1],"cost":25383,"flops":1e+21,"recompute":false,"origin":5,"scope":"encoder/0","source":"net.py:12"},
{"name":"while","inputs":[1],"outputs":[2],"control":"loop","cost":0.1,"trip_count":0,"bodies":[
  {"tensors":[
    {"name":"in","size":64},
    {"name":"out","size":64,"origin":0}],
  "ops":[
    {"name":"g","inputs":[0],"outputs":[1],"cost":0,"origin":3}],"inputs":[[1,0]],"outputs":[[1,2]],"carried":[[1,0]]}]}],
"apart":[
[1,0],
[0,2]]}
)";

TEST(GraphJsonFields, EveryFieldIsRead) {
  const Result<Graph> graph = parse_graph(kAll, "g.json");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const GraphDescription& read = graph->description();
  EXPECT_EQ(read.memories[0].bandwidth, 1555.5);
  EXPECT_EQ(read.tensors[1].origin, TensorId(7));
  EXPECT_EQ(read.ops[0].cost, 25383);
  EXPECT_EQ(read.ops[0].flops, 1e21);
  EXPECT_FALSE(read.ops[0].recompute);
  EXPECT_EQ(read.ops[0].origin, OpId(5));
  EXPECT_EQ(read.ops[0].layer, "encoder/0");
  EXPECT_EQ(read.ops[0].source, "net.py:12");
  EXPECT_EQ(read.ops[1].trip_count, 0);
  EXPECT_TRUE(read.ops[1].recompute) << "the default";
  EXPECT_EQ(read.ops[1].bodies[0].tensors[1].origin, TensorId(0));
  EXPECT_EQ(read.ops[1].bodies[0].ops[0].cost, 0);
  EXPECT_EQ(read.apart, (std::vector<ApartTensors>{{TensorId(1), TensorId(0)}, {TensorId(0), TensorId(2)}}));
}

TEST(GraphJsonFields, EveryFieldIsWritten) { EXPECT_EQ(graph_to_json(parse_graph(kAll, "g").value()), kAll); }

TEST(GraphJsonFields, NumbersKeepTheirValue) {
  for (const double value : {0.0, 1.0, 0.1, 1e-300, 1.7976931348623157e308, 9007199254740991.0, 9007199254740994.0}) {
    GraphBuilder builder("one");
    builder.add(Op{.name = "f", .kind = "", .cost = value});
    const Graph graph = builder.build().value();
    EXPECT_EQ(parse_graph(graph_to_json(graph), "g").value().op(OpId(0)).cost, value);
  }
}

/// `text` with the first `from` in it replaced.
std::string message(std::string_view from, std::string_view to) {
  std::string text(kAll);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return message_of(text.replace(at, from.size(), to));
}

TEST(GraphJsonFields, FaultsNameTheFieldAndTheOp) {
  EXPECT_EQ(message("25383", "\"much\""), "g.json: ops[0].cost: op 'f' (0): must be a number, not string");
  EXPECT_EQ(message("25383", "null"), "g.json: ops[0].cost: op 'f' (0): must be a number, not null");
  EXPECT_EQ(message("25383", "-1"),
            "g.json: ops[0].cost: op 'f' (0) has the cost -1, which is not a number of at least 0");
  EXPECT_EQ(message("1e+21", "true"), "g.json: ops[0].flops: op 'f' (0): must be a number, not boolean");
  EXPECT_EQ(message("\"recompute\":false", "\"recompute\":0"),
            "g.json: ops[0].recompute: op 'f' (0): must be true or false, not number");
  EXPECT_EQ(message("\"trip_count\":0", "\"trip_count\":1.5"),
            "g.json: ops[1].trip_count: op 'while' (1): must be an integer from 0 to 4611686018427387904, not 1.5");
  EXPECT_EQ(message("\"origin\":5", "\"origin\":\"f\""),
            "g.json: ops[0].origin: op 'f' (0): must be an integer from 0 to 4294967295, not string");
  EXPECT_EQ(message("\"encoder/0\"", "3"), "g.json: ops[0].scope: op 'f' (0): must be a string, not number");
  EXPECT_EQ(message("\"net.py:12\"", "[]"), "g.json: ops[0].source: op 'f' (0): must be a string, not array");
  EXPECT_EQ(message("\"origin\":7", "\"origin\":-1"),
            "g.json: tensors[1].origin: tensor 'y' (1): must be an integer from 0 to 4294967295, not -1");
  EXPECT_EQ(message("1555.5", "0"),
            "g.json: memories[0].bandwidth: memory 'gpu' (0) has the bandwidth 0, which is not a number above 0");
  EXPECT_EQ(message("[0,2]]", "[0]]"), "g.json: apart[1]: must have 2 elements, not 1");
  EXPECT_EQ(message("[0,2]]", "[0,9]]"),
            "g.json: apart[1]: names tensor 9, which does not exist in the graph's own list");
}

TEST(GraphJsonFields, OnlyAGraphHasTensorsToKeepApart) {
  EXPECT_EQ(message("\"cost\":25383", "\"apart\":[[0,1]]"), "g.json: ops[0]: op 'f' (0): unknown field 'apart'");
  EXPECT_EQ(message("\"carried\"", "\"apart\":[[0,1]],\"carried\""),
            "g.json: ops[1].bodies[0]: op 'while' (1): unknown field 'apart'");
}

TEST(GraphJsonFields, WhatIsWrittenOfRandomGraphsReadsBackEqual) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = testing::constrained_graph(seed);
    const Result<Graph> again = parse_graph(graph_to_json(graph), "again");
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(again->description(), graph.description()) << seed;
  }
}

}  // namespace
}  // namespace stowage
