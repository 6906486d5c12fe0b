#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/onnx/format.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/onnx/model.hpp"

namespace stowage {
namespace {

using namespace io::onnx::testing;
using io::parse_onnx;

constexpr int kFloat = 1, kInt64 = 7, kString = 8, kBool = 9, kInt4 = 22;

Graph import_or_die(const std::string& bytes, const ImportOptions& options = {}) {
  Result<Graph> graph = parse_onnx(bytes, "m.onnx", options);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return std::move(graph).value();
}

std::string message_of(const std::string& bytes, const ImportOptions& options = {}) {
  const Result<Graph> graph = parse_onnx(bytes, "m.onnx", options);
  return graph ? "no error" : to_string(graph.error());
}

std::optional<std::size_t> find(const std::vector<Tensor>& tensors, const std::string& name) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return i;
  }
  return std::nullopt;
}

const Tensor& tensor_named(const Graph& graph, const std::string& name) {
  return graph.description().tensors[find(graph.description().tensors, name).value()];
}

/// Has a plan, and the verifier agrees with it.
void expect_plan(const Graph& graph) {
  const Result<Planned> planned = plan(graph, {.time_limit = std::nullopt, .node_budget = 10000});
  ASSERT_TRUE(planned) << to_string(planned.error());
  ASSERT_TRUE(planned->plan);
  for (const Finding& finding : verify(graph, *planned->plan)) ADD_FAILURE() << finding.message;
}

std::string io_value(std::uint32_t field, const char* name, const std::vector<std::int64_t>& dims, int type = kFloat) {
  return bytes(field, value(name, type, dims));
}
std::string input(const char* name, const std::vector<std::int64_t>& dims, int type = kFloat) {
  return io_value(11, name, dims, type);
}
std::string output(const char* name, const std::vector<std::int64_t>& dims, int type = kFloat) {
  return io_value(12, name, dims, type);
}
std::string info(const char* name, const std::vector<std::int64_t>& dims, int type = kFloat) {
  return io_value(13, name, dims, type);
}
std::string op(const char* kind, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
               const std::string& attributes = {}) {
  return bytes(1, node(kind, inputs, outputs, "") + attributes);
}
std::string graph_attribute(const char* name, std::initializer_list<std::string> fields) {
  return bytes(5, message({text(1, name), bytes(6, message(fields)), number(20, 5)}));
}

TEST(OnnxImport, InputsConstantsAndOutputsHaveTheirFlags) {
  const Graph graph = import_or_die(
      with_graph({text(2, "net"), input("x", {4, 8}), input("w", {8, 8}), bytes(5, tensor("w", kFloat, {8, 8})),
                  bytes(5, tensor("unread", kFloat, {5})), op("MatMul", {"x", "w"}, {"y"}), output("y", {4, 8})}));
  EXPECT_EQ(graph.name(), "net");
  EXPECT_EQ(graph.tensors().size(), 3);
  EXPECT_EQ(tensor_named(graph, "x").flags, TensorFlags(TensorFlag::input));
  EXPECT_EQ(tensor_named(graph, "w").flags, TensorFlags(TensorFlag::constant));
  EXPECT_EQ(tensor_named(graph, "y").flags, TensorFlags(TensorFlag::output));
  EXPECT_EQ(tensor_named(graph, "y").size, Bytes(128));
  EXPECT_EQ(tensor_named(graph, "y").dtype, "float32");
  EXPECT_EQ(graph.memories()[0].alignment, Bytes(64));
  expect_plan(graph);
}

TEST(OnnxImport, ConstantNodesAreConstantsWithoutAnOp) {
  const std::string constant = bytes(5, message({text(1, "value"), bytes(5, tensor("", kFloat, {8})), number(20, 4)}));
  const Graph graph = import_or_die(with_graph(
      {input("x", {8}), op("Constant", {}, {"c"}, constant), op("Add", {"x", "c"}, {"y"}), output("y", {8})}));
  EXPECT_EQ(graph.ops().size(), 1);
  EXPECT_TRUE(tensor_named(graph, "c").flags.has(TensorFlag::constant));
  EXPECT_EQ(graph.ops()[0].in_place, (std::vector<InPlacePair>{{0, 0}, {0, 1}}));
}

TEST(OnnxImport, OmittedInputsAndOutputsStayOut) {
  const Graph graph = import_or_die(
      with_graph({input("x", {8}), input("max", {}), op("Clip", {"x", "", "max"}, {"", "y"}), output("y", {8})}));
  ASSERT_EQ(graph.ops()[0].inputs.size(), 3);
  EXPECT_FALSE(graph.ops()[0].inputs[1]);
  EXPECT_EQ(graph.ops()[0].outputs.size(), 1);
}

TEST(OnnxImport, ReshapesAreViewsUnlessToldOtherwise) {
  const std::string model =
      with_graph({input("x", {4, 8}), op("Relu", {"x"}, {"a"}), info("a", {4, 8}), op("Reshape", {"a", "s"}, {"b"}),
                  bytes(5, tensor("s", kInt64, {1})), info("b", {32}), op("Neg", {"b"}, {"y"}), output("y", {32})});
  const Graph on = import_or_die(model);
  EXPECT_TRUE(on.ops()[1].no_task);
  EXPECT_EQ(tensor_named(on, "b").view_of, (ViewOf{TensorId(find(on.description().tensors, "a").value()), Bytes(0)}));
  expect_plan(on);
  const Graph off = import_or_die(model, {.alignment = {}, .views = false, .in_place = true, .dims = {}});
  EXPECT_FALSE(off.ops()[1].no_task);
  EXPECT_EQ(off.ops()[1].in_place, (std::vector<InPlacePair>{{0, 0}}));
  const Graph nothing = import_or_die(model, {.alignment = Bytes(16), .views = false, .in_place = false, .dims = {}});
  for (const Op& each : nothing.ops()) EXPECT_TRUE(each.in_place.empty());
  EXPECT_EQ(nothing.memories()[0].alignment, Bytes(16));
}

TEST(OnnxImport, AnOutputHasMemoryThatIsNobodyElses) {
  const auto is_view = [](const std::string& model, const char* name) {
    return tensor_named(import_or_die(model), name).view_of.has_value();
  };
  EXPECT_FALSE(is_view(with_graph({input("x", {8}), op("Identity", {"x"}, {"y"}), output("y", {8})}), "y"));
  EXPECT_FALSE(
      is_view(with_graph({bytes(5, tensor("w", kFloat, {8})), op("Identity", {"w"}, {"y"}), output("y", {8})}), "y"));
  const std::string two =
      with_graph({input("x", {8}), op("Relu", {"x"}, {"a"}), op("Identity", {"a"}, {"y"}), op("Identity", {"y"}, {"z"}),
                  info("a", {8}), output("y", {8}), output("z", {8})});
  EXPECT_TRUE(is_view(two, "y"));
  EXPECT_FALSE(is_view(two, "z"));
  EXPECT_FALSE(is_view(with_graph({input("x", {8}), op("Relu", {"x"}, {"y"}), op("Identity", {"y"}, {"z"}),
                                   output("y", {8}), output("z", {8})}),
                       "z"));
  EXPECT_TRUE(is_view(with_graph({input("x", {8}), op("Identity", {"x"}, {"a"}), info("a", {8}),
                                  op("Neg", {"a"}, {"y"}), output("y", {8})}),
                      "a"));
  expect_plan(import_or_die(two));
}

TEST(OnnxImport, PartsAreViewsWhereTheyAreAligned) {
  const auto views = [](std::int64_t columns) {
    const std::string axis = bytes(5, message({text(1, "axis"), number(3, 0), number(20, 2)}));
    const Graph graph = import_or_die(
        with_graph({input("x", {2, columns}), op("Split", {"x"}, {"a", "b"}, axis), info("a", {1, columns}),
                    info("b", {1, columns}), op("Sub", {"a", "b"}, {"y"}), output("y", {1, columns})}));
    expect_plan(graph);
    return graph.ops()[0].no_task;
  };
  EXPECT_TRUE(views(16));
  EXPECT_FALSE(views(15));
}

TEST(OnnxImport, APartIsAViewWhereItKeepsNothingAlive) {
  const std::string axis = bytes(5, message({text(1, "axis"), number(3, 0), number(20, 2)}));
  const auto is_view = [&](std::initializer_list<std::string> readers) {
    const Graph graph = import_or_die(with_graph(
        {input("x", {2, 16}), op("Exp", {"x"}, {"w"}), info("w", {2, 16}), op("Split", {"w"}, {"a", "b"}, axis),
         info("a", {1, 16}), info("b", {1, 16}), message(readers), output("y", {1, 16}), output("z", {1, 16})}));
    expect_plan(graph);
    return graph.ops()[1].no_task;
  };
  const std::string early = op("Neg", {"a"}, {"y"});
  EXPECT_FALSE(is_view({early, op("Neg", {"b"}, {"z"})}));
  EXPECT_TRUE(is_view({early, op("Sub", {"a", "b"}, {"z"})}));
  EXPECT_TRUE(is_view({early, op("Fold", {"w"}, {"z"})}));
  EXPECT_TRUE(is_view({early, op("Mix", {"b", "w"}, {"z"})}));
  EXPECT_FALSE(is_view({op("Fold", {"w"}, {"y"}), op("Neg", {"b"}, {"z"})}));
  const Graph constant = import_or_die(
      with_graph({bytes(5, tensor("w", kFloat, {2, 16})), op("Split", {"w"}, {"a", "b"}, axis), info("a", {1, 16}),
                  info("b", {1, 16}), op("Neg", {"a"}, {"y"}), output("y", {1, 16})}));
  EXPECT_TRUE(constant.ops()[0].no_task);
}

TEST(OnnxImport, ViewsOfViewsAreOfTheTensorThatIsNone) {
  const Graph graph = import_or_die(
      with_graph({input("x", {8}), op("Relu", {"x"}, {"a"}), op("Identity", {"a"}, {"b"}), op("Identity", {"b"}, {"c"}),
                  info("a", {8}), info("b", {8}), info("c", {8}), op("Neg", {"c"}, {"y"}), output("y", {8})}));
  EXPECT_EQ(tensor_named(graph, "c").view_of->tensor, TensorId(find(graph.description().tensors, "a").value()));
}

TEST(OnnxImport, AnInputOrAWeightMayBeAnOutputItself) {
  const Graph graph = import_or_die(
      with_graph({input("x", {8}), bytes(5, tensor("w", kFloat, {8})), output("x", {8}), output("w", {8})}));
  EXPECT_EQ(tensor_named(graph, "x").flags, (TensorFlags{TensorFlag::input, TensorFlag::output}));
  EXPECT_EQ(tensor_named(graph, "w").flags, (TensorFlags{TensorFlag::constant, TensorFlag::output}));
  expect_plan(graph);
}

TEST(OnnxImport, SmallTypesArePacked) {
  const Graph graph =
      import_or_die(with_graph({input("x", {3, 3}, kInt4), op("Identity", {"x"}, {"y"}), output("y", {3, 3}, kInt4)}));
  EXPECT_EQ(tensor_named(graph, "x").size, Bytes(5));
  EXPECT_EQ(tensor_named(graph, "x").dtype, "int4");
}

// ------------------------------------------------------------------------------------------------------------- bodies

std::string branches(const std::string& condition) {
  const std::string then_branch = graph_attribute("then_branch", {op("Neg", {"a"}, {"t"}), output("t", {64})});
  const std::string else_branch = graph_attribute(
      "else_branch", {op("Exp", {"a"}, {"u"}), info("u", {64}), op("Add", {"u", "w"}, {"v"}), output("v", {64})});
  return with_graph({input("x", {64}), input("c", {}, kBool), condition, bytes(5, tensor("w", kFloat, {64})),
                     op("Relu", {"x"}, {"a"}), info("a", {64}), op("If", {"c2"}, {"y"}, then_branch + else_branch),
                     output("y", {64})});
}

TEST(OnnxImport, IfIsABranchWhoseBodiesReadFromOutside) {
  const Graph graph = import_or_die(branches(op("Not", {"c"}, {"c2"}) + info("c2", {}, kBool)));
  const Op& branch = graph.description().ops.back();
  EXPECT_EQ(branch.control, Control::branch);
  ASSERT_EQ(branch.bodies.size(), 2);
  EXPECT_EQ(branch.inputs.size(), 3);  // the condition, a, w
  EXPECT_EQ(branch.bodies[0].inputs.size(), 1);
  EXPECT_EQ(branch.bodies[1].inputs.size(), 2);
  EXPECT_EQ(branch.bodies[1].outputs.size(), 1);
  expect_plan(graph);
}

TEST(OnnxImport, AKnownConditionLeavesOneBodyThatIsCalled) {
  const std::string known = bytes(5, tensor("c2", kBool, {}) + bytes(9, std::string(1, '\1')));
  const Graph graph = import_or_die(branches(known));
  const Op& call = graph.description().ops.back();
  EXPECT_EQ(call.control, Control::call);
  ASSERT_EQ(call.bodies.size(), 1);
  EXPECT_EQ(call.bodies[0].ops[0].kind, "Neg");
  expect_plan(graph);
}

TEST(OnnxImport, BranchesOfDifferentSizesAreRefused) {
  const std::string attributes = graph_attribute("then_branch", {op("Neg", {"x"}, {"t"}), output("t", {64})}) +
                                 graph_attribute("else_branch", {op("Cut", {"x"}, {"u"}), output("u", {32})});
  EXPECT_EQ(message_of(with_graph(
                {input("x", {64}), input("c", {}, kBool), op("If", {"c"}, {"y"}, attributes), output("y", {64})})),
            "m.onnx: node 'y' (If): 'y' has 128 bytes in one place and 256 in another; sizes must not change");
}

/// A loop that carries `out` as v, and collects s.
std::string loop(std::initializer_list<std::string> nodes, const char* out) {
  const std::string body =
      bytes(5, message({text(1, "body"),
                        bytes(6, message({input("i", {}, kInt64), input("c", {}, kBool), input("v", {64}),
                                          message(nodes), op("Identity", {"c"}, {"c2"}), output("c2", {}, kBool),
                                          output(out, {64}), output("s", {16})})),
                        number(20, 5)}));
  return with_graph({input("n", {}, kInt64), input("x", {64}), op("Loop", {"n", "", "x"}, {"y", "ys"}, body),
                     output("y", {64}), output("ys", {10, 16})});
}

TEST(OnnxImport, LoopCarriesValuesAndCollectsResults) {
  const Graph graph = import_or_die(loop({op("Relu", {"v"}, {"v2"}), op("Cut", {"v2"}, {"s"})}, "v2"));
  const Op& op = graph.description().ops.back();
  EXPECT_EQ(op.control, Control::loop);
  ASSERT_EQ(op.bodies.size(), 1);
  EXPECT_EQ(op.bodies[0].carried.size(), 2);
  EXPECT_EQ(op.bodies[0].outputs.size(), 2);
  EXPECT_EQ(tensor_named(graph, "ys").size, Bytes(640));
  expect_plan(graph);
}

TEST(OnnxImport, WhatGoesAroundIsWrittenInTheBody) {
  const auto carried_by = [](std::initializer_list<std::string> nodes, const char* out) {
    const Graph graph = import_or_die(loop(nodes, out));
    expect_plan(graph);
    const Body& body = graph.description().ops.back().bodies[0];
    const TensorId id = body.carried[0].out;
    if (id == body.carried[0].in) return std::string("itself");
    for (const Op& op : body.ops) {
      if (std::find(op.outputs.begin(), op.outputs.end(), id) != op.outputs.end()) return op.kind;
    }
    return std::string("nobody");
  };
  const std::string cut = op("Cut", {"v"}, {"s"});
  EXPECT_EQ(carried_by({cut, op("Relu", {"v"}, {"v2"})}, "v2"), "Relu");
  EXPECT_EQ(carried_by({cut}, "v"), "itself");
  EXPECT_EQ(carried_by({cut, op("Identity", {"v"}, {"v2"})}, "v2"), "itself");
  EXPECT_EQ(carried_by({cut}, "x"), "LoopCarry");
  EXPECT_EQ(carried_by({cut, bytes(5, tensor("k", kFloat, {64}))}, "k"), "LoopCarry");
  EXPECT_EQ(carried_by({cut, op("Cut", {"v"}, {"a"}), info("a", {1, 64}), op("Squeeze", {"a"}, {"v2"})}, "v2"),
            "LoopCarry");
}

TEST(OnnxImport, ScanTakesElementsAndCollectsResults) {
  const std::string body = graph_attribute("body", {input("h", {32}), input("e", {32}), op("Add", {"h", "e"}, {"h2"}),
                                                    op("Neg", {"h2"}, {"o"}), output("h2", {32}), output("o", {32})}) +
                           bytes(5, message({text(1, "num_scan_inputs"), number(3, 1), number(20, 2)}));
  const Graph graph =
      import_or_die(with_graph({input("h0", {32}), input("xs", {7, 32}), op("Scan", {"h0", "xs"}, {"h7", "os"}, body),
                                output("h7", {32}), output("os", {7, 32})}));
  const Op& op = graph.description().ops.back();
  EXPECT_EQ(op.control, Control::loop);
  EXPECT_EQ(op.bodies[0].carried.size(), 2);
  EXPECT_EQ(op.bodies[0].ops.front().kind, "ScanElement");
  expect_plan(graph);
}

TEST(OnnxImport, BodiesInBodiesSeeAllTheWayOut) {
  const std::string inner = graph_attribute("then_branch", {op("Neg", {"x"}, {"t"}), output("t", {64})}) +
                            graph_attribute("else_branch", {op("Add", {"v", "x"}, {"u"}), output("u", {64})});
  const Graph graph = import_or_die(loop({op("If", {"c"}, {"v2"}, inner), op("Cut", {"v2"}, {"s"})}, "v2"));
  const Body& body = graph.description().ops.back().bodies[0];
  EXPECT_EQ(body.inputs.size(), 3);  // v, the room for ys, x
  expect_plan(graph);
}

// ------------------------------------------------------------------------------------------------------------- errors

TEST(OnnxImport, NodesAreSortedUnlessTheyFormACycle) {
  const Graph graph = import_or_die(with_graph(
      {input("x", {8}), op("Neg", {"a"}, {"y"}), op("Relu", {"x"}, {"a"}), info("a", {8}), output("y", {8})}));
  ASSERT_EQ(graph.description().ops.size(), 2);
  EXPECT_EQ(graph.description().ops[0].kind, "Relu");
  EXPECT_EQ(message_of(with_graph({info("a", {8}), op("Neg", {"b"}, {"a"}), op("Relu", {"a"}, {"b"})})),
            "m.onnx: node 'a' (Neg): reads 'b' before node 'b' (Relu) writes it: the nodes form a cycle");
}

TEST(OnnxImport, WhatTheBodyOfAnOrdinaryOpReadsIsReadByTheOp) {
  const std::string body = graph_attribute(
      "score_mod", {input("s", {1, 2, 3, 3}), op("Add", {"s", "bias"}, {"t"}), output("t", {1, 2, 3, 3})});
  const Graph graph = import_or_die(with_graph(
      {input("q", {1, 2, 3, 4}), input("x", {1}), op("Neg", {"x"}, {"bias"}),
       op("FlexAttention", {"q", "q", "q"}, {"y"}, body + text(7, "ai.onnx.preview")), output("y", {1, 2, 3, 4})}));
  const Op& attention = graph.description().ops.back();
  ASSERT_EQ(attention.inputs.size(), 4);
  EXPECT_EQ(graph.description().tensors[attention.inputs[3]->index()].name, "bias");
}

TEST(OnnxImport, NamesThatNothingDefinesAndThatTwoNodesWriteAreErrors) {
  EXPECT_EQ(message_of(with_graph({op("Neg", {"nowhere"}, {"y"}), output("y", {8})})),
            "m.onnx: node 'y' (Neg): reads 'nowhere', which is not defined");
  EXPECT_EQ(message_of(with_graph({input("x", {8}), op("Neg", {"x"}, {"x"})})),
            "m.onnx: node 'x' (Neg): 'x' already has a value");
  EXPECT_EQ(message_of(with_graph({output("y", {8})})), "m.onnx: the output 'y' has no value");
}

TEST(OnnxImport, WhatIsNoTensorIsRefusedByName) {
  EXPECT_EQ(message_of(with_graph({input("x", {8}, kString)})),
            "m.onnx: 'x' consists of strings, which have no fixed size");
  const std::string sequence = bytes(11, message({text(1, "s"), bytes(2, bytes(4, ""))}));
  EXPECT_EQ(message_of(with_graph({sequence})), "m.onnx: 's' is a sequence; only tensors can be planned");
  EXPECT_NE(message_of(with_graph({input("x", {8}), op("SequenceConstruct", {"x"}, {"s"})}))
                .find("node 's' (SequenceConstruct)"),
            std::string::npos);
}

TEST(OnnxImport, UnknownSizesAreListed) {
  std::string many;
  for (int i = 0; i < 12; ++i) many += op("Mystery", {"x"}, {"t" + std::to_string(i)});
  const std::string message = message_of(with_graph({input("x", {8}), many}));
  EXPECT_NE(message.find("the sizes of 12 tensors are unknown:\n  't0' at node 't0' (Mystery): "), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with("\n  and 2 more")) << message;
}

TEST(OnnxImport, OptionsThatWouldGiveSizesAreListed) {
  const auto open = [](std::uint32_t field, const char* name, const std::string& dims) {
    return bytes(field, message({text(1, name), bytes(2, bytes(1, message({number(1, kFloat), bytes(2, dims)})))}));
  };
  const std::string named = bytes(1, text(2, "n")) + bytes(1, text(2, "a b"));
  const std::string unnamed = bytes(1, "") + bytes(1, number(1, 3)) + bytes(1, number(1, -1));
  const std::string model = with_graph({open(11, "x", named), open(11, "y", unnamed), op("Relu", {"x"}, {"z"})});
  EXPECT_NE(message_of(model).find("\nThe file leaves sizes of inputs open; these options give them: "
                                   "--dim n=N --dim 'a b'=N --shape y=Nx3xN"),
            std::string::npos)
      << message_of(model);
}

TEST(OnnxImport, ShapesOfInputsFillWhatTheFileLeavesOpen) {
  const std::string dims = bytes(1, text(2, "n")) + bytes(1, "") + bytes(1, number(1, 4));
  const std::string model =
      with_graph({bytes(11, message({text(1, "x"), bytes(2, bytes(1, message({number(1, kFloat), bytes(2, dims)})))})),
                  op("Relu", {"x"}, {"y"}), output("y", {2, 3, 4})});
  EXPECT_EQ(tensor_named(import_or_die(model, {.alignment = {}, .dims = {}, .shapes = {{"x", {2, 3, 4}}}}), "y").size,
            Bytes(96));
  EXPECT_EQ(
      message_of(model, {.alignment = {}, .dims = {}, .shapes = {{"x", {2, 3, 5}}}}),
      "m.onnx: the input 'x' is [n, ?, 4] in the file and with other options, and cannot have the shape [2, 3, 5]");
  EXPECT_EQ(message_of(model, {.alignment = {}, .dims = {}, .shapes = {{"z", {2}}}}),
            "m.onnx: the model has no input 'z'; its inputs are 'x'");
}

TEST(OnnxImport, SymbolicDimsTakeGivenValues) {
  const std::string shape = message({bytes(1, text(2, "batch")), bytes(1, number(1, 8))});
  const auto batch = [&](std::uint32_t field, const char* name) {
    return bytes(field, message({text(1, name), bytes(2, bytes(1, message({number(1, kFloat), bytes(2, shape)})))}));
  };
  const std::string model = with_graph({batch(11, "x"), op("Relu", {"x"}, {"y"}), batch(12, "y")});
  EXPECT_NE(message_of(model).find("the dim 'batch' has no value"), std::string::npos);
  const Graph graph = import_or_die(model, {.alignment = {}, .views = true, .in_place = true, .dims = {{"batch", 5}}});
  EXPECT_EQ(tensor_named(graph, "y").size, Bytes(160));
  EXPECT_NE(message_of(model, {.alignment = {}, .views = true, .in_place = true, .dims = {{"sequence", 5}}})
                .find("'sequence'"),
            std::string::npos);
}

TEST(OnnxImport, SizesBeyondTheLimitAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(message_of(with_graph({input("x", {kHuge, kHuge})})),
            "m.onnx: the size of 1 tensor is unknown:\n"
            "  'x' at input 'x': it has more than 2^62 bytes: [1099511627776, 1099511627776]");
  EXPECT_NE(
      message_of(with_graph({input("x", {kHuge, 1 << 19}), input("y", {kHuge, 1 << 19}), input("z", {kHuge, 1 << 19})}))
          .find("2^62"),
      std::string::npos);
}

}  // namespace
}  // namespace stowage
