#include "io/interface/tflm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/tflite/format.hpp"
#include "io/tflite/tflm_lives.hpp"
#include "io/tflite/tflm_planner.hpp"
#include "stowage/planner.hpp"
#include "support/tflite/model.hpp"

// The figures of models are those that TFLM's recording allocator reports; the arena is the smallest in which its
// interpreter starts (scripts/tflm_test.sh looks for it).
namespace stowage::io::tflite::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Need {
  std::int64_t head, tail, arena;
  friend bool operator==(const Need&, const Need&) = default;
};
void PrintTo(const Need& need, std::ostream* out) {  // NOLINT(readability-identifier-naming): gtest's name
  *out << need.head << " + " << need.tail << ", arena " << need.arena;
}

Need need_of(const TestModel& model, const Plan* plan = nullptr) {
  const std::string bytes = bytes_of(model);
  const Result<TflmNeed> need = tflm_need({bytes, "model.tflite"}, plan, {});
  EXPECT_TRUE(need) << to_string(need.error());
  return {need->head.value(), need->tail.value(), need->arena.value()};
}

std::string refusal(const TestModel& model) {
  const std::string bytes = bytes_of(model);
  const Result<TflmNeed> need = tflm_need({bytes, "model.tflite"}, nullptr, {});
  return need ? "none" : to_string(need.error());
}

Graph graph_of(const TestModel& model) {
  Result<Graph> graph = parse_tflite(bytes_of(model), "model.tflite");
  EXPECT_TRUE(graph) << to_string(graph.error());
  return std::move(graph).value();
}

Plan plan_of(const TestModel& model) {
  Result<Planned> planned = plan(graph_of(model), {.time_limit = std::nullopt});
  EXPECT_TRUE(planned) << to_string(planned.error());
  return *planned->plan;
}

TestTensor quantized(const char* name, Shape shape, std::vector<std::uint8_t> data = {}) {
  return {.name = name, .shape = std::move(shape), .data = std::move(data), .channels = 1};
}

/// What the interpreter says of tflite-micro's leaky_relu0.
TestModel leaky_relu() {
  return {.subgraphs = {{.tensors = {quantized("x", {1, 1, 80, 64}), quantized("y", {1, 1, 80, 64})},
                         .ops = {{kLeakyRelu, {0}, {1}}},
                         .inputs = {0},
                         .outputs = {1}}}};
}

/// Three layers of 16, 16 and 1 numbers, as in its hello_world_int8.
TestModel hello_world() {
  const auto weights = [](const char* name, Shape shape) {
    TestTensor tensor = quantized(name, std::move(shape), {1});
    return tensor;
  };
  return {.subgraphs = {
              {.tensors = {quantized("x", {1, 1}), weights("b0", {16}), weights("w0", {16, 1}), weights("b1", {16}),
                           weights("w1", {16, 16}), weights("b2", {1}), weights("w2", {1, 16}),
                           quantized("h0", {1, 16}), quantized("h1", {1, 16}), quantized("y", {1, 1})},
               .ops = {{kFullyConnected, {0, 2, 1}, {7}},
                       {kFullyConnected, {7, 4, 3}, {8}},
                       {kFullyConnected, {8, 6, 5}, {9}}},
               .inputs = {0},
               .outputs = {9}}}};
}

/// Two layers with scratch buffers of 128 and 64 bytes, as the SVDFs of its keyword_scrambled_8bit.
TestModel scratch_model() {
  const auto state = [](const char* name) {
    return TestTensor{.name = name, .shape = Shape{1, 128}, .variable = true, .channels = 1};
  };
  return {
      .subgraphs = {{.tensors = {quantized("x", {1, 16}), quantized("f0", {32, 16}, {1}), quantized("t0", {32, 4}, {1}),
                                 state("s0"), quantized("h", {1, 16}), quantized("f1", {32, 16}, {1}),
                                 quantized("t1", {32, 4}, {1}), state("s1"), quantized("y", {1, 16})},
                     .ops = {{kSvdf, {0, 1, 2, -1, 3}, {4}}, {kSvdf, {4, 5, 6, -1, 7}, {8}}},
                     .inputs = {0},
                     .outputs = {8}}}};
}

// ------------------------------------------------------------------------------------------------------------ planner

TEST(TflmPlanner, PlacesTheLargestFirstAndOfEqualOnesTheLast) {
  const TflmBuffer small{.size = 16, .first = 0, .last = 1};
  const TflmBuffer large{.size = 64, .first = 1, .last = 2};
  EXPECT_EQ(tflm_head(std::vector<TflmBuffer>{small, large}), 80);
  EXPECT_EQ(tflm_head(std::vector<TflmBuffer>{small, {.size = 64, .first = 2, .last = 2}}), 64)
      << "never at the same time";
  EXPECT_EQ(tflm_head(std::vector<TflmBuffer>{}), 0);
}

TEST(TflmPlanner, FillsTheGapsBetweenWhatHasAnOffset) {
  const TflmBuffer low{.size = 16, .first = 0, .last = 9, .offset = 0};
  const TflmBuffer high{.size = 16, .first = 0, .last = 9, .offset = 64};
  const auto with = [&](std::int64_t size) {
    return tflm_head(std::vector<TflmBuffer>{low, high, {.size = size, .first = 3, .last = 3}});
  };
  EXPECT_EQ(with(48), 80) << "between them";
  EXPECT_EQ(with(64), 144) << "behind them";
}

TEST(TflmPlanner, BuffersThatNobodyNeedsStillTakeRoomBesideEachOther) {
  EXPECT_EQ(tflm_head(std::vector<TflmBuffer>{TflmBuffer{.size = 16}, TflmBuffer{.size = 32}}), 48);
}

TEST(TflmLives, ALoopsSubgraphsCountWithinItsOwnSteps) {
  const std::string bytes = bytes_of(loop_model());
  const Result<File> file = File::open(bytes, "loop");
  ASSERT_TRUE(file);
  const Result<ModelInfo> model = read_model(*file);
  ASSERT_TRUE(model);
  const TflmLives lives = tflm_lives(*model);
  // Step 1 is the WHILE, 2 begins its condition (3: LESS), 4 its body (5, 6, 7).
  EXPECT_EQ(lives.tensors[0][1].first, 0) << "x, an input";
  EXPECT_EQ(lives.tensors[0][1].last, 7);
  EXPECT_EQ(lives.tensors[0][3].first, 1) << "y, its result";
  EXPECT_EQ(lives.tensors[1][3].first, 3) << "the condition's result";
  EXPECT_EQ(lives.tensors[2][2].first, 5);
  EXPECT_EQ(lives.tensors[2][2].last, 6);
  EXPECT_EQ(lives.operators[0][0].first, 1);
  EXPECT_EQ(lives.operators[0][0].last, 7);
}

// --------------------------------------------------------------------------------------------------------------- need

TEST(TflmNeed, IsWhatTheInterpreterReports) {
  EXPECT_EQ(need_of(leaky_relu()), (Need{10240, 864, 11104}));
  EXPECT_EQ(need_of(hello_world()), (Need{32, 1472, 1936})) << "to plan takes more than to run";
}

TEST(TflmNeed, WithAPlanTheHeadIsThatOfThePlan) {
  const Plan plan = plan_of(leaky_relu());
  EXPECT_EQ(plan.peak(), Bytes(5120));
  EXPECT_EQ(need_of(leaky_relu(), &plan), (Need{5120, 864, 5984}));
}

TEST(TflmNeed, ScratchBuffersAreWorkspacesOfTheGraph) {
  const Graph graph = graph_of(scratch_model());
  ASSERT_THAT(graph.ops()[0].workspaces, SizeIs(2));
  EXPECT_EQ(graph.ops()[0].workspaces[0].size, Bytes(128));
  EXPECT_EQ(graph.ops()[0].workspaces[1].size, Bytes(64));
}

/// TFLM places scratch buffers around the tensors that have an offset. A plan that does not know of them can leave no
/// gap where they fit: four of tflite-micro's models needed more with our plan than without.
TEST(TflmNeed, APlanThatKnowsScratchBuffersNeedsNoMoreThanTflmsOwn) {
  const Plan plan = plan_of(scratch_model());
  EXPECT_EQ(plan.peak(), Bytes(224));
  EXPECT_EQ(need_of(scratch_model(), &plan).head, 224);
  EXPECT_GE(need_of(scratch_model()).head, 224);
}

TEST(TflmNeed, IsUnknownForKernelsAndTensorsThatWeDoNotKnow) {
  TestModel model = small_model();
  model.subgraphs[0].ops[1].code = kCustom;
  EXPECT_THAT(refusal(model), HasSubstr("what TFLM needs of its arena is not known: what its kernel for Mine takes"));
  model = leaky_relu();
  model.subgraphs[0].ops[0].code = kCustom;
  model.custom_name = "LEAKY_RELU";
  EXPECT_THAT(refusal(model), HasSubstr("its kernel for LEAKY_RELU")) << "someone's own";
  model = scratch_model();
  model.subgraphs[0].tensors[1].shape = Shape{};
  model.subgraphs[0].tensors[1].has_rank = true;
  EXPECT_THAT(refusal(model), HasSubstr("SVDF")) << "weights without dimensions";
}

// ---------------------------------------------------------------------------------------------------------------- npu

/// As Vela compiles a model: an NPU's op reads scratch memory that nobody writes, in which its input and output lie.
TestModel npu_model(std::vector<std::int32_t> offsets) {
  std::vector<std::int32_t> numbers{0, 1, static_cast<std::int32_t>(offsets.size())};
  numbers.insert(numbers.end(), offsets.begin(), offsets.end());
  return {.subgraphs = {{.tensors = {{.name = "y", .shape = Shape{2}},
                                     {.name = "commands", .shape = Shape{8}, .data = {1, 2, 3, 4, 5, 6, 7, 8}},
                                     {.name = "scratch", .shape = Shape{1024}},
                                     {.name = "scratch_fast", .shape = Shape{1024}},
                                     {.name = "x", .shape = Shape{64}}},
                         .ops = {{kCustom, {1, 2, 3, 4}, {0}}},
                         .inputs = {4},
                         .outputs = {0}}},
          .metadata = {{"OfflineMemoryAllocation", std::move(numbers)}},
          .custom_name = "ethos-u"};
}

TEST(NpuModels, KeepWhatLiesInTheirScratchMemoryWhereItWas) {
  const TestModel model = npu_model({0, -1, 0, 0, 512});
  const Graph graph = graph_of(model);
  EXPECT_EQ(graph.tensors()[4].view_of, (ViewOf{TensorId(2), Bytes(512)}));
  EXPECT_EQ(graph.tensors()[3].view_of, (ViewOf{TensorId(2), Bytes(0)}));
  const Plan plan = plan_of(model);
  EXPECT_EQ(plan.peak(), Bytes(1024));
  Bytes x(-1);
  for (const Placement& placement : plan.placements) {
    if (placement.tensor == TensorId(4)) x = placement.offset;
  }
  EXPECT_EQ(x, Bytes(512));
}

TEST(NpuModels, WithoutAPlanOfTheCompilerTheirScratchMemoryLiesByItself) {
  TestModel model = npu_model({0, -1, 0, 0, 512});
  model.metadata.clear();
  const Graph graph = graph_of(model);
  EXPECT_FALSE(graph.tensors()[4].view_of);
  EXPECT_TRUE(graph.tensors()[2].flags.has(TensorFlag::input));
  EXPECT_EQ(plan_of(model).peak(), Bytes(1024 + 1024 + 64 + 16));
}

TEST(NpuModels, OtherOperatorsThatReadWhatNobodyWritesAreRefused) {
  TestModel model = npu_model({0, -1, 0, 0, 512});
  model.custom_name = "someone's";
  const Result<Graph> graph = parse_tflite(bytes_of(model), "model.tflite");
  ASSERT_FALSE(graph);
  EXPECT_THAT(to_string(graph.error()), HasSubstr("before anything was written to it"));
}

}  // namespace
}  // namespace stowage::io::tflite::testing
