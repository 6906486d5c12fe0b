#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "stowage/replay.hpp"
#include "support/library.hpp"

namespace stowage::torch {
namespace {

using ::testing::HasSubstr;

std::string temporary(const char* name) {
  return (std::filesystem::temp_directory_path() / fmt::format("stowage_torch_{}_{}", getpid(), name)).string();
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::filesystem::remove(path);
  return text;
}

TEST_F(TorchTest, FiguresCountWhatIsLiveAndWhatWasAsked) {
  void* const block = lib_.alloc(1'000'000, 0, nullptr);
  lib_.free(lib_.alloc(2'000'000, 0, nullptr), 2'000'000, 0, nullptr);
  EXPECT_EQ(lib_.figure("requested_bytes"), 1'000'000);
  EXPECT_EQ(lib_.figure("rounded_bytes"), 1'000'448);
  EXPECT_EQ(lib_.figure("live"), 1);
  EXPECT_EQ(lib_.figure("allocations"), 2);
  EXPECT_THAT(lib_.stats(), HasSubstr("\"plan_ahead\":null}"));
  lib_.free(block, 1'000'000, 0, nullptr);
}

TEST_F(TorchTest, FiguresThatDoNotFitAreCut) {
  void* const block = lib_.alloc(1, 0, nullptr);
  char buffer[5] = {'x', 'x', 'x', 'x', 'x'};
  EXPECT_EQ(lib_.stats_into(0, buffer, 4), lib_.stats().size());
  EXPECT_EQ(std::string_view(buffer, 5), std::string_view("{\"d\0x", 5));
  lib_.free(block, 1, 0, nullptr);
}

TEST_F(TorchTest, ASnapshotHasOrdinaryMemoryAndPools) {
  void* const block = lib_.alloc(3 * kMiB, 0, nullptr);
  lib_.begin_pool(0, {0, 1}, [](TorchStream) { return true; });
  void* const pooled = lib_.alloc(5 * kMiB, 0, stream(3));
  lib_.end_pool(0, {0, 1});
  const std::string path = temporary("snapshot");
  ASSERT_EQ(lib_.snapshot(path.c_str()), 0) << lib_.last_error();
  const std::string pickle = content(path);
  EXPECT_EQ(pickle.substr(0, 2), "\x80\x04");
  std::size_t live = 0;
  for (std::size_t at = 0; (at = pickle.find("active_allocated", at)) != std::string::npos; ++at) ++live;
  EXPECT_EQ(live, 2U);
  lib_.free(block, 3 * kMiB, 0, nullptr);
  lib_.free(pooled, 5 * kMiB, 0, stream(3));
  lib_.release_pool(0, {0, 1});
}

TEST_F(TorchTest, ASnapshotThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(lib_.snapshot("/nowhere/snapshot.pickle"), 1);
  EXPECT_THAT(lib_.last_error(), HasSubstr("/nowhere/snapshot.pickle"));
}

TEST_F(TorchTest, TheLogReadsBackAsATrace) {
  const std::string path = temporary("log.csv");
  setenv("STOWAGE_TORCH_LOG", path.c_str(), 1);
  void* const block = lib_.alloc(3000, 0, nullptr);
  unsetenv("STOWAGE_TORCH_LOG");
  lib_.free(lib_.alloc(kMiB, 0, stream(3)), kMiB, 0, stream(3));
  lib_.free(block, 3000, 0, nullptr);
  const Result<Trace> trace = parse_trace(content(path), "log.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->events.size(), 4U);
  EXPECT_EQ(trace->events[1].size, Bytes(1 << 20));
}

TEST_F(TorchTest, ALogThatCannotBeWrittenIsAnError) {
  setenv("STOWAGE_TORCH_LOG", "/nowhere/log.csv", 1);
  EXPECT_ANY_THROW(lib_.alloc(1, 0, nullptr));
  unsetenv("STOWAGE_TORCH_LOG");
}

}  // namespace
}  // namespace stowage::torch
