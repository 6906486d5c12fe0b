#include "pack/index/interval_kd_tree.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace stowage::pack {
namespace {

/// Intervals of all lengths, their ranks, and the answers by linear search.
struct Intervals {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> last;
  std::vector<std::uint32_t> by_rank;

  Intervals(std::size_t count, std::uint32_t sections, std::mt19937_64& random) : by_rank(count) {
    for (std::size_t i = 0; i < count; ++i) {
      first.push_back(static_cast<std::uint32_t>(random() % sections));
      const std::uint64_t longest = random() % 4 == 0 ? sections : 3;
      last.push_back(std::min(sections, first[i] + 1 + static_cast<std::uint32_t>(random() % longest)));
    }
    std::iota(by_rank.begin(), by_rank.end(), 0U);
    std::shuffle(by_rank.begin(), by_rank.end(), random);
  }

  [[nodiscard]] bool within(std::uint32_t i, std::uint32_t begin, std::uint32_t end) const {
    return first[i] >= begin && last[i] <= end;
  }

  [[nodiscard]] std::uint32_t best_covering(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const {
    for (const std::uint32_t i : by_rank) {
      if (within(i, begin, end) && first[i] <= section && section < last[i]) return i;
    }
    return IntervalKdTree::kNone;
  }

  [[nodiscard]] IntervalKdTree::Gap gap_around(std::uint32_t section, std::uint32_t begin, std::uint32_t end) const {
    IntervalKdTree::Gap gap{begin, end};
    for (const std::uint32_t i : by_rank) {
      if (!within(i, begin, end)) continue;
      if (last[i] <= section) gap.begin = std::max(gap.begin, last[i]);
      if (first[i] > section) gap.end = std::min(gap.end, first[i]);
    }
    return gap;
  }
};

void expect_same_answers(const IntervalKdTree& tree, const Intervals& intervals, std::uint32_t sections,
                         std::mt19937_64& random) {
  const auto begin = static_cast<std::uint32_t>(random() % sections);
  const auto end = static_cast<std::uint32_t>(begin + 1 + random() % (sections - begin));
  const auto section = static_cast<std::uint32_t>(begin + random() % (end - begin));
  const std::uint32_t best = intervals.best_covering(section, begin, end);
  ASSERT_EQ(tree.best_covering(section, begin, end), best);
  if (best != IntervalKdTree::kNone) return;
  const IntervalKdTree::Gap expected = intervals.gap_around(section, begin, end);
  const IntervalKdTree::Gap found = tree.gap_around(section, begin, end);
  ASSERT_EQ(found.begin, expected.begin);
  ASSERT_EQ(found.end, expected.end);
}

TEST(IntervalKdTree, OfNothingFindsNothing) {
  IntervalKdTree tree({}, {});
  tree.reset({});
  EXPECT_EQ(tree.best_covering(0, 0, 9), IntervalKdTree::kNone);
  EXPECT_EQ(tree.gap_around(4, 2, 9).begin, 2U);
  EXPECT_EQ(tree.gap_around(4, 2, 9).end, 9U);
}

TEST(IntervalKdTree, AgreesWithALoopWhileIntervalsGo) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {1UL, 2UL, 7UL, 8UL, 9UL, 40UL, 65UL, 300UL}) {
    constexpr std::uint32_t kSections = 40;
    Intervals intervals(count, kSections, random);
    IntervalKdTree tree(intervals.first, intervals.last);
    tree.reset(intervals.by_rank);
    while (!intervals.by_rank.empty()) {
      for (int query = 0; query < 30; ++query) expect_same_answers(tree, intervals, kSections, random);
      const auto gone = intervals.by_rank.begin() + static_cast<std::ptrdiff_t>(random() % intervals.by_rank.size());
      tree.erase(*gone);
      intervals.by_rank.erase(gone);
    }
    EXPECT_EQ(tree.best_covering(kSections / 2, 0, kSections), IntervalKdTree::kNone);
  }
}

TEST(IntervalKdTree, ResetBringsEverythingBackInTheNewOrder) {
  const std::vector<std::uint32_t> first = {0, 1};
  const std::vector<std::uint32_t> last = {2, 3};
  IntervalKdTree tree(first, last);
  tree.reset(std::vector<std::uint32_t>{0, 1});
  EXPECT_EQ(tree.best_covering(1, 0, 3), 0U);
  tree.erase(1);
  tree.reset(std::vector<std::uint32_t>{1, 0});
  EXPECT_EQ(tree.best_covering(1, 0, 3), 1U);
  EXPECT_EQ(tree.best_covering(1, 0, 2), 0U);
}

}  // namespace
}  // namespace stowage::pack
