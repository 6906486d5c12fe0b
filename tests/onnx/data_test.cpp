// Shape inference of real models (STOWAGE_DATA): inferred shapes equal those stated in the files.

#include "support/data.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/onnx/read.hpp"
#include "io/onnx/shape/infer.hpp"
#include "stowage/io.hpp"

namespace stowage::io::onnx {
namespace {

std::vector<std::filesystem::path> model_files() {
  std::vector<std::filesystem::path> files;
  const std::optional<std::filesystem::path> folder = stowage::testing::data_dir();
  if (!folder || !std::filesystem::is_directory(*folder / "onnx")) return files;
  for (const auto& entry : std::filesystem::directory_iterator(*folder / "onnx")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Model read(const std::filesystem::path& file) {
  return read_model(read_file(file.string()).value(), file.filename().string()).value();
}

GraphFacts facts_of(const Model& model) {
  const Result<ModelFacts> facts = infer(model, {}, "model");
  EXPECT_TRUE(facts) << to_string(facts.error());
  return facts ? facts->at(&model.graph) : GraphFacts();
}

class OnnxData : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(OnnxData, TypesAreInferredAsTheFileSaysThem) {
  Model model = read(GetParam());
  const GraphFacts with = facts_of(model);
  ASSERT_GT(model.graph.value_infos.size(), 100);
  model.graph.value_infos.clear();
  for (ValueInfo& output : model.graph.outputs) {
    output.type = ElementType::undefined;
    output.shape.reset();
  }
  const GraphFacts without = facts_of(model);
  ASSERT_EQ(with.size(), without.size());
  for (const auto& [name, expected] : with) {
    const ValueFacts& found = without.at(name);
    EXPECT_TRUE(expected.is_known()) << name << ": " << expected.stopped_by << ": " << expected.reason;
    EXPECT_TRUE(found.is_known()) << name << ": " << found.stopped_by << ": " << found.reason;
    EXPECT_EQ(found.type, expected.type) << name;
    EXPECT_EQ(found.dims, expected.dims) << name;
  }
}

TEST_P(OnnxData, TypesInTheFileThatAreWrongAreNoticed) {
  Model model = read(GetParam());
  ValueInfo& last = model.graph.outputs.front();
  last.shape->front().value = *last.shape->front().value + 1;
  const Result<ModelFacts> facts = infer(model, {}, "model");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::invalid);
  EXPECT_NE(facts.error().message.find("'" + last.name + "'"), std::string::npos) << facts.error().message;
}

std::string test_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.filename().string();
  name = name.substr(0, name.find('.'));
  std::replace_if(
      name.begin(), name.end(), [](char each) { return std::isalnum(static_cast<unsigned char>(each)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxData, ::testing::ValuesIn(model_files()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnnxData);

TEST(OnnxDataFolder, HasModels) {
  if (model_files().empty()) GTEST_SKIP() << "NO DATA: there are no ONNX models (set STOWAGE_DATA)";
  EXPECT_EQ(model_files().size(), 12);
}

}  // namespace
}  // namespace stowage::io::onnx
