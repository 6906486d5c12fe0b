#include "io/extent.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/io.hpp"

namespace stowage::io {
namespace {

using ::testing::HasSubstr;

std::string verdict(const Graph& graph, std::uint32_t times = 1) {
  const Status status = check_extent(graph, times);
  return status ? "fine" : status.error().message;
}

Graph with_ops(std::size_t count, const std::function<Op(std::size_t)>& make) {
  GraphBuilder builder("many");
  for (std::size_t i = 0; i < count; ++i) builder.add(make(i));
  return builder.build().value();
}

TEST(Extent, BatchesTimesOps) {
  const Graph graph =
      with_ops(3000, [](std::size_t i) { return Op{.name = {}, .kind = "X", .batch = std::to_string(i)}; });
  EXPECT_EQ(
      verdict(graph),
      "3000 batches × 3000 ops, tensors and workspaces: 9000000 is above the limit of 8388608; --limit 2 allows it");
  EXPECT_EQ(verdict(graph, 2), "fine");
}

TEST(Extent, StreamsTimesOps) {
  const Graph graph =
      with_ops(40'000, [](std::size_t i) { return Op{.name = {}, .kind = "X", .stream = StreamId(i % 1000)}; });
  EXPECT_THAT(verdict(graph), HasSubstr("999 streams × 40000 ops"));
  const Graph few =
      with_ops(40'000, [](std::size_t i) { return Op{.name = {}, .kind = "X", .stream = StreamId(i % 100)}; });
  EXPECT_EQ(verdict(few), "fine");
}

TEST(Extent, BodiesHaveStreamsOfTheirOwnIfTheyUseOthers) {
  const auto call = [](std::size_t inner) {
    const Op inside{.name = {}, .kind = "X", .stream = StreamId(inner)};
    return Op{.name = {},
              .kind = "X",
              .stream = StreamId(1),
              .control = Control::call,
              .bodies = {Body{{}, {inside}, {}, {}, {}}}};
  };
  EXPECT_THAT(verdict(with_ops(5000, [&](std::size_t) { return call(2); })), HasSubstr("5000 streams × 10000 ops"));
  EXPECT_EQ(verdict(with_ops(5000, [&](std::size_t) { return call(1); })), "fine");
}

TEST(Extent, ImportRefusesWhatIsAboveAndNamesTheFile) {
  std::string text = R"({"schema":"stowage.graph/1","ops":[{})";
  for (int i = 0; i < 3000; ++i) text += R"(,{"batch":")" + std::to_string(i) + "\"}";
  const Result<Imported> refused = import_bytes(text + "]}", "f.json", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(to_string(refused.error()), HasSubstr("f.json: 3000 batches × 3001 ops"));
  ImportOptions more;
  more.limit = 2;
  EXPECT_TRUE(import_bytes(text + "]}", "f.json", more));
  EXPECT_TRUE(parse_graph(text + "]}", "f.json")) << "a caller's own text has no limit";
}

}  // namespace
}  // namespace stowage::io
