#include "stowage/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage {
namespace {

using ::testing::HasSubstr;

Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}
Tensor view(std::string name, std::int64_t size, std::size_t base, std::int64_t offset) {
  return {.name = std::move(name), .size = Bytes(size), .view_of = ViewOf{TensorId(base), Bytes(offset)}};
}
Op op(std::string name, std::vector<std::optional<TensorId>> inputs, std::vector<TensorId> outputs) {
  return {.name = std::move(name), .kind = "X", .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

/// x (input) → a → y (output): a valid graph, which most tests break in one place.
GraphDescription chain() {
  return {.name = "chain",
          .memories = {{.name = "cpu", .alignment = Bytes(32)}},
          .tensors = {tensor("x", 64, TensorFlag::input), tensor("y", 64, TensorFlag::output)},
          .ops = {op("a", {TensorId(0)}, {TensorId(1)})}};
}

void expect_fault(GraphDescription description, const std::string& path, const std::string& message) {
  const Result<Graph> graph = Graph::build(std::move(description));
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::invalid);
  EXPECT_EQ(graph.error().where.path, path);
  EXPECT_THAT(graph.error().message, HasSubstr(message));
}

TEST(Graph, BuildsFromADescriptionAndKeepsIt) {
  const Result<Graph> graph = Graph::build(chain());
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->description(), chain());
  EXPECT_EQ(graph->alignment(TensorId(0)), Bytes(32));
  EXPECT_EQ(graph->stream_count(), 1U);
}

TEST(Graph, EmptyIsAGraphWithOneMemory) {
  const Result<Graph> graph = GraphBuilder("nothing").build();
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->memories().size(), 1U);
}

TEST(Graph, RootFollowsNestedViews) {
  GraphDescription description = chain();
  description.tensors.push_back(view("v", 32, 0, 16));
  description.tensors.push_back(view("w", 8, 2, 8));
  const Result<Graph> graph = Graph::build(description);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->root(TensorId(3)).tensor, TensorId(0));
  EXPECT_EQ(graph->root(TensorId(3)).offset, Bytes(24));
  EXPECT_EQ(graph->alignment(TensorId(3)), Bytes(1));
}

TEST(Graph, StreamsOfOpsWithoutATaskDoNotCount) {
  GraphDescription description = chain();
  description.ops.push_back({.name = "reshape", .kind = "X", .no_task = true, .stream = StreamId(7)});
  EXPECT_EQ(Graph::build(description)->stream_count(), 1U);
}

TEST(Graph, RefusesNamesAbove16KiB) {
  GraphDescription long_name = chain();
  long_name.tensors[1].name = std::string(16384, 'n');
  EXPECT_TRUE(Graph::build(long_name));
  long_name.tensors[1].name += 'n';
  expect_fault(long_name, "tensors[1].name", "the name of tensor 1 has 16385 bytes, more than 16384");
}

TEST(Graph, RefusesBadSizes) {
  GraphDescription negative = chain();
  negative.tensors[1].size = Bytes(-1);
  expect_fault(negative, "tensors[1].size", "tensor 'y' (1) has the negative size -1");

  GraphDescription huge = chain();
  huge.tensors[1].size = kMaxBytes + Bytes(1);
  expect_fault(huge, "tensors[1].size", "above the limit");

  GraphDescription sum = chain();
  sum.tensors[0].size = sum.tensors[1].size = kMaxBytes - Bytes(32);
  expect_fault(sum, "tensors[1].size", "sum to more than");

  GraphDescription workspace = chain();
  workspace.ops[0].workspaces.push_back({.size = Bytes(-2)});
  expect_fault(workspace, "ops[0].workspaces[0].size", "workspace 0 of op 'a' (0)");
}

TEST(Graph, RefusesBadAlignments) {
  GraphDescription memory = chain();
  memory.memories[0].alignment = Bytes(48);
  expect_fault(memory, "memories[0].alignment", "not a power of two");

  GraphDescription own = chain();
  own.tensors[0].alignment = Bytes(0);
  expect_fault(own, "tensors[0].alignment", "not a power of two");

  GraphDescription broken = chain();
  broken.tensors.push_back(view("v", 8, 0, 4));
  broken.tensors[2].alignment = Bytes(8);
  expect_fault(broken, "tensors[2].alignment", "tensor 'v' (2) lies 4 bytes into tensor 'x' (0)");
}

TEST(Graph, RefusesBadViews) {
  GraphDescription outside = chain();
  outside.tensors.push_back(view("v", 32, 0, 40));
  expect_fault(outside, "tensors[2].view_of", "outside its base tensor 'x' (0)");

  GraphDescription unknown = chain();
  unknown.tensors.push_back(view("v", 32, 9, 0));
  expect_fault(unknown, "tensors[2].view_of.tensor", "does not exist");

  GraphDescription circle = chain();
  circle.tensors.push_back(view("v", 8, 3, 0));
  circle.tensors.push_back(view("w", 8, 2, 0));
  expect_fault(circle, "tensors[2].view_of", "a view of itself");

  GraphDescription elsewhere = chain();
  elsewhere.memories.push_back({.name = "gpu"});
  elsewhere.tensors.push_back(view("v", 8, 0, 0));
  elsewhere.tensors[2].memory = MemoryId(1);
  expect_fault(elsewhere, "tensors[2].view_of", "in memory 1");
}

TEST(Graph, RefusesUnknownIds) {
  GraphDescription input = chain();
  input.ops[0].inputs[0] = TensorId(7);
  expect_fault(input, "ops[0].inputs[0]", "op 'a' (0) names tensor 7, which does not exist");

  GraphDescription after = chain();
  after.ops[0].after = {OpId(3)};
  expect_fault(after, "ops[0].after[0]", "names op 3");

  GraphDescription memory = chain();
  memory.tensors[0].memory = MemoryId(1);
  expect_fault(memory, "tensors[0].memory", "which does not exist");

  GraphDescription pair = chain();
  pair.ops[0].in_place = {{0, 1}};
  expect_fault(pair, "ops[0].in_place[0]", "has no input 1");
}

TEST(Graph, RefusesACycleThroughAfter) {
  GraphDescription description = chain();
  description.tensors.push_back(tensor("z", 64));
  description.ops.push_back(op("b", {TensorId(1)}, {TensorId(2)}));
  description.ops[0].after = {OpId(1)};
  expect_fault(description, "ops[0].after[0]",
               "op 'a' (0) must come after op 'b' (1), which does not come earlier in the execution order: a cycle");
  description.ops[0].after = {OpId(0)};
  expect_fault(description, "ops[0].after[0]", "a cycle");
}

TEST(Graph, RefusesReadingBeforeWriting) {
  GraphDescription description = chain();
  description.tensors[0].flags = {};
  expect_fault(description, "ops[0].inputs[0]", "op 'a' (0) reads tensor 'x' (0) before anything was written to it");

  GraphDescription later = chain();
  later.tensors.push_back(tensor("z", 64));
  later.ops = {op("a", {TensorId(2)}, {TensorId(1)}), op("b", {TensorId(0)}, {TensorId(2)})};
  expect_fault(later, "ops[0].inputs[0]", "it is written by op 'b' (1)");
}

TEST(Graph, ABaseWrittenThroughAViewIsDefined) {
  GraphDescription description = chain();
  description.tensors.push_back(tensor("base", 64));
  description.tensors.push_back(view("part", 32, 2, 32));
  description.ops = {op("a", {TensorId(0)}, {TensorId(3)}), op("b", {TensorId(2)}, {TensorId(1)})};
  EXPECT_TRUE(Graph::build(description));
}

TEST(Graph, RefusesWritingAConstant) {
  GraphDescription direct = chain();
  direct.tensors[1].flags = TensorFlag::constant;
  expect_fault(direct, "ops[0].outputs[0]", "op 'a' (0) writes tensor 'y' (1), which is constant");

  GraphDescription through_view = chain();
  through_view.tensors[1].flags = TensorFlag::constant;
  through_view.tensors.push_back(view("v", 8, 1, 0));
  through_view.ops[0].outputs = {TensorId(2)};
  expect_fault(through_view, "ops[0].outputs[0]", "which is constant");
}

TEST(Graph, RefusesTwoProducersExceptOfVariables) {
  GraphDescription description = chain();
  description.ops.push_back(op("b", {TensorId(0)}, {TensorId(1)}));
  expect_fault(description, "ops[1].outputs[0]", "tensor 'y' (1) is written by op 'a' (0) and by op 'b' (1)");
  description.tensors[1].flags = TensorFlag::variable;
  EXPECT_TRUE(Graph::build(description));
}

TEST(Graph, RefusesAliasesThatContradictEachOther) {
  GraphDescription description = chain();
  description.ops[0].aliases = {{0, 0, Bytes(0)}};
  EXPECT_TRUE(Graph::build(description));
  description.ops[0].aliases.push_back({0, 0, Bytes(32)});
  expect_fault(description, "ops[0].alias[1]", "contradicts");
}

TEST(Graph, RefusesAnAliasThatBreaksAnAlignment) {
  GraphDescription description = chain();
  description.ops[0].aliases = {{0, 0, Bytes(8)}};
  expect_fault(description, "tensors[1]", "tensor 'y' (1) would lie 8 bytes into the memory that it shares");
}

TEST(Graph, RefusesAnAliasOfAViewThatBreaksTheAlignmentOfItsBase) {
  GraphDescription description = chain();
  description.tensors.push_back(tensor("base", 64));
  description.tensors.push_back(view("part", 16, 2, 8));
  description.ops[0].outputs = {TensorId(3)};
  description.ops[0].aliases = {{0, 0, Bytes(16)}};
  expect_fault(description, "tensors[2]", "tensor 'base' (2) would lie 8 bytes into the memory that it shares");
}

TEST(Graph, RefusesAliasOffsetsThatSumToMoreThanTheLimit) {
  GraphDescription description = chain();
  description.ops[0].aliases = {{0, 0, kMaxBytes - Bytes(64)}};
  expect_fault(description, "ops[0].alias[0]", "sum to more than the limit");
  description.ops[0].aliases = {{0, 0, Bytes(-32)}};
  expect_fault(description, "ops[0].alias[0]", "is not within");
}

TEST(Graph, AViewHasNoAddressOfItsOwn) {
  GraphDescription description = chain();
  description.tensors.push_back(view("v", 8, 0, 0));
  description.tensors[2].flags = TensorFlag::external;
  expect_fault(description, "tensors[2].flags", "but its base tensor 'x' (0) is not");
  description.tensors[0].flags = TensorFlag::external;
  EXPECT_TRUE(Graph::build(description));
}

TEST(Graph, RefusesWritingWhatIsAliasedToAConstant) {
  GraphDescription description = chain();
  description.tensors.push_back(tensor("c", 64, TensorFlag::constant));
  description.tensors.push_back(tensor("same", 64));
  description.tensors.push_back(view("part", 32, 3, 0));
  description.ops = {{.name = "reshape",
                      .kind = "X",
                      .inputs = {TensorId(2)},
                      .outputs = {TensorId(3)},
                      .no_task = true,
                      .aliases = {{0, 0, Bytes(0)}}},
                     op("write", {TensorId(0)}, {TensorId(4)})};
  expect_fault(description, "ops[1].outputs[0]", "shares memory with a constant");
}

TEST(Graph, AnOmittedInputCannotBePaired) {
  GraphDescription description = chain();
  description.ops[0].inputs.push_back(std::nullopt);
  EXPECT_TRUE(Graph::build(description));
  description.ops[0].in_place = {{0, 1}};
  expect_fault(description, "ops[0].in_place[0]", "which is omitted");
}

TEST(TensorFlags, WithoutKeepsEveryOtherFlag) {
  constexpr TensorFlags kFlags{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::shape_data};
  static_assert(kFlags.without(TensorFlag::zero_copy) == TensorFlags{TensorFlag::input, TensorFlag::shape_data});
  static_assert(kFlags.without(TensorFlag::output) == kFlags);
  static_assert(kFlags.without(kFlags).empty());
  // Also a flag that was added after this test was written.
  constexpr TensorFlags kLater(static_cast<TensorFlag>(1U << 15));
  EXPECT_EQ((kFlags | kLater).without(kFlags), kLater);
}

}  // namespace
}  // namespace stowage
