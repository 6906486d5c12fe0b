#include "pack/exact/valley_search.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pack/exact/target_search.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint64_t kManyNodes = 1'000'000;
const std::function<bool()> kNeverStop = [] { return false; };

using testing::aligned;
using testing::item;

SearchEnd search(const Plain& plain, std::int64_t target, std::vector<std::int64_t>& offsets,
                 Branching branching = Branching::options_per_weight) {
  const SearchStyle style{branching, Explanations::full, priorities(plain, Priority::area)};
  return ValleySearch::make(plain)->run(target, style, kManyNodes, kNeverStop, offsets);
}

/// Eight items with at most 7 bytes live at once, which do not fit in 7.
Problem tight() {
  return {.items = {item(0, 2, 4), item(0, 5, 2), item(2, 6, 3), item(0, 7, 1), item(6, 7, 4), item(5, 8, 1),
                    item(7, 8, 5), item(2, 8, 1)}};
}

TEST(ValleySearch, FindsThePackingAtTheTargetAndProvesThatThereIsNoneBelow) {
  const Problem problem = tight();
  const Plain plain = *Plain::from(problem);
  EXPECT_EQ(plain.bound, 7);
  EXPECT_EQ(testing::solve_by_brute_force(problem)->peak, Bytes(8));
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(search(plain, 8, offsets), SearchEnd::solved);
  EXPECT_FALSE(validate(problem, plain.positions(problem, offsets)));
  EXPECT_EQ(search(plain, 7, offsets), SearchEnd::exhausted);
}

TEST(ValleySearch, GivesUpAtTheNodeLimitAndWhenStopped) {
  const Plain plain = *Plain::from(tight());
  const SearchStyle style{Branching::most_conflicts, Explanations::full, priorities(plain, Priority::area)};
  const std::unique_ptr<ValleySearch> search = ValleySearch::make(plain);
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(search->run(100, style, 2, kNeverStop, offsets), SearchEnd::gave_up);
  EXPECT_EQ(search->run(100, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
}

/// Explanations, jumps and lifted limits are where a wrong proof could come from. Compares every style, with
/// alignments, with brute force.
TEST(ValleySearch, EveryStyleIsExactOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(6));
    const Plain plain = *Plain::from(problem);
    if (plain.count() == 0) continue;
    const std::int64_t optimum = testing::solve_by_brute_force(problem)->peak.value();
    std::vector<std::int64_t> offsets;
    for (const Branching branching : {Branching::most_conflicts, Branching::options_per_weight}) {
      ASSERT_EQ(search(plain, optimum, offsets, branching), SearchEnd::solved) << seed;
      const std::vector<Position> positions = plain.positions(problem, offsets);
      ASSERT_FALSE(validate(problem, positions)) << seed;
      ASSERT_LE(peak_of(problem, positions), Bytes(optimum)) << seed;
      ASSERT_EQ(search(plain, optimum - 1, offsets, branching), SearchEnd::exhausted) << seed;
    }
  }
}

/// An explanation once left out why an item does not lie below the one that lifts it, and the search jumped over the
/// only answer.
TEST(ValleySearch, KnowsWhyALiftedItemWasNotBelow) {
  const Problem problem{.items = {aligned(item(0, 5, 1), 2), item(2, 5, 1), item(0, 4, 1), aligned(item(5, 7, 4), 4),
                                  item(0, 3, 3), aligned(item(4, 7, 1), 4), aligned(item(1, 2, 1), 4)}};
  const Plain plain = *Plain::from(problem);
  SearchStyle style{Branching::most_conflicts, Explanations::full, {175, 707, 487, 650, 633, 766, 587}};
  std::vector<std::int64_t> offsets;
  ASSERT_EQ(ValleySearch::make(plain)->run(6, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
  EXPECT_FALSE(validate(problem, plain.positions(problem, offsets)));
}

/// A brief explanation does leave it out.
TEST(ValleySearch, BriefExplanationsProveNothing) {
  const Problem problem{.items = {aligned(item(2, 4, 4), 4), aligned(item(0, 1, 2), 4), aligned(item(2, 3, 3), 2),
                                  aligned(item(3, 6, 5), 2), aligned(item(1, 4, 2), 2), aligned(item(0, 2, 4), 4)}};
  const Plain plain = *Plain::from(problem);
  SearchStyle style{Branching::most_conflicts, Explanations::brief, {27, 634, 392, 216, 135, 410}};
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(ValleySearch::make(plain)->run(11, style, kManyNodes, kNeverStop, offsets), SearchEnd::gave_up);
  style.explanations = Explanations::full;
  EXPECT_EQ(ValleySearch::make(plain)->run(11, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
}

/// Items of 5, 5 and 1 bytes at multiples of 4: two take 8 bytes each, and one ends 1 or 5 bytes after that.
TEST(ValleySearch, SeesAtOnceWhatUnevenSizesTake) {
  const Problem problem{.items = {aligned(item(0, 1, 5), 4), aligned(item(0, 1, 5), 4), aligned(item(0, 1, 1), 4)}};
  const Plain plain = *Plain::from(problem);
  const std::unique_ptr<ValleySearch> valley = ValleySearch::make(plain);
  const SearchStyle style{Branching::most_conflicts, Explanations::full, {1, 2, 3}};
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(valley->run(16, style, kManyNodes, kNeverStop, offsets), SearchEnd::exhausted);
  EXPECT_EQ(valley->nodes(), 0U);
  EXPECT_EQ(valley->run(17, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
  EXPECT_EQ(peak_of(problem, plain.positions(problem, offsets)), Bytes(17));
}

/// Among themselves, the two items at multiples of 16 take 16 bytes, although each takes only 4 from the third.
TEST(ValleySearch, SeesAtOnceWhatCoarseAlignmentsTake) {
  const Problem problem{.items = {aligned(item(0, 1, 3), 16), aligned(item(0, 1, 3), 16), aligned(item(0, 1, 3), 4)}};
  const Plain plain = *Plain::from(problem);
  const std::unique_ptr<ValleySearch> valley = ValleySearch::make(plain);
  const SearchStyle style{Branching::most_conflicts, Explanations::full, {1, 2, 3}};
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(valley->run(18, style, kManyNodes, kNeverStop, offsets), SearchEnd::exhausted);
  EXPECT_EQ(valley->nodes(), 0U);
  EXPECT_EQ(valley->run(19, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
}

/// Alignments up to 32 and sizes down to 1: most bytes taken are none of the item's own.
TEST(ValleySearch, IsExactWhereAlignmentsAreMuchLargerThanSizes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 1'500; ++round) {
    Problem problem;
    for (std::uint64_t n = 3 + random() % 4; problem.items.size() < n;) {
      const std::int64_t begin = static_cast<std::int64_t>(random() % 4);
      problem.items.push_back(item(begin, begin + 1 + static_cast<std::int64_t>(random() % 3),
                                   1 + static_cast<std::int64_t>(random() % 11)));
      problem.items.back().alignment = Bytes(std::int64_t{4} << random() % 4);
    }
    const Plain plain = *Plain::from(problem);
    const std::int64_t optimum = testing::solve_by_brute_force(problem)->peak.value();
    std::vector<std::int64_t> offsets;
    for (const Branching branching : {Branching::most_conflicts, Branching::options_per_weight}) {
      ASSERT_EQ(search(plain, optimum, offsets, branching), SearchEnd::solved) << round;
      ASSERT_LE(peak_of(problem, plain.positions(problem, offsets)), Bytes(optimum)) << round;
      ASSERT_FALSE(validate(problem, plain.positions(problem, offsets))) << round;
      ASSERT_EQ(search(plain, optimum - 1, offsets, branching), SearchEnd::exhausted) << round;
    }
  }
}

TEST(ValleySearch, NeverProvesThatAFullRectangleDoesNotFit) {
  std::mt19937_64 random(11);
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    const Problem problem = testing::cut_rectangle(seed);
    SearchStyle style{
        seed % 2 == 0 ? Branching::most_conflicts : Branching::options_per_weight, Explanations::full, {}};
    for (std::size_t i = 0; i < problem.items.size(); ++i)
      style.priority.push_back(static_cast<double>(random() % 1'000));
    std::vector<std::int64_t> offsets;
    ASSERT_NE(ValleySearch::make(*Plain::from(problem))->run(12, style, 20'000, kNeverStop, offsets),
              SearchEnd::exhausted)
        << seed;
  }
}

/// Items with the same sections are tried in one order only, which must lose no answer. Few different lives, so that
/// there are many such items.
TEST(ValleySearch, IsExactWhereManyItemsShareTheirSections) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1'500; ++round) {
    Problem problem;
    for (std::uint64_t n = 3 + random() % 4; problem.items.size() < n;) {
      const std::int64_t begin = static_cast<std::int64_t>(random() % 2);
      problem.items.push_back(item(begin, begin + 1 + static_cast<std::int64_t>(random() % 2),
                                   1 + static_cast<std::int64_t>(random() % 5)));
      problem.items.back().alignment = Bytes(std::int64_t{1} << random() % 3);
    }
    const Plain plain = *Plain::from(problem);
    const std::int64_t optimum = testing::solve_by_brute_force(problem)->peak.value();
    std::vector<std::int64_t> offsets;
    ASSERT_EQ(search(plain, optimum, offsets), SearchEnd::solved) << round;
    ASSERT_EQ(search(plain, optimum - 1, offsets), SearchEnd::exhausted) << round;
  }
}

/// Tight enough that noise, which starts in the second round, finds some of the answers.
TEST(TargetSearch, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  int solved = 0;
  int late = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem = testing::cut_rectangle(seed, {.steps = 60, .bytes = 997, .cuts = 80});
    const Plain plain = *Plain::from(problem);
    ValleySearches searches(ValleySearch::make(plain));
    std::vector<std::int64_t> expected;
    TargetSearch alone(plain, searches, plain.bound, seed, 1);
    const SearchEnd end = alone.advance(30'000, kNeverStop, expected);
    ASSERT_NE(end, SearchEnd::exhausted) << seed;
    solved += end == SearchEnd::solved;
    late += end == SearchEnd::solved && alone.nodes() > 3'000;
    for (const std::uint32_t threads : {2U, 8U}) {
      std::vector<std::int64_t> offsets;
      TargetSearch together(plain, searches, plain.bound, seed, threads);
      ASSERT_EQ(together.advance(30'000, kNeverStop, offsets), end) << seed;
      ASSERT_EQ(offsets, expected) << seed;
      ASSERT_EQ(together.nodes(), alone.nodes()) << seed;
    }
  }
  EXPECT_GT(solved, 5);
  EXPECT_GT(late, 2);
}

}  // namespace
}  // namespace stowage::pack
