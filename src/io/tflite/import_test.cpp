#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/tflite/format.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/tflite/model.hpp"

namespace stowage::io::tflite::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph graph_of(const TestModel& model, const ImportOptions& options = {}) {
  Result<Graph> graph = parse_tflite(bytes_of(model), "dir/model.tflite.gz", options);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return std::move(graph).value();
}

std::string refusal(const TestModel& model, const ImportOptions& options = {}) {
  const Result<Graph> graph = parse_tflite(bytes_of(model), "model.tflite", options);
  return graph ? "none" : to_string(graph.error());
}

/// Plans to the end, verified.
Planned planned(const Graph& graph) {
  Result<Planned> result = plan(graph, {.time_limit = std::nullopt});
  EXPECT_TRUE(result) << to_string(result.error());
  EXPECT_THAT(verify(graph, *result->plan), IsEmpty());
  EXPECT_TRUE(result->plan->proven_optimal());
  return std::move(result).value();
}

// ---------------------------------------------------------------------------------------------------------- one graph

TEST(TfliteImport, TensorsAndOperatorsKeepTheirOrder) {
  const Graph graph = graph_of(small_model());
  EXPECT_EQ(graph.name(), "model");
  ASSERT_EQ(graph.tensors().size(), 3U);
  EXPECT_EQ(graph.tensors()[1].name, "y");
  EXPECT_EQ(graph.tensors()[1].size, Bytes(16));
  EXPECT_EQ(graph.tensors()[1].dtype, "i8");
  EXPECT_THAT(graph.tensors()[1].shape, ElementsAre(4, 4));
  EXPECT_TRUE(graph.tensors()[0].flags.has(TensorFlag::input));
  EXPECT_TRUE(graph.tensors()[2].flags.has(TensorFlag::output));
  ASSERT_EQ(graph.ops().size(), 2U);
  EXPECT_EQ(graph.ops()[1].kind, "NEG");
  EXPECT_EQ(graph.ops()[1].name, "z");
  EXPECT_EQ(graph.memories()[0].alignment, Bytes(16));
}

TEST(TfliteImport, ReshapesAreViewsAndElementWiseOperatorsMayOverwrite) {
  const Graph graph = graph_of(small_model());
  ASSERT_TRUE(graph.tensors()[1].view_of.has_value());
  EXPECT_EQ(graph.tensors()[1].view_of->tensor, TensorId(0));
  EXPECT_TRUE(graph.ops()[0].no_task);
  EXPECT_THAT(graph.ops()[1].in_place, ElementsAre(InPlacePair{0, 0}));
  EXPECT_EQ(planned(graph).plan->peak(), Bytes(16));
}

TEST(TfliteImport, OptionsTurnViewsAndPairsOff) {
  ImportOptions options;
  options.views = false;
  const Graph without_views = graph_of(small_model(), options);
  EXPECT_FALSE(without_views.tensors()[1].view_of.has_value());
  EXPECT_THAT(without_views.ops()[0].in_place, ElementsAre(InPlacePair{0, 0}));
  EXPECT_EQ(planned(without_views).plan->peak(), Bytes(16));
  options.in_place = false;
  options.alignment = Bytes(64);
  const Graph plain = graph_of(small_model(), options);
  EXPECT_THAT(plain.ops()[0].in_place, IsEmpty());
  EXPECT_THAT(plain.ops()[1].in_place, IsEmpty());
  EXPECT_EQ(planned(plain).plan->peak(), Bytes(128));
}

TEST(TfliteImport, AReshapedConstantOrVariableIsCopied) {
  TestModel model = small_model();
  model.subgraphs[0].inputs = {};
  model.subgraphs[0].tensors[0].data.assign(16, 1);
  EXPECT_FALSE(graph_of(model).tensors()[1].view_of.has_value());
  model.subgraphs[0].tensors[0] = {.name = "x", .variable = true};
  const Graph graph = graph_of(model);
  EXPECT_FALSE(graph.tensors()[1].view_of.has_value());
  EXPECT_TRUE(graph.tensors()[0].flags.has(TensorFlag::variable));
  EXPECT_THAT(graph.ops()[0].in_place, IsEmpty());
}

TEST(TfliteImport, OnlyAnInputOfTheOutputsShapeIsOverwritten) {
  TestModel model{.subgraphs = {{.tensors = {{.name = "wide"}, {.name = "one", .shape = Shape{1}}, {.name = "sum"}},
                                 .ops = {{kAdd, {0, 1}, {2}}},
                                 .inputs = {0, 1},
                                 .outputs = {2}}}};
  EXPECT_THAT(graph_of(model).ops()[0].in_place, ElementsAre(InPlacePair{0, 0}));
  model.subgraphs[0].ops[0].inputs = {1, 0};
  EXPECT_THAT(graph_of(model).ops()[0].in_place, ElementsAre(InPlacePair{0, 1}));
  model.subgraphs[0].ops[0].inputs = {0, 0};
  EXPECT_THAT(graph_of(model).ops()[0].in_place, ElementsAre(InPlacePair{0, 0}, InPlacePair{0, 1}));
  model.subgraphs[0].tensors[0] = {.name = "float", .type = kF32};
  EXPECT_THAT(graph_of(model).ops()[0].in_place, IsEmpty()) << "elements of another size";
}

TEST(TfliteImport, AnOmittedInputKeepsItsPosition) {
  const TestModel model{.subgraphs = {{.tensors = {{.name = "x"}, {.name = "w", .data = {1, 2, 3}}, {.name = "y"}},
                                       .ops = {{kSvdf, {0, -1, 1, -1}, {2}}},
                                       .inputs = {0},
                                       .outputs = {2}}}};
  const Graph graph = graph_of(model);
  EXPECT_THAT(graph.ops()[0].inputs, ElementsAre(TensorId(0), std::nullopt, TensorId(1), std::nullopt));
  EXPECT_TRUE(graph.tensors()[1].flags.has(TensorFlag::constant));
  EXPECT_EQ(graph.tensors()[1].size, Bytes(3)) << "what is stored counts";
}

TEST(TfliteImport, AVariableMayBeReadBeforeItIsWrittenAndLiesApart) {
  const TestModel model{.subgraphs = {{.tensors = {{.name = "x"}, {.name = "state", .variable = true}, {.name = "y"}},
                                       .ops = {{kSvdf, {0, 1}, {2}}},
                                       .inputs = {0},
                                       .outputs = {2}}}};
  const Plan plan = *planned(graph_of(model)).plan;
  ASSERT_EQ(plan.arenas.size(), 2U);
  EXPECT_EQ(plan.arenas[plan.placements[1].arena.index()].kind, ArenaKind::persistent);
}

TEST(TfliteImport, CustomOperatorsHaveTheirOwnNameAndNoPairs) {
  TestModel model = small_model();
  model.subgraphs[0].ops[1].code = kCustom;
  const Graph graph = graph_of(model);
  EXPECT_EQ(graph.ops()[1].kind, "Mine");
  EXPECT_THAT(graph.ops()[1].in_place, IsEmpty());
  model.subgraphs[0].ops[1].code = 3000;
  EXPECT_EQ(graph_of(model).ops()[1].kind, "OPERATOR_3000");
}

TEST(TfliteImport, ElementsSmallerThanAByteArePacked) {
  TestModel model = small_model();
  model.subgraphs[0].tensors[0] = {.name = "x", .shape = Shape{3, 3}, .type = kI4};
  model.subgraphs[0].tensors[1] = {.name = "y", .shape = Shape{9}, .type = kI4};
  const Graph graph = graph_of(model);
  EXPECT_EQ(graph.tensors()[0].size, Bytes(5));
  EXPECT_EQ(graph.tensors()[0].dtype, "i4");
}

// -------------------------------------------------------------------------------------------------------------- sizes

TEST(TfliteImport, DynamicTensorsAreRefusedByName) {
  TestModel model = small_model();
  model.subgraphs[0].tensors[1] = {.name = "unknown", .shape = Shape{-1, 4}};
  model.subgraphs[0].tensors[2] = {.name = "ranked", .shape = Shape{}, .signature = {-1, 3}};
  EXPECT_THAT(refusal(model),
              AllOf(HasSubstr("model.tflite: 2 tensors have no fixed size"),
                    HasSubstr("'unknown' (tensor 1 of subgraph 0, output of RESHAPE): its shape [-1, 4] has a dynamic"),
                    HasSubstr("'ranked' (tensor 2 of subgraph 0, output of NEG): it has no shape")));
  model = small_model();
  model.subgraphs[0].tensors[1].type = kString;
  EXPECT_THAT(refusal(model), HasSubstr("'y' (tensor 1 of subgraph 0, output of RESHAPE): elements of type string"));
}

TEST(TfliteImport, AtMostTenUnsizedTensorsAreNamed) {
  TestModel model = small_model();
  for (int i = 0; i < 12; ++i) {
    const auto next = static_cast<std::int32_t>(model.subgraphs[0].tensors.size());
    model.subgraphs[0].tensors.push_back({.name = "d" + std::to_string(i), .shape = std::nullopt});
    model.subgraphs[0].ops.push_back({kConv, {0}, {next}});
  }
  EXPECT_THAT(refusal(model),
              AllOf(HasSubstr("12 tensors"), HasSubstr("'d9'"), Not(HasSubstr("'d10'")), HasSubstr("; and 2 more")));
}

TEST(TfliteImport, AShapeBesideADynamicSignatureCounts) {
  TestModel model = small_model();
  model.subgraphs[0].tensors[0].signature = {-1};
  EXPECT_EQ(graph_of(model).tensors()[0].size, Bytes(16));
}

TEST(TfliteImport, AnEmptyShapeIsAScalarUnlessTheWriterKnewBetter) {
  TestModel model = small_model();
  model.subgraphs[0].tensors[0].shape = Shape{};
  model.subgraphs[0].tensors[1].shape = Shape{};
  EXPECT_EQ(graph_of(model).tensors()[0].size, Bytes(1));
  model.subgraphs[0].tensors[1].has_rank = true;
  EXPECT_THAT(refusal(model), HasSubstr("1 tensor has no fixed size, which a plan needs: 'x'"));
  model.subgraphs[0].tensors[0].has_rank = true;
  EXPECT_EQ(graph_of(model).tensors()[0].size, Bytes(1));
}

TEST(TfliteImport, WhatNobodyTouchesNeedsNoSize) {
  TestModel model = small_model();
  model.subgraphs[0].tensors.push_back({.name = "intermediate", .shape = std::nullopt});
  EXPECT_EQ(graph_of(model).tensors()[3].size, Bytes(0));
}

TEST(TfliteImport, SizesThatOverflowAreRefused) {
  TestModel model = small_model();
  model.subgraphs[0].tensors[0].shape = Shape{2000000000, 2000000000, 2000000000};
  EXPECT_THAT(refusal(model), HasSubstr("is larger than any memory"));
  model.subgraphs[0].tensors[0].shape = Shape{2000000000, 0, 2000000000, 2000000000};
  EXPECT_EQ(graph_of(model).tensors()[0].size, Bytes(0));
}

// ---------------------------------------------------------------------------------------------------------- malformed

TEST(TfliteImport, NumbersOutOfRangeAreRefusedWhereTheyStand) {
  TestModel model = small_model();
  model.subgraphs[0].ops[1].inputs = {3};
  EXPECT_THAT(refusal(model), HasSubstr("subgraphs[0].operators[1].inputs[0]: names tensor 3, but there are 3"));
  model.subgraphs[0].ops[1].inputs = {-2};
  EXPECT_THAT(refusal(model), HasSubstr("names tensor -2"));
  model = small_model();
  model.subgraphs[0].outputs = {-1};
  EXPECT_THAT(refusal(model), HasSubstr("subgraphs[0].outputs[0]: a required tensor is omitted"));
  model = small_model();
  model.subgraphs[0].tensors[1].buffer = 77;
  EXPECT_THAT(refusal(model),
              HasSubstr("subgraphs[0].tensors[1]: 'y' has its data in buffer 77, but there are 1 buffers"));
  model = branch_model();
  model.subgraphs[0].ops[0].options = If{1, 9};
  EXPECT_THAT(refusal(model), HasSubstr("subgraphs[0].operators[0]: IF runs subgraph 9, but there are 3"));
}

TEST(TfliteImport, OtherFilesAndVersionsAreRefused) {
  EXPECT_THAT(to_string(parse_tflite("", "empty").error()), HasSubstr("empty: not a TFLite model"));
  EXPECT_THAT(to_string(parse_tflite("{\"schema\": 1}", "json").error()), HasSubstr("not a TFLite model"));
  TestModel model = small_model();
  model.version = 2;
  EXPECT_THAT(refusal(model), HasSubstr("the model has version 2"));
  EXPECT_THAT(refusal({.subgraphs = {}}), HasSubstr("has no subgraph"));
}

TEST(TfliteImport, EveryTruncationIsAnErrorOrTheSameModel) {
  const std::string whole = bytes_of(loop_model());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<Graph> graph = parse_tflite(std::string_view(whole).substr(0, size), "cut.tflite");
    const std::string file = graph ? "cut.tflite" : graph.error().where.file;
    EXPECT_EQ(file, "cut.tflite");
  }
}

TEST(TfliteImport, BytesMayLieAnywhere) {
  const std::string whole = bytes_of(small_model());
  for (std::size_t shift = 0; shift < 16; ++shift) {
    const std::string shifted = std::string(shift, ' ') + whole;
    EXPECT_TRUE(parse_tflite(std::string_view(shifted).substr(shift), "shifted"));
  }
}

/// Tensors of one name have it once in the file.
TEST(TfliteImport, AFileThatUsesItsPartsOverAndOverIsRefused) {
  TestModel model = small_model();
  model.subgraphs[0].tensors.resize(3 + 64, {.name = std::string(1 << 14, 'n')});
  EXPECT_TRUE(parse_tflite(bytes_of(model), "a megabyte"));
  model.subgraphs[0].tensors.resize(3 + 2048, {.name = std::string(1 << 14, 'n')});
  const std::string often = bytes_of(model);
  EXPECT_LT(often.size(), std::size_t{1} << 18);
  EXPECT_THAT(to_string(parse_tflite(often, "32 megabytes").error()), HasSubstr("uses its own parts so often"));
}

// ------------------------------------------------------------------------------------------------------------- bodies

TEST(TfliteImport, BranchesShareTheMemoryOfTheirBodies) {
  const Graph graph = graph_of(branch_model());
  ASSERT_EQ(graph.scopes().size(), 3U);
  EXPECT_EQ(graph.ops()[0].control, Control::branch);
  const Planned result = planned(graph);
  EXPECT_EQ(result.plan->peak(), Bytes(144)) << "in or out, and the larger of both t";
  EXPECT_THAT(result.plan->copies, IsEmpty());
}

TEST(TfliteImport, AConstantArgumentIsCopiedIntoTheBody) {
  TestModel model = branch_model();
  model.subgraphs[0].inputs = {0};
  model.subgraphs[0].tensors[1].data.assign(16, 1);
  const Graph graph = graph_of(model);
  EXPECT_THAT(graph.scope(ScopeId(1)).inputs, IsEmpty());
  EXPECT_EQ(graph.op(graph.scope(ScopeId(1)).first_op).kind, "ARGUMENTS");
  const Plan plan = *planned(graph).plan;
  for (const Placement& placement : plan.placements) {
    const ArenaKind kind = plan.arenas[placement.arena.index()].kind;
    EXPECT_EQ(kind, placement.tensor == TensorId(1) ? ArenaKind::persistent : ArenaKind::shared);
  }
}

TEST(TfliteImport, ALoopRunsItsConditionThenATestThenItsBody) {
  const Graph graph = graph_of(loop_model());
  ASSERT_EQ(graph.scopes().size(), 2U);
  const Scope& scope = graph.scope(ScopeId(1));
  std::vector<std::string> kinds;
  for (std::size_t k = 0; k < scope.op_count; ++k) kinds.push_back(graph.op(OpId(scope.first_op.index() + k)).kind);
  EXPECT_THAT(kinds, ElementsAre("LESS", "WHILE_TEST", "CONV_2D", "CONV_2D", "ADD"));
  EXPECT_EQ(scope.tensor_count, 10U) << "those of the body and of the condition";
  EXPECT_EQ(scope.carried.size(), 2U);
  planned(graph);
}

/// What the loop gives out is what its last test has seen: the condition must not touch it though the body does not
/// read it.
TEST(TfliteImport, TheConditionLeavesTheResultAlone) {
  TestModel model = loop_model();
  TestSubgraph& cond = model.subgraphs[1];
  cond.tensors[3].shape = Shape{64};
  cond.tensors.push_back({.name = "flag", .shape = Shape{}, .type = kBool, .has_rank = true});
  cond.ops = {{kNeg, {1}, {3}}, {kConv, {3, 0, 2}, {4}}};  // NEG could overwrite v, if nobody needed it afterwards
  cond.outputs = {4};
  cond.tensors[3].type = kI8;
  model.subgraphs[2].ops[0].inputs = {0};  // the body does not read v
  const Graph graph = graph_of(model);
  const Plan plan = *planned(graph).plan;
  const auto offset_of = [&](std::size_t tensor) {
    for (const Placement& placement : plan.placements) {
      if (placement.tensor.index() == graph.scope(ScopeId(1)).first_tensor.index() + tensor) return placement.offset;
    }
    return Bytes(-1);
  };
  EXPECT_NE(offset_of(1), offset_of(6 + 3));
  EXPECT_EQ(offset_of(1), offset_of(6 + 1)) << "the condition reads v where the body has it";
}

TEST(TfliteImport, ALoopMayPassItsArgumentsOnAndExchangeThem) {
  TestModel model = loop_model();
  model.subgraphs[2].outputs = {4, 1};  // v as it is
  planned(graph_of(model));
  TestSubgraph& body = model.subgraphs[2];
  for (TestSubgraph& subgraph : model.subgraphs) {
    for (TestTensor& tensor : subgraph.tensors) {
      if (tensor.name == "i" || tensor.name == "limit" || tensor.name == "x" || tensor.name == "y" ||
          tensor.name == "v")
        tensor.shape = Shape{64};
      if (tensor.name == "i" || tensor.name == "limit") tensor.type = kI8;
    }
  }
  body.outputs = {1, 0};
  const Graph graph = graph_of(model);
  const Scope& scope = graph.scope(ScopeId(1));
  EXPECT_EQ(graph.op(OpId(scope.first_op.index() + scope.op_count - 1)).kind, "COPY");
  planned(graph);
}

TEST(TfliteImport, CallsOnceAndCompositesAreCalls) {
  const TestModel model{
      .subgraphs = {
          {.tensors = {{.name = "x"}, {.name = "y"}},
           .ops = {{kCallOnce, {}, {}, CallOnce{1}}, {kComposite, {0}, {1}, Composite{2}}},
           .inputs = {0},
           .outputs = {1}},
          {.tensors = {{.name = "handle", .shape = std::nullopt, .type = kResource}},
           .ops = {{kVarHandle, {}, {0}}},
           .inputs = {},
           .outputs = {}},
          {.tensors = {{.name = "a"}, {.name = "b"}}, .ops = {{kNeg, {0}, {1}}}, .inputs = {0}, .outputs = {1}}}};
  const Graph graph = graph_of(model);
  EXPECT_EQ(graph.ops()[0].control, Control::call);
  EXPECT_EQ(graph.ops()[1].control, Control::call);
  EXPECT_EQ(graph.tensor(graph.scope(ScopeId(1)).first_tensor).size, Bytes(4));
  planned(graph);
}

TEST(TfliteImport, SubgraphsThatRunThemselvesAreRefused) {
  TestModel model = branch_model();
  model.subgraphs[1].tensors.push_back({.name = "flag", .shape = Shape{1}, .type = kBool});
  model.subgraphs[1].ops.push_back({kIf, {3, 0}, {2}, If{1, 2}});
  EXPECT_THAT(refusal(model), HasSubstr("subgraphs[1].operators[2]: IF runs subgraph 1, which is already running"));
}

TEST(TfliteImport, ArgumentsMustFitTheSubgraph) {
  TestModel model = branch_model();
  model.subgraphs[0].ops[0].inputs = {0, 1, 1};
  EXPECT_THAT(refusal(model),
              HasSubstr("IF has 3 inputs and 1 outputs, which do not fit subgraph 1 with 1 inputs and 1 outputs"));
  model = branch_model();
  model.subgraphs[0].ops[0].inputs = {0, -1};
  EXPECT_THAT(refusal(model), HasSubstr("omits an input"));
  model = branch_model();
  model.subgraphs[2].tensors[2].shape = Shape{17};
  EXPECT_THAT(refusal(model), HasSubstr("has 17 bytes"));
  model = branch_model();
  model.subgraphs[1].ops[1].outputs = {0};
  EXPECT_THAT(refusal(model), HasSubstr("runs subgraph 1, where CONV_2D writes an argument"));
}

/// Subgraph k runs subgraph k + 1 in both branches: 2^30 bodies.
TEST(TfliteImport, SubgraphsThatRunTooOftenOrTooDeepAreRefused) {
  for (const std::int32_t depth : {30, 80}) {
    TestModel model;
    for (std::int32_t k = 0; k < depth; ++k) {
      model.subgraphs.push_back({.tensors = {{.name = "c", .shape = Shape{1}, .type = kBool},
                                             {.name = "y", .shape = Shape{1}, .type = kBool}},
                                 .ops = {{kIf, {0, 0}, {1}, If{k + 1, depth == 30 ? k + 1 : depth}}},
                                 .inputs = {0},
                                 .outputs = {1}});
    }
    model.subgraphs.push_back(
        {.tensors = {{.name = "c", .shape = Shape{1}, .type = kBool}, {.name = "y", .shape = Shape{1}, .type = kBool}},
         .ops = {{kNeg, {0}, {1}}},
         .inputs = {0},
         .outputs = {1}});
    EXPECT_THAT(refusal(model),
                depth == 30 ? HasSubstr("many times larger than the model") : HasSubstr("nested more than 64 deep"));
  }
}

}  // namespace
}  // namespace stowage::io::tflite::testing
