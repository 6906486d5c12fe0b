#include "io/onnx/functions.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stowage::io::onnx {
namespace {

using Names = std::vector<std::string>;

Node node(std::string kind, Names inputs, Names outputs) {
  Node result;
  result.kind = std::move(kind);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

Function function(std::string name, Names inputs, Names outputs, std::vector<Node> nodes) {
  Function result;
  result.name = std::move(name);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.nodes = std::move(nodes);
  return result;
}

Model model(std::vector<Node> nodes, std::vector<Function> functions) {
  Model result;
  result.graph.nodes = std::move(nodes);
  result.functions = std::move(functions);
  return result;
}

Attribute integer(std::string name, std::int64_t value) {
  Attribute result;
  result.name = std::move(name);
  result.type = Attribute::Type::integer;
  result.integer = value;
  return result;
}

Attribute reference(std::string name, std::string to) {
  Attribute result = integer(std::move(name), 0);
  result.reference = std::move(to);
  return result;
}

std::string message_of(Model model) {
  const Result<Model> result = inline_functions(std::move(model), "m.onnx");
  return result ? "no error" : to_string(result.error());
}

/// "Neg(x) -> y", one a node.
std::vector<std::string> lines(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& each : graph.nodes) {
    std::string line = each.kind + "(";
    for (const std::string& name : each.inputs) line += name + ",";
    line += ") ->";
    for (const std::string& name : each.outputs) line += " " + name;
    result.push_back(line);
  }
  return result;
}

TEST(OnnxFunctions, ACallBecomesTheNodesInside) {
  const Function twice = function("F", {"a", "b"}, {"c"}, {node("Neg", {"a"}, {"t"}), node("Add", {"t", "b"}, {"c"})});
  const Model result =
      inline_functions(model({node("F", {"x", "x"}, {"y"}), node("F", {"y"}, {"z"})}, {twice}), "m").value();
  EXPECT_TRUE(result.functions.empty());
  EXPECT_EQ(lines(result.graph),
            (Names{"Neg(x,) -> F#1/t", "Add(F#1/t,x,) -> y", "Neg(y,) -> F#2/t", "Add(F#2/t,,) -> z"}));
}

TEST(OnnxFunctions, CallsInsideFunctionsAndBodiesAreFollowed) {
  Node branch = node("If", {"c"}, {"y"});
  Attribute& then_branch = branch.attributes.emplace_back();
  then_branch.name = "then_branch";
  then_branch.type = Attribute::Type::graph;
  then_branch.graphs.emplace_back().nodes = {node("F", {"x"}, {"t"})};
  const Function inner = function("G", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})});
  const Function outer = function("F", {"a"}, {"b"}, {node("G", {"a"}, {"b"})});
  const Model result = inline_functions(model({branch}, {outer, inner}), "m").value();
  EXPECT_EQ(lines(*result.graph.nodes[0].graph("then_branch")), (Names{"Neg(x,) -> t"}));
}

TEST(OnnxFunctions, BodiesInsideSeeTheRenamedValues) {
  Node loop = node("Loop", {}, {"r"});
  Attribute& body = loop.attributes.emplace_back();
  body.name = "body";
  body.type = Attribute::Type::graph;
  body.graphs.emplace_back().nodes = {node("Add", {"a", "i"}, {"o"})};
  body.graphs[0].inputs = {{.name = "i"}};
  body.graphs[0].outputs = {{.name = "o"}};
  const Model result =
      inline_functions(model({node("F", {"x"}, {"y"})}, {function("F", {"a"}, {"r"}, {loop})}), "m").value();
  const Graph& graph = *result.graph.nodes[0].graph("body");
  EXPECT_EQ(lines(graph), (Names{"Add(x,F#1/i,) -> F#1/o"}));
  EXPECT_EQ(graph.inputs[0].name, "F#1/i");
  EXPECT_EQ(graph.outputs[0].name, "F#1/o");
}

TEST(OnnxFunctions, AttributesComeFromTheCallOrTheDefault) {
  Node inner = node("Op", {"a"}, {"b"});
  inner.attributes = {reference("axis", "dim"), reference("keep", "flag"), reference("gone", "nowhere")};
  Function f = function("F", {"a"}, {"b"}, {inner});
  f.defaults = {integer("flag", 7)};
  Node call = node("F", {"x"}, {"y"});
  call.attributes = {integer("dim", 3)};
  const Model result = inline_functions(model({call}, {f}), "m").value();
  EXPECT_EQ(result.graph.nodes[0].integer("axis", 0), 3);
  EXPECT_EQ(result.graph.nodes[0].integer("keep", 0), 7);
  EXPECT_EQ(result.graph.nodes[0].find("gone"), nullptr);
}

TEST(OnnxFunctions, AnInputThatIsAnOutputIsCopied) {
  const Model result =
      inline_functions(model({node("F", {"x"}, {"y", "z"})}, {function("F", {"a"}, {"a", "a"}, {})}), "m").value();
  EXPECT_EQ(lines(result.graph), (Names{"Identity(x,) -> y", "Identity(x,) -> z"}));
}

TEST(OnnxFunctions, RecursionIsRefused) {
  const Function f = function("F", {"a"}, {"b"}, {node("G", {"a"}, {"b"})});
  const Function g = function("G", {"a"}, {"b"}, {node("F", {"a"}, {"b"})});
  EXPECT_EQ(message_of(model({node("F", {"x"}, {"y"})}, {f, g})), "m.onnx: node 'y' (F): the function calls itself");
  EXPECT_NE(message_of(model({node("F", {"x", "x"}, {"y"})}, {function("F", {"a"}, {"b"}, {})})).find("has 2 inputs"),
            std::string::npos);
  EXPECT_NE(message_of(model({}, {f, f})).find("'F' occurs twice"), std::string::npos);
}

TEST(OnnxFunctions, WhatGrowsWithoutLimitIsRefused) {
  std::vector<Function> functions = {function("F0", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})})};
  for (int i = 1; i < 40; ++i) {  // 2^39 nodes
    const std::string below = "F" + std::to_string(i - 1);
    functions.push_back(
        function("F" + std::to_string(i), {"a"}, {"b"}, {node(below, {"a"}, {"t"}), node(below, {"t"}, {"b"})}));
  }
  EXPECT_NE(message_of(model({node("F39", {"x"}, {"y"})}, functions)).find("grow by more than 128 MiB"),
            std::string::npos);
}

TEST(OnnxFunctions, CallsNestOnlySoDeep) {
  std::vector<Function> functions = {function("F0", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})})};
  for (int i = 1; i < 5000; ++i)
    functions.push_back(
        function("F" + std::to_string(i), {"a"}, {"b"}, {node("F" + std::to_string(i - 1), {"a"}, {"b"})}));
  EXPECT_NE(message_of(model({node("F4999", {"x"}, {"y"})}, functions)).find("more than 64 deep"), std::string::npos);
  EXPECT_EQ(message_of(model({node("F60", {"x"}, {"y"})}, functions)), "no error");
}

}  // namespace
}  // namespace stowage::io::onnx
