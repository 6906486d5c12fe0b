#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"

namespace stowage {
namespace {

using testing::aligned;
using testing::item;

/// Sizes of a few bytes at alignments of some KiB. The skyline needs 12,290 bytes.
Problem uneven() {
  return {.items = {aligned(item(9, 10, 7), 2048), aligned(item(9, 10, 4), 2048), aligned(item(7, 10, 3), 1024),
                    aligned(item(8, 12, 6), 1024), aligned(item(3, 9, 6), 1024), aligned(item(6, 8, 6), 2048),
                    aligned(item(6, 9, 5), 2048), aligned(item(2, 8, 5), 4096), aligned(item(5, 7, 8), 1024),
                    aligned(item(7, 12, 7), 1024), aligned(item(9, 10, 4), 1024), aligned(item(3, 6, 9), 2048),
                    aligned(item(3, 6, 9), 2048), aligned(item(6, 10, 2), 4096), aligned(item(9, 12, 9), 1024),
                    aligned(item(3, 7, 4), 1024), aligned(item(0, 4, 5), 4096), aligned(item(10, 11, 9), 1024)}};
}

TEST(Exact, SolvesAndProvesUnevenSizesAtCoarseAlignments) {
  const SolveOutcome outcome = *solve(uneven(), {.node_budget = 20'000});
  EXPECT_EQ(outcome.peak, Bytes(7'171));
  EXPECT_EQ(outcome.status, SolveStatus::optimal);
  EXPECT_EQ(solve(uneven(), {.solver = "skyline"})->peak, Bytes(12'290));
}

/// A square of `side` × `side`, cut into `count` rectangles: again and again, the largest becomes four around a hole.
Problem pinwheel(std::int64_t side, std::size_t count) {
  struct Box {
    std::int64_t begin, end, lower, upper;
    [[nodiscard]] std::int64_t area() const { return (end - begin) * (upper - lower); }
  };
  std::vector<Box> boxes = {{0, side, 0, side}};
  while (boxes.size() < count) {
    const auto largest =
        std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.area() < b.area(); });
    const Box box = *largest;
    boxes.erase(largest);
    const std::int64_t a = box.begin + (box.end - box.begin) * 3 / 8;
    const std::int64_t b = box.begin + (box.end - box.begin) * 3 / 4;
    const std::int64_t c = box.lower + (box.upper - box.lower) / 4;
    const std::int64_t d = box.lower + (box.upper - box.lower) * 5 / 8;
    for (const Box& part : std::array<Box, 5>{{{box.begin, b, box.lower, c},
                                               {b, box.end, box.lower, d},
                                               {a, box.end, d, box.upper},
                                               {box.begin, a, c, box.upper},
                                               {a, b, c, d}}})
      boxes.push_back(part);
  }
  Problem problem;
  for (const Box& box : boxes) problem.items.push_back(item(box.begin, box.end, box.upper - box.lower));
  return problem;
}

TEST(Exact, PutsNestedPinwheelsTogether) {
  const Problem problem = pinwheel(1'000'000, 101);
  EXPECT_GT(solve(problem, {.solver = "skyline"})->peak, Bytes(1'000'000));
  EXPECT_EQ(solve(problem)->peak, Bytes(1'000'000));
}

/// A capacity that cannot be met, which is hard to prove, must not keep the search from finding what it finds without.
TEST(Exact, ACapacityThatIsMissedDoesNotMakeTheBestAnswerWorse) {
  Problem problem = pinwheel(1'000'000, 201);
  for (Item& each : problem.items) {
    each.size = Bytes((each.size.value() / 64 + 1) * 64);
    each.pieces.front().bytes.upper = each.size;
  }
  const Bytes without = solve(problem, {.node_budget = 100'000})->peak;
  problem.capacity = lower_bound(problem).bytes;
  const SolveOutcome outcome = *solve(problem, {.node_budget = 200'000});
  EXPECT_EQ(outcome.status, SolveStatus::timed_out);
  EXPECT_LE(outcome.peak, without);
  EXPECT_LT(outcome.peak, solve(problem, {.solver = "skyline"})->peak);
}

}  // namespace
}  // namespace stowage
