#include "io/onnx/provenance.hpp"

#include <string>

#include <gtest/gtest.h>

namespace stowage::io::onnx {
namespace {

TEST(OnnxProvenance, TheLayerIsTheInnermostModule) {
  EXPECT_EQ(layer_of_scopes("['', 'm', 'm.encoder.layer.5', 'linear_34']"), "m.encoder.layer.5");
  EXPECT_EQ(layer_of_scopes(R"(["it's", 'a\'b', "relu"])"), "a'b");
  EXPECT_EQ(layer_of_scopes("['', 'relu']"), "");
  EXPECT_EQ(layer_of_scopes("['relu']"), "");
  EXPECT_EQ(layer_of_namespace(": net.Net/layer1.0: net.Block/conv2d_1: aten.conv2d.default"), "layer1.0");
  EXPECT_EQ(layer_of_namespace(": net.Net/relu: aten.relu.default"), "");
  EXPECT_EQ(layer_of_namespace("encoder/layer0"), "encoder/layer0");
}

TEST(OnnxProvenance, WhatIsNoListHasNoLayer) {
  for (const char* text :
       {"", "[", "]", "[]", "['a', 'b'", "'a', 'b'", "['a' 'b']", "[a, b]", "['a', ']", "['a\\", "['a',]"})
    EXPECT_EQ(layer_of_scopes(text), "") << text;
}

TEST(OnnxProvenance, TheListIsPreferredToTheNamespace) {
  Provenance both;
  both.add("pkg.torch.onnx.name_scopes", "['', 'a.b', 'relu']");
  both.add("namespace", ": N/c: M/relu: aten.relu");
  both.add("pkg.torch.onnx.fx_node", "%relu");
  EXPECT_EQ(both.layer(), "a.b");
  EXPECT_EQ(both.source(), "");
  Provenance one;
  one.add("namespace", ": N/c: M/relu: aten.relu");
  EXPECT_EQ(one.layer(), "c");
}

TEST(OnnxProvenance, TheSourceIsTheInnermostLineOutsideOfTorch) {
  const std::string trace =
      "File \"/home/a/train.py\", line 15, in forward\n    return self.m(x)\n"
      "  File \"/v/lib/python3.12/site-packages/transformers/bert.py\", line 408, in forward\n"
      "    y = self.dense(x)\n"
      "  File \"/v/lib/python3.12/site-packages/torch/nn/modules/linear.py\", line 125, in forward\n"
      "    return F.linear(input, self.weight, self.bias)";
  EXPECT_EQ(source_of_trace(trace), "transformers/bert.py:408: y = self.dense(x)");
  EXPECT_EQ(source_of_trace("File \"/v/dist-packages/torch/nn/a.py\", line 3, in f"), "torch/nn/a.py:3");
  EXPECT_EQ(source_of_trace("File \"net.py\", line 12, in forward\n    " + std::string(119, 'x') + "\u00e9"),
            "net.py:12: " + std::string(119, 'x'));
  for (const char* text : {"", "\n\n", "line 3", "File \"a.py\"", "code\nmore"})
    EXPECT_EQ(source_of_trace(text), "") << text;
}

}  // namespace
}  // namespace stowage::io::onnx
