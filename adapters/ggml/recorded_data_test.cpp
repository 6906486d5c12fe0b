#include <array>

#include <gtest/gtest.h>

#include "gallocr.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "support/data.hpp"
#include "support/fake_buffer_type.hpp"
#include "support/recorded_cgraph.hpp"

/// Graphs recorded from ggml, allocated by the adapter.
namespace stowage::ggml {
namespace {

TEST(RecordedGraphs, TakeTheBytesOfTheGraphFileOrFewerAndMatchThemselves) {
  const std::vector<std::filesystem::path> files = testing::graph_files();
  if (files.empty()) GTEST_SKIP() << "no test data";
  for (const std::filesystem::path& file : files) {
    const Graph graph = *parse_graph(*read_file(file.string()), file.string());
    RecordedCgraph recorded(graph);
    Gallocr allocator(std::array{ggml_backend_cpu_buffer_type()});
    ASSERT_TRUE(allocator.reserve(*recorded.get(), {})) << file;
    const auto bytes = static_cast<std::int64_t>(allocator.buffer_size(0));
    EXPECT_LE(Bytes(bytes), plan(graph)->plan->peak()) << file;
    ASSERT_TRUE(allocator.allocate(*recorded.get())) << file;
    EXPECT_EQ(allocator.counters().plans, 1U) << file;
  }
}

}  // namespace
}  // namespace stowage::ggml
