#include "pack/valley_search.hpp"

#include <random>

#include <gtest/gtest.h>

#include "pack/target_search.hpp"
#include "support/brute_force.hpp"
#include "support/items.hpp"
#include "support/random_problem.hpp"

namespace stowage::pack {
namespace {

constexpr std::uint64_t kManyNodes = 1'000'000;
const std::function<bool()> kNeverStop = [] { return false; };

using testing::item;

SearchEnd search(const Plain& plain, std::int64_t target, std::vector<std::int64_t>& offsets,
                 Branching branching = Branching::options_per_weight) {
  const SearchStyle style{branching, priorities(plain, Priority::area)};
  return ValleySearch::make(plain)->run(target, style, kManyNodes, kNeverStop, offsets);
}

/// Eight items of which at most 7 bytes are live at once, but which do not fit in 7.
Problem tight() {
  return {.items = {item(0, 2, 4), item(0, 5, 2), item(2, 6, 3), item(0, 7, 1), item(6, 7, 4), item(5, 8, 1), item(7, 8, 5),
                    item(2, 8, 1)}};
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
  const SearchStyle style{Branching::most_conflicts, priorities(plain, Priority::area)};
  const std::unique_ptr<ValleySearch> search = ValleySearch::make(plain);
  std::vector<std::int64_t> offsets;
  EXPECT_EQ(search->run(100, style, 2, kNeverStop, offsets), SearchEnd::gave_up);
  EXPECT_EQ(search->run(100, style, kManyNodes, kNeverStop, offsets), SearchEnd::solved);
}

/// Explanations, jumps and lifted limits are where a wrong proof would come from: every style, with alignments, against the
/// truth.
TEST(ValleySearch, EveryStyleIsExactOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const Problem problem =
        testing::random_problem(seed, {.max_items = 6, .pieces = false, .pins = false, .regions = false, .streams = false});
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

/// Items of the same sections are tried in one order only, which must lose nothing: few lives, so that there are many of those.
TEST(ValleySearch, IsExactWhereManyItemsShareTheirSections) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1'500; ++round) {
    Problem problem;
    for (std::uint64_t n = 3 + random() % 4; problem.items.size() < n;) {
      const std::int64_t begin = static_cast<std::int64_t>(random() % 2);
      problem.items.push_back(
          item(begin, begin + 1 + static_cast<std::int64_t>(random() % 2), 1 + static_cast<std::int64_t>(random() % 5)));
      problem.items.back().alignment = Bytes(std::int64_t{1} << random() % 3);
    }
    const Plain plain = *Plain::from(problem);
    const std::int64_t optimum = testing::solve_by_brute_force(problem)->peak.value();
    std::vector<std::int64_t> offsets;
    ASSERT_EQ(search(plain, optimum, offsets), SearchEnd::solved) << round;
    ASSERT_EQ(search(plain, optimum - 1, offsets), SearchEnd::exhausted) << round;
  }
}

TEST(TargetSearch, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem =
        testing::random_problem(seed, {.max_items = 60, .pieces = false, .pins = false, .regions = false, .streams = false});
    const Plain plain = *Plain::from(problem);
    if (plain.count() == 0) continue;
    const std::unique_ptr<ValleySearch> prototype = ValleySearch::make(plain);
    std::vector<std::int64_t> expected;
    TargetSearch alone(plain, *prototype, plain.bound, seed, 1);
    const SearchEnd end = alone.advance(30'000, kNeverStop, expected);
    for (const std::uint32_t threads : {2U, 8U}) {
      std::vector<std::int64_t> offsets;
      TargetSearch together(plain, *prototype, plain.bound, seed, threads);
      ASSERT_EQ(together.advance(30'000, kNeverStop, offsets), end) << seed;
      ASSERT_EQ(offsets, expected) << seed;
      ASSERT_EQ(together.nodes(), alone.nodes()) << seed;
    }
  }
}

}  // namespace
}  // namespace stowage::pack
