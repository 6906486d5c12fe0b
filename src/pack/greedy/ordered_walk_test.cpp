#include "pack/greedy/ordered_walk.hpp"

#include <gtest/gtest.h>

#include "pack/greedy/greedy.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

using testing::item;

TEST(OrderedWalk, EqualsTheGeneralGreedyPlacement) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    const Problem problem =
        testing::random_problem(seed, {.max_items = 1 + seed % 40, .pieces = false, .pins = false, .regions = false});
    if (!can_walk_ordered(problem)) continue;
    const SolveOptions options;
    const Bench bench(problem, options, {});
    ASSERT_EQ(walk_ordered(problem), *place_greedily(bench, PlacementOrder::begin, Fit::tightest)) << seed;
    ++compared;
  }
  EXPECT_GT(compared, 1'000U);
}

TEST(OrderedWalk, IsForOneEndlessRegionWithoutPins) {
  Problem problem{.items = {item(0, 1, 8)}};
  EXPECT_FALSE(can_walk_ordered(problem));
  problem.order = {.streams = 1, .threshold = {kNever}, .first = {Step(0)}};
  EXPECT_TRUE(can_walk_ordered(problem));
  problem.items[0].pinned = Bytes(0);
  EXPECT_FALSE(can_walk_ordered(problem));
  problem.items[0].pinned.reset();
  problem.regions = {{Bytes(8), true}};
  EXPECT_FALSE(can_walk_ordered(problem));
}

}  // namespace
}  // namespace stowage::pack
