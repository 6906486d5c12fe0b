#include "lower/clears.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using testing::Sketch;

struct At {
  std::int64_t offset = 0;
  std::uint32_t region = 0;
  std::uint8_t value = 0;
};

/// The clears of two outputs of 8 bytes, each of an op of its own, that lie there.
std::vector<Clear> clears_of(At first, At second, const AnalysisOptions& options = {}) {
  Sketch s;
  const std::vector<TensorId> sums = {s.tensor("a", 8, TensorFlag::output), s.tensor("b", 8, TensorFlag::output)};
  s.op({.name = "0", .kind = "X", .outputs = {sums[0]}, .zero_fill = {.outputs = {0}, .value = first.value}});
  s.op({.name = "1", .kind = "X", .outputs = {sums[1]}, .zero_fill = {.outputs = {0}, .value = second.value}});
  const Graph graph = s.build();
  Plan plan{.graph = graph.name(), .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  for (const At& at : {first, second})
    plan.placements.push_back({sums[plan.placements.size()], ArenaId(0), at.region, Bytes(at.offset), Bytes(8)});
  return find_clears(graph, analyze(graph, options).layout, plan);
}

Clear clear(std::int64_t offset, std::int64_t size, At at = {}, std::size_t before = 0) {
  return {ArenaId(0), at.region, Bytes(offset), Bytes(size), at.value, OpId(before)};
}

TEST(Clears, RangesThatTouchAreOneClear) {
  EXPECT_THAT(clears_of({.offset = 0}, {.offset = 8}), ElementsAre(clear(0, 16)));
  EXPECT_THAT(clears_of({.offset = 8}, {.offset = 0}), ElementsAre(clear(0, 16)));
}

TEST(Clears, NoneGoesOverBytesThatNobodyWantsCleared) {
  EXPECT_THAT(clears_of({.offset = 0}, {.offset = 9}), ElementsAre(clear(0, 8), clear(9, 8)));
  EXPECT_THAT(clears_of({.offset = 24}, {.offset = 0}), ElementsAre(clear(0, 8), clear(24, 8)));
}

TEST(Clears, OfOtherRegionsOrValuesStayApart) {
  EXPECT_THAT(clears_of({.offset = 0}, {.offset = 8, .region = 1}),
              ElementsAre(clear(0, 8), clear(8, 8, {.region = 1})));
  EXPECT_THAT(clears_of({.offset = 0, .value = 7}, {.offset = 8, .value = 7}), ElementsAre(clear(0, 16, {.value = 7})));
  EXPECT_THAT(clears_of({.offset = 0}, {.offset = 8, .value = 7}), ElementsAre(clear(0, 8), clear(8, 8, {.value = 7})));
}

TEST(Clears, RightBeforeTheirOpsStayApart) {
  EXPECT_THAT(clears_of({.offset = 0}, {.offset = 8}, {.zero_fill = FillPolicy::separate}),
              ElementsAre(clear(0, 8), clear(8, 8, {}, 1)));
}

}  // namespace
}  // namespace stowage
