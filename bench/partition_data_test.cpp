#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layouts.hpp"
#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/data.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Recorded graphs over two devices and the CPU: partitioned, planned, verified and run.
namespace stowage::bench {
namespace {

using ::testing::IsEmpty;

Graph read_graph(const std::filesystem::path& path) {
  return parse_graph(read_file(path.string()).value(), path.string()).value();
}

void expect_runs(const Graph& graph) {
  const Result<Planned> planned = plan(graph, {.time_limit = {}, .node_budget = 2'000});
  ASSERT_TRUE(planned && planned->plan);
  EXPECT_THAT(verify(graph, *planned->plan), IsEmpty());
  EXPECT_THAT(testing::shadow_execute(graph, *planned->plan, {.granularity = Bytes(32)}).findings, IsEmpty());
}

TEST(PartitionData, RecordedGraphsRunOverTwoDevicesAndTheCpu) {
  if (testing::graph_files().empty()) GTEST_SKIP() << "NO DATA: there are no recorded graphs (set STOWAGE_DATA)";
  std::size_t better = 0;
  for (const std::filesystem::path& file : testing::graph_files()) {
    const Graph graph = read_graph(file);
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(graph.name() + ", " + std::string(to_string(layout)));
      const TwoDevices devices;
      PartitionOptions options{.homes = homes_of(graph, layout)};
      const Result<Partition> improved = partition(graph, devices.backends(), options);
      options.improve = false;
      const Result<Partition> plain = partition(graph, devices.backends(), options);
      ASSERT_TRUE(improved && plain) << stowage::to_string((plain ? improved : plain).error());
      expect_runs(improved->graph);
      EXPECT_LE(improved->splits.size(), plain->splits.size());
      EXPECT_LE(improved->copied_bytes(), plain->copied_bytes());
      if (improved->copied_bytes() < plain->copied_bytes() || improved->splits.size() < plain->splits.size()) ++better;
    }
  }
  EXPECT_GT(better, 0U);
}

}  // namespace
}  // namespace stowage::bench
