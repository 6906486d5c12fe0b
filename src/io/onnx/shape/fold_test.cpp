#include "io/onnx/shape/fold.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/onnx/shape_graph.hpp"

namespace stowage::io::onnx {
namespace {

using namespace testing;
using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

/// The elements of a node's first output, of constants a and b; nothing where they are not known.
std::optional<Elements> folded(const Node& node, std::vector<TensorInfo> constants) {
  Graph graph;
  graph.nodes = {node};
  graph.initializers = std::move(constants);
  return facts_of(graph).at(node.outputs.front()).elements;
}

std::optional<Elements> folded(const char* kind, Integers a, Integers b, std::vector<Attribute> attributes = {}) {
  return folded(operation(kind, {"a", "b"}, {"y"}, std::move(attributes)),
                {integers("a", std::move(a)), integers("b", std::move(b))});
}

TEST(OnnxFold, ArithmeticIsThatOfIntegers) {
  EXPECT_EQ(folded("Add", {1, 2}, {3}), Elements(Integers{4, 5}));
  EXPECT_EQ(folded("Sub", {1, 2}, {3}), Elements(Integers{-2, -1}));
  EXPECT_EQ(folded("Mul", {4, 5}, {6, 7}), Elements(Integers{24, 35}));
  EXPECT_EQ(folded("Div", {7, -7}, {2}), Elements(Integers{3, -3}));
  EXPECT_EQ(folded("Max", {1, 9}, {5}), Elements(Integers{5, 9}));
  EXPECT_EQ(folded("Pow", {3}, {4}), Elements(Integers{81}));
}

TEST(OnnxFold, ANodeWithoutOutputsIsNotFolded) {
  Graph graph;
  graph.initializers = {integers("a", {1, 2})};
  for (const char* const kind : {"Identity", "Cast", "Add", "Slice", "ReduceProd", "Transpose", "Range"}) {
    graph.nodes = {operation(kind, {"a", "a", "a"}, {})};
    EXPECT_TRUE(facts_of(graph).contains("a")) << kind;
  }
}

TEST(OnnxFold, ModHasTheSignOfTheDivisorOrOfTheDividend) {
  EXPECT_EQ(folded("Mod", {-7, 7, -6}, {3, -3, 3}), Elements(Integers{2, -2, 0}));
  EXPECT_EQ(folded("Mod", {-7, 7, -6}, {3, -3, 3}, {attribute("fmod", 1)}), Elements(Integers{-1, 1, 0}));
}

TEST(OnnxFold, WhatLeavesTheRangeIsNotFolded) {
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE(folded("Add", {kHighest}, {1}));
  EXPECT_FALSE(folded("Sub", {lowest}, {1}));
  EXPECT_FALSE(folded("Mul", {kHighest}, {2}));
  EXPECT_FALSE(folded("Div", {lowest}, {-1}));
  EXPECT_FALSE(folded("Div", {1}, {0}));
  EXPECT_FALSE(folded("Mod", {1}, {0}));
  EXPECT_EQ(folded("Mod", {lowest}, {-1}), Elements(Integers{0}));
  EXPECT_FALSE(folded(operation("Abs", {"a"}, {"y"}), {integers("a", {lowest})}));
  EXPECT_FALSE(folded(operation("Cast", {"a"}, {"y"}, {attribute("to", 6)}), {integers("a", {kHighest})}));
  EXPECT_FALSE(folded(operation("Cast", {"a"}, {"y"}, {attribute("to", 7)}), {reals("a", {1e30})}));
  EXPECT_FALSE(folded(operation("ReduceProd", {"a"}, {"y"}), {integers("a", {kHighest, 2})}));
}

TEST(OnnxFold, TestsAndChoices) {
  EXPECT_EQ(folded("Equal", {1, 2}, {1, 3}), Elements(Integers{1, 0}));
  EXPECT_EQ(folded("Less", {1, 2}, {2}), Elements(Integers{1, 0}));
  const Node where = operation("Where", {"c", "a", "b"}, {"y"});
  EXPECT_EQ(folded(where, {integers("c", {1, 0}), integers("a", {10, 20}), integers("b", {30})}),
            Elements(Integers{10, 30}));
}

TEST(OnnxFold, RealNumbersStayFloat32) {
  EXPECT_EQ(folded(operation("Mul", {"a", "b"}, {"y"}), {reals("a", {0.1}), reals("b", {3})}),
            Elements(std::vector<double>{static_cast<double>(static_cast<float>(0.1 * 3))}));
  EXPECT_EQ(folded(operation("Floor", {"a"}, {"y"}), {reals("a", {2.5, -2.5})}), Elements(std::vector<double>{2, -3}));
  EXPECT_EQ(folded(operation("Cast", {"a"}, {"y"}, {attribute("to", 7)}), {reals("a", {2.5, -2.5})}),
            Elements(Integers{2, -2}));
  EXPECT_FALSE(folded(operation("Cast", {"a"}, {"y"}, {attribute("to", 10)}), {reals("a", {2.5})}));
}

TEST(OnnxFold, ElementsMove) {
  const TensorInfo square{
      .name = "a", .type = ElementType::int64, .dims = {2, 3}, .elements = Integers{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(folded(operation("Transpose", {"a"}, {"y"}), {square}), Elements(Integers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(folded(operation("Tile", {"a", "t"}, {"y"}), {square, integers("t", {1, 2})}),
            Elements(Integers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(folded(operation("Gather", {"a", "i"}, {"y"}, {attribute("axis", 1)}), {square, integers("i", {-1, 0})}),
            Elements(Integers{3, 1, 6, 4}));
  EXPECT_EQ(folded(operation("Slice", {"a", "s", "e", "x", "t"}, {"y"}),
                   {square, integers("s", {-1}), integers("e", {-9}), integers("x", {1}), integers("t", {-2})}),
            Elements(Integers{3, 1, 6, 4}));
  EXPECT_EQ(folded(operation("Concat", {"a", "a"}, {"y"}, {attribute("axis", 1)}), {square}),
            Elements(Integers{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_EQ(folded(operation("ReduceSum", {"a", "x"}, {"y"}), {square, integers("x", {0})}),
            Elements(Integers{5, 7, 9}));
  EXPECT_EQ(folded(operation("Split", {"a", "p"}, {"y", "z"}, {attribute("axis", 1)}), {square, integers("p", {1, 2})}),
            Elements(Integers{1, 4}));
  EXPECT_EQ(folded(operation("Expand", {"b", "s"}, {"y"}), {integers("b", {7}), integers("s", {2, 2})}),
            Elements(Integers(4, 7)));
}

TEST(OnnxFold, AnIndexBeyondTheDataIsNotFolded) {
  EXPECT_FALSE(folded("Gather", {1, 2}, {2}));
  EXPECT_FALSE(folded("Gather", {1, 2}, {-3}));
}

TEST(OnnxFold, EmptyTensorsOfHugeShapesCostNothing) {
  const TensorInfo empty{
      .name = "a", .type = ElementType::int64, .dims = {std::int64_t{1} << 40, 0}, .elements = Integers()};
  EXPECT_EQ(folded(operation("Gather", {"a", "i"}, {"y"}, {attribute("axis", 0)}), {empty, integers("i", {1})}),
            Elements(Integers()));
  EXPECT_EQ(folded(operation("Concat", {"a", "a"}, {"y"}, {attribute("axis", 1)}), {empty}), Elements(Integers()));
  EXPECT_EQ(folded(operation("Transpose", {"a"}, {"y"}), {empty}), Elements(Integers()));
  EXPECT_FALSE(folded(operation("ReduceSum", {"a", "x"}, {"y"}), {empty, integers("x", {1})}));
}

TEST(OnnxFold, LargeResultsAreNotFolded) {
  EXPECT_TRUE(folded(operation("Expand", {"b", "s"}, {"y"}), {integers("b", {7}), integers("s", {4096})}));
  EXPECT_FALSE(folded(operation("Expand", {"b", "s"}, {"y"}), {integers("b", {7}), integers("s", {4097})}));
  EXPECT_FALSE(folded(operation("ConstantOfShape", {"s"}, {"y"}), {integers("s", {4097})}));
  EXPECT_FALSE(folded(operation("Range", {"a", "b", "c"}, {"y"}),
                      {integer("a", 0), integer("b", kHighest / 8), integer("c", 1)}));
}

TEST(OnnxFold, NumbersBeyondInt64AreNotRead) {
  const TensorInfo huge{.name = "a", .type = ElementType::uint64, .dims = {1}, .elements = Integers{-1}};
  EXPECT_FALSE(folded(operation("Identity", {"a"}, {"y"}), {huge}));
}

TEST(OnnxFold, AModelHasALimit) {
  Graph graph;
  graph.initializers = {integers("s", {4096})};
  for (int i = 0; i < 1100; ++i) graph.nodes.push_back(operation("ConstantOfShape", {"s"}, {"y" + std::to_string(i)}));
  const GraphFacts facts = facts_of(graph);
  EXPECT_TRUE(facts.at("y0").elements);
  EXPECT_FALSE(facts.at("y1099").elements);
  EXPECT_TRUE(facts.at("y1099").is_known());
}

}  // namespace
}  // namespace stowage::io::onnx
