#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "pack/bounds/offset_sums.hpp"
#include "stowage/pack.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

/// Compares each kind of lower bound with brute force: it is never above the optimum, sometimes above the live bytes,
/// and no certificate above the optimum passes the check, whatever step or item it names.
namespace stowage {
namespace {

constexpr std::uint64_t kProblems = 6'000;

/// Certificates that claim one byte more than the truth.
void expect_no_lie_passes(const Problem& problem, Bytes optimum, std::uint64_t seed) {
  for (const auto argument :
       {Certificate::Argument::live_bytes, Certificate::Argument::aligned_offsets, Certificate::Argument::pinned_item,
        Certificate::Argument::pinned_gaps, Certificate::Argument::offset_sums}) {
    for (std::size_t item = 0; item <= problem.items.size(); ++item) {
      for (std::int64_t step = 0; step < 12; ++step)
        ASSERT_FALSE(check_bound(problem, {argument, optimum + Bytes(1), Step(step), item}))
            << seed << " " << item << " " << step;
    }
  }
}

/// Runs `lower_bound` on random problems; returns how often it used the argument.
template <class Make>
std::size_t count_uses(Certificate::Argument argument, const Make& make) {
  std::size_t used = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    const Problem problem = make(seed);
    const std::optional<testing::BruteForceAnswer> truth = testing::solve_by_brute_force(problem);
    const Certificate bound = lower_bound(problem);
    EXPECT_TRUE(check_bound(problem, bound)) << seed;
    if (!truth) continue;
    EXPECT_LE(bound.bytes, truth->peak) << seed;
    expect_no_lie_passes(problem, truth->peak, seed);
    used += bound.argument == argument;
    if (::testing::Test::HasFailure()) return used;
  }
  return used;
}

TEST(BoundAgainstBruteForce, AlignedOffsets) {
  const std::size_t used = count_uses(Certificate::Argument::aligned_offsets, [](std::uint64_t seed) {
    Problem problem = testing::random_problem(seed, {.max_items = 5});
    std::mt19937_64 random(seed);
    for (Item& item : problem.items) {
      if (!item.pinned) item.alignment = Bytes(std::int64_t{1} << random() % 4);
    }
    return problem;
  });
  std::cout << kProblems << " problems, " << used << " times the best argument\n";
  EXPECT_GT(used, kProblems / 20);
}

TEST(BoundAgainstBruteForce, PinnedGaps) {
  const std::size_t used = count_uses(Certificate::Argument::pinned_gaps, [](std::uint64_t seed) {
    Problem problem = testing::random_problem(seed, {.max_items = 5, .regions = false});
    std::mt19937_64 random(seed);
    for (Item& item : problem.items) {
      if (random() % 4 == 0) item.pinned = align_up(Bytes(static_cast<std::int64_t>(random() % 12)), item.alignment);
    }
    return problem;
  });
  std::cout << kProblems << " problems, " << used << " times the best argument\n";
  EXPECT_GT(used, kProblems / 20);
}

/// Most of these exceed the other bounds because of alignment: the top of the items below is seldom a multiple of it.
TEST(BoundAgainstBruteForce, OffsetSums) {
  std::size_t above = 0;
  std::size_t used = 0;
  for (std::uint64_t seed = 0; seed < kProblems; ++seed) {
    const Problem problem = testing::random_problem(seed, testing::plain_options(6));
    const testing::BruteForceAnswer truth = *testing::solve_by_brute_force(problem);
    const Certificate before = lower_bound(problem);
    const Certificate bound =
        pack::offset_sums_bound(problem, *pack::Plain::from(problem), before.bytes, kMaxBytes).value_or(before);
    ASSERT_TRUE(check_bound(problem, bound)) << seed;
    ASSERT_LE(bound.bytes, truth.peak) << seed;
    expect_no_lie_passes(problem, truth.peak, seed);
    above += before.bytes < truth.peak;
    used += before.bytes < bound.bytes;
  }
  std::cout << kProblems << " problems, " << above << " above the other bounds, " << used << " of these seen here\n";
  EXPECT_GT(used, above / 20);
}

}  // namespace
}  // namespace stowage
