#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/io.hpp"

/// The fields that state constraints: groups, fills, flags, batches, pools, bodies.
namespace stowage {
namespace {

std::string message_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text, "g.json");
  return graph ? "no error" : to_string(graph.error());
}

/// A graph file with these tensors and ops, which are JSON.
std::string file(std::string_view tensors, std::string_view ops = "", std::string_view more = "") {
  return R"({"schema":"stowage.graph/1",)" + std::string(more) + R"("tensors":[)" + std::string(tensors) +
         R"(],"ops":[)" + std::string(ops) + "]}";
}

Op only_op(std::string_view tensors, std::string_view op) {
  return parse_graph(file(tensors, op), "g").value().op(OpId(0));
}

constexpr std::string_view kFour =
    R"({"name":"a","size":64,"flags":["input"]},{"name":"b","size":64,"flags":["input"]},{"name":"c","size":64},{"name":"d","size":64})";

TEST(GraphJsonConstraints, GroupsAreRead) {
  const Op op = only_op(
      kFour,
      R"({"inputs":[0,1],"outputs":[2,3],"contiguous_inputs":"padded","contiguous_outputs":"padded","fixed_address":true})");
  EXPECT_EQ(op.contiguous_inputs, Contiguity::padded);
  EXPECT_EQ(op.contiguous_outputs, Contiguity::padded);
  EXPECT_TRUE(op.fixed_address);
  EXPECT_EQ(message_of(file(kFour, R"({"name":"f","contiguous_inputs":"tight"})")),
            "g.json: ops[0].contiguous_inputs: op 'f' (0): unknown contiguity 'tight'");
  EXPECT_EQ(message_of(file(kFour, R"({"name":"f","contiguous_outputs":true})")),
            "g.json: ops[0].contiguous_outputs: op 'f' (0): must be a string, not boolean");
}

TEST(GraphJsonConstraints, FillsAreRead) {
  const Op op = only_op(
      kFour, R"({"outputs":[2,3],"workspaces":[{"size":8}],"zero_fill":{"outputs":[1],"workspaces":[0],"value":255}})");
  EXPECT_EQ(op.zero_fill, (ZeroFill{.outputs = {1}, .workspaces = {0}, .value = 255}));
  const std::string begin = R"({"name":"f","outputs":[2],"zero_fill":)";
  EXPECT_EQ(message_of(file(kFour, begin + R"({"value":256}})")),
            "g.json: ops[0].zero_fill.value: op 'f' (0): must be an integer from 0 to 255, not 256");
  EXPECT_EQ(message_of(file(kFour, begin + R"({"value":-1}})")),
            "g.json: ops[0].zero_fill.value: op 'f' (0): must be an integer from 0 to 255, not -1");
  EXPECT_EQ(message_of(file(kFour, begin + R"({"inputs":[0]}})")),
            "g.json: ops[0].zero_fill: op 'f' (0): unknown field 'inputs'");
}

TEST(GraphJsonConstraints, FlagsOfCallersBuffersAreRead) {
  const Graph graph =
      parse_graph(file(R"({"size":8,"flags":["input","zero_copy","reusable"]},{"size":8,"flags":["shape_data"]})"), "g")
          .value();
  EXPECT_EQ(graph.tensor(TensorId(0)).flags,
            (TensorFlags{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable}));
  EXPECT_EQ(graph.tensor(TensorId(1)).flags, TensorFlags(TensorFlag::shape_data));
}

TEST(GraphJsonConstraints, BatchAndBackendAreRead) {
  const Op op = only_op(kFour, R"({"outputs":[2],"batch":"8","backend":"gpu"})");
  EXPECT_EQ(op.batch, "8");
  EXPECT_EQ(op.backend, "gpu");
  EXPECT_EQ(message_of(file(kFour, R"({"name":"f","batch":8})")),
            "g.json: ops[0].batch: op 'f' (0): must be a string, not number");
}

TEST(GraphJsonConstraints, WorkspacesHaveAScope) {
  const Op op = only_op(kFour, R"({"workspaces":[{"size":8,"scope":"session"},{"size":8,"scope":"op"}]})");
  EXPECT_EQ(op.workspaces[0].scope, WorkspaceScope::session);
  EXPECT_EQ(op.workspaces[1].scope, WorkspaceScope::op);
  EXPECT_EQ(message_of(file(kFour, R"({"name":"f","workspaces":[{"size":1,"scope":"loop"}]})")),
            "g.json: ops[0].workspaces[0].scope: op 'f' (0): unknown scope 'loop'");
}

TEST(GraphJsonConstraints, PoolsAndPrefetchesAreRead) {
  const std::string ops = R"({"name":"f","outputs":[0],"prefetch":{"pool":0}})";
  const Graph graph = parse_graph(file(R"({"size":64})", ops, R"("pools":[{"name":"ring","size":128}],)"), "g").value();
  EXPECT_EQ(graph.rings().front(), (Ring{.name = "ring", .size = Bytes(128)}));
  EXPECT_EQ(graph.op(OpId(0)).prefetch, RingId(0));
  EXPECT_EQ(message_of(file("", "", R"("pools":[{"name":"ring"}],)")), "g.json: pools[0]: missing field 'size'");
  EXPECT_EQ(message_of(file("", "", R"("pools":[{"size":1,"slots":2}],)")), "g.json: pools[0]: unknown field 'slots'");
  EXPECT_EQ(message_of(file("", R"({"name":"f","prefetch":{}})")),
            "g.json: ops[0].prefetch: op 'f' (0): missing field 'pool'");
  EXPECT_EQ(message_of(file("", R"({"name":"f","prefetch":0})")),
            "g.json: ops[0].prefetch: op 'f' (0): must be an object, not number");
}

/// A loop that doubles x: inner y becomes inner x in the next iteration.
constexpr std::string_view kLoopTensors =
    R"({"name":"x","size":64,"flags":["input"]},{"name":"y","size":64,"flags":["output"]})";
constexpr std::string_view kLoop = R"({"name":"loop","inputs":[0],"outputs":[1],"control":"loop","bodies":[{
  "tensors":[{"name":"in","size":64},{"name":"out","size":64}],
  "ops":[{"name":"twice","inputs":[0],"outputs":[1],"in_place":[[0,0]]}],
  "inputs":[[0,0]],"outputs":[[1,1]],"carried":[[1,0]]}]})";

TEST(GraphJsonConstraints, BodiesAreRead) {
  const Graph graph = parse_graph(file(kLoopTensors, kLoop), "g").value();
  const Op& loop = graph.description().ops[0];
  EXPECT_EQ(loop.control, Control::loop);
  ASSERT_EQ(loop.bodies.size(), 1u);
  EXPECT_EQ(
      loop.bodies[0],
      (Body{
          .tensors = {{.name = "in", .size = Bytes(64)}, {.name = "out", .size = Bytes(64)}},
          .ops =
              {{.name = "twice", .kind = "", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}, .in_place = {{0, 0}}}},
          .inputs = {{TensorId(0), TensorId(0)}},
          .outputs = {{TensorId(1), TensorId(1)}},
          .carried = {{TensorId(1), TensorId(0)}}}));
}

/// `text` with the first `from` in it replaced.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return result.replace(at, from.size(), to);
}

TEST(GraphJsonConstraints, FaultsInBodiesNameTheInnermostTensorOrOpAndTheWayToIt) {
  const auto message = [](std::string_view from, std::string_view to) {
    return message_of(file(kLoopTensors, replaced(kLoop, from, to)));
  };
  EXPECT_EQ(message(R"("in","size":64)", R"("in","size":-1)"),
            "g.json: ops[0].bodies[0].tensors[0].size: tensor 'in' (0): must be an integer from 0 to "
            "4611686018427387904, not -1");
  EXPECT_EQ(message(R"("in_place")", R"("inplace")"),
            "g.json: ops[0].bodies[0].ops[0]: op 'twice' (0): unknown field 'inplace'");
  EXPECT_EQ(message(R"("carried")", R"("carries")"),
            "g.json: ops[0].bodies[0]: op 'loop' (0): unknown field 'carries'");
  EXPECT_EQ(message("[[1,0]]", "[[1]]"),
            "g.json: ops[0].bodies[0].carried[0]: op 'loop' (0): must have 2 elements, not 1");
  EXPECT_EQ(message(R"("in_place")", R"("name":"again","in_place")"),
            "g.json: ops[0].bodies[0].ops[0]: op 'twice' (0): duplicate field 'name'");
  EXPECT_EQ(message(R"("control":"loop")", R"("control":"while")"),
            "g.json: ops[0].control: op 'loop' (0): unknown control 'while'");
  EXPECT_EQ(message(R"("bodies":[{)", R"("bodies":[3,{)"),
            "g.json: ops[0].bodies[0]: op 'loop' (0): must be an object, not number");
}

TEST(GraphJsonConstraints, FaultsThatTheModelFindsInBodiesKeepTheWayToThem) {
  const std::string message = message_of(file(kLoopTensors, replaced(kLoop, R"("inputs":[0],"outputs":[1],"in_place")",
                                                                     R"("inputs":[7],"outputs":[1],"in_place")")));
  EXPECT_TRUE(message.starts_with("g.json: ops[0].bodies[0].ops[0].inputs[0]: ")) << message;
  EXPECT_NE(message.find("op 'twice'"), std::string::npos) << message;
}

/// Calls of calls, `depth` of them.
std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += R"({"control":"call","bodies":[{"ops":[)";
  text += "{}";
  for (std::size_t i = 0; i < depth; ++i) text += "]}]}";
  return text;
}

TEST(GraphJsonConstraints, BodiesMayBeNested64Deep) {
  const Result<Graph> graph = parse_graph(file("", nested(64)), "g");
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->scopes().size(), 65u);
  EXPECT_EQ(parse_graph(graph_to_json(*graph), "again").value().description(), graph->description());
  EXPECT_NE(message_of(file("", nested(65))).find("bodies are nested more than 64 deep"), std::string::npos);
  EXPECT_NE(message_of(file("", nested(10000))).find("nested deeper than 320 levels"), std::string::npos);
}

TEST(GraphJsonConstraints, BodiesAreWrittenWithATensorOrOpALineBehindTheirOps) {
  EXPECT_EQ(graph_to_json(
                parse_graph(file(kLoopTensors, std::string(kLoop) + R"(,{"name":"end","inputs":[1]})"), "g").value()),
            R"({"schema":"stowage.graph/1","name":"",
"memories":[
{"name":"memory"}],
"tensors":[
{"name":"x","size":64,"flags":["input"]},
{"name":"y","size":64,"flags":["output"]}],
"ops":[
{"name":"loop","inputs":[0],"outputs":[1],"control":"loop","bodies":[
  {"tensors":[
    {"name":"in","size":64},
    {"name":"out","size":64}],
  "ops":[
    {"name":"twice","inputs":[0],"outputs":[1],"in_place":[[0,0]]}],"inputs":[[0,0]],"outputs":[[1,1]],"carried":[[1,0]]}]},
{"name":"end","inputs":[1]}]}
)");
}

TEST(GraphJsonConstraints, WhatIsWrittenReadsBackEqual) {
  const std::string tensors =
      std::string(kFour) +
      R"(,{"name":"e","size":64,"flags":["input","zero_copy","reusable","shape_data"]},{"name":"p","size":32})";
  const std::string ops =
      R"({"name":"g","inputs":[0,1],"outputs":[2,3],"contiguous_inputs":"padded","contiguous_outputs":"padded","fixed_address":true,
          "workspaces":[{"size":8,"scope":"session"}],"zero_fill":{"outputs":[0,1],"workspaces":[0],"value":7},"backend":"gpu"},
         {"name":"p","outputs":[5],"prefetch":{"pool":0}},
         {"name":"b","inputs":[4],"control":"branch","batch":"one","bodies":[
            {"tensors":[{"name":"i","size":64}],"ops":[{"name":"u","inputs":[0],"backend":"cpu"},{"name":"c","control":"call","bodies":[{}]}],
             "inputs":[[4,0]]},{}]})";
  const Result<Graph> graph = parse_graph(file(tensors, ops, R"("pools":[{"name":"ring","size":128}],)"), "g");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const std::string text = graph_to_json(*graph);
  const Result<Graph> again = parse_graph(text, "again");
  ASSERT_TRUE(again) << to_string(again.error()) << text;
  EXPECT_EQ(again->description(), graph->description());
  EXPECT_EQ(graph_to_json(*again), text);
}

TEST(GraphJsonConstraints, AFillOfNothingReadsBackEqualToo) {
  GraphBuilder builder("odd");
  builder.add(Op{.name = "f", .kind = "", .zero_fill = {.value = 3}});
  const Graph graph = builder.build().value();
  EXPECT_EQ(parse_graph(graph_to_json(graph), "g").value().description(), graph.description());
}

}  // namespace
}  // namespace stowage
