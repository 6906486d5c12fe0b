#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/interface/sim_device.hpp"
#include "stowage/alloc.hpp"
#include "stowage/planner.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kGpu0 = 0;
constexpr std::size_t kGpu1 = 1;
constexpr std::size_t kCpu = 2;

Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}
Tensor view(std::string name, std::int64_t size, std::size_t base, std::int64_t offset) {
  return {.name = std::move(name), .size = Bytes(size), .view_of = ViewOf{TensorId(base), Bytes(offset)}};
}
Op op(std::string kind, std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
  Op result{.name = kind, .kind = kind};
  for (const std::size_t input : inputs) result.inputs.push_back(TensorId(input));
  for (const std::size_t output : outputs) result.outputs.push_back(TensorId(output));
  return result;
}
/// A no_task op.
Op shape(std::vector<std::size_t> inputs, std::size_t output) {
  Op result = op("SHAPE", std::move(inputs), {output});
  result.no_task = true;
  return result;
}
Graph built(std::vector<Tensor> tensors, std::vector<Op> ops) {
  Result<Graph> graph =
      Graph::build({.name = "test", .memories = {}, .tensors = std::move(tensors), .ops = std::move(ops)});
  EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
  return std::move(graph).value();
}

/// Two devices and the CPU, in this order. The last letter of an op's kind says where it can run: 0, 1, c, or anywhere.
class PartitionTest : public ::testing::Test {
 protected:
  static bool supports(std::size_t backend, const Graph& graph, OpId id) {
    const char last = graph.op(id).kind.back();
    return (last != '0' && last != '1' && last != 'c') || last == "01c"[backend];
  }

  std::vector<Backend> backends() {
    std::vector<Backend> result;
    for (const std::size_t i : {kGpu0, kGpu1, kCpu}) {
      Device& device = i == kCpu ? cpu_device() : static_cast<Device&>(i == kGpu0 ? *gpu0_ : *gpu1_);
      result.push_back({.name = std::string(device.name()),
                        .memory = &device.buffer_type(),
                        .device = &device,
                        .supports = [i](const Graph& graph, OpId id) { return supports(i, graph, id); }});
    }
    return result;
  }

  Partition parted(const Graph& graph, const PartitionOptions& options = {}) {
    Result<Partition> result = partition(graph, backends(), options);
    EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
    return std::move(result).value();
  }

  std::string error(const Graph& graph, const PartitionOptions& options = {}) {
    const Result<Partition> result = partition(graph, backends(), options);
    EXPECT_FALSE(result);
    return result ? "" : result.error().message;
  }

  std::unique_ptr<SimDevice> gpu0_ = SimDevice::make({.id = DeviceId(1), .name = "gpu0"});
  std::unique_ptr<SimDevice> gpu1_ = SimDevice::make({.id = DeviceId(2), .name = "gpu1"});
};

/// The backend of each original op.
std::vector<std::size_t> backends_of(const Partition& partition) {
  std::vector<std::size_t> result;
  for (const OpId op : partition.ops) result.push_back(partition.backends[op.index()]);
  return result;
}

/// "x → x (gpu0), 16".
std::vector<std::string> copies_of(const Partition& partition) {
  std::vector<std::string> result;
  for (const PartitionCopy& copy : partition.copies) {
    result.push_back(partition.graph.tensor(copy.from).name + " → " + partition.graph.tensor(copy.to).name + ", " +
                     std::to_string(copy.bytes.value()));
  }
  return result;
}

std::vector<std::string> kinds_of(const Graph& graph) {
  std::vector<std::string> result;
  for (const Op& each : graph.ops()) result.push_back(each.kind);
  return result;
}

std::string input_name(const Partition& partition, std::size_t original, std::size_t input) {
  const Op& read = partition.graph.op(partition.ops[original]);
  return partition.graph.tensor(*read.inputs[input]).name;
}

// --------------------------------------------------------------------------------------------------------- assignment

TEST_F(PartitionTest, AnOpGoesWhereItsWeightsAreAndOthersFollowTheirNeighbours) {
  // x → f (weights on gpu0) → g → h (weights on gpu1) → i
  const Graph graph = built(
      {tensor("x", 16, TensorFlag::input), tensor("w0", 100, TensorFlag::constant), tensor("f", 16), tensor("g", 16),
       tensor("w1", 100, TensorFlag::constant), tensor("h", 16), tensor("i", 16, TensorFlag::output)},
      {op("F", {0, 1}, {2}), op("G", {2}, {3}), op("H", {3, 4}, {5}), op("I", {5}, {6})});
  const Partition result = parted(graph, {.homes = {{TensorId(1), kGpu0}, {TensorId(4), kGpu1}}});
  EXPECT_THAT(backends_of(result), ElementsAre(kGpu0, kGpu0, kGpu1, kGpu1));
  EXPECT_THAT(kinds_of(result.graph), ElementsAre("COPY", "F", "G", "COPY", "H", "I"));
  EXPECT_THAT(copies_of(result), ElementsAre("x → x (gpu0), 16", "g → g (gpu1), 16"));
  EXPECT_THAT(result.splits, ElementsAre(Split{kGpu0, OpId(0), OpId(3), 0, 1}, Split{kGpu1, OpId(3), OpId(6), 1, 2}));
  EXPECT_EQ(result.copied_bytes(), Bytes(32));
  EXPECT_EQ(result.graph.tensor(TensorId(0)).memory, MemoryId(kCpu)) << "inputs go to the last backend";
  EXPECT_EQ(result.graph.tensor(TensorId(3)).memory, MemoryId(kGpu0));
  EXPECT_EQ(result.origins[0], std::nullopt);
  EXPECT_EQ(result.origins[1], OpId(0));
}

TEST_F(PartitionTest, TheLargestWeightDecides) {
  const Graph graph =
      built({tensor("small", 4, TensorFlag::constant), tensor("large", 100, TensorFlag::constant), tensor("y", 8)},
            {op("F", {0, 1}, {2})});
  EXPECT_THAT(backends_of(parted(graph, {.homes = {{TensorId(0), kGpu0}, {TensorId(1), kGpu1}}})), ElementsAre(kGpu1));
}

TEST_F(PartitionTest, WithoutAnythingGivenTheFirstBackendThatSupportsItRunsIt) {
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("y", 16)}, {op("F", {0}, {1})});
  const std::vector<Backend> all = backends();
  const Partition result = parted(graph);
  EXPECT_THAT(backends_of(result), ElementsAre(kCpu)) << "most of its inputs are there";
  const Graph no_input = built({tensor("y", 16)}, {op("F", {}, {0})});
  EXPECT_THAT(backends_of(parted(no_input)), ElementsAre(kGpu0));
}

TEST_F(PartitionTest, TheFallbackGetsOnlyWhatNobodyElseClaims) {
  // The op in the middle could go to either neighbour; the CPU comes first in the order, gpu1 has priority.
  const Graph graph = built({tensor("a", 16), tensor("b", 16), tensor("c", 16, TensorFlag::output)},
                            {op("Ac", {}, {0}), op("B", {0}, {1}), op("C1", {1}, {2})});
  EXPECT_THAT(backends_of(parted(graph, {.improve = false})), ElementsAre(kCpu, kGpu1, kGpu1));
}

TEST_F(PartitionTest, PinsAreKept) {
  const Graph graph = built({tensor("w", 100, TensorFlag::constant), tensor("a", 16), tensor("b", 16)},
                            {op("F", {0}, {1}), op("G", {1}, {2})});
  const Partition result = parted(graph, {.pins = {{OpId(0), kCpu}}, .homes = {{TensorId(0), kGpu0}}});
  EXPECT_THAT(backends_of(result), ElementsAre(kCpu, kCpu));
  EXPECT_THAT(copies_of(result), ElementsAre("w → w (cpu), 100"));
}

TEST_F(PartitionTest, OpsThatWriteTheSameMemoryGoTogether) {
  // Only gpu1 can run the second write, so all ops go there, although the first could run anywhere.
  const Graph graph =
      built({tensor("buffer", 32), view("low", 16, 0, 0), view("high", 16, 0, 16), tensor("y", 16, TensorFlag::output)},
            {op("F", {}, {1}), op("G1", {}, {2}), op("H", {0}, {3})});
  EXPECT_THAT(backends_of(parted(graph)), ElementsAre(kGpu1, kGpu1, kGpu1));
}

TEST_F(PartitionTest, AnOpThatWritesWhatHasAHomeRunsThere) {
  const Graph graph =
      built({tensor("cache", 32, TensorFlag::variable), view("row", 16, 0, 16), tensor("x", 16, TensorFlag::input)},
            {op("SET", {2}, {1})});
  const Partition result = parted(graph, {.homes = {{TensorId(0), kGpu1}}});
  EXPECT_THAT(backends_of(result), ElementsAre(kGpu1));
  EXPECT_EQ(result.graph.tensor(TensorId(1)).memory, MemoryId(kGpu1)) << "a view lives where its base does";
}

// ------------------------------------------------------------------------------------------------------------- errors

TEST_F(PartitionTest, AnOpThatNobodySupportsIsNamed) {
  const Graph graph = built({tensor("y", 16)}, {op("EXOTIC", {}, {0})});
  std::vector<Backend> all = backends();
  for (Backend& backend : all) backend.supports = [](const Graph&, OpId) { return false; };
  const Result<Partition> result = partition(graph, all);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  EXPECT_EQ(result.error().message, "no backend supports op 'EXOTIC' (0) of kind EXOTIC");
  EXPECT_EQ(result.error().where.path, "ops[0]");
}

TEST_F(PartitionTest, APinToABackendThatDoesNotSupportTheOpIsAnError) {
  const Graph graph = built({tensor("y", 16)}, {op("F1", {}, {0})});
  EXPECT_EQ(error(graph, {.pins = {{OpId(0), kGpu0}}}),
            "op 'F1' (0) of kind F1 is pinned to 'gpu0', which does not support it");
}

TEST_F(PartitionTest, WritersOfTheSameMemoryWithoutACommonBackendAreAnError) {
  const Graph graph = built({tensor("buffer", 32), view("low", 16, 0, 0), view("high", 16, 0, 16)},
                            {op("F0", {}, {1}), op("G1", {}, {2})});
  EXPECT_THAT(error(graph), HasSubstr("op 'F0' (0) of kind F0 and op 'G1' (1) of kind G1 write the same memory"));
  const Graph cache = built({tensor("cache", 32, TensorFlag::variable)}, {op("SET0", {}, {0})});
  EXPECT_EQ(error(cache, {.homes = {{TensorId(0), kGpu1}}}),
            "no backend both supports op 'SET0' (0) of kind SET0 and can use the memory that it writes");
  EXPECT_THAT(error(built({tensor("buffer", 32), view("low", 16, 0, 0), view("high", 16, 0, 16)},
                          {op("F", {}, {1}), op("G", {}, {2})}),
                    {.pins = {{OpId(0), kGpu0}, {OpId(1), kGpu1}}}),
              HasSubstr("is pinned to 'gpu1', but an op that writes the same memory is pinned elsewhere"));
}

TEST_F(PartitionTest, NamesThatDoNotExistAreErrors) {
  const Graph graph = built({tensor("y", 16)}, {op("F", {}, {0})});
  EXPECT_EQ(error(graph, {.pins = {{OpId(0), 3}}}), "backend 3 does not exist");
  EXPECT_EQ(error(graph, {.pins = {{OpId(1), 0}}}), "op 1 does not exist");
  EXPECT_EQ(error(graph, {.homes = {{TensorId(1), 0}}}), "tensor 1 does not exist");
  EXPECT_EQ(error(graph, {.homes = {{TensorId(0), 3}}}), "backend 3 does not exist");
  std::vector<Backend> nowhere = backends();
  nowhere[kGpu1].uses = {3};
  const Result<Partition> refused = partition(graph, nowhere);
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()), "backends[1]: backend 3 does not exist");
  EXPECT_EQ(error(graph, {.homes = {{TensorId(0), 0}, {TensorId(0), 1}}}),
            "tensor 'y' (0) and the tensors that share its memory have two homes, 'gpu0' and 'gpu1'");
  EXPECT_EQ(error(graph, {.input_sets = 0}), "at least one input set is needed");
  EXPECT_FALSE(partition(graph, {}));
}

// ------------------------------------------------------------------------------------------------------------- copies

TEST_F(PartitionTest, AValueCrossesOnceForEachTarget) {
  // y is read twice on gpu0, in two splits, and once on gpu1.
  const Graph graph = built({tensor("y", 16), tensor("a", 16), tensor("b", 16), tensor("c", 16, TensorFlag::output)},
                            {op("Yc", {}, {0}), op("A0", {0}, {1}), op("B1", {0}, {2}), op("C0", {0, 1, 2}, {3})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("y → y (gpu0), 16", "y → y (gpu1), 16", "b → b (gpu0), 16"));
  EXPECT_EQ(result.splits.size(), 4U);
  EXPECT_EQ(result.graph.op(result.ops[1]).inputs[0], result.graph.op(result.ops[3]).inputs[0]);
}

TEST_F(PartitionTest, AValueThatWasOverwrittenCrossesAgain) {
  const Graph graph = built({tensor("v", 16, TensorFlag::variable), tensor("a", 16), tensor("b", 16), tensor("c", 16)},
                            {op("A0", {0}, {1}), op("SETc", {}, {0}), op("B0", {0}, {2}), op("C0", {0}, {3})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("v → v (gpu0), 16", "v → v (gpu0), 16"));
  EXPECT_NE(result.graph.op(result.ops[0]).inputs[0], result.graph.op(result.ops[2]).inputs[0]);
  EXPECT_EQ(result.graph.op(result.ops[2]).inputs[0], result.graph.op(result.ops[3]).inputs[0]);
}

TEST_F(PartitionTest, AWriteElsewhereInTheTensorLeavesACopyValid) {
  const Graph graph = built({tensor("v", 32, TensorFlag::variable), view("low", 16, 0, 0), view("high", 16, 0, 16),
                             tensor("a", 16), tensor("b", 16)},
                            {op("A0", {1}, {3}), op("SETc", {}, {2}), op("B0", {1}, {4})});
  EXPECT_THAT(copies_of(parted(graph)), ElementsAre("low → low (gpu0), 16"));
}

TEST_F(PartitionTest, ViewsThatOverlapStayViewsOfOneCopy) {
  const Graph graph = built({tensor("y", 64), view("all", 64, 0, 0), view("low", 16, 0, 0), view("high", 16, 0, 32),
                             tensor("a", 16), tensor("b", 16)},
                            {op("Yc", {}, {0}), op("A0", {2}, {4}), op("B0", {1, 3}, {5})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("all → all (gpu0), 64"));
  const TensorId copy = result.copies[0].to;
  EXPECT_EQ(result.graph.op(result.ops[2]).inputs[0], copy);
  EXPECT_EQ(result.graph.tensor(*result.graph.op(result.ops[1]).inputs[0]).view_of, (ViewOf{copy, Bytes(0)}));
  EXPECT_EQ(result.graph.tensor(*result.graph.op(result.ops[2]).inputs[1]).view_of, (ViewOf{copy, Bytes(32)}));
}

TEST_F(PartitionTest, ViewsThatOnlyOverlapInPartsCrossAsWhatTheyCoverTogether) {
  const Graph graph = built({tensor("y", 64), view("v", 24, 0, 8), view("w", 24, 0, 24), tensor("a", 16)},
                            {op("Yc", {}, {0}), op("A0", {1, 2}, {3})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("y [8, 48) → y [8, 48) (gpu0), 40"));
  EXPECT_EQ(result.graph.tensor(result.copies[0].from).view_of, (ViewOf{TensorId(0), Bytes(8)}));
}

TEST_F(PartitionTest, ViewsApartCrossAlone) {
  const Graph graph = built({tensor("y", 64), view("v", 16, 0, 0), view("w", 16, 0, 48), tensor("a", 16)},
                            {op("Yc", {}, {0}), op("A0", {1, 2}, {3})});
  EXPECT_THAT(copies_of(parted(graph)), ElementsAre("v → v (gpu0), 16", "w → w (gpu0), 16"));
}

TEST_F(PartitionTest, ACopyMayReadWhatAShapeInItsOwnSplitNames) {
  Op reshape = op("RESHAPE", {0}, {1});
  reshape.no_task = true;
  reshape.aliases = {{0, 0, Bytes(0)}};
  const Graph graph = built({tensor("y", 16), tensor("r", 16), tensor("a", 16), tensor("b", 16)},
                            {op("Yc", {}, {0}), op("A0", {}, {2}), reshape, op("B0", {1, 2}, {3})});
  const Partition result = parted(graph);
  EXPECT_THAT(kinds_of(result.graph), ElementsAre("Yc", "RESHAPE", "COPY", "A0", "B0"));
  EXPECT_THAT(copies_of(result), ElementsAre("r → r (gpu0), 16"));
  EXPECT_EQ(result.backends[1], kCpu) << "a no_task op is on the backend of the tensor that it names";
}

TEST_F(PartitionTest, MemoryThatABackendUsesDirectlyIsNotCopied) {
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16)},
                            {op("A0", {0}, {1}), op("B1", {0, 1}, {2})});
  std::vector<Backend> all = backends();
  all[kGpu0].uses = {kCpu};
  const Partition result = partition(graph, all).value();
  EXPECT_THAT(copies_of(result), ElementsAre("x → x (gpu1), 16", "a → a (gpu1), 16"));
  EXPECT_EQ(input_name(result, 0, 0), "x");
}

TEST_F(PartitionTest, ABackendOfHigherPriorityWithTheSameMemoryTakesOver) {
  const Graph graph = built({tensor("w", 16, TensorFlag::constant), tensor("a", 16)}, {op("A", {0}, {1})});
  BufferType* host = &cpu_device().buffer_type();
  const std::vector<Backend> all = {{.name = "blas", .memory = host, .uses = {1}},
                                    {.name = "cpu", .memory = host, .uses = {0}}};
  const Partition result = partition(graph, all, {.homes = {{TensorId(0), 1}}}).value();
  EXPECT_THAT(backends_of(result), ElementsAre(0U));
  EXPECT_THAT(copies_of(result), IsEmpty());
}

TEST_F(PartitionTest, BackendsWithOneBufferTypeUseItWithoutNamingEachOther) {
  // a crosses from gpu0 once; "cpu" reads the copy made for "blas", and gpu0, which uses "blas" memory, reads what
  // "cpu" wrote.
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16), tensor("c", 16),
                             tensor("d", 16, TensorFlag::output)},
                            {op("A", {0}, {1}), op("B", {1}, {2}), op("C", {1, 2}, {3}), op("D", {3}, {4})});
  BufferType* host = &cpu_device().buffer_type();
  const std::vector<Backend> all = {{.name = "gpu0", .memory = &gpu0_->buffer_type(), .uses = {1}},
                                    {.name = "blas", .memory = host},
                                    {.name = "cpu", .memory = host}};
  const Partition result =
      partition(graph, all, {.pins = {{OpId(0), 0}, {OpId(1), 1}, {OpId(2), 2}, {OpId(3), 0}}}).value();
  EXPECT_THAT(copies_of(result), ElementsAre("a → a (blas), 16"));
}

TEST_F(PartitionTest, SizesAreThoseOfTheTargetsBufferType) {
  const Graph graph =
      built({tensor("x", 10, TensorFlag::input), view("v", 4, 0, 0), tensor("a", 10)}, {op("A0", {0, 1}, {2})});
  const auto size_of = [&](const Tensor& each, const BufferType& type) {
    return type.host_visible() ? each.size : align_up(each.size, Bytes(64));
  };
  const Partition result = parted(graph, {.size_of = size_of});
  EXPECT_EQ(result.graph.tensor(TensorId(0)).size, Bytes(10));
  EXPECT_EQ(result.graph.tensor(TensorId(2)).size, Bytes(64));
  EXPECT_EQ(result.graph.tensor(result.copies[0].to).size, Bytes(64));
  EXPECT_EQ(result.copies[0].bytes, Bytes(10)) << "padding is not copied";
  EXPECT_THAT(error(graph, {.size_of = [](const Tensor&, const BufferType&) { return Bytes(1); }}),
              HasSubstr("tensor 'x' has 10 bytes, but only 1 in "));
}

TEST_F(PartitionTest, AnInputThatAnOpWritesLivesWithTheWriter) {
  Op set = op("SET0", {0}, {1});
  set.aliases = {{0, 0, Bytes(0)}};
  const Graph graph = built({tensor("x", 64, TensorFlag::input), tensor("y", 64), tensor("z", 64, TensorFlag::output)},
                            {set, op("Z", {1}, {2})});
  EXPECT_EQ(parted(graph).graph.tensor(TensorId(0)).memory.index(), kGpu0);
}

TEST_F(PartitionTest, APinOfAnOpWithoutATaskSaysNothing) {
  const Graph graph =
      built({tensor("x", 64, TensorFlag::input), view("v", 64, 0, 0), tensor("y", 64, TensorFlag::output)},
            {shape({0}, 1), op("Y0", {1}, {2})});
  const Partition result = parted(graph, {.pins = {{OpId(0), kGpu1}}});
  EXPECT_THAT(backends_of(result), ElementsAre(kCpu, kGpu0));
  EXPECT_EQ(result.splits.size(), 1U);
}

TEST_F(PartitionTest, InputSetsAreInputsOfTheirOwn) {
  const Graph graph =
      built({tensor("x", 16, TensorFlag::input), view("v", 8, 0, 8), tensor("a", 16)}, {op("A0", {1}, {2})});
  const Partition result = parted(graph, {.input_sets = 3});
  ASSERT_EQ(result.input_sets.size(), 1U);
  EXPECT_EQ(result.input_sets[0].tensor, TensorId(0));
  ASSERT_EQ(result.input_sets[0].others.size(), 2U);
  for (const TensorId other : result.input_sets[0].others) {
    EXPECT_EQ(result.graph.tensor(other).size, Bytes(16));
    EXPECT_EQ(result.graph.tensor(other).flags, (TensorFlags{TensorFlag::input, TensorFlag::no_reuse}));
  }
  EXPECT_TRUE(result.graph.tensor(TensorId(0)).flags.has(TensorFlag::no_reuse));
}

TEST_F(PartitionTest, ViewsCrossApartWhereAlignmentWouldAddMoreThanTheyHave) {
  // One copy of both, starting at 0 to be aligned to 1024, would have 1100 bytes.
  Tensor aligned = view("aligned", 64, 1, 1024);
  aligned.alignment = Bytes(1024);
  const Graph graph = built({tensor("x", 64, TensorFlag::input), tensor("a", 4096), view("v", 100, 1, 1000), aligned,
                             tensor("y", 64, TensorFlag::output), tensor("z", 64, TensorFlag::output)},
                            {op("A0", {0}, {1}), op("Yc", {2}, {4}), op("Zc", {3}, {5})});
  EXPECT_THAT(copies_of(parted(graph)),
              ElementsAre("x → x (gpu0), 64", "v → v (cpu), 100", "aligned → aligned (cpu), 64"));
}

TEST_F(PartitionTest, ATensorOfSizeZeroCrossesBehindItsWriter) {
  // It lies inside a, which is already copied; but nothing would order that copy after the op that writes it.
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("a", 16), view("e", 0, 1, 4), tensor("y", 16),
                             tensor("z", 16, TensorFlag::output)},
                            {op("A0", {0}, {1}), op("Yc", {1}, {3}), op("E0", {}, {2}), op("Zc", {2}, {4})});
  EXPECT_THAT(copies_of(parted(graph)), ElementsAre("x → x (gpu0), 16", "a → a (cpu), 16", "e → e (cpu), 0"));
}

TEST_F(PartitionTest, AnEmptyGraphHasNoSplits) {
  const Partition result = parted(built({tensor("x", 16, TensorFlag::input)}, {}));
  EXPECT_THAT(result.splits, IsEmpty());
  EXPECT_EQ(result.graph.tensors().size(), 1U);
}

// ----------------------------------------------------------------------------------------------- ops without a task

TEST_F(PartitionTest, ACopyForSeveralSplitsNamesNothingThatOnlyTheLaterOneHas) {
  // The CPU reads half of a, then in another split all of it, under a name that an op between the two introduces.
  const Graph graph =
      built({tensor("x", 64, TensorFlag::input), tensor("a", 64), view("half", 32, 1, 0), view("all", 64, 1, 0),
             tensor("y", 64), tensor("g", 64), tensor("z", 64, TensorFlag::output)},
            {op("A0", {0}, {1}), shape({1}, 2), op("Yc", {2}, {4}), op("G0", {4}, {5}), shape({1}, 3),
             op("Zc", {3, 5}, {6})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("x → x (gpu0), 64", "a [0, 64) → a [0, 64) (cpu), 64", "y → y (gpu0), 64",
                                             "g → g (cpu), 64"));
  EXPECT_EQ(input_name(result, 5, 0), "a [0, 64) (cpu)");
}

TEST_F(PartitionTest, AShapeThatIsComputedInTheSplitDoesNotHoldUpTheCopyOfTheData) {
  const Graph graph =
      built({tensor("x", 64, TensorFlag::input), tensor("data", 64), tensor("shape", 16), view("reshaped", 64, 1, 0),
             view("again", 64, 1, 0), tensor("y", 64, TensorFlag::output)},
            {op("DATA0", {0}, {1}), op("SHAPEc", {0}, {2}), shape({1, 2}, 3), shape({3}, 4), op("Yc", {4}, {5})});
  const Partition result = parted(graph);
  EXPECT_THAT(copies_of(result), ElementsAre("x → x (gpu0), 64", "data [0, 64) → data [0, 64) (cpu), 64"));
  EXPECT_THAT(kinds_of(result.graph), ElementsAre("COPY", "DATA0", "COPY", "SHAPEc", "SHAPE", "SHAPE", "Yc"));
}

TEST_F(PartitionTest, SoWhereTheReshapedTensorIsAnAlias) {
  Op reshape = shape({1, 2}, 3);
  reshape.aliases = {{0, 0, Bytes(0)}};
  const Graph graph = built({tensor("x", 64, TensorFlag::input), tensor("data", 64), tensor("shape", 16),
                             tensor("reshaped", 64), tensor("y", 64, TensorFlag::output)},
                            {op("DATA0", {0}, {1}), op("SHAPEc", {0}, {2}), reshape, op("Yc", {3}, {4})});
  EXPECT_THAT(copies_of(parted(graph)), ElementsAre("x → x (gpu0), 64", "data [0, 64) → data [0, 64) (cpu), 64"));
}

// -------------------------------------------------------------------------------------------------------- improvement

TEST_F(PartitionTest, ABoundaryMovesToWhereLessCrosses) {
  // Weights pin f to gpu0 and i to gpu1. The passes extend gpu0 up to h, whose wide result then crosses; before g only
  // 16 bytes would cross.
  const Graph graph =
      built({tensor("w0", 1000, TensorFlag::constant), tensor("f", 16), tensor("g", 400), tensor("h", 400),
             tensor("w1", 1000, TensorFlag::constant), tensor("i", 16, TensorFlag::output)},
            {op("F", {0}, {1}), op("G", {1}, {2}), op("H", {2}, {3}), op("I", {3, 4}, {5})});
  PartitionOptions options{.homes = {{TensorId(0), kGpu0}, {TensorId(4), kGpu1}}, .improve = false};
  const Partition first = parted(graph, options);
  EXPECT_THAT(backends_of(first), ElementsAre(kGpu0, kGpu0, kGpu0, kGpu1));
  EXPECT_EQ(first.copied_bytes(), Bytes(400));
  options.improve = true;
  const Partition better = parted(graph, options);
  EXPECT_THAT(backends_of(better), ElementsAre(kGpu0, kGpu1, kGpu1, kGpu1));
  EXPECT_EQ(better.copied_bytes(), Bytes(16));
  EXPECT_EQ(better.splits.size(), first.splits.size());
}

TEST_F(PartitionTest, AnOpWithATinyWeightElsewhereDoesNotBreakASplit) {
  // Like ROPE, whose frequencies lie on another device than everything around it.
  const Graph graph =
      built({tensor("w", 100, TensorFlag::constant), tensor("q", 64), tensor("freqs", 8, TensorFlag::constant),
             tensor("r", 64), tensor("k", 64, TensorFlag::output)},
            {op("F", {0}, {1}), op("ROPE", {1, 2}, {3}), op("G", {3, 0}, {4})});
  PartitionOptions options{.homes = {{TensorId(0), kGpu0}, {TensorId(2), kGpu1}}, .improve = false};
  EXPECT_EQ(parted(graph, options).splits.size(), 3U);
  EXPECT_EQ(parted(graph, options).copied_bytes(), Bytes(128));
  options.improve = true;
  EXPECT_EQ(parted(graph, options).splits.size(), 1U);
  EXPECT_EQ(parted(graph, options).copied_bytes(), Bytes(8));
}

TEST_F(PartitionTest, TrafficBeyondWhatCanBeCountedIsNotImproved) {
  // 2^61 bytes written on gpu0 and read on the CPU, again and again: more than 2^64 bytes if everything crossed.
  std::vector<Tensor> tensors = {tensor("v", std::int64_t{1} << 61, TensorFlag::variable)};
  std::vector<Op> ops;
  for (int i = 0; i < 10; ++i) {
    tensors.push_back(tensor("t", 8));
    ops.push_back(op("W0", {}, {0}));
    ops.push_back(op("Rc", {0}, {tensors.size() - 1}));
  }
  EXPECT_THAT(error(built(std::move(tensors), std::move(ops))), HasSubstr("2^62"));
}

TEST_F(PartitionTest, NothingMovesToTheFallback) {
  const Graph graph =
      built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16), tensor("c", 16, TensorFlag::output)},
            {op("Ac", {0}, {1}), op("B", {1}, {2}), op("Cc", {2}, {3})});
  const Partition result = parted(graph, {.homes = {{TensorId(2), kGpu0}}});
  EXPECT_THAT(backends_of(result), ElementsAre(kCpu, kGpu0, kCpu));
}

// -------------------------------------------------------------------------------------------------------- constraints

TEST_F(PartitionTest, ConstraintsStayWithTheirOps) {
  Op gather = op("GATHER1", {1, 2}, {3});
  gather.contiguous_inputs = Contiguity::padded;
  gather.zero_fill = {.outputs = {0}, .workspaces = {}, .value = 3};
  gather.fixed_address = true;
  const Graph graph = built({tensor("x", 64, {TensorFlag::input, TensorFlag::zero_copy}), tensor("a", 20),
                             tensor("b", 20), tensor("y", 64, TensorFlag::output)},
                            {op("F0", {0}, {1}), op("G0", {0}, {2}), gather});
  const Result<Partition> parted = partition(graph, backends());
  ASSERT_TRUE(parted) << to_string(parted.error());
  const Op& placed = parted->graph.op(parted->ops[2]);
  EXPECT_EQ(placed.contiguous_inputs, Contiguity::padded);
  EXPECT_EQ(placed.zero_fill, gather.zero_fill);
  EXPECT_TRUE(placed.fixed_address);
  EXPECT_NE(placed.inputs[0], TensorId(1)) << "a copy on its own backend";
  EXPECT_TRUE(parted->graph.tensors()[0].flags.has(TensorFlag::zero_copy));
  const Plan plan = *stowage::plan(parted->graph)->plan;
  EXPECT_EQ(plan.bindings.size(), 1U);
  const auto offset = [&](std::size_t input) { return plan.placements[placed.inputs[input]->index() - 1].offset; };
  EXPECT_EQ(offset(1) - offset(0), Bytes(20)) << "as in the graph, whose memory has alignment 1";
}

/// In the other batch the reader does not run, and nothing would order the copy with a later write.
TEST_F(PartitionTest, ACopyForABatchIsOfThatBatch) {
  Op reader = op("READ1", {1}, {2});
  reader.batch = "1";
  const Graph graph = built({tensor("x", 64, TensorFlag::input), tensor("a", 64), tensor("y", 64, TensorFlag::output)},
                            {op("F0", {0}, {1}), reader});
  const Result<Partition> parted = partition(graph, backends());
  ASSERT_TRUE(parted) << to_string(parted.error());
  ASSERT_EQ(parted->copies.size(), 2U);
  EXPECT_EQ(parted->graph.op(parted->copies[0].op).batch, "") << "x, for F0";
  EXPECT_EQ(parted->graph.op(parted->copies[1].op).batch, "1") << "a, for READ1";
}

Graph looping_graph(const std::string& kind) {
  Body body{.tensors = {tensor("in", 16), tensor("out", 16)},
            .ops = {op(kind, {0}, {1})},
            .inputs = {{TensorId(0), TensorId(0)}},
            .outputs = {{TensorId(1), TensorId(1)}},
            .carried = {{TensorId(1), TensorId(0)}}};
  Op loop = op("WHILE", {0}, {1});
  loop.control = Control::loop;
  loop.bodies = {body};
  return built({tensor("x", 16, TensorFlag::input), tensor("y", 16, TensorFlag::output)}, {loop});
}

TEST_F(PartitionTest, AGraphWithBodiesIsOnOneBackendAsAWhole) {
  const Result<Partition> parted = partition(looping_graph("ADD1"), backends());
  ASSERT_TRUE(parted) << to_string(parted.error());
  EXPECT_THAT(parted->backends, ElementsAre(kGpu1, kGpu1));
  EXPECT_THAT(parted->copies, IsEmpty());
  for (const Tensor& each : parted->graph.tensors()) EXPECT_EQ(each.memory, MemoryId(kGpu1));
}

TEST_F(PartitionTest, ABodyThatCannotBeDividedIsNamedWithWhatStandsInTheWay) {
  const Graph graph = looping_graph("ADD1");
  const Result<Partition> parted = partition(graph, backends(), {.pins = {{OpId(0), kGpu0}}});
  ASSERT_FALSE(parted);
  EXPECT_EQ(parted.error().code, ErrorCode::unsupported);
  EXPECT_THAT(parted.error().message, HasSubstr("op 'WHILE' (0) has bodies"));
  EXPECT_THAT(parted.error().message,
              HasSubstr("'gpu0' does not support op 'ADD1' (0) in body 0 of op 'WHILE' (0) of kind ADD1"));
}

}  // namespace
}  // namespace stowage
