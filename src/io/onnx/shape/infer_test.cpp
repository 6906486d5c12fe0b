#include "io/onnx/shape/infer.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/onnx/shape_graph.hpp"

namespace stowage::io::onnx {
namespace {

using namespace testing;

std::string error_of(const Graph& graph, const std::map<std::string, std::int64_t>& dims = {}) {
  Model model;
  model.graph = graph;
  const Result<ModelFacts> facts = infer(model, dims, "m.onnx");
  return facts ? "no error" : to_string(facts.error());
}

ValueInfo untyped(std::string name) { return {.name = std::move(name), .kind = ValueKind::unknown, .shape = {}}; }

TEST(OnnxInfer, FactsFollowTheNodes) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {operation("Relu", {"x"}, {"a"}), operation("Transpose", {"a"}, {"y"})};
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(describe(facts.at("x")), "float32 [2, 3]");
  EXPECT_EQ(describe(facts.at("y")), "float32 [3, 2]");
}

TEST(OnnxInfer, NamedDimsTakeTheirValue) {
  Graph graph;
  graph.inputs = {named_value("x", "batch", {3})};
  graph.nodes = {operation("Relu", {"x"}, {"y"})};
  EXPECT_EQ(describe(facts_of(graph, {{"batch", 4}}).at("y")), "float32 [4, 3]");
}

TEST(OnnxInfer, NamedDimsWithoutAValueAreTheReasonForAllThatFollows) {
  Graph graph;
  graph.inputs = {named_value("x", "batch", {3})};
  graph.nodes = {operation("Relu", {"x"}, {"a"}), operation("Exp", {"a"}, {"y"})};
  const GraphFacts facts = facts_of(graph);
  for (const char* name : {"x", "a", "y"}) {
    EXPECT_EQ(facts.at(name).stopped_by, "input 'x'") << name;
    EXPECT_EQ(facts.at(name).reason, "the dim 'batch' has no value") << name;
  }
}

TEST(OnnxInfer, TheNodeThatKnowledgeWasLostAtIsNamed) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {operation("NonZero", {"x"}, {"a"}), operation("Transpose", {"a"}, {"y"})};
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(facts.at("y").stopped_by, "node 'a' (NonZero)");
  EXPECT_EQ(facts.at("y").reason, "the output of NonZero depends on data");
}

TEST(OnnxInfer, OperatorsThatNobodyKnowsStopUnlessTheFileSaysMore) {
  Graph graph;
  graph.inputs = {float_value("x", {2})};
  graph.nodes = {operation("Mystery", {"x"}, {"a", "b"})};
  graph.nodes[0].domain = "acme";
  graph.value_infos = {float_value("b", {7})};
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(describe(facts.at("a")), "nothing is known about the operator acme.Mystery");
  EXPECT_EQ(describe(facts.at("b")), "float32 [7]");
}

TEST(OnnxInfer, WhatTheFileSaysCanBeAValueForADim) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {operation("NonZero", {"x"}, {"a"})};
  graph.value_infos = {tensor_value("a", ElementType::int64, {2})};
  graph.value_infos[0].shape->push_back({.value = {}, .param = "found"});
  EXPECT_EQ(describe(facts_of(graph).at("a")),
            "the output of NonZero depends on data, and the dim 'found' has no value");
  EXPECT_EQ(describe(facts_of(graph, {{"found", 6}}).at("a")), "int64 [2, 6]");
}

TEST(OnnxInfer, NamedDimsOfTheFileAgreeWithWhateverIsInferred) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {operation("Relu", {"x"}, {"y"})};
  graph.outputs = {named_value("y", "n", {3})};
  EXPECT_EQ(describe(facts_of(graph).at("y")), "float32 [2, 3]");
}

TEST(OnnxInfer, AFileThatContradictsItselfIsAnError) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {operation("Relu", {"x"}, {"y"})};
  graph.outputs = {float_value("y", {2, 4})};
  EXPECT_EQ(error_of(graph),
            "m.onnx: node 'y' (Relu): value 'y': its shape is [2, 4] in the file, but [2, 3] by inference");
  graph.outputs = {named_value("y", "n", {3, 4})};
  EXPECT_EQ(error_of(graph),
            "m.onnx: node 'y' (Relu): value 'y': its shape is [n, 3, 4] in the file, but [2, 3] by inference");
  graph.outputs = {tensor_value("y", ElementType::int8, {2, 3})};
  EXPECT_EQ(error_of(graph),
            "m.onnx: node 'y' (Relu): value 'y': its type is int8 in the file, but float32 by inference");
  graph.outputs = {named_value("y", "n", {3})};
  EXPECT_EQ(error_of(graph, {{"n", 5}}),
            "m.onnx: node 'y' (Relu): value 'y': its shape is [5, 3] in the file, but [2, 3] by inference");
}

TEST(OnnxInfer, DimsThatNoShapeHasAndNegativeOnesAreErrors) {
  Graph graph;
  graph.inputs = {named_value("x", "batch", {3})};
  EXPECT_EQ(error_of(graph, {{"bach", 4}}), "m.onnx: no shape in the model has a dim 'bach'; its only one is 'batch'");
  graph.outputs = {named_value("y", "n", {3})};
  EXPECT_EQ(error_of(graph, {{"bach", 4}, {"batch", 4}, {"m", 4}}),
            "m.onnx: no shape in the model has a dim 'bach', 'm'; its dims are 'batch', 'n'");
  EXPECT_EQ(error_of(graph, {{"batch", -4}}), "m.onnx: the dim 'batch' has the negative value -4");
}

TEST(OnnxInfer, DeclaredSizesBeyondTheLimitAreUnknown) {
  Graph graph;
  graph.inputs = {float_value("x", {std::int64_t{1} << 40, std::int64_t{1} << 40})};
  EXPECT_EQ(describe(facts_of(graph).at("x")), "it has more than 2^62 bytes: [1099511627776, 1099511627776]");
  graph.inputs = {float_value("x", Dims(40, 1))};
  EXPECT_EQ(describe(facts_of(graph).at("x")), "it has 40 dims, and more than 32 are not inferred");
}

TEST(OnnxInfer, NamesThatNothingDefinesStop) {
  Graph graph;
  graph.nodes = {operation("Relu", {"nowhere"}, {"y"})};
  EXPECT_EQ(describe(facts_of(graph).at("y")), "one of its inputs is not defined before it");
}

TEST(OnnxInfer, SequencesAreNamedAsSuch) {
  Graph graph;
  graph.inputs = {{.name = "x", .kind = ValueKind::sequence, .shape = {}}};
  graph.nodes = {operation("Relu", {"x"}, {"y"})};
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(facts.at("x").kind, ValueKind::sequence);
  EXPECT_EQ(facts.at("y").reason, "its input 'x' is a sequence");
}

TEST(OnnxInfer, InitializersOfInputsAreTheirDefaults) {
  Graph graph;
  graph.inputs = {float_value("x", {6}), untyped("s")};
  graph.initializers = {integers("s", {2, 3})};
  graph.nodes = {operation("Reshape", {"x", "s"}, {"y"})};
  EXPECT_EQ(describe(facts_of(graph).at("y")), "float32 [2, 3]");
}

TEST(OnnxInfer, ShapesComputedFromShapesAreKnown) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3, 4, 5})};
  graph.initializers = {integer("zero", 0), integers("axis", {0}), integers("minus", {-1})};
  graph.nodes = {operation("Shape", {"x"}, {"shape"}), operation("Gather", {"shape", "zero"}, {"n"}),
                 operation("Unsqueeze", {"n", "axis"}, {"first"}),
                 operation("Concat", {"first", "minus"}, {"target"}, {attribute("axis", 0)}),
                 operation("Reshape", {"x", "target"}, {"y"})};
  EXPECT_EQ(describe(facts_of(graph).at("y")), "float32 [2, 60]");
}

// Bodies.

Graph body_with(std::vector<Node> nodes, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs) {
  Graph body;
  body.nodes = std::move(nodes);
  for (const std::string& name : inputs) body.inputs.push_back(untyped(name));
  for (const std::string& name : outputs) body.outputs.push_back(untyped(name));
  return body;
}

Graph branching(const char* then_kind, const char* else_kind) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3}), tensor_value("c", ElementType::boolean, {})};
  graph.nodes = {operation("If", {"c"}, {"y"},
                           {attribute("then_branch", body_with({operation(then_kind, {"x"}, {"t"})}, {}, {"t"})),
                            attribute("else_branch", body_with({operation(else_kind, {"x"}, {"e"})}, {}, {"e"}))})};
  return graph;
}

TEST(OnnxIf, BranchesThatAgreeMakeAShape) {
  EXPECT_EQ(describe(facts_of(branching("Relu", "Neg")).at("y")), "float32 [2, 3]");
}

TEST(OnnxIf, BranchesThatDoNotAgreeMakeNone) {
  EXPECT_EQ(describe(facts_of(branching("Relu", "Transpose")).at("y")),
            "its branches make different shapes, [2, 3] and [3, 2]");
  EXPECT_EQ(describe(facts_of(branching("Relu", "IsNaN")).at("y")), "its branches make values of different types");
}

TEST(OnnxIf, AConditionThatIsKnownDecides) {
  Graph graph = branching("Relu", "Transpose");
  graph.inputs.pop_back();
  graph.initializers = {
      {.name = "c", .type = ElementType::boolean, .dims = {}, .elements = std::vector<std::int64_t>{0}}};
  EXPECT_EQ(describe(facts_of(graph).at("y")), "float32 [3, 2]");
}

TEST(OnnxIf, BodiesHaveFactsOfTheirOwn) {
  Model model;
  model.graph = branching("Relu", "Neg");
  const ModelFacts facts = infer(model, {}, "m").value();
  const Graph* const body = model.graph.nodes[0].graph("then_branch");
  EXPECT_EQ(describe(facts.at(body).at("t")), "float32 [2, 3]");
  EXPECT_FALSE(facts.at(body).contains("x"));
}

/// A loop that carries `state`, starting as x, and stacks what it carries.
Graph looping(std::vector<Node> nodes, std::int64_t turns) {
  nodes.push_back(operation("Identity", {"go"}, {"go_on"}));
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.initializers = {integer("m", turns)};
  graph.nodes = {
      operation("Loop", {"m", "", "x"}, {"y", "all"},
                {attribute("body", body_with(std::move(nodes), {"turn", "go", "state"}, {"go_on", "next", "next"}))})};
  return graph;
}

TEST(OnnxLoop, WhatKeepsItsShapeIsKnownAndStacked) {
  const GraphFacts facts = facts_of(looping({operation("Add", {"state", "x"}, {"next"})}, 5));
  EXPECT_EQ(describe(facts.at("y")), "float32 [2, 3]");
  EXPECT_EQ(describe(facts.at("all")), "float32 [5, 2, 3]");
}

TEST(OnnxLoop, WhatChangesItsShapeIsUnknownEverywhereInTheBody) {
  Model model;
  model.graph = looping({operation("Concat", {"state", "x"}, {"next"}, {attribute("axis", 0)})}, 5);
  const ModelFacts facts = infer(model, {}, "m").value();
  EXPECT_EQ(describe(facts.at(&model.graph).at("y")), "its shape changes from iteration to iteration");
  const GraphFacts& body = facts.at(model.graph.nodes[0].graph("body"));
  EXPECT_EQ(describe(body.at("state")), "its shape changes from iteration to iteration");
  EXPECT_EQ(describe(body.at("next")), "its shape changes from iteration to iteration");
}

TEST(OnnxLoop, ElementsDoNotStayFromTurnToTurn) {
  Graph graph = looping({operation("Add", {"state", "x"}, {"next"})}, 2);
  graph.inputs.clear();
  graph.initializers.push_back(integers("x", {1}));
  EXPECT_FALSE(facts_of(graph).at("y").elements);
}

TEST(OnnxLoop, TurnsThatDependOnDataAreUnknown) {
  Graph graph = looping({operation("Add", {"state", "x"}, {"next"})}, 5);
  graph.initializers.clear();
  graph.inputs.push_back(tensor_value("m", ElementType::int64, {}));
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(describe(facts.at("y")), "float32 [2, 3]");
  EXPECT_EQ(describe(facts.at("all")), "the elements of its input 'm' are not known before it runs");
}

TEST(OnnxScan, SlicesGoInAndComeOutStacked) {
  Graph graph;
  graph.inputs = {float_value("init", {3}), float_value("x", {3, 7})};
  const Graph body =
      body_with({operation("Add", {"s", "i"}, {"n"}), operation("Exp", {"n"}, {"o"})}, {"s", "i"}, {"n", "o"});
  graph.nodes = {
      operation("Scan", {"init", "x"}, {"last", "all"},
                {attribute("body", body), attribute("num_scan_inputs", 1), attribute("scan_input_axes", Dims{1})})};
  const GraphFacts facts = facts_of(graph);
  EXPECT_EQ(describe(facts.at("last")), "float32 [3]");
  EXPECT_EQ(describe(facts.at("all")), "float32 [7, 3]");
}

/// Loops inside loops, each of which changes the shape of what it carries.
Node nested_loop(int depth) {
  const std::string tag = std::to_string(depth);
  std::vector<Node> nodes = {operation("Concat", {"s" + tag, "s" + tag}, {"n" + tag}, {attribute("axis", 0)})};
  if (depth > 0) nodes.push_back(nested_loop(depth - 1));
  nodes.push_back(operation("Identity", {"g" + tag}, {"o" + tag}));
  return operation(
      "Loop", {"", "", "x"}, {"y" + tag},
      {attribute("body", body_with(std::move(nodes), {"t" + tag, "g" + tag, "s" + tag}, {"o" + tag, "n" + tag}))});
}

TEST(OnnxLoop, DeepNestsThatChangeShapesTakeBoundedWork) {
  Graph graph;
  graph.inputs = {float_value("x", {2, 3})};
  graph.nodes = {nested_loop(40)};
  EXPECT_FALSE(facts_of(graph).at("y40").is_known());
}

}  // namespace
}  // namespace stowage::io::onnx
