#include "io/interface/tflite_plan.hpp"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/tflite/format.hpp"
#include "io/tflite/metadata.hpp"
#include "stowage/planner.hpp"
#include "stowage/report/export.hpp"
#include "stowage/verify.hpp"
#include "support/tflite/model.hpp"

namespace stowage::io::tflite::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Numbers = std::vector<std::int32_t>;

Plan plan_of(const std::string& model, const ImportOptions& options = {}) {
  const Result<Graph> graph = parse_tflite(model, "model.tflite", options);
  EXPECT_TRUE(graph) << to_string(graph.error());
  Result<Planned> planned = plan(*graph, {.time_limit = std::nullopt});
  EXPECT_TRUE(planned) << to_string(planned.error());
  return *planned->plan;
}

std::string copy_of(const std::string& model, const ImportOptions& options = {}) {
  Result<std::string> copy = tflite_with_plan({model, "model.tflite"}, plan_of(model, options), options);
  EXPECT_TRUE(copy) << to_string(copy.error());
  return std::move(copy).value();
}

std::string refusal(const TestModel& model, const ImportOptions& options = {}) {
  const std::string bytes = bytes_of(model);
  const Result<std::string> copy = tflite_with_plan({bytes, "model.tflite"}, plan_of(bytes, options), options);
  return copy ? "none" : to_string(copy.error());
}

OfflinePlan offline_plan(const std::string& copy) {
  const Result<File> file = File::open(copy, "copy.tflite");
  EXPECT_TRUE(file);
  const Result<ModelInfo> model = read_model(*file);
  EXPECT_TRUE(model);
  Result<OfflinePlan> offline = read_plan(*file, *model);
  EXPECT_TRUE(offline) << to_string(offline.error());
  return std::move(offline).value();
}

/// A model with the metadata that says so.
std::string with_numbers(TestModel model, Numbers numbers, Numbers arena = {}) {
  model.metadata.push_back({std::string(kPlanEntry), std::move(numbers)});
  if (!arena.empty()) model.metadata.push_back({std::string(kArenaEntry), std::move(arena)});
  return bytes_of(model);
}

std::vector<Finding> findings(const TestModel& model, const std::string& copy) {
  const std::string bytes = bytes_of(model);
  const Result<PlannedModel> planned = parse_tflite_plan({bytes, "model.tflite"}, {copy, "copy.tflite"});
  EXPECT_TRUE(planned) << to_string(planned.error());
  return verify(planned->graph, planned->plan);
}

std::string error_of(const TestModel& model, const std::string& copy) {
  const std::string bytes = bytes_of(model);
  const Result<PlannedModel> planned = parse_tflite_plan({bytes, "model.tflite"}, {copy, "copy.tflite"});
  return planned ? "none" : to_string(planned.error());
}

auto breaks(Rule rule, const std::string& text) {
  return AllOf(Field(&Finding::rule, rule), Field(&Finding::message, HasSubstr(text)));
}

/// x and y are live together, then y and z; all of 16 bytes.
TestModel chain() {
  return {.subgraphs = {{.tensors = {{.name = "x"}, {.name = "w", .data = {1}}, {.name = "y"}, {.name = "z"}},
                         .ops = {{kConv, {0, 1}, {2}}, {kConv, {2}, {3}}},
                         .inputs = {0},
                         .outputs = {3}}}};
}

// ------------------------------------------------------------------------------------------------------------ writing

TEST(TflitePlan, ConstantsAndVariablesHaveNoOffset) {
  TestModel model = chain();
  model.subgraphs[0].tensors[1] = {.name = "state", .variable = true};
  for (const TestModel& each : {chain(), model}) {
    const OfflinePlan offline = offline_plan(copy_of(bytes_of(each)));
    ASSERT_EQ(offline.offsets.size(), 1U);
    EXPECT_THAT(offline.offsets[0], ElementsAre(16, -1, 0, 16));
    EXPECT_EQ(offline.arena, Bytes(32));
  }
}

/// The same of operators whose kernels we know.
TestModel known_chain() {
  TestModel model = chain();
  model.subgraphs[0].ops = {{kFullyConnected, {0, 1}, {2}}, {kFullyConnected, {2, 1}, {3}}};
  return model;
}

/// TFLM has scratch buffers that we may not know of, and rounds differently: what counts is the head that it ends with.
TEST(TflitePlan, APlanWithWhichTflmWouldNeedMoreIsLeftToItsOwnPlanner) {
  const std::string bytes = bytes_of(known_chain());
  const Plan plan = plan_of(bytes);
  Plan higher = plan;
  for (Arena& arena : higher.arenas) {
    if (arena.kind != ArenaKind::shared) continue;
    arena.size += Bytes(160);
    arena.regions[0] += Bytes(160);
  }
  for (Placement& placement : higher.placements) {
    if (higher.arenas[placement.arena.index()].kind == ArenaKind::shared) placement.offset += Bytes(160);
  }
  const ModelFile model{bytes, "model.tflite"};
  EXPECT_EQ(tflm_memory(model, higher)->head, Bytes(192));
  EXPECT_EQ(tflm_memory(model, higher)->own_head, Bytes(32));
  EXPECT_THAT(offline_plan(*tflite_with_plan(model, higher)).offsets[0], ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(offline_plan(*tflite_with_plan(model, plan)).offsets[0], ElementsAre(16, -1, 0, 16));
}

TEST(TflitePlan, TheHeaderHasTheArenaOfTflmAndThePlannedPart) {
  const std::string bytes = bytes_of(known_chain());
  const Plan plan = plan_of(bytes);
  const Graph graph = *parse_tflite(bytes, "model.tflite");
  const TflmMemory memory = *tflm_memory({bytes, "model.tflite"}, plan);
  const std::string header = *tflite_plan_to_header({bytes, "model.tflite"}, graph, plan, {}, "net");
  EXPECT_THAT(header, AllOf(HasSubstr("#define NET_PLANNED_SIZE 32\n"), HasSubstr("#define NET_TFLM_HEAD_SIZE 32\n"),
                            HasSubstr("#define NET_TFLM_TAIL_SIZE " + std::to_string(memory.tail.value()) + "\n"),
                            HasSubstr("#define NET_ARENA_SIZE " + std::to_string(memory.arena.value()) + "\n"),
                            HasSubstr(std::string(tflm_version()))));
  EXPECT_GE(memory.arena, memory.head + memory.tail);
}

TEST(TflitePlan, TheHeaderHasNoArenaIfTflmsNeedIsNotKnown) {
  TestModel model = known_chain();
  model.subgraphs[0].ops[0].code = kCustom;
  const std::string bytes = bytes_of(model);
  const Graph graph = *parse_tflite(bytes, "model.tflite");
  const std::string header = *tflite_plan_to_header({bytes, "model.tflite"}, graph, plan_of(bytes), {}, "net");
  EXPECT_THAT(header, AllOf(HasSubstr("#define NET_PLANNED_SIZE 32\n"),
                            HasSubstr("/* No size of TFLM's arena: what TFLM needs of its arena is not known: what its "
                                      "kernel for Mine takes. Take it from TFLM. */\n"),
                            Not(HasSubstr("ARENA_SIZE"))));
}

/// Vela writes version 0; the offsets of its tensors in the NPU's scratch memory are part of the model.
TEST(TflitePlan, ACopyOfAnNpusModelKeepsWhatTheCompilerPlaced) {
  const TestModel model{
      .subgraphs = {{.tensors = {{.name = "y", .shape = Shape{2}},
                                 {.name = "commands", .shape = Shape{8}, .data = {1, 2, 3, 4, 5, 6, 7, 8}},
                                 {.name = "scratch", .shape = Shape{1024}},
                                 {.name = "x", .shape = Shape{64}}},
                     .ops = {{kCustom, {1, 2, 3}, {0}}},
                     .inputs = {3},
                     .outputs = {0}}},
      .metadata = {{"OfflineMemoryAllocation", {0, 1, 4, 0, -1, 0, 512}}},
      .custom_name = "ethos-u"};
  const std::string copy = copy_of(bytes_of(model));
  EXPECT_THAT(offline_plan(copy).offsets[0], ElementsAre(0, -1, 0, 512));
  EXPECT_THAT(findings(model, copy), IsEmpty());
  EXPECT_EQ(copy_of(copy), copy);
  TestModel moved = model;
  moved.metadata.clear();
  EXPECT_THAT(findings(model, with_numbers(moved, {1, 1, 4, 0, -1, 0, 512})), IsEmpty());
  EXPECT_THAT(findings(model, with_numbers(moved, {1, 1, 4, 0, -1, 0, 256})), Not(IsEmpty()));
}

TEST(TflitePlan, WhatIsAViewHasTheOffsetOfItsBase) {
  const OfflinePlan offline = offline_plan(copy_of(bytes_of(small_model())));
  EXPECT_THAT(offline.offsets[0], ElementsAre(0, 0, 0)) << "a reshape in place, and a negation over it";
}

TEST(TflitePlan, EveryByteOfTheModelIsInTheCopyAtTheSameAlignment) {
  TestModel model = chain();
  model.metadata.push_back({"min_runtime_version", {1, 5, 0}});
  const std::string bytes = bytes_of(model);
  const std::string copy = copy_of(bytes);
  const std::size_t position = copy.find(bytes);
  ASSERT_NE(position, std::string::npos);
  EXPECT_EQ(position % 64, 0U);
  EXPECT_LT(copy.size(), bytes.size() + 512);
  EXPECT_NE(copy.find("min_runtime_version"), std::string::npos);
}

TEST(TflitePlan, ACopyIsTheSameGraph) {
  for (const TestModel& model : {chain(), small_model(), loop_model(), branch_model()}) {
    const std::string bytes = bytes_of(model);
    const std::string copy = copy_of(bytes);
    EXPECT_EQ(parse_tflite(bytes, "model")->description(), parse_tflite(copy, "model")->description());
    EXPECT_THAT(findings(model, copy), IsEmpty());
  }
}

TEST(TflitePlan, AnEntryThatIsThereIsReplaced) {
  TestModel model = chain();
  const std::string stale = with_numbers(model, {1, 1, 4, 0, -1, 0, 0});
  const std::string again = copy_of(stale);
  EXPECT_THAT(offline_plan(again).offsets[0], ElementsAre(16, -1, 0, 16));
  EXPECT_EQ(copy_of(again), again) << "planning a copy again changes nothing";
  const std::string other_length = with_numbers(model, {1, 1, 1, 0});
  EXPECT_THAT(offline_plan(copy_of(other_length)).offsets[0], ElementsAre(16, -1, 0, 16));
}

TEST(TflitePlan, DataThatTensorsUseIsNotOverwritten) {
  TestModel model = chain();
  model.subgraphs[0].tensors[1].data = {};
  model.subgraphs[0].tensors[1].buffer = 1;  // which is the metadata's
  const std::string stale = with_numbers(model, {1, 1, 4, 9, 9, 9, 9}, {64, 16});
  const std::string copy = copy_of(stale);
  EXPECT_NE(copy.find(stale), std::string::npos);
  EXPECT_THAT(offline_plan(copy).offsets[0], ElementsAre(16, -1, 0, 16));
}

TEST(TflitePlan, DataBehindTheFlatbufferIsStillFound) {
  TestModel model = chain();
  model.file_offset = 4096;
  const std::string bytes = bytes_of(model);
  const std::string copy = copy_of(bytes);
  const std::uint64_t moved = 4096 + copy.size() - (bytes.size() + 63) / 64 * 64;
  const std::string needle(reinterpret_cast<const char*>(&moved), sizeof moved);
  EXPECT_EQ(copy.find(bytes), std::string::npos);
  EXPECT_NE(copy.find(needle), std::string::npos);
}

TEST(TflitePlan, AFieldThatNobodyKnowsIsNotLost) {
  TestModel model = chain();
  model.future_field = true;
  EXPECT_THAT(refusal(model), HasSubstr("has a field 20 that this version does not know"));
}

TEST(TflitePlan, WhatTflmCannotRunIsRefused) {
  TestModel packed = chain();
  packed.subgraphs[0].tensors[2].type = kI4;
  EXPECT_THAT(refusal(packed), HasSubstr("'y' (tensor 2 of subgraph 0) has elements smaller than a byte"));

  TestModel twice = branch_model();
  twice.subgraphs[0].tensors.push_back({.name = "z"});
  twice.subgraphs[0].tensors.push_back({.name = "big", .shape = Shape{4096}});
  twice.subgraphs[0].tensors.push_back({.name = "u"});
  twice.subgraphs[0].ops = {
      {kIf, {0, 1}, {2}, If{1, 1}}, {kConv, {2}, {4}}, {kIf, {0, 2}, {3}, If{2, 1}}, {kConv, {4, 3}, {5}}};
  twice.subgraphs[0].outputs = {5};
  EXPECT_THAT(refusal(twice), HasSubstr("would have two places, because its subgraph is run by several operators"));

  TestModel variable = branch_model();
  variable.subgraphs[1].tensors.insert(variable.subgraphs[1].tensors.begin(), {.name = "state", .variable = true});
  variable.subgraphs[1].ops = {{kSvdf, {1, 0}, {2}}, {kConv, {2}, {3}}};
  variable.subgraphs[1].inputs = {1};
  variable.subgraphs[1].outputs = {3};
  EXPECT_THAT(refusal(variable), HasSubstr("leave the variable 'state' (tensor 0 of subgraph 1) without memory"));
}

TEST(TflitePlan, ALoopThatExchangesItsArgumentsIsRefused) {
  TestModel model{
      .subgraphs = {{.tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}},
                     .ops = {{kWhile, {0, 1}, {2, 3}, While{1, 2}}},
                     .inputs = {0, 1},
                     .outputs = {2, 3}},
                    {.tensors = {{.name = "a"}, {.name = "b"}, {.name = "again", .shape = Shape{1}, .type = kBool}},
                     .ops = {{kConv, {0}, {2}}},
                     .inputs = {0, 1},
                     .outputs = {2}},
                    {.tensors = {{.name = "a"}, {.name = "b"}}, .ops = {}, .inputs = {0, 1}, .outputs = {1, 0}}}};
  EXPECT_THAT(refusal(model), HasSubstr("TFLM cannot run with this plan"));
}

// ------------------------------------------------------------------------------------------------------------ reading

TEST(TflitePlan, OffsetsThatCollideAreFound) {
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 16, 0})), IsEmpty());
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 0, 16})),
              Contains(breaks(Rule::overlap, "'y'")));
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 8, 32})),
              Contains(breaks(Rule::alignment, "'y'")));
}

TEST(TflitePlan, OffsetsBeyondTheArenaAreFound) {
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 16, 32}, {32, 16})),
              Contains(breaks(Rule::bounds, "'z'")));
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 16, 32})), IsEmpty())
      << "a larger arena, if nothing else is said";
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, 16, 0x7fffff00})),
              Contains(breaks(Rule::bounds, "'z'")))
      << "but none that is larger than all tensors";
}

TEST(TflitePlan, ConstantsAndVariablesInTheArenaAreFound) {
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, 32, 16, 0})), Contains(breaks(Rule::arena, "'w'")));
  TestModel model = chain();
  model.subgraphs[0].tensors[1] = {.name = "state", .variable = true};
  EXPECT_THAT(findings(model, with_numbers(model, {1, 1, 4, 0, 32, 16, 0})), Contains(breaks(Rule::arena, "'state'")));
}

TEST(TflitePlan, WhatIsPlacedAtRunTimeIsLeftOut) {
  EXPECT_THAT(findings(chain(), with_numbers(chain(), {1, 1, 4, 0, -1, -1, 0})), IsEmpty());
}

TEST(TflitePlan, AReshapeMayCopyOrNot) {
  // x is read again after the reshape: equal addresses are fine, partial overlap is not.
  TestModel model = small_model();
  model.subgraphs[0].ops = {{kReshape, {0}, {1}}, {kConv, {0, 1}, {2}}};
  EXPECT_THAT(findings(model, with_numbers(model, {1, 1, 3, 0, 0, 16})), IsEmpty());
  EXPECT_THAT(findings(model, with_numbers(model, {1, 1, 3, 0, 16, 32})), IsEmpty());
  EXPECT_THAT(findings(model, with_numbers(model, {1, 1, 3, 0, 16, 0})), Contains(breaks(Rule::overlap, "'z'")));
}

TEST(TflitePlan, ArgumentsMayBeCopiedIntoABranchOrLieThere) {
  const TestModel model = branch_model();  // c x y | in t out | in t out
  EXPECT_THAT(findings(model, with_numbers(model, {1, 3, 9, 0, 16, 16, 16, 32, 16, 16, 32, 16})), IsEmpty());
  EXPECT_THAT(findings(model, with_numbers(model, {1, 3, 9, 0, 16, 176, 160, 32, 16, 160, 32, 16})), IsEmpty());
  EXPECT_THAT(findings(model, with_numbers(model, {1, 3, 9, 0, 16, 176, 160, 32, 48, 160, 32, 16})),
              Contains(breaks(Rule::overlap, "'out'")));
}

TEST(TflitePlan, ALoopKeepsItsResultsWhereItsArgumentsAre) {
  const TestModel model = loop_model();  // i x i y | i v limit again | i v t limit i w
  const Numbers good = {1, 3, 14, 0, 16, 0, 16, 0, 16, -1, 80, 0, 16, 80, -1, 0, 16};
  EXPECT_THAT(findings(model, with_numbers(model, good)), IsEmpty());
  Numbers clobbered = good;
  clobbered[3 + 7] = 16;  // the condition's result over v
  EXPECT_THAT(findings(model, with_numbers(model, clobbered)), Contains(breaks(Rule::overlap, "")));
  Numbers apart = good;
  apart[3 + 3] = 512;  // y away from the body's v
  EXPECT_THAT(findings(model, with_numbers(model, apart)), Contains(breaks(Rule::layout, "'y'")));
}

TEST(TflitePlan, APlanOfAnotherModelOrVersionIsAnError) {
  const TestModel model = chain();
  EXPECT_THAT(error_of(model, bytes_of(model)),
              HasSubstr("copy.tflite: OfflineMemoryAllocation: the model has no metadata of this name"));
  EXPECT_THAT(error_of(model, with_numbers(model, {2, 1, 4, 0, -1, 16, 0})),
              HasSubstr("has version 2, but only 0 and 1 are supported"));
  EXPECT_THAT(error_of(model, with_numbers(model, {1, 2, 4, 0, -1, 16, 0})),
              HasSubstr("is for 2 subgraphs, but the model has 1"));
  EXPECT_THAT(error_of(model, with_numbers(model, {1, 1, 5, 0, -1, 16, 0, 0})),
              HasSubstr("is for 5 tensors, but the model has 4"));
  EXPECT_THAT(error_of(model, with_numbers(model, {1, 1, 4, 0, -1, 16})),
              HasSubstr("says that it has 4 offsets, but has 3"));
  EXPECT_THAT(error_of(model, with_numbers(model, {1, 1})), HasSubstr("fewer than its own header"));
  EXPECT_THAT(error_of(model, with_numbers(model, {1, 1, 4, 0, -1, -7, 0})), HasSubstr("has -7 for 'y'"));
  TestModel twice = model;
  twice.metadata.push_back({std::string(kPlanEntry), {1}});
  EXPECT_THAT(error_of(model, with_numbers(twice, {1, 1, 4, 0, -1, 16, 0})), HasSubstr("occurs twice"));
}

// ------------------------------------------------------------------------------------------------------------ damaged

/// Reads, plans, writes, and reads the plan: each step may fail, with an error that names the file.
void go_through(const std::string& bytes) {
  const Result<PlannedModel> judged = parse_tflite_plan({bytes, "model"}, {bytes, "model"});
  if (judged) static_cast<void>(verify(judged->graph, judged->plan));
  const Result<Graph> graph = parse_tflite(bytes, "model");
  if (!graph) {
    ASSERT_EQ(graph.error().where.file, "model");
    return;
  }
  const Result<Planned> planned = plan(*graph, {.time_limit = std::nullopt, .node_budget = 100});
  ASSERT_TRUE(planned);
  const Result<std::string> copy = tflite_with_plan({bytes, "model"}, *planned->plan);
  if (copy) {
    ASSERT_TRUE(parse_tflite_plan({bytes, "model"}, {*copy, "copy"}));
  } else {
    ASSERT_EQ(copy.error().where.file, "model");
  }
}

TEST(TflitePlan, AnyByteOfAFileMayBeWrong) {
  const std::string whole = copy_of(bytes_of(loop_model()));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0x01, 0xff}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      go_through(changed);
      if (HasFatalFailure()) FAIL() << "byte " << i << " set to " << value;
    }
  }
}

}  // namespace
}  // namespace stowage::io::tflite::testing
