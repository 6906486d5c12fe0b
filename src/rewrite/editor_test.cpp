#include "rewrite/interface/editor.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/interface/dependencies.hpp"
#include "support/builders/sketch.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"

namespace stowage::rewrite {
namespace {

using ::testing::ElementsAre;
using testing::Sketch;

constexpr OriginKind kSame = OriginKind::same;
constexpr OriginKind kCopy = OriginKind::copy;
constexpr OriginKind kAdded = OriginKind::added;

Rewritten built(Editor editor) {
  Result<Rewritten> result = std::move(editor).build();
  STOWAGE_CHECK(result.has_value(), result.error().message.c_str());
  return std::move(*result);
}

/// x → first → y → second → z
class EditorTest : public ::testing::Test {
 protected:
  EditorTest() : graph_(make()) {}

  Graph make() {
    Sketch s;
    x_ = s.tensor("x", 8, TensorFlag::input);
    y_ = s.tensor("y", 8);
    z_ = s.tensor("z", 8, TensorFlag::output);
    first_ = s.op({x_}, {y_});
    second_ = s.op({.name = "second", .kind = "X", .inputs = {y_}, .outputs = {z_}, .after = {first_}});
    return s.build();
  }

  TensorId x_, y_, z_;
  OpId first_, second_;
  Graph graph_;
};

TEST_F(EditorTest, NothingChangedIsTheSameGraph) {
  const Rewritten result = built(Editor(graph_));
  EXPECT_EQ(result.graph.description(), graph_.description());
  EXPECT_THAT(result.origins.ops, ElementsAre(Origin<OpId>{kSame, first_}, Origin<OpId>{kSame, second_}));
  EXPECT_THAT(result.origins.tensors,
              ElementsAre(Origin<TensorId>{kSame, x_}, Origin<TensorId>{kSame, y_}, Origin<TensorId>{kSame, z_}));
}

TEST_F(EditorTest, ACopyOfATensorBeforeItsReader) {
  Editor editor(graph_);
  const TensorId copy = editor.copy(y_, {.name = "y'", .size = Bytes(8)});
  editor.insert_before(second_, {.name = "copy", .kind = "COPY", .inputs = {y_}, .outputs = {copy}});
  editor.op(second_).inputs[0] = copy;
  const Rewritten result = built(std::move(editor));
  EXPECT_THAT(result.origins.ops,
              ElementsAre(Origin<OpId>{kSame, first_}, Origin<OpId>{}, Origin<OpId>{kSame, second_}));
  EXPECT_EQ(result.origins.tensors[copy.index()], (Origin<TensorId>{kCopy, y_}));
  EXPECT_EQ(result.graph.op(OpId(2)).inputs[0], copy);
  EXPECT_THAT(result.graph.op(OpId(2)).after, ElementsAre(OpId(0))) << "`after` follows its op";
}

TEST_F(EditorTest, AnOpAgain) {
  Editor editor(graph_);
  const TensorId again = editor.copy(y_, {.name = "y again", .size = Bytes(8)});
  editor.repeat_before(second_, first_, {.name = "first again", .kind = "X", .inputs = {x_}, .outputs = {again}});
  editor.op(second_).inputs[0] = again;
  const Rewritten result = built(std::move(editor));
  EXPECT_EQ(result.origins.ops[1], (Origin<OpId>{kCopy, first_}));
}

TEST_F(EditorTest, ACopyOfACopyComesFromTheOriginal) {
  Editor editor(graph_);
  const TensorId one = editor.copy(x_, {.name = "one", .size = Bytes(8), .flags = TensorFlag::input});
  editor.copy(one, {.name = "two", .size = Bytes(8), .flags = TensorFlag::input});
  const TensorId fresh = editor.add({.name = "new", .size = Bytes(8)});
  editor.copy(fresh, {.name = "of something new", .size = Bytes(8)});
  const Rewritten result = built(std::move(editor));
  EXPECT_EQ(result.origins.tensors[4], (Origin<TensorId>{kCopy, x_}));
  EXPECT_EQ(result.origins.tensors[6].kind, kAdded);
}

TEST_F(EditorTest, OpsBehindAndAtTheEnd) {
  Editor editor(graph_);
  editor.insert_after(first_, {.name = "behind", .kind = "X", .inputs = {y_}});
  editor.append({.name = "end", .kind = "X", .inputs = {z_}});
  const Rewritten result = built(std::move(editor));
  EXPECT_EQ(result.graph.op(OpId(1)).name, "behind");
  EXPECT_EQ(result.graph.op(OpId(3)).name, "end");
}

TEST_F(EditorTest, WhatTheOrderLeavesOutIsRemoved) {
  Editor editor(graph_);
  editor.set_order({first_});
  const Rewritten result = built(std::move(editor));
  EXPECT_THAT(result.origins.ops, ElementsAre(Origin<OpId>{kSame, first_}));
}

TEST_F(EditorTest, TensorsKeptApartAreRenumbered) {
  Editor editor(graph_);
  const TensorId copy = editor.copy(y_, {.name = "y'", .size = Bytes(8)});
  editor.apart() = {{copy, x_}, {z_, y_}};
  EXPECT_THAT(built(std::move(editor)).graph.apart(),
              ElementsAre(ApartTensors{TensorId(3), TensorId(0)}, ApartTensors{TensorId(2), TensorId(1)}));
}

TEST_F(EditorTest, AnImpossibleGraphIsAnError) {
  Editor editor(graph_);
  editor.tensor(x_).size = Bytes(-1);
  const Result<Rewritten> result = std::move(editor).build();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid);
}

// -------------------------------------------------------------------------------------------------- on random graphs

/// Names every tensor and op after its id, so that the names in a rewritten graph show the origins.
void name_all(Editor& editor) {
  for (std::size_t t = 0; t < editor.tensors().size(); ++t) editor.tensors()[t].name = "same " + std::to_string(t);
  for (std::size_t k = 0; k < editor.ops().size(); ++k) editor.ops()[k].name = "same " + std::to_string(k);
}

template <class Id>
std::string told(const Origin<Id>& origin) {
  if (origin.kind == kAdded) return "added";
  return (origin.kind == kSame ? "same " : "copy ") + std::to_string(origin.id.index());
}

/// Inserts copies of inputs before random ops, in bodies too, and ops without effect at random places.
void scatter_copies(const Graph& graph, Editor& editor, std::mt19937_64& random) {
  const auto chance = [&](int percent) { return std::uniform_int_distribution<int>(0, 99)(random) < percent; };
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    const Op& op = graph.ops()[k];
    if (chance(20))
      editor.insert_after(OpId(k), {.name = "added", .kind = "NOTHING", .stream = op.stream, .batch = op.batch});
    if (op.inputs.empty() || !op.inputs[0] || !chance(40)) continue;
    const TensorId input = *op.inputs[0];
    const TensorId copy = editor.copy(input, {.name = "copy " + std::to_string(input.index()),
                                              .size = graph.tensor(input).size,
                                              .memory = graph.tensor(input).memory});
    const OpId by =
        editor.insert_before(OpId(k), {.name = "added", .kind = "COPY", .inputs = {input}, .outputs = {copy}});
    editor.op(by).stream = op.stream;
    editor.op(by).batch = op.batch;
  }
}

/// Puts the root's ops into another order that preserves all dependencies except for streams.
void shuffle(const Graph& graph, Editor& editor, std::mt19937_64& random) {
  const Dependencies all = find_dependencies(graph);
  std::vector<OpId> order;
  std::vector<bool> placed(graph.ops().size());
  while (order.size() < graph.scopes().front().op_count) {
    std::vector<OpId> ready;
    for (std::size_t k = 0; k < graph.scopes().front().op_count; ++k) {
      const std::span<const Dependency> list = all.of(OpId(k));
      const bool waits = std::any_of(list.begin(), list.end(), [&](const Dependency& each) {
        return each.kind != DependencyKind::stream && !placed[each.from.index()];
      });
      if (!placed[k] && !waits) ready.emplace_back(k);
    }
    order.push_back(ready[std::uniform_int_distribution<std::size_t>(0, ready.size() - 1)(random)]);
    placed[order.back().index()] = true;
  }
  editor.set_order(std::move(order));
}

void expect_names(const Rewritten& result) {
  ASSERT_EQ(result.origins.tensors.size(), result.graph.tensors().size());
  ASSERT_EQ(result.origins.ops.size(), result.graph.ops().size());
  for (std::size_t t = 0; t < result.origins.tensors.size(); ++t)
    EXPECT_EQ(told(result.origins.tensors[t]), result.graph.tensors()[t].name);
  for (std::size_t k = 0; k < result.origins.ops.size(); ++k)
    EXPECT_EQ(told(result.origins.ops[k]), result.graph.ops()[k].name);
}

TEST(EditorProperty, AnUntouchedGraphComesBackWithItsBodies) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = testing::constrained_graph(seed);
    EXPECT_EQ(built(Editor(graph)).graph.description(), graph.description()) << seed;
  }
}

TEST(EditorProperty, OriginsAreRightAfterRandomInsertions) {
  std::mt19937_64 random(3);
  std::size_t built_graphs = 0;
  for (std::uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::constrained_graph(seed);
    Editor editor(graph);
    name_all(editor);
    scatter_copies(graph, editor, random);
    const Result<Rewritten> result = std::move(editor).build();
    if (!result) continue;  // such a copy may read a ring range after it was evicted
    ++built_graphs;
    expect_names(*result);
  }
  EXPECT_GT(built_graphs, 300U);
}

TEST(EditorProperty, OriginsAreRightInAnotherOrder) {
  std::mt19937_64 random(4);
  for (std::uint64_t seed = 0; seed < 400 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph =
        seed % 2 == 0 ? testing::random_graph(seed) : testing::constrained_graph(seed, {.graphs_with_rings = 0});
    Editor editor(graph);
    name_all(editor);
    shuffle(graph, editor, random);
    expect_names(built(std::move(editor)));
  }
}

}  // namespace
}  // namespace stowage::rewrite
