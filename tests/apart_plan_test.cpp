#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Plans of graphs with tensors that are to be kept apart: each is small enough to be checked by hand.
namespace stowage {
namespace {

using ::testing::IsEmpty;

constexpr TensorFlags kInput = TensorFlag::input;
constexpr TensorFlags kOutput = TensorFlag::output;

Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}

Op op(const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs,
      std::vector<InPlacePair> pairs = {}) {
  Op result{.name = "op", .kind = "X", .in_place = std::move(pairs)};
  for (const std::size_t id : inputs) result.inputs.emplace_back(TensorId(id));
  for (const std::size_t id : outputs) result.outputs.emplace_back(id);
  return result;
}

GraphDescription graph_of(std::vector<Tensor> tensors, std::vector<Op> ops) {
  return {.name = "test", .memories = {{.name = "cpu"}}, .tensors = std::move(tensors), .ops = std::move(ops)};
}

/// The plan of the graph with these pairs, which is checked by `verify` and by running it.
Planned planned(GraphDescription description, std::vector<ApartTensors> apart, const PlanOptions& options = {}) {
  description.apart = std::move(apart);
  const Result<Graph> graph = Graph::build(std::move(description));
  EXPECT_TRUE(graph) << to_string(graph.error());
  Result<Planned> result = plan(*graph, options);
  EXPECT_TRUE(result && result->plan);
  EXPECT_THAT(verify(*graph, *result->plan), IsEmpty());
  EXPECT_THAT(testing::shadow_execute(*graph, *result->plan, {.runs = 2}).findings, IsEmpty());
  return std::move(*result);
}

/// The peak, which must be proven.
std::int64_t least(GraphDescription description, std::vector<ApartTensors> apart) {
  const Planned result = planned(std::move(description), std::move(apart));
  EXPECT_EQ(result.status, SolveStatus::optimal);
  return result.plan->peak().value();
}

ApartTensors apart(std::size_t a, std::size_t b) { return {TensorId(a), TensorId(b)}; }

/// x → a → b → y, 512 bytes each.
GraphDescription chain(const std::vector<InPlacePair>& pairs = {}) {
  return graph_of({tensor("x", 512, kInput), tensor("a", 512), tensor("b", 512), tensor("y", 512, kOutput)},
                  {op({0}, {1}, pairs), op({1}, {2}, pairs), op({2}, {3}, pairs)});
}

TEST(KeptApart, TensorsDoNotTakeTurns) {
  EXPECT_EQ(least(chain(), {}), 1024);
  EXPECT_EQ(least(chain(), {apart(0, 2)}), 1536);
  EXPECT_EQ(least(chain(), {apart(0, 2), apart(3, 1)}), 1536) << "y takes the place of x";
  EXPECT_EQ(least(chain(), {apart(0, 2), apart(3, 1), apart(0, 3)}), 2048);
  EXPECT_EQ(least(chain(), {apart(0, 1)}), 1024) << "they never did";
}

TEST(KeptApart, OutputsDoNotOverwriteInputs) {
  EXPECT_EQ(least(chain({{0, 0}}), {}), 512);
  EXPECT_EQ(least(chain({{0, 0}}), {apart(1, 0)}), 1024) << "one of three pairs is ruled out";
}

TEST(KeptApart, NorThroughOthersInBetween) {
  EXPECT_EQ(least(chain({{0, 0}}), {apart(0, 3)}), 1024) << "any one of the three pairs must go";
  EXPECT_EQ(least(chain({{0, 0}}), {apart(0, 2), apart(1, 3)}), 1024) << "the one in the middle";
}

TEST(KeptApart, AViewIsOnlyItsOwnBytes) {
  // b is as large as half of x, whose second half it may not touch.
  GraphDescription graph = graph_of(
      {tensor("x", 512, kInput), tensor("a", 512), tensor("b", 256), tensor("y", 256, kOutput), tensor("tail", 256)},
      {op({0}, {1}), op({1}, {2}), op({2}, {3})});
  graph.tensors[4].view_of = ViewOf{TensorId(0), Bytes(256)};
  EXPECT_EQ(least(graph, {apart(2, 4)}), 1024) << "in the first half there is room";
  graph.tensors[2].size = Bytes(512);
  EXPECT_EQ(least(graph, {apart(2, 4)}), 1280) << "a lies on the second half instead";
}

TEST(KeptApart, AMemberOfAGroupIsOnlyItsOwnBytes) {
  // p and q lie next to each other; later r and s of the same size need a place.
  GraphDescription graph = graph_of({tensor("x", 8, kInput), tensor("p", 512), tensor("q", 512), tensor("m", 8),
                                     tensor("r", 512), tensor("y", 8, kOutput)},
                                    {op({0}, {1, 2}), op({1, 2}, {3}), op({3}, {4}), op({4}, {5})});
  graph.ops[0].contiguous_outputs = Contiguity::padded;
  EXPECT_EQ(least(graph, {}), 1032);
  EXPECT_EQ(least(graph, {apart(1, 4)}), 1032) << "in place of q";
  EXPECT_EQ(least(graph, {apart(1, 4), apart(2, 4)}), 1536 + 8) << "neither";
}

TEST(KeptApart, APartOfAConcatIsCopied) {
  GraphDescription graph =
      graph_of({tensor("x", 64, kInput), tensor("a", 64), tensor("b", 64), tensor("ab", 128), tensor("y", 64, kOutput)},
               {op({0}, {1}), op({0}, {2}), op({1, 2}, {3}), op({3}, {4})});
  graph.ops[2].contiguous_inputs = Contiguity::packed;
  EXPECT_THAT(planned(graph, {}).plan->copies, IsEmpty());
  EXPECT_EQ(planned(graph, {apart(1, 3)}).plan->copies.size(), 1U);
  EXPECT_EQ(planned(graph, {apart(1, 3), apart(3, 2)}).plan->copies.size(), 2U);
}

TEST(KeptApart, WhatALoopBringsBackIsCopied) {
  GraphDescription graph =
      graph_of({tensor("x", 64, kInput), tensor("y", 64), tensor("z", 64, kOutput)}, {op({0}, {1}), op({1}, {2})});
  graph.ops[0].control = Control::loop;
  graph.ops[0].bodies = {{.tensors = {tensor("in", 64), tensor("out", 64)},
                          .ops = {op({0}, {1}, {{0, 0}})},
                          .inputs = {{TensorId(0), TensorId(0)}},
                          .outputs = {{TensorId(1), TensorId(1)}},
                          .carried = {{TensorId(1), TensorId(0)}}}};
  EXPECT_THAT(planned(graph, {}).plan->copies, IsEmpty());
  EXPECT_EQ(planned(graph, {apart(0, 1)}).plan->copies.size(), 1U);
}

TEST(KeptApart, ACallersBufferCounts) {
  const TensorFlags lent = {TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
  const GraphDescription graph =
      graph_of({tensor("x", 512, lent), tensor("a", 512), tensor("b", 512), tensor("y", 512, kOutput)},
               {op({0}, {1}), op({1}, {2}), op({2}, {3})});
  EXPECT_EQ(least(graph, {}), 512) << "b lies in the buffer of x";
  const Planned without = planned(graph, {apart(0, 2)});
  EXPECT_EQ(without.plan->peak(), Bytes(1024)) << "y takes the place of a, b lies beside it";
  for (const Arena& arena : without.plan->arenas) EXPECT_NE(arena.kind, ArenaKind::user);
}

TEST(KeptApart, StreamsChangeNothing) {
  GraphDescription graph = chain();
  graph.ops[1].stream = StreamId(1);
  EXPECT_EQ(least(graph, {apart(0, 2)}), 1536);
}

TEST(KeptApart, OtherMemoriesAndConstantsAreApartAnyway) {
  GraphDescription graph = chain();
  graph.memories.push_back({.name = "gpu"});
  graph.tensors[2].memory = MemoryId(1);
  graph.tensors.push_back(tensor("w", 512, TensorFlag::constant));
  graph.ops[0].inputs.emplace_back(TensorId(4));
  EXPECT_EQ(least(graph, {apart(0, 2), apart(4, 3), apart(4, 2)}), 1024 + 512);
}

TEST(KeptApart, TooLittleForThemIsProvenToBeTooLittle) {
  GraphDescription description = chain();
  description.apart = {apart(0, 2)};
  const Graph graph = Graph::build(description).value();
  const Result<Planned> result = plan(graph, {.capacity = Bytes(1535)});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, SolveStatus::infeasible);
}

}  // namespace
}  // namespace stowage
