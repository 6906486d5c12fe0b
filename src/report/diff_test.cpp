#include <algorithm>

#include <gtest/gtest.h>

#include "plan/interface/plan_file.hpp"
#include "report/difference.hpp"
#include "stowage/report.hpp"

namespace stowage {
namespace {

using Change = DiffEntry::Change;

Graph graph_of(const std::vector<Tensor>& tensors) {
  GraphBuilder builder("g");
  Op op{.name = "op", .kind = "OP"};
  for (const Tensor& tensor : tensors) op.outputs.push_back(builder.add(tensor));
  builder.add(op);
  return std::move(builder.build()).value();
}

Plan plan_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& places) {  // offset, size
  Plan plan;
  plan.graph = "g";
  plan.arenas.push_back({"cpu", MemoryId(0), ArenaKind::shared, Bytes(0), {}, Bytes(0)});
  for (std::size_t t = 0; t < places.size(); ++t) {
    plan.placements.push_back({TensorId(t), ArenaId(0), 0, Bytes(places[t].first), Bytes(places[t].second)});
    plan.arenas[0].size = std::max(plan.arenas[0].size, Bytes(places[t].first + places[t].second));
  }
  return plan;
}

/// Of a graph without bodies.
PlanFile file_of(const Plan& plan) {
  PlanFile file{.graph = plan.graph, .arenas = plan.arenas, .placements = {}, .workspaces = {}, .notes = {}};
  for (const Placement& each : plan.placements) file.placements.push_back({each});
  return file;
}

std::vector<std::pair<Change, std::string>> changes(const PlanDiff& difference) {
  std::vector<std::pair<Change, std::string>> list;
  for (const DiffEntry& entry : difference.details->entries) list.emplace_back(entry.change, entry.name);
  return list;
}

TEST(Diff, TensorsAreMatchedByNameWhateverTheirNumbers) {
  const Graph before =
      graph_of({{.name = "a", .size = Bytes(8)}, {.name = "b", .size = Bytes(8)}, {.name = "c", .size = Bytes(8)}});
  const Graph after =
      graph_of({{.name = "new", .size = Bytes(4)}, {.name = "b", .size = Bytes(16)}, {.name = "a", .size = Bytes(8)}});
  const Plan a = plan_of({{0, 8}, {8, 8}, {16, 8}});
  const Plan b = plan_of({{24, 4}, {8, 16}, {0, 8}});
  const PlanDiff difference = diff({before, a}, {after, b});
  EXPECT_FALSE(difference.by_number);
  EXPECT_EQ(changes(difference), (std::vector<std::pair<Change, std::string>>{
                                     {Change::grew, "b"}, {Change::appeared, "new"}, {Change::vanished, "c"}}));
  EXPECT_EQ(difference.unchanged, 1U);
  EXPECT_EQ(difference.growth(), Bytes(4));
}

TEST(Diff, EqualNamesAreMatchedInTheirOrder) {
  const Graph graph = graph_of({{.name = "x", .size = Bytes(8)}, {.name = "x", .size = Bytes(8)}});
  const Plan a = plan_of({{0, 8}, {8, 8}});
  const Plan b = plan_of({{0, 8}, {16, 8}});
  const PlanDiff difference = diff({graph, a}, {graph, b});
  ASSERT_EQ(changes(difference), (std::vector<std::pair<Change, std::string>>{{Change::moved, "x"}}));
  EXPECT_EQ(difference.details->entries[0].offset_before, Bytes(8));
  EXPECT_EQ(difference.details->entries[0].offset_after, Bytes(16));
  EXPECT_EQ(difference.unchanged, 1U);
}

TEST(Diff, APlanFileIsComparedByNumberWithAPlanToo) {
  const Graph graph = graph_of({{.name = "x", .size = Bytes(8)}, {.name = "y", .size = Bytes(8)}});
  const Plan a = plan_of({{0, 8}, {8, 8}});
  const PlanFile b = file_of(plan_of({{0, 4}, {8, 8}}));
  const PlanDiff difference = diff({graph, a}, b);
  EXPECT_TRUE(difference.by_number);
  EXPECT_EQ(changes(difference), (std::vector<std::pair<Change, std::string>>{{Change::shrank, "tensor 0"}}));
}

TEST(Diff, APlanFileThatHasNamesIsComparedByName) {
  const Graph graph = graph_of({{.name = "x", .size = Bytes(8)}, {.name = "y", .size = Bytes(8)}});
  const Plan a = plan_of({{0, 8}, {8, 8}});
  PlanFile b = file_of(plan_of({{8, 8}, {0, 4}}));
  b.placements[0].name = "y";
  b.placements[1].name = "x";
  const PlanDiff difference = diff({graph, a}, b);
  EXPECT_FALSE(difference.by_number);
  EXPECT_EQ(changes(difference), (std::vector<std::pair<Change, std::string>>{{Change::shrank, "x"}}));
}

TEST(Diff, ArenasThatOnlyOneSideHasAreListed) {
  Plan a = plan_of({{0, 8}});
  Plan b = a;
  b.arenas.push_back({"gpu", MemoryId(1), ArenaKind::shared, Bytes(64), {}, Bytes(64)});
  const PlanDiff difference = diff(file_of(a), file_of(b));
  ASSERT_EQ(difference.details->arenas.size(), 2U);
  EXPECT_EQ(difference.details->arenas[1].name, "gpu");
  EXPECT_FALSE(difference.details->arenas[1].before);
  EXPECT_EQ(difference.details->arenas[1].after, Bytes(64));
  EXPECT_EQ(difference.growth(), Bytes(64));
}

TEST(Diff, PlacesInArenasThatDoNotExistAreLeftOut) {
  Plan a = plan_of({{0, 8}});
  a.placements.push_back({TensorId(7), ArenaId(9), 0, Bytes(0), Bytes(8)});
  EXPECT_TRUE(diff(file_of(a), file_of(a)).details->entries.empty());
}

TEST(Diff, ItsTextIsThis) {
  const Graph graph = graph_of({{.name = "a", .size = Bytes(8)}, {.name = "b", .size = Bytes(8)}});
  const Plan a = plan_of({{0, 8}, {8, 8}});
  const Plan b = plan_of({{16, 8}, {0, 16}});
  EXPECT_EQ(diff_to_text(diff({graph, a}, {graph, b}), SizeStyle::bytes), R"(The peak grew from 16 to 24: +8 (+50.0%).
                                   before           after                      change
  peak                                 16              24                 +8 (+50.0%)
  bound                                 0               0                           0
  cpu (shared)                         16              24                 +8 (+50.0%)
  grew: 1, +8 in all
                +8  b                                    8 -> 16
  moved: 1, 8 in all
                 8  a                                    cpu 0 -> cpu 16
  unchanged: 0
)");
}

}  // namespace
}  // namespace stowage
