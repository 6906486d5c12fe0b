#include "pack/index/occupancy.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/generators/random_problem.hpp"

namespace stowage::pack {
namespace {

/// The blocked offsets in [0, limit), directly from the definition of conflict.
std::set<std::int64_t> blocked_by_definition(const Problem& problem, const std::vector<std::optional<Position>>& placed,
                                             std::size_t item, std::uint32_t region, std::int64_t limit) {
  std::set<std::int64_t> blocked;
  for (std::int64_t offset = 0; offset < limit; ++offset) {
    for (std::size_t other = 0; other < placed.size(); ++other) {
      if (placed[other] && in_conflict(problem, item, {region, Bytes(offset)}, other, *placed[other]))
        blocked.insert(offset);
    }
  }
  return blocked;
}

std::set<std::int64_t> blocked_by(const Occupancy& occupancy, std::size_t item, std::uint32_t region,
                                  std::int64_t limit) {
  std::vector<OffsetRange> ranges;
  occupancy.blocked(item, region, ranges);
  std::set<std::int64_t> blocked;
  for (const OffsetRange& range : ranges) {
    for (std::int64_t offset = std::max<std::int64_t>(0, range.lower); offset < std::min(limit, range.upper); ++offset)
      blocked.insert(offset);
  }
  return blocked;
}

/// Places items at random, overlapping or not, and compares what every index reports for the next item.
TEST(Occupancy, EveryIndexEqualsTheDefinition) {
  constexpr std::int64_t kLimit = 40;
  std::mt19937_64 random(5);
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Problem problem = testing::random_problem(seed, {.max_items = 8, .pins = false, .regions = false, .joins = false});
    const auto regions = static_cast<std::uint32_t>(1 + seed % 3);
    problem.regions.assign(regions, Region{});
    const std::optional<Meetings> meetings = Meetings::find(problem, 1'000'000);
    ASSERT_TRUE(meetings);
    std::vector<std::unique_ptr<Occupancy>> indexes;
    indexes.push_back(make_list_occupancy(problem, *meetings));
    indexes.push_back(make_flat_occupancy(problem));
    if (problem.order.empty() && problem.apart.empty()) indexes.push_back(make_tree_occupancy(problem));
    std::vector<std::optional<Position>> placed(problem.items.size());
    for (std::size_t item = 0; item < problem.items.size(); ++item) {
      for (std::uint32_t region = 0; region < regions; ++region) {
        const std::set<std::int64_t> expected = blocked_by_definition(problem, placed, item, region, kLimit);
        for (std::size_t i = 0; i < indexes.size(); ++i)
          ASSERT_EQ(blocked_by(*indexes[i], item, region, kLimit), expected)
              << "seed " << seed << " item " << item << " index " << i;
      }
      placed[item] =
          Position{static_cast<std::uint32_t>(random() % regions), Bytes(static_cast<std::int64_t>(random() % 20))};
      for (const auto& index : indexes) index->place(item, *placed[item]);
    }
  }
}

TEST(Meetings, AreNotListedAboveTheLimit) {
  Problem problem;
  for (int i = 0; i < 10; ++i)
    problem.items.push_back({.pieces = {{{Step(0), Step(1)}, {Bytes(0), Bytes(8)}}}, .size = Bytes(8)});
  EXPECT_TRUE(Meetings::find(problem, 45));
  EXPECT_FALSE(Meetings::find(problem, 44));
  EXPECT_EQ(Meetings::find(problem, 45)->size(), 90U);
}

}  // namespace
}  // namespace stowage::pack
