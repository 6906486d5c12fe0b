#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "plan/interface/plan_file.hpp"

namespace stowage {
namespace {

PlanFile example() {
  return {
      .graph = "net",
      .arenas = {{.name = "cpu",
                  .memory = MemoryId(0),
                  .kind = ArenaKind::shared,
                  .size = Bytes(96),
                  .regions = {Bytes(64), Bytes(32)},
                  .lower_bound = Bytes(96),
                  .proven_optimal = true},
                 {.name = "cpu persistent",
                  .memory = MemoryId(0),
                  .kind = ArenaKind::persistent,
                  .size = Bytes(8),
                  .regions = {Bytes(8)},
                  .lower_bound = Bytes(0)}},
      .placements =
          {{{.tensor = TensorId(0), .arena = ArenaId(0), .region = 0, .offset = Bytes(0), .size = Bytes(64)}, {}, "x"},
           {{.tensor = TensorId(2), .arena = ArenaId(0), .region = 1, .offset = Bytes(16), .size = Bytes(16)}}},
      .workspaces =
          {{{.op = OpId(3), .index = 1, .arena = ArenaId(0), .region = 0, .offset = Bytes(32), .size = Bytes(4)},
            {},
            "conv \"1\""}},
      .notes = {{{.tensor = TensorId(2), .reason = "asked for \"more\""}}}};
}

constexpr std::string_view kExampleText =
    "{\"schema\":\"stowage.plan/1\",\"graph\":\"net\",\n"
    "\"arenas\":[\n"
    "{\"name\":\"cpu\",\"memory\":0,\"kind\":\"shared\",\"size\":96,\"regions\":[64,32],\"lower_bound\":96,\"proven_"
    "optimal\":"
    "true},\n"
    "{\"name\":\"cpu persistent\",\"memory\":0,\"kind\":\"persistent\",\"size\":8,\"regions\":[8],\"lower_bound\":0,"
    "\"proven_optimal\":false}],\n"
    "\"placements\":[\n"
    "{\"tensor\":0,\"name\":\"x\",\"arena\":0,\"offset\":0,\"size\":64},\n"
    "{\"tensor\":2,\"arena\":0,\"region\":1,\"offset\":16,\"size\":16}],\n"
    "\"workspaces\":[\n"
    "{\"op\":3,\"index\":1,\"name\":\"conv \\\"1\\\"\",\"arena\":0,\"offset\":32,\"size\":4}],\n"
    "\"clears\":[],\n"
    "\"bindings\":[],\n"
    "\"copies\":[],\n"
    "\"edges\":[],\n"
    "\"notes\":[\n"
    "{\"tensor\":2,\"reason\":\"asked for \\\"more\\\"\"}],\n"
    "\"stats\":{}}\n";

Error error_of(std::string_view text) {
  const Result<PlanFile> plan = parse_plan(text, "p.json");
  if (plan) return Error{ErrorCode::invalid, "no error", {}};
  EXPECT_EQ(plan.error().where.file, "p.json");
  return plan.error();
}

/// The error of a plan with this member, which is JSON.
std::string message_of(std::string_view member) {
  return to_string(error_of(R"({"schema":"stowage.plan/1",)" + std::string(member) + "}"));
}

TEST(PlanJson, IsWrittenOneEntryALine) { EXPECT_EQ(plan_to_json(example()), kExampleText); }

TEST(PlanJson, WhatIsWrittenReadsBackEqual) { EXPECT_EQ(parse_plan(kExampleText, "p").value(), example()); }

TEST(PlanJson, AbsentFieldsTakeDefaults) {
  EXPECT_EQ(parse_plan(R"({"schema":"stowage.plan/1"})", "p").value(), PlanFile{});
  const PlanFile plan =
      parse_plan(R"({"schema":"stowage.plan/1","arenas":[{"size":5}],"stats":{"ms":1.5}})", "p").value();
  EXPECT_EQ(
      plan.arenas[0],
      (Arena{.name = "", .memory = MemoryId(0), .size = Bytes(5), .regions = {Bytes(5)}, .lower_bound = Bytes(0)}));
}

TEST(PlanJson, AProgramIsAListOfSteps) {
  using Kind = ProgramStep::Kind;
  PlanFile plan = example();
  plan.program = {{{{Kind::bind, 0}},
                   {{Kind::fill, 2, StreamId(1)}},
                   {{Kind::copy, 1}, {4, 0}},
                   {{.kind = Kind::op, .index = 3, .batch = "b"}},
                   {{Kind::record, 0, StreamId(0)}},
                   {{Kind::wait, 0, StreamId(1), "b"}, {4, 0}}}};
  const std::string text = plan_to_json(plan);
  EXPECT_NE(text.find("\"program\":[\n"
                      "{\"bind\":0},\n"
                      "{\"fill\":2,\"stream\":1},\n"
                      "{\"copy\":1,\"body\":[4,0]},\n"
                      "{\"op\":3,\"batch\":\"b\"},\n"
                      "{\"record\":0,\"stream\":0},\n"
                      "{\"wait\":0,\"stream\":1,\"batch\":\"b\",\"body\":[4,0]}],\n"
                      "\"notes\":["),
            std::string::npos)
      << text;
  EXPECT_EQ(parse_plan(text, "p").value(), plan);
  plan.program->clear();
  EXPECT_EQ(parse_plan(plan_to_json(plan), "p").value(), plan) << "an empty program is not an absent one";
}

TEST(PlanJson, AStepOfAProgramIsOneThingAndOnlySomeHaveStreams) {
  EXPECT_EQ(message_of(R"("program":[{"op":0},{"op":1,"copy":2}])"),
            "p.json: program[1]: must have exactly one of bind, fill, copy, op, record, wait, not 2");
  EXPECT_EQ(message_of(R"("program":[{"batch":"b"}])"),
            "p.json: program[0]: must have exactly one of bind, fill, copy, op, record, wait, not 0");
  EXPECT_EQ(message_of(R"("program":[{"op":0,"stream":1}])"),
            "p.json: program[0].stream: only records, waits and fills say their stream");
  EXPECT_EQ(message_of(R"("program":[{"wait":0}])"), "p.json: program[0]: missing field 'stream'");
  EXPECT_EQ(message_of(R"("program":[{"op":0,"scope":1}])"), "p.json: program[0]: unknown field 'scope'");
}

TEST(PlanJson, ContentIsLeftToVerify) {
  const auto plan = parse_plan(R"({"schema":"stowage.plan/1","placements":[{"tensor":4294967295,"arena":9,"region":7,
    "offset":4611686018427387904,"size":4611686018427387904}]})",
                               "p");
  EXPECT_TRUE(plan);
}

TEST(PlanJson, OtherSchemasAreRefusedNamingBoth) {
  EXPECT_EQ(to_string(error_of(R"({"schema":"stowage.graph/1"})")),
            "p.json: schema is 'stowage.graph/1', but this reads 'stowage.plan/1'");
  EXPECT_EQ(error_of(R"({"schema":"stowage.plan/2"})").code, ErrorCode::unsupported);
  EXPECT_EQ(to_string(error_of("{}")), "p.json: missing field 'schema'");
}

TEST(PlanJson, UnknownFieldIsNamed) {
  EXPECT_EQ(message_of(R"("peak":1)"), "p.json: unknown field 'peak'");
  EXPECT_EQ(message_of(R"("arenas":[{"size":1,"top":1}])"), "p.json: arenas[0]: unknown field 'top'");
  EXPECT_EQ(message_of(R"("placements":[{"tensor":1,"arena":0,"offset":0,"size":1,"at":1}])"),
            "p.json: placements[0]: unknown field 'at'");
  EXPECT_EQ(message_of(R"("workspaces":[{"tensor":1}])"), "p.json: workspaces[0]: unknown field 'tensor'");
  EXPECT_EQ(message_of(R"("notes":[{"op":1}])"), "p.json: notes[0]: unknown field 'op'");
}

/// One entry of everything that `example` does not have.
PlanFile rich_example() {
  const BodyPath body{1, 0};
  return {
      .graph = "net",
      .arenas = {{.name = "x",
                  .memory = MemoryId(0),
                  .kind = ArenaKind::user,
                  .size = Bytes(8),
                  .regions = {Bytes(8)},
                  .lower_bound = Bytes(0),
                  .proven_optimal = false,
                  .tensor = TensorId(3)}},
      .placements = {{{.tensor = TensorId(0), .arena = ArenaId(0), .offset = Bytes(0), .size = Bytes(4)}, body}},
      .workspaces = {{{.op = OpId(0), .index = 0, .arena = ArenaId(0), .offset = Bytes(4), .size = Bytes(2)}, body}},
      .clears = {{{.arena = ArenaId(0), .offset = Bytes(0), .size = Bytes(8), .value = 255, .before = OpId(0)}},
                 {{.arena = ArenaId(0), .region = 1, .offset = Bytes(2), .size = Bytes(1), .before = OpId(1)}, body}},
      .bindings = {{{.tensor = TensorId(3), .size = Bytes(8), .alignment = Bytes(32)}, {}, "in"}},
      .copies = {{{.tensor = TensorId(2),
                   .when = CopyMoment::before(OpId(4)),
                   .arena = ArenaId(0),
                   .offset = Bytes(0),
                   .size = Bytes(4),
                   .reason = "r"}},
                 {{.tensor = TensorId(1),
                   .when = CopyMoment::at_back_edge(),
                   .arena = ArenaId(0),
                   .region = 2,
                   .offset = Bytes(4),
                   .size = Bytes(4)},
                  body}},
      .edges = {{OpId(3), OpId(7)}, {OpId(4), OpId(7)}},
      .notes = {{{.tensor = TensorId(0), .reason = "no"}, {1, 0, 2, 1}}}};
}

constexpr std::string_view kRichText = R"({"schema":"stowage.plan/1","graph":"net",
"arenas":[
{"name":"x","memory":0,"kind":"user","size":8,"regions":[8],"lower_bound":0,"proven_optimal":false,"tensor":3}],
"placements":[
{"tensor":0,"arena":0,"offset":0,"size":4,"body":[1,0]}],
"workspaces":[
{"op":0,"index":0,"arena":0,"offset":4,"size":2,"body":[1,0]}],
"clears":[
{"arena":0,"offset":0,"size":8,"value":255,"before":0},
{"arena":0,"region":1,"offset":2,"size":1,"value":0,"before":1,"body":[1,0]}],
"bindings":[
{"tensor":3,"name":"in","size":8,"alignment":32}],
"copies":[
{"tensor":2,"before":4,"arena":0,"offset":0,"size":4,"reason":"r"},
{"tensor":1,"before":-1,"arena":0,"region":2,"offset":4,"size":4,"reason":"","body":[1,0]}],
"edges":[
[3,7],
[4,7]],
"notes":[
{"tensor":0,"reason":"no","body":[1,0,2,1]}],
"stats":{}}
)";

TEST(PlanJson, ClearsBindingsCopiesEdgesAndBodiesAreWritten) { EXPECT_EQ(plan_to_json(rich_example()), kRichText); }

TEST(PlanJson, ClearsBindingsCopiesEdgesAndBodiesReadBackEqual) {
  EXPECT_EQ(parse_plan(kRichText, "p").value(), rich_example());
}

TEST(PlanJson, ProofsAndPaddingReadBackEqual) {
  const BodyPath body{1, 0};
  using Argument = BoundProof::Argument;
  PlanFile plan = example();
  plan.padding = Padding::none;
  plan.proofs = {{.argument = Argument::aligned, .op = {{OpId(3), body}}, .alignment = Bytes(64)},
                 {.argument = Argument::unordered,
                  .tensors = {{TensorId(4), {}}, {TensorId(0), body}},
                  .workspaces = {{WorkspaceId{OpId(2), 1}, body}}}};
  const std::string text = plan_to_json(plan);
  EXPECT_NE(text.find(R"("graph":"net",
"padding":"none",)"),
            std::string::npos);
  EXPECT_NE(text.find(R"("proof":{"argument":"aligned","op":3,"body":[1,0],"alignment":64}})"), std::string::npos);
  EXPECT_NE(text.find(R"("proof":{"argument":"unordered","tensors":[{"tensor":4},{"tensor":0,"body":[1,0]}],)"
                      R"("workspaces":[{"op":2,"index":1,"body":[1,0]}]}})"),
            std::string::npos);
  EXPECT_EQ(parse_plan(text, "p").value(), plan);
  EXPECT_EQ(message_of(R"("padding":"half")"), "p.json: padding: unknown padding 'half': it is own or none");
  EXPECT_EQ(message_of(R"("arenas":[{"size":1,"proof":{"argument":"faith"}}])"),
            "p.json: arenas[0].proof.argument: unknown argument 'faith'");
  EXPECT_EQ(message_of(R"("arenas":[{"size":1,"proof":{"argument":"search","step":1}}])"),
            "p.json: arenas[0].proof: unknown field 'step'");
}

TEST(PlanJson, EveryArenaKindIsRead) {
  for (const ArenaKind kind : {ArenaKind::shared, ArenaKind::fixed, ArenaKind::session, ArenaKind::persistent,
                               ArenaKind::ring, ArenaKind::user}) {
    PlanFile plan = example();
    plan.arenas[0].kind = kind;
    EXPECT_EQ(parse_plan(plan_to_json(plan), "p").value().arenas[0].kind, kind);
  }
  EXPECT_EQ(message_of(R"("arenas":[{"size":1,"kind":"odd"}])"), "p.json: arenas[0].kind: unknown arena kind 'odd'");
}

TEST(PlanJson, ABodyIsPairsOfOpAndBody) {
  const std::string begin = R"("placements":[{"tensor":0,"arena":0,"offset":0,"size":1,"body":)";
  EXPECT_EQ(message_of(begin + "[1]}]"),
            "p.json: placements[0].body: must consist of pairs of an op and a body, not 1 elements");
  EXPECT_EQ(message_of(begin + "[1,-1]}]"),
            "p.json: placements[0].body[1]: must be an integer from 0 to 4294967295, not -1");
  EXPECT_EQ(message_of(begin + "0}]"), "p.json: placements[0].body: must be an array, not number");
}

TEST(PlanJson, FaultsInClearsBindingsCopiesAndEdgesAreNamed) {
  EXPECT_EQ(message_of(R"("clears":[{"arena":0,"offset":0,"size":1}])"), "p.json: clears[0]: missing field 'before'");
  EXPECT_EQ(message_of(R"("clears":[{"arena":0,"offset":0,"size":1,"before":0,"value":256}])"),
            "p.json: clears[0].value: must be an integer from 0 to 255, not 256");
  EXPECT_EQ(message_of(R"("clears":[{"tensor":0}])"), "p.json: clears[0]: unknown field 'tensor'");
  EXPECT_EQ(message_of(R"("bindings":[{"tensor":0,"size":1}])"), "p.json: bindings[0]: missing field 'alignment'");
  EXPECT_EQ(message_of(R"("bindings":[{"body":[0,0]}])"), "p.json: bindings[0]: unknown field 'body'");
  EXPECT_EQ(message_of(R"("copies":[{"tensor":0,"before":-2,"arena":0,"offset":0,"size":1}])"),
            "p.json: copies[0].before: must be an integer from -1 to 4294967295, not -2");
  EXPECT_EQ(message_of(R"("copies":[{"tensor":0,"before":0,"arena":0,"size":1}])"),
            "p.json: copies[0]: missing field 'offset'");
  EXPECT_EQ(message_of(R"("edges":[[1,2,3]])"), "p.json: edges[0]: must have 2 elements, not 3");
  EXPECT_EQ(message_of(R"("edges":[[1,-1]])"), "p.json: edges[0][1]: must be an integer from 0 to 4294967295, not -1");
}

TEST(PlanJson, MissingFieldsAreNamed) {
  EXPECT_EQ(message_of(R"("arenas":[{}])"), "p.json: arenas[0]: missing field 'size'");
  EXPECT_EQ(message_of(R"("placements":[{"tensor":1,"arena":0,"size":1}])"),
            "p.json: placements[0]: missing field 'offset'");
  EXPECT_EQ(message_of(R"("workspaces":[{"op":1,"arena":0,"offset":0,"size":1}])"),
            "p.json: workspaces[0]: missing field 'index'");
  EXPECT_EQ(message_of(R"("notes":[{"tensor":1}])"), "p.json: notes[0]: missing field 'reason'");
}

TEST(PlanJson, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(message_of(R"("arenas":[{"size":1,"regions":[-1]}])"),
            "p.json: arenas[0].regions[0]: must be an integer from 0 to 4611686018427387904, not -1");
  EXPECT_EQ(message_of(R"("placements":[{"tensor":4294967296,"arena":0,"offset":0,"size":1}])"),
            "p.json: placements[0].tensor: must be an integer from 0 to 4294967295, not 4294967296");
  EXPECT_EQ(message_of(R"("placements":[{"tensor":1,"arena":0,"offset":4611686018427387905,"size":1}])"),
            "p.json: placements[0].offset: must be an integer from 0 to 4611686018427387904, not 4611686018427387905");
  EXPECT_EQ(message_of(R"("placements":[{"tensor":1,"arena":0,"offset":0.5,"size":1}])"),
            "p.json: placements[0].offset: must be an integer from 0 to 4611686018427387904, not 0.5");
  EXPECT_EQ(message_of(R"("stats":[])"), "p.json: stats: must be an object, not array");
}

TEST(PlanJson, EveryTruncationIsAParseError) {
  const std::string_view text = kExampleText.substr(0, kExampleText.size() - 1);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(error_of(text.substr(0, length)).code, ErrorCode::parse);
}

}  // namespace
}  // namespace stowage
