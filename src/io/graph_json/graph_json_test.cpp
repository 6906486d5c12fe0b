#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "stowage/io.hpp"

namespace stowage {
namespace {

Error error_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text, "g.json");
  if (graph) return Error{ErrorCode::invalid, "no error", {}};
  EXPECT_EQ(graph.error().where.file, "g.json");
  return graph.error();
}

std::string message_of(std::string_view text) { return to_string(error_of(text)); }

/// A graph file with these tensors and ops, which are JSON.
std::string file(std::string_view tensors, std::string_view ops = "") {
  return R"({"schema":"stowage.graph/1","tensors":[)" + std::string(tensors) + R"(],"ops":[)" + std::string(ops) + "]}";
}

constexpr std::string_view kTwoTensors = R"({"name":"x","size":64,"flags":["input"]},{"name":"y","size":64})";

TEST(GraphJson, AbsentFieldsTakeDefaults) {
  const Graph graph = parse_graph(file(R"({"size":8})"), "g").value();
  EXPECT_EQ(graph.name(), "");
  EXPECT_EQ(graph.tensor(TensorId(0)), (Tensor{.name = "", .size = Bytes(8)}));
  EXPECT_EQ(graph.memories().size(), 1u);
  EXPECT_TRUE(parse_graph(R"({"schema":"stowage.graph/1"})", "g"));
}

TEST(GraphJson, EveryFieldIsRead) {
  const GraphDescription graph = parse_graph(R"({"schema":"stowage.graph/1","name":"net",
    "memories":[{"name":"gpu","alignment":512,"max_size":4096,"kind":"p2p"},{"name":"host","max_size":null}],
    "tensors":[{"name":"x","size":64,"dtype":"f32","shape":[4,-1],"memory":1,"alignment":16,"flags":["input","no_reuse"]},
               {"name":"v","size":32,"memory":1,"view_of":{"tensor":0,"offset":32}},
               {"name":"y","size":32,"memory":1}],
    "ops":[{"name":"a","kind":"VIEW","inputs":[0],"outputs":[1],"no_task":true},
           {"name":"b","kind":"NEG","inputs":[1,-1],"outputs":[2],"in_place":[[0,0]],"stream":1,"after":[0],"no_reuse":true,
            "workspaces":[{"size":-1},{"size":7,"memory":1,"alignment":4,"scope":"op","no_reuse":true}]}]})",
                                             "g")
                                     .value()
                                     .description();
  EXPECT_EQ(graph.name, "net");
  EXPECT_EQ(graph.memories[0],
            (Memory{.name = "gpu", .alignment = Bytes(512), .max_size = Bytes(4096), .kind = "p2p"}));
  EXPECT_EQ(graph.memories[1], (Memory{.name = "host"}));
  EXPECT_EQ(graph.tensors[0], (Tensor{.name = "x",
                                      .size = Bytes(64),
                                      .dtype = "f32",
                                      .shape = {4, -1},
                                      .memory = MemoryId(1),
                                      .alignment = Bytes(16),
                                      .flags = {TensorFlag::input, TensorFlag::no_reuse}}));
  EXPECT_EQ(graph.tensors[1].view_of, (ViewOf{TensorId(0), Bytes(32)}));
  EXPECT_TRUE(graph.ops[0].no_task);
  EXPECT_EQ(graph.ops[1],
            (Op{.name = "b",
                .kind = "NEG",
                .inputs = {TensorId(1), std::nullopt},
                .outputs = {TensorId(2)},
                .in_place = {{0, 0}},
                .workspaces = {{.size = Bytes(0)},
                               {.size = Bytes(7), .memory = MemoryId(1), .alignment = Bytes(4), .no_reuse = true}},
                .stream = StreamId(1),
                .after = {OpId(0)},
                .no_reuse = true}));
}

TEST(GraphJson, AliasesAreRead) {
  const Graph graph = parse_graph(file(kTwoTensors, R"({"inputs":[0],"outputs":[1],"alias":[[0,0,0]]})"), "g").value();
  EXPECT_EQ(graph.op(OpId(0)).aliases, (std::vector<Alias>{{0, 0, Bytes(0)}}));
}

TEST(GraphJson, WhatIsWrittenReadsBackEqual) {
  GraphBuilder builder("näme \"q\" \n\x01");
  builder.add(Memory{.name = "gpu", .alignment = Bytes(512), .max_size = kMaxBytes, .kind = "host"});
  builder.add(Memory{.name = ""});
  const TensorId x = builder.add(Tensor{.name = "x",
                                        .size = Bytes(1024),
                                        .dtype = "f16",
                                        .shape = {2, 256},
                                        .memory = MemoryId(1),
                                        .alignment = Bytes(64),
                                        .flags = {TensorFlag::input, TensorFlag::output, TensorFlag::no_reuse}});
  const TensorId v =
      builder.add(Tensor{.name = "v", .size = Bytes(512), .memory = MemoryId(1), .view_of = ViewOf{x, Bytes(512)}});
  const TensorId y =
      builder.add(Tensor{.name = "y", .size = Bytes(512), .memory = MemoryId(1), .flags = TensorFlag::variable});
  const TensorId z = builder.add(Tensor{.name = "z", .size = Bytes(512), .memory = MemoryId(1)});
  builder.add(Op{.name = "", .kind = "", .outputs = {y}, .stream = StreamId(3)});
  builder.add(Op{.name = "op",
                 .kind = "K",
                 .inputs = {v, std::nullopt},
                 .outputs = {z},
                 .in_place = {{0, 0}},
                 .aliases = {{0, 0, Bytes(0)}},
                 .workspaces = {{.size = Bytes(9), .memory = MemoryId(1), .alignment = Bytes(2), .no_reuse = true}},
                 .after = {OpId(0)},
                 .no_reuse = true});
  builder.add(Op{.name = "nop", .kind = "VIEW", .no_task = true});
  const Graph graph = builder.build().value();
  const std::string text = graph_to_json(graph);
  const Result<Graph> again = parse_graph(text, "g");
  ASSERT_TRUE(again) << to_string(again.error()) << text;
  EXPECT_EQ(again->description(), graph.description());
  EXPECT_EQ(graph_to_json(*again), text);
}

TEST(GraphJson, OneTensorOrOpALineWithoutDefaults) {
  const Graph graph =
      parse_graph(file(kTwoTensors, R"({"name":"f","kind":"ADD","inputs":[0],"outputs":[1],"stream":0,"after":[]})"),
                  "g")
          .value();
  EXPECT_EQ(graph_to_json(graph),
            "{\"schema\":\"stowage.graph/1\",\"name\":\"\",\n"
            "\"memories\":[\n{\"name\":\"memory\"}],\n"
            "\"tensors\":[\n{\"name\":\"x\",\"size\":64,\"flags\":[\"input\"]},\n{\"name\":\"y\",\"size\":64}],\n"
            "\"ops\":[\n{\"name\":\"f\",\"kind\":\"ADD\",\"inputs\":[0],\"outputs\":[1]}]}\n");
}

TEST(GraphJson, NamesThatAreNoUtf8AreReplacedNotThrown) {
  GraphBuilder builder("bad \xff name");
  builder.add(Tensor{.name = "\xc3", .size = Bytes(1)});
  const Result<Graph> graph = parse_graph(graph_to_json(builder.build().value()), "g");
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->name(), "bad \xEF\xBF\xBD name");
}

TEST(GraphJson, InvalidUtf8IsAParseError) {
  EXPECT_EQ(error_of(file("{\"size\":1,\"name\":\"\xff\"}")).code, ErrorCode::parse);
}

TEST(GraphJson, SyntaxErrorsHaveLineAndColumn) {
  const Error error = error_of("{\"schema\":\n\"stowage.graph/1\",\n}");
  EXPECT_EQ(error.code, ErrorCode::parse);
  EXPECT_EQ(error.where.line, 3);
  EXPECT_TRUE(error.message.starts_with("column 1: ")) << error.message;
}

TEST(GraphJson, EveryTruncationIsAParseError) {
  const std::string text = file(kTwoTensors, R"({"inputs":[0],"outputs":[1]})");
  ASSERT_TRUE(parse_graph(text, "g"));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(error_of(text.substr(0, length)).code, ErrorCode::parse) << length;
}

TEST(GraphJson, OtherSchemasAreRefusedNamingBoth) {
  const Error version = error_of(R"({"schema":"stowage.graph/2"})");
  EXPECT_EQ(version.code, ErrorCode::unsupported);
  EXPECT_EQ(version.message, "schema is 'stowage.graph/2', but this reads 'stowage.graph/1'");
  const Error plan = error_of(R"({"schema":"stowage.plan/1","arenas":[]})");
  EXPECT_EQ(plan.code, ErrorCode::parse);
  EXPECT_EQ(plan.message, "schema is 'stowage.plan/1', but this reads 'stowage.graph/1'");
  EXPECT_EQ(message_of(R"({"tensors":[]})"), "g.json: missing field 'schema'");
  EXPECT_EQ(message_of("[]"), "g.json: must be an object, not array");
  EXPECT_EQ(message_of(R"({"schema":1})"), "g.json: schema: must be a string, not number");
}

TEST(GraphJson, UnknownFieldIsNamed) {
  EXPECT_EQ(message_of(R"({"schema":"stowage.graph/1","tensor":[]})"), "g.json: unknown field 'tensor'");
  EXPECT_EQ(message_of(file(R"({"name":"x","size":1,"sise":2})")),
            "g.json: tensors[0]: tensor 'x' (0): unknown field 'sise'");
  EXPECT_EQ(message_of(file(R"({"size":1,"view_of":{"tensor":0,"at":2}})")),
            "g.json: tensors[0].view_of: unknown field 'at'");
  EXPECT_EQ(message_of(file("", R"({"name":"f","input":[]})")), "g.json: ops[0]: op 'f' (0): unknown field 'input'");
  EXPECT_EQ(message_of(file("", R"({"workspaces":[{"size":1,"x":1}]})")),
            "g.json: ops[0].workspaces[0]: unknown field 'x'");
  EXPECT_EQ(message_of(R"({"schema":"stowage.graph/1","memories":[{"nam":"x"}]})"),
            "g.json: memories[0]: unknown field 'nam'");
  EXPECT_EQ(message_of(file(R"({"size":1,"flags":["inputs"]})")), "g.json: tensors[0].flags[0]: unknown flag 'inputs'");
}

TEST(GraphJson, DuplicateFieldIsNamed) {
  EXPECT_EQ(message_of(file(R"({"name":"x","size":1,"size":1})")),
            "g.json: tensors[0]: tensor 'x' (0): duplicate field 'size'");
}

TEST(GraphJson, WrongTypesAreNamedWithTheirPath) {
  EXPECT_EQ(message_of(R"({"schema":"stowage.graph/1","tensors":{}})"),
            "g.json: tensors: must be an array, not object");
  EXPECT_EQ(message_of(file("3")), "g.json: tensors[0]: must be an object, not number");
  EXPECT_EQ(message_of(file(R"({"name":"x"})")), "g.json: tensors[0]: tensor 'x' (0): missing field 'size'");
  EXPECT_EQ(message_of(file(R"({"size":1,"name":3})")), "g.json: tensors[0].name: must be a string, not number");
  EXPECT_EQ(message_of(file(R"({"size":1,"flags":"input"})")),
            "g.json: tensors[0].flags: must be an array, not string");
  EXPECT_EQ(message_of(file(R"({"size":1,"view_of":null})")),
            "g.json: tensors[0].view_of: must be an object, not null");
  EXPECT_EQ(message_of(file("", R"({"no_task":1})")), "g.json: ops[0].no_task: must be true or false, not number");
  EXPECT_EQ(message_of(file("", R"({"in_place":[[0]]})")), "g.json: ops[0].in_place[0]: must have 2 elements, not 1");
  EXPECT_EQ(message_of(file("", R"({"alias":[[0,0]]})")), "g.json: ops[0].alias[0]: must have 3 elements, not 2");
}

TEST(GraphJson, SizesOutOfRangeAreRefused) {
  for (const char* size : {"-1", "4611686018427387905", "9223372036854775808", "1e30", "1.5", "1.0"}) {
    const Error error = error_of(file(std::string(R"({"name":"x","size":)") + size + "}"));
    EXPECT_EQ(error.code, ErrorCode::parse) << size;
    EXPECT_EQ(error.where.path, "tensors[0].size");
    EXPECT_TRUE(error.message.starts_with("tensor 'x' (0): must be an integer from 0 to 4611686018427387904, not "))
        << error.message;
  }
  EXPECT_EQ(message_of(file("", R"({"workspaces":[{"size":-2}]})")),
            "g.json: ops[0].workspaces[0].size: must be an integer from -1 to 4611686018427387904, not -2");
}

TEST(GraphJson, SizesThatSumAboveTheLimitAreRefused) {
  EXPECT_EQ(error_of(file(R"({"size":4611686018427387000},{"name":"y","size":4611686018427387000})")).code,
            ErrorCode::invalid);
}

TEST(GraphJson, IdsMustBePositions) {
  EXPECT_EQ(message_of(file(kTwoTensors, R"({"name":"f","inputs":[-2]})")),
            "g.json: ops[0].inputs[0]: op 'f' (0): must be an integer from -1 to 4294967295, not -2");
  EXPECT_EQ(message_of(file(kTwoTensors, R"({"outputs":[-1]})")),
            "g.json: ops[0].outputs[0]: must be an integer from 0 to 4294967295, not -1");
  EXPECT_EQ(message_of(file(kTwoTensors, R"({"outputs":[4294967296]})")),
            "g.json: ops[0].outputs[0]: must be an integer from 0 to 4294967295, not 4294967296");
  EXPECT_EQ(message_of(file(kTwoTensors, R"({"inputs":["x"]})")),
            "g.json: ops[0].inputs[0]: must be an integer from -1 to 4294967295, not string");
}

/// Faults that Graph::build finds: the path and the names must survive.
void expect_invalid(const std::string& text, std::string_view path, std::string_view name) {
  const Error error = error_of(text);
  EXPECT_EQ(error.code, ErrorCode::invalid) << error.message;
  EXPECT_TRUE(error.where.path.starts_with(path)) << to_string(error);
  EXPECT_NE(error.message.find(name), std::string::npos) << to_string(error);
}

TEST(GraphJson, FaultsOfTheModelKeepPathAndNames) {
  expect_invalid(file(kTwoTensors, R"({"name":"f","inputs":[7],"outputs":[1]})"), "ops[0].inputs[0]", "op 'f' (0)");
  expect_invalid(file(kTwoTensors, R"({"name":"f","inputs":[1]})"), "ops[0]", "tensor 'y' (1)");
  expect_invalid(file(kTwoTensors, R"({"name":"f","outputs":[1]},{"name":"g","outputs":[1]})"), "ops[1]",
                 "tensor 'y' (1)");
  expect_invalid(file(kTwoTensors, R"({"name":"f","outputs":[1],"after":[1]},{"name":"g","after":[0]})"),
                 "ops[0].after[0]", "op 'f' (0)");
  expect_invalid(file(R"({"name":"x","size":8},{"name":"v","size":8,"view_of":{"tensor":0,"offset":1}})"),
                 "tensors[1].view_of", "tensor 'v' (1)");
  expect_invalid(file(R"({"name":"v","size":8,"view_of":{"tensor":0}})"), "tensors[0]", "tensor 'v' (0)");
  expect_invalid(file(R"({"name":"x","size":8,"alignment":3})"), "tensors[0].alignment", "tensor 'x' (0)");
  expect_invalid(file(R"({"name":"x","size":8,"alignment":0})"), "tensors[0].alignment", "tensor 'x' (0)");
  expect_invalid(file(R"({"name":"x","size":8,"memory":1})"), "tensors[0].memory", "tensor 'x' (0)");
  expect_invalid(file(R"({"name":"c","size":8,"flags":["constant"]})", R"({"name":"f","outputs":[0]})"),
                 "ops[0].outputs[0]", "tensor 'c' (0)");
  expect_invalid(file(kTwoTensors, R"({"name":"f","inputs":[0],"outputs":[1],"in_place":[[0,1]]})"), "ops[0].in_place",
                 "op 'f' (0)");
}

}  // namespace
}  // namespace stowage
