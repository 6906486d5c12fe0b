#include <gtest/gtest.h>

#include "io/onnx/format.hpp"
#include "support/onnx/model.hpp"

namespace stowage::io {
namespace {

using namespace onnx::testing;

constexpr int kFloat = 1;

TEST(OnnxInspect, AnInputOfUnknownRankGetsNoTrialShape) {
  const std::string unknown = message({text(1, "x"), bytes(2, bytes(1, number(1, kFloat)))});
  const std::string model = with_graph({bytes(1, node("Add", {"x", "n"}, {"y"}, "")), bytes(11, unknown),
                                        bytes(11, value("n", kFloat, {2, 3})), bytes(12, value("y", kFloat, {2, 3}))});
  const Result<FileInfo> info = inspect_onnx(model, "m.onnx");
  ASSERT_TRUE(info) << to_string(info.error());
  ASSERT_EQ(info->inputs.size(), 2U);
  EXPECT_FALSE(info->inputs[0].shape.has_value());
  EXPECT_TRUE(info->inputs[1].shape.has_value());
  EXPECT_TRUE(info->shape_values.empty());
  EXPECT_FALSE(info->unsupported.empty()) << "nothing says how large x is";
}

}  // namespace
}  // namespace stowage::io
