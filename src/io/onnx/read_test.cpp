#include "io/onnx/read.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "support/onnx/model.hpp"

namespace stowage::io::onnx {
namespace {

using namespace testing;

std::string message_of(const std::string& bytes) {
  const Result<Model> model = read_model(bytes, "m.onnx");
  return model ? "no error" : to_string(model.error());
}

TEST(OnnxRead, AModelHasItsGraphAndImports) {
  const std::string graph = message({text(2, "main"), bytes(1, node("Conv", {"x", "w", ""}, {"y"}, "conv_1")),
                                     bytes(5, tensor("w", 1, {8, 3, 3, 3})), bytes(11, value("x", 1, {1, 3, 8, 8})),
                                     bytes(12, value("y", 1, {1, 8, 6, 6})), bytes(13, value("z", 10, {}))});
  const std::string import = message({text(1, "ai.onnx"), number(2, 20)});
  const Model model = read_model(message({number(1, 10), bytes(7, graph), bytes(8, import)}), "m.onnx").value();
  EXPECT_EQ(model.ir_version, 10);
  EXPECT_EQ(model.graph.name, "main");
  ASSERT_EQ(model.graph.nodes.size(), 1);
  EXPECT_EQ(model.graph.nodes[0].kind, "Conv");
  EXPECT_EQ(model.graph.nodes[0].version, 20);
  EXPECT_EQ(model.graph.nodes[0].inputs, (std::vector<std::string>{"x", "w", ""}));
  ASSERT_EQ(model.graph.initializers.size(), 1);
  EXPECT_EQ(model.graph.initializers[0].dims, (Dims{8, 3, 3, 3}));
  EXPECT_FALSE(model.graph.initializers[0].elements);
  EXPECT_EQ(model.graph.inputs[0].shape->at(3).value, 8);
  EXPECT_EQ(model.graph.outputs[0].name, "y");
  EXPECT_EQ(model.graph.value_infos[0].type, ElementType::float16);
}

TEST(OnnxRead, MetadataSaysWhereANodeComesFrom) {
  const std::string scopes = message({text(1, "pkg.torch.onnx.name_scopes"), text(2, "['', 'enc.0', 'relu_1']")});
  const std::string trace =
      message({text(1, "pkg.torch.onnx.stack_trace"), text(2, "File \"net.py\", line 12, in forward\n  x = f(x)")});
  const std::string relu = node("Relu", {"x"}, {"y"}, "r") + bytes(9, scopes) + bytes(9, trace);
  const Model model = read_model(with_graph({bytes(1, relu)}), "m").value();
  EXPECT_EQ(model.graph.nodes[0].layer, "enc.0");
  EXPECT_EQ(model.graph.nodes[0].source, "net.py:12: x = f(x)");
}

TEST(OnnxRead, DimsAreNumbersNamesOrNeither) {
  const std::string shape =
      message({bytes(1, message({number(1, 4)})), bytes(1, message({text(2, "batch")})), bytes(1, "")});
  const std::string type = message({bytes(1, message({number(1, 1), bytes(2, shape)}))});
  const Model model = read_model(with_graph({bytes(11, message({text(1, "x"), bytes(2, type)}))}), "m").value();
  const std::vector<Dim>& dims = *model.graph.inputs[0].shape;
  ASSERT_EQ(dims.size(), 3);
  EXPECT_EQ(dims[0].value, 4);
  EXPECT_EQ(dims[1].param, "batch");
  EXPECT_FALSE(dims[2].value);
  EXPECT_TRUE(dims[2].param.empty());
}

TEST(OnnxRead, SequencesMapsAndOptionalsAreKnownAsSuch) {
  const auto kind_of = [](std::uint32_t field) {
    const std::string type = message({bytes(field, "")});
    return read_model(with_graph({bytes(11, message({text(1, "x"), bytes(2, type)}))}), "m")
        .value()
        .graph.inputs[0]
        .kind;
  };
  EXPECT_EQ(kind_of(1), ValueKind::tensor);
  EXPECT_EQ(kind_of(4), ValueKind::sequence);
  EXPECT_EQ(kind_of(5), ValueKind::map);
  EXPECT_EQ(kind_of(8), ValueKind::sparse_tensor);
  EXPECT_EQ(kind_of(9), ValueKind::optional);
}

TEST(OnnxRead, SmallTensorsKeepTheirElementsHoweverTheyAreStored) {
  const auto elements_of = [](const std::string& tensor) {
    return read_model(with_graph({bytes(5, tensor)}), "m").value().graph.initializers[0].elements;
  };
  const std::vector<std::int64_t> three = {7, -1, 3};
  const std::string raw("\7\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0\0\0\0\0", 24);
  EXPECT_EQ(elements_of(tensor("t", 7, {3}) + bytes(9, raw)), Elements(three));
  EXPECT_EQ(elements_of(tensor("t", 7, {3}) + packed(7, three)), Elements(three));
  EXPECT_EQ(elements_of(tensor("t", 6, {3}) + number(5, 7) + number(5, -1) + number(5, 3)), Elements(three));
  EXPECT_EQ(elements_of(tensor("t", 9, {2}) + bytes(9, std::string("\1\0", 2))),
            Elements(std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(elements_of(tensor("t", 10, {2}) + bytes(9, std::string("\x00\x3c\x00\xc1", 4))),
            Elements(std::vector<double>{1, -2.5}));
  EXPECT_EQ(elements_of(tensor("t", 1, {1}) + bytes(4, std::string("\0\0\x20\x40", 4))),
            Elements(std::vector<double>{2.5}));
  EXPECT_EQ(elements_of(tensor("t", 7, {0})), Elements(std::vector<std::int64_t>{}));
}

TEST(OnnxRead, LargeOrAbsentDataLeavesNoElements) {
  const auto tensor_of = [](const std::string& tensor) {
    return read_model(with_graph({bytes(5, tensor)}), "m").value().graph.initializers[0];
  };
  EXPECT_FALSE(tensor_of(tensor("t", 2, {5000}) + bytes(9, std::string(5000, 'x'))).elements);
  EXPECT_FALSE(tensor_of(tensor("t", 7, {3})).elements);
  const TensorInfo external =
      tensor_of(tensor("t", 7, {3}) + number(14, 1) + bytes(13, message({text(1, "location"), text(2, "w.bin")})));
  EXPECT_TRUE(external.external);
  EXPECT_FALSE(external.elements);
}

TEST(OnnxRead, AttributesHoldNumbersTensorsAndGraphs) {
  const std::string body = message({bytes(1, node("Neg", {"x"}, {"y"}, ""))});
  std::string bytes_of_node = node("Op", {}, {"o"}, "n");
  bytes_of_node += bytes(5, message({text(1, "axis"), number(3, -1), number(20, 2)}));
  bytes_of_node += bytes(5, message({text(1, "pads"), packed(8, {1, 2}), number(8, 3), number(20, 7)}));
  bytes_of_node += bytes(5, message({text(1, "mode"), text(4, "linear"), number(20, 3)}));
  bytes_of_node += bytes(5, message({text(1, "value"), bytes(5, tensor("", 7, {})), number(20, 4)}));
  bytes_of_node += bytes(5, message({text(1, "body"), bytes(6, body), number(20, 5)}));
  const Model model = read_model(with_graph({bytes(1, bytes_of_node)}), "m").value();
  const Node& node = model.graph.nodes[0];
  EXPECT_EQ(node.integer("axis", 0), -1);
  EXPECT_EQ(node.integer("other", 5), 5);
  EXPECT_EQ(*node.integers("pads"), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(node.text("mode", ""), "linear");
  EXPECT_EQ(node.tensor("value")->type, ElementType::int64);
  EXPECT_EQ(node.graph("body")->nodes[0].kind, "Neg");
  EXPECT_EQ(node.integers("axis"), nullptr);
}

TEST(OnnxRead, FunctionsHaveTheirOwnImports) {
  const std::string function =
      message({text(1, "F"), text(10, "my"), text(4, "a"), text(5, "b"), text(6, "alpha"),
               bytes(7, node("Relu", {"a"}, {"b"}, "")), bytes(9, message({text(1, ""), number(2, 13)})),
               bytes(11, message({text(1, "beta"), number(3, 2), number(20, 2)}))});
  const Model model = read_model(message({bytes(7, message({text(2, "g")})), bytes(25, function)}), "m").value();
  ASSERT_EQ(model.functions.size(), 1);
  EXPECT_EQ(model.functions[0].domain, "my");
  EXPECT_EQ(model.functions[0].nodes[0].version, 13);
  EXPECT_EQ(model.functions[0].attributes, (std::vector<std::string>{"alpha"}));
  EXPECT_EQ(model.functions[0].defaults[0].integer, 2);
}

TEST(OnnxRead, ErrorsNameFilePathAndWhatItIsAbout) {
  EXPECT_EQ(message_of(with_graph({bytes(5, tensor("w", 1, {2, -3}))})),
            "m.onnx: graph.initializer[0]: tensor 'w': has the negative dimension -3");
  EXPECT_EQ(message_of(with_graph({bytes(1, node("", {}, {"y"}, "n"))})),
            "m.onnx: graph.node[0]: node 'n' (): a node without op_type");
  const std::string attribute =
      message({text(1, "value"), bytes(5, tensor("", 7, {4}) + bytes(9, "12345678")), number(20, 4)});
  EXPECT_EQ(
      message_of(with_graph({bytes(1, node("Constant", {}, {"y"}, "c") + bytes(5, attribute))})),
      "m.onnx: graph.node[0].attribute[0].tensor[0]: tensor '': has 8 bytes of data, but its shape and type need 32");
}

TEST(OnnxRead, WhatIsNoModelIsRefused) {
  EXPECT_NE(message_of("").find("it contains no graph"), std::string::npos);
  EXPECT_NE(message_of("{\"schema\":1}").find("m.onnx: "), std::string::npos);
  EXPECT_NE(message_of(number(7, 3)).find("wire type"), std::string::npos);
  EXPECT_NE(message_of("\x0b").find("not a protobuf message"), std::string::npos);
}

TEST(OnnxRead, AFileCutOffAnywhereButBetweenItsFieldsIsRefused) {
  const std::string whole =
      with_graph({text(2, "main"), bytes(1, node("Conv", {"x", "w"}, {"y"}, "conv_1")),
                  bytes(5, tensor("w", 7, {1}) + bytes(9, "12345678")), bytes(11, value("x", 1, {1, 3}))});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool behind_graph = size == whole.size() - bytes(8, opset(20)).size();
    EXPECT_EQ(read_model(whole.substr(0, size), "m").has_value(), behind_graph) << size;
  }
}

TEST(OnnxRead, ClaimsBeyondTheDataAreRefused) {
  // A field that says it has 2 GB, in a file of a few bytes.
  const std::string claim("\x3a\xff\xff\xff\xff\x07", 6);
  EXPECT_NE(message_of(claim).find("the data ends inside a field"), std::string::npos);
  EXPECT_NE(
      message_of(with_graph({bytes(5, tensor("w", 7, {std::int64_t{1} << 40, std::int64_t{1} << 40}))})).find("2^62"),
      std::string::npos);
  EXPECT_NE(message_of(with_graph({bytes(5, tensor("w", 77, {1}))})).find("unknown element type 77"),
            std::string::npos);
  EXPECT_NE(message_of(with_graph({bytes(5, tensor("w", 1, {std::int64_t{1} << 50}) + bytes(9, "1234"))}))
                .find("has 4 bytes"),
            std::string::npos);
}

TEST(OnnxRead, GraphsNestOnlySoDeep) {
  const auto nested = [](std::size_t depth) {
    std::string graph = message({text(2, "inner")});
    for (std::size_t i = 1; i < depth; ++i) {
      const std::string attribute = message({text(1, "body"), bytes(6, graph), number(20, 5)});
      graph = message({bytes(1, node("Loop", {}, {"y"}, "") + bytes(5, attribute))});
    }
    return message({bytes(7, graph)});
  };
  EXPECT_TRUE(read_model(nested(kMaxGraphDepth), "m"));
  EXPECT_NE(message_of(nested(kMaxGraphDepth + 1)).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(message_of(nested(1000)).find("nested deeper than 64"), std::string::npos);
}

TEST(OnnxRead, UnknownFieldsAreSkipped) {
  EXPECT_TRUE(read_model(
      with_graph({number(99, 1), text(98, "new"), bytes(1, node("Relu", {"x"}, {"y"}, "") + number(77, 5))}), "m"));
}

TEST(OnnxElementType, SizesAreRoundedUpToBytes) {
  EXPECT_EQ(tensor_size(ElementType::int4, Dims{3}), Bytes(2));
  EXPECT_EQ(tensor_size(ElementType::uint2, Dims{5}), Bytes(2));
  EXPECT_EQ(tensor_size(ElementType::float6e2m3, Dims{4}), Bytes(3));
  EXPECT_EQ(tensor_size(ElementType::bfloat16, Dims{2, 3}), Bytes(12));
  EXPECT_EQ(tensor_size(ElementType::float32, Dims{}), Bytes(4));
  EXPECT_EQ(tensor_size(ElementType::float32, Dims{std::int64_t{1} << 61, 0}), Bytes(0));
  EXPECT_EQ(tensor_size(ElementType::int4, Dims{std::int64_t{1} << 62}), Bytes(std::int64_t{1} << 61));
  EXPECT_EQ(tensor_size(ElementType::float64, Dims{std::int64_t{1} << 60}), std::nullopt);
  EXPECT_EQ(tensor_size(ElementType::string, Dims{1}), std::nullopt);
}

}  // namespace
}  // namespace stowage::io::onnx
