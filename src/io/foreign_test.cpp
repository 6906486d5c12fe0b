#include "io/foreign.hpp"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/io.hpp"

namespace stowage::io {
namespace {

using ::testing::HasSubstr;

std::string kind_of(std::string_view bytes) {
  const ForeignFormat* const found = find_foreign(bytes);
  return found ? std::string(found->what) : "none";
}

std::string zip_with(std::string_view first_entry) {
  std::string bytes("PK\x03\x04", 4);
  bytes.resize(26, '\0');
  bytes += static_cast<char>(first_entry.size());
  bytes.resize(30, '\0');
  return bytes + std::string(first_entry);
}

TEST(Foreign, KindsAreKnownByTheirContent) {
  using std::string_literals::operator""s;
  EXPECT_THAT(kind_of("GGUF\3\0\0\0"s), HasSubstr("GGUF"));
  EXPECT_THAT(kind_of("\x89HDF\r\n\x1a\n\0\0"s), HasSubstr("HDF5"));
  EXPECT_THAT(kind_of("\x02\0\0\0\0\0\0\0{}"s), HasSubstr("safetensors"));
  EXPECT_THAT(kind_of("\x80\x04K\x01."s), HasSubstr("pickle"));
  EXPECT_THAT(kind_of(zip_with("model/data.pkl")), HasSubstr("PyTorch archive"));
  EXPECT_THAT(kind_of(zip_with("archive/archive_format")), HasSubstr("torch.export"));
  EXPECT_THAT(kind_of(zip_with("metadata.json")), HasSubstr("Keras"));
  EXPECT_THAT(kind_of(zip_with("readme.txt")), HasSubstr("zip archive"));
  EXPECT_THAT(kind_of("\x0a\x08\x0a\x01x\x12\x03"
                      "Add"s),
              HasSubstr("TensorFlow"));
  EXPECT_THAT(kind_of("module {\n}\n"), HasSubstr("MLIR"));
  EXPECT_THAT(kind_of("ML\xefR\x0d"), HasSubstr("MLIR"));
  EXPECT_THAT(kind_of("<\n  ir_version: 8,\n"), HasSubstr("ONNX in text form"));
  EXPECT_THAT(kind_of("\0\0\0\0ORTM\0"s), HasSubstr("ONNX Runtime"));
  EXPECT_THAT(kind_of("\0\0\0\0ET12\0"s), HasSubstr("ExecuTorch"));
}

TEST(Foreign, TextIsKnownBehindItsComments) {
  EXPECT_THAT(kind_of("// RUN: opt\n#map = affine_map<(d0) -> (d0)>\nmodule {\n}\n"), HasSubstr("MLIR"));
  EXPECT_THAT(kind_of("// a comment\nfunc.func @f() { return }\n"), HasSubstr("MLIR"));
  EXPECT_THAT(kind_of("# exported\nagraph (float[N] x) => (float[N] y) {\n y = Relu(x)\n}\n"),
              HasSubstr("ONNX in text form"));
  EXPECT_THAT(kind_of("node {\n  name: \"x\"\n  op: \"Placeholder\"\n}\n"), HasSubstr("TensorFlow"));
  EXPECT_THAT(kind_of("<?xml version=\"1.0\"?>\n<net name=\"x\" version=\"11\">\n"), HasSubstr("OpenVINO"));
  for (const std::string_view other : {"// a comment", "#map", "node { }", "<?xml", "f(x) => (y)", "<net", "=> ()"})
    EXPECT_EQ(kind_of(other), "none") << other;
}

TEST(Foreign, WhatLooksLikeNoneOfThemIsNone) {
  for (const std::string_view bytes :
       {"", "P", "PK", "id,lower,upper,size\n", "{\"schema\":1}", "text", "\x80", "\x0a"})
    EXPECT_EQ(kind_of(bytes), "none") << bytes;
  EXPECT_EQ(kind_of(std::string("\xff\0\0\0\0\0\0\0{}", 10)), "none") << "a header longer than the file";
}

TEST(Foreign, TheErrorSaysWhatItIsAndWhatToDo) {
  const auto refused = [](std::string_view bytes, const std::string& name) {
    const Result<Imported> imported = import_bytes(bytes, name);
    return imported ? "read" : to_string(imported.error());
  };
  EXPECT_EQ(refused("GGUF....", "model.csv"),
            "model.csv: this is a GGUF file, which has weights but no graph, which is not supported; the graph is made "
            "by the program that runs it: see docs/ggml.md for planning it there");
  EXPECT_THAT(refused("?", "saved_model.pb"), HasSubstr("tf.lite.TFLiteConverter"));
  EXPECT_THAT(refused("\x08\x01\x12\x02\x0a\x00", "net.mlmodel"), HasSubstr("Core ML"))
      << "it begins like an ONNX model";
  EXPECT_EQ(import_bytes("GGUF....", "m").error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace stowage::io
