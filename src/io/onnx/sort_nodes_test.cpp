#include "io/onnx/sort_nodes.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/onnx/shape_graph.hpp"

namespace stowage::io::onnx {
namespace {

using testing::attribute;
using testing::operation;

/// The first outputs of the nodes, joined.
std::string order_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) text += node.outputs.front();
  return text;
}

std::string sorted(std::vector<Node> nodes) {
  Graph graph;
  graph.nodes = std::move(nodes);
  sort_nodes(graph);
  return order_of(graph);
}

TEST(SortNodes, SortedOnesKeepTheirPlaces) {
  EXPECT_EQ(
      sorted({operation("Neg", {"x"}, {"c"}), operation("Neg", {"x"}, {"a"}), operation("Add", {"a", "c"}, {"b"})}),
      "cab");
}

TEST(SortNodes, AReaderComesAfterItsLastWriterAndOthersKeepTheirOrder) {
  EXPECT_EQ(sorted({operation("Add", {"a", "b"}, {"d"}), operation("Neg", {"x"}, {"c"}), operation("Neg", {"x"}, {"b"}),
                    operation("Neg", {"b"}, {"a"})}),
            "cbad");
  EXPECT_EQ(
      sorted({operation("Neg", {"b", "b"}, {"c"}), operation("Neg", {"a"}, {"b"}), operation("Neg", {""}, {"a"})}),
      "abc");
}

TEST(SortNodes, WhatABodyReadsFromOutsideCounts) {
  Graph body;
  body.nodes = {operation("Neg", {"inner"}, {"y"}), operation("Add", {"outer", "c"}, {"inner"})};
  body.outputs = {testing::float_value("y", {1})};
  std::vector<Node> nodes = {operation("If", {"c"}, {"z"}, {attribute("then_branch", body)}),
                             operation("Neg", {"x"}, {"y"}),  // another value than the body's
                             operation("Neg", {"x"}, {"outer"})};
  EXPECT_EQ(sorted(nodes), "youterz");
  Graph graph;
  graph.nodes = nodes;
  sort_nodes(graph);
  EXPECT_EQ(order_of(graph.nodes.back().attributes.front().graphs.front()), "innery");
}

TEST(SortNodes, ACycleStaysBehindTheOthers) {
  EXPECT_EQ(sorted({operation("Neg", {"b"}, {"a"}), operation("Neg", {"a"}, {"b"}), operation("Neg", {"x"}, {"c"}),
                    operation("Neg", {"d"}, {"d"})}),
            "cabd");
}

}  // namespace
}  // namespace stowage::io::onnx
