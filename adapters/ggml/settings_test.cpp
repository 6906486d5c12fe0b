#include "settings.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "plan/interface/plan_file.hpp"
#include "report.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/test_graph.hpp"

namespace stowage::ggml {
namespace {

/// Every plan of every test in this program is verified, and no search is cut short on a busy machine.
const bool environment = [] {
  setenv("STOWAGE_GGML_VERIFY", "1", 1);
  setenv("STOWAGE_GGML_TIME_MS", "10000", 1);
  return settings().verify;
}();

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), before_(std::getenv(name)) { setenv(name, value, 1); }
  ~Variable() { before_ ? setenv(name_, before_, 1) : unsetenv(name_); }

 private:
  const char* name_;
  const char* before_;
};

TEST(Settings, AreThoseOfTheEnvironment) {
  EXPECT_TRUE(environment);
  const Variable time("STOWAGE_GGML_TIME_MS", "0.5");
  const Variable report("STOWAGE_GGML_REPORT", "graphs/x");
  const Variable check("STOWAGE_GGML_VERIFY", "0");
  const Settings settings = read_settings();
  EXPECT_EQ(settings.time_limit, std::chrono::microseconds(500));
  EXPECT_EQ(settings.report, "graphs/x");
  EXPECT_FALSE(settings.verify);
}

TEST(Settings, NonsenseIsAsGoodAsAbsent) {
  for (const char* const value : {"", "fast", "5ms", "-1", "1e9", "nan"}) {
    const Variable time("STOWAGE_GGML_TIME_MS", value);
    EXPECT_EQ(read_settings().time_limit, Settings{}.time_limit) << value;
  }
  const Variable report("STOWAGE_GGML_REPORT", "");
  EXPECT_FALSE(read_settings().report);
}

TEST(Verification, APlanInWhichLiveTensorsOverlapIsRefused) {
  FakeBufferType type;
  const BufferTypes types(std::array{type.get()});
  TestGraph graph;
  ggml_tensor* const x = graph.input(64);
  graph.output(ggml_add(graph.context(), ggml_cont(graph.context(), x), x));
  const GraphWalk walked = walk(*graph.get(), {});
  const LeanGraph lean = *to_lean_graph(walked, types);
  Settings settings;
  settings.verify = true;
  Plan plan = *stowage::plan(lean.graph)->plan;
  EXPECT_TRUE(judge_and_report({walked, types, lean, plan, settings}));
  for (Placement& each : plan.placements) each.offset = Bytes(0);
  const Status judged = judge_and_report({walked, types, lean, plan, settings});
  ASSERT_FALSE(judged);
  EXPECT_NE(judged.error().message.find("leaf_0"), std::string::npos) << judged.error().message;
}

TEST(Report, GraphAndPlanAreFilesThatTheCommandLineReads) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "stowage_ggml_report";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  FakeBufferType type;
  Settings settings;
  settings.report = (folder / "graph").string();
  Gallocr allocator(std::array{type.get()}, settings);
  TestGraph graph;
  ggml_tensor* const made = ggml_cont(graph.context(), graph.input(64));
  ggml_set_name(made, "made");
  graph.output(ggml_scale(graph.context(), ggml_reshape_2d(graph.context(), made, 8, 8), 2.0F));
  ASSERT_TRUE(allocator.reserve(*graph.get(), {}));

  std::optional<Graph> written;
  std::optional<PlanFile> plan;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().string();
    if (file.ends_with(".graph.json")) written = *parse_graph(*read_file(file), file);
    if (file.ends_with(".plan.json")) plan = *parse_plan(*read_file(file), file);
  }
  ASSERT_TRUE(written && plan);
  EXPECT_EQ(written->ops().size(), 3U);
  EXPECT_EQ(written->tensors()[1].name, "made");
  EXPECT_TRUE(verify(*written, *plan).empty());
  EXPECT_EQ(plan->peak(), stowage::plan(*written)->plan->peak());
  EXPECT_EQ(plan->peak(), Bytes(512));
}

TEST(Report, AFileThatCannotBeWrittenIsNoFailure) {
  FakeBufferType type;
  Settings settings;
  settings.report = "/nowhere/at/all";
  Gallocr allocator(std::array{type.get()}, settings);
  TestGraph graph;
  graph.output(ggml_cont(graph.context(), graph.input(64)));
  EXPECT_TRUE(allocator.reserve(*graph.get(), {}));
}

}  // namespace
}  // namespace stowage::ggml
