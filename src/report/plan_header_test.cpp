#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "stowage/planner.hpp"
#include "stowage/report/export.hpp"

namespace stowage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Graph two_ops(const std::string& name, const std::string& tensor) {
  GraphBuilder builder(name);
  builder.add(Memory{.name = "cpu", .alignment = Bytes(16)});
  const TensorId x = builder.add(Tensor{.name = tensor, .size = Bytes(100), .flags = TensorFlag::input});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(8), .flags = TensorFlag::constant});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(20), .flags = TensorFlag::output});
  builder.add(Op{.name = "op", .kind = "CONV", .inputs = {x, w}, .outputs = {y}, .workspaces = {{.size = Bytes(64)}}});
  return builder.build().value();
}

std::string header_of(const Graph& graph, const PlanOptions& options = {.time_limit = std::nullopt}) {
  const Planned planned = plan(graph, options).value();
  Result<std::string> header = plan_to_header(graph, *planned.plan);
  return header ? *header : to_string(header.error());
}

TEST(Header, HasTheArenaAndTheOffsetsInTheOrderOfTheTensors) {
  const std::string header = header_of(two_ops("my-net 2", "x"));
  EXPECT_THAT(header,
              AllOf(HasSubstr("#define MY_NET_2_ARENA_SIZE 208\n"), HasSubstr("#define MY_NET_2_ARENA_ALIGNMENT 16\n"),
                    HasSubstr("static const int32_t my_net_2_offsets[MY_NET_2_TENSOR_COUNT] = {\n"),
                    HasSubstr("-1, /* 1: w, 8 bytes, constant */\n"), HasSubstr("/* 2: y, 20 bytes, output */\n"),
                    HasSubstr("/* op 0, workspace 0: 64 bytes */\n")));
}

TEST(Header, SymbolsCanHaveANameOfTheirOwn) {
  const Graph graph = two_ops("main_graph", "x");
  const std::string header = plan_to_header(graph, *plan(graph)->plan, "my-net").value();
  EXPECT_THAT(header, AllOf(HasSubstr("/* main_graph: where each tensor lies"), HasSubstr("#ifndef MY_NET_OFFSETS_H\n"),
                            HasSubstr("#define MY_NET_ARENA_SIZE 208\n"),
                            HasSubstr(" my_net_offsets[MY_NET_TENSOR_COUNT]"), HasSubstr(" my_net_workspaces[1]")));
  EXPECT_THAT(header, Not(HasSubstr("MAIN_GRAPH")));
}

TEST(Header, IsValidCWhateverTheNamesAre) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("stowage_header_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const char* const name : {"net", "0 */ #error", "", "\xc3\xa9/*x\\\n"}) {
    const std::filesystem::path file = folder / ("header" + std::to_string(++number) + ".h");
    std::ofstream(file) << header_of(two_ops(name, "x*/ int y; /*/ \n#error /*"));
    const std::string command =
        "cc -std=c99 -Wall -Wextra -Werror -Wno-unused-variable -fsyntax-only -x c " + file.string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::filesystem::remove_all(folder);
}

TEST(Header, RefusesPlansThatNeedMoreThanOffsets) {
  const Graph graph = two_ops("net", "x");
  PlanOptions options{.time_limit = std::nullopt};
  options.region_limit = Bytes(112);
  EXPECT_THAT(header_of(graph, options),
              HasSubstr("a C header cannot express this plan: the arena has several regions"));
}

}  // namespace
}  // namespace stowage
