#include <chrono>
#include <random>
#include <stop_token>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/interface/free_list.hpp"
#include "pack/greedy/greedy.hpp"
#include "support/builders/items.hpp"

namespace stowage {
namespace {

using ::testing::HasSubstr;

using testing::item;

std::vector<std::int64_t> offsets(const Problem& problem, const std::string& solver) {
  const Result<SolveOutcome> outcome = solve(problem, {.solver = solver});
  std::vector<std::int64_t> result;
  for (const Position& position : outcome->positions) result.push_back(position.offset.value());
  return result;
}

/// When the last item begins, there is a gap of 8 at 0 and one of 4 at 12.
Problem two_gaps() { return {.items = {item(0, 1, 8), item(0, 3, 4), item(0, 1, 4), item(0, 3, 4), item(1, 3, 4)}}; }

/// Items of two pieces, enough of them that a greedy pass looks at the clock.
Problem many_with_pieces() {
  Problem problem;
  for (std::int64_t i = 0; i < 2000; ++i)
    problem.items.push_back(
        {.pieces = {testing::piece(i, i + 2, 0, 8), testing::piece(i + 2, i + 4, 0, 4)}, .size = Bytes(8)});
  return problem;
}

TEST(Solve, IsLateRatherThanWithoutAnAnswer) {
  const auto past = std::chrono::steady_clock::now() - std::chrono::hours(1);
  for (const char* const solver : {"auto", "online_best_fit", "first_fit_by_area"}) {
    const SolveOutcome outcome = *solve(many_with_pieces(), {.solver = solver, .deadline = past});
    EXPECT_TRUE(outcome.has_answer()) << solver;
  }
}

TEST(Solve, AStopRequestIsObeyedWithoutAnAnswerToo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(solve(many_with_pieces(), {.solver = "online_best_fit", .stop = stop.get_token()})->has_answer());
}

TEST(Greedy, OnlineTakesTheTightestGap) { EXPECT_EQ(offsets(two_gaps(), "online_best_fit").back(), 12); }

TEST(Greedy, BySizePlacesTheLargestFirst) {
  const Problem problem{.items = {item(0, 2, 4), item(1, 3, 16), item(2, 4, 8)}};
  EXPECT_THAT(offsets(problem, "first_fit_by_size"), ::testing::ElementsAre(16, 0, 16));
}

TEST(Greedy, ByLifePlacesTheLongestFirst) {
  const Problem problem{.items = {item(0, 9, 4), item(1, 3, 16), item(2, 9, 8)}};
  EXPECT_THAT(offsets(problem, "first_fit_by_life"), ::testing::ElementsAre(0, 12, 4));
}

TEST(Greedy, AlignmentIsKept) {
  Problem problem{.items = {item(0, 2, 5), item(0, 2, 3)}};
  problem.items[1].alignment = Bytes(4);
  EXPECT_THAT(offsets(problem, "first_fit_by_size"), ::testing::ElementsAre(0, 8));
}

TEST(Greedy, PinsComeFirstAndOthersGoAround) {
  Problem problem{.items = {item(0, 2, 6), item(0, 2, 4)}};
  problem.items[1].pinned = Bytes(2);
  EXPECT_THAT(offsets(problem, "first_fit_by_size"), ::testing::ElementsAre(6, 2));
}

TEST(Greedy, UnpaidRegionsAreFilledFirst) {
  const Problem problem{.items = {item(0, 2, 6), item(0, 2, 4)},
                        .regions = {Region{}, Region{.limit = Bytes(7), .paid = false}}};
  const SolveOutcome outcome = *solve(problem, {.solver = "first_fit_by_size"});
  EXPECT_EQ(outcome.positions[0].region, 1U);
  EXPECT_EQ(outcome.peak, Bytes(4));
}

TEST(Greedy, ALimitedRegionSendsTheRestToTheNext) {
  const Region limited{.limit = Bytes(8), .paid = true};
  const Problem problem{.items = {item(0, 2, 6), item(0, 2, 4)}, .regions = {limited, limited}};
  const SolveOutcome outcome = *solve(problem);
  EXPECT_NE(outcome.positions[0].region, outcome.positions[1].region);
  EXPECT_EQ(outcome.status, SolveStatus::optimal);
}

/// The free list and the general placement must give the same answer.
TEST(Online, TheFreeListEqualsTheGeneralPlacement) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    for (std::int64_t i = 0, n = 1 + below(60); i < n; ++i) {
      const std::int64_t begin = below(40);
      problem.items.push_back(item(begin, begin + 1 + below(12), 1 + below(30)));
      problem.items.back().alignment = Bytes(std::int64_t{1} << below(4));
    }
    const SolveOptions options;
    pack::Bench bench(problem, options, lower_bound(problem));
    const auto general = pack::place_greedily(bench, pack::PlacementOrder::begin, pack::Fit::tightest);
    pack::solve_online_best_fit(bench);
    ASSERT_EQ(bench.outcome().positions, general) << round;
  }
}

TEST(FreeList, JoinsFreedNeighbours) {
  FreeList free;
  const Bytes a = free.allocate(Bytes(8), Bytes(1));
  const Bytes b = free.allocate(Bytes(8), Bytes(1));
  const Bytes c = free.allocate(Bytes(8), Bytes(1));
  free.release({a, a + Bytes(8)});
  free.release({b, b + Bytes(8)});
  EXPECT_EQ(free.allocate(Bytes(16), Bytes(1)), Bytes(0));
  free.release({c, c + Bytes(8)});
  EXPECT_EQ(free.allocate(Bytes(4), Bytes(16)), Bytes(16));
}

TEST(Solve, UnknownSolversAndBrokenProblemsAreErrors) {
  const Result<SolveOutcome> unknown = solve({.items = {}}, {.solver = "magic"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unknown_name);
  EXPECT_THAT(unknown.error().message, HasSubstr("online_best_fit"));
  EXPECT_FALSE(solve({.items = {item(2, 1, 4)}}));
}

TEST(Solve, NothingIsOptimal) {
  const SolveOutcome outcome = *solve({.items = {}});
  EXPECT_EQ(outcome.status, SolveStatus::optimal);
  EXPECT_EQ(outcome.peak, Bytes(0));
}

TEST(Solve, CapacityBelowTheBoundIsInfeasible) {
  Problem problem{.items = {item(0, 2, 8), item(1, 3, 8)}};
  problem.capacity = Bytes(15);
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
  problem.capacity = Bytes(16);
  EXPECT_EQ(solve(problem)->status, SolveStatus::optimal);
}

TEST(Solve, ContradictingPinsAreInfeasible) {
  Problem problem{.items = {item(0, 2, 8), item(1, 3, 8)}};
  problem.items[0].pinned = problem.items[1].pinned = Bytes(0);
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
  problem.items[1].pinned = Bytes(8);
  EXPECT_EQ(solve(problem)->status, SolveStatus::optimal);
  problem.items[1].alignment = Bytes(16);
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
}

TEST(Solve, AnItemThatFitsInNoRegionIsInfeasible) {
  Problem problem{.items = {item(0, 2, 8)}, .regions = {Region{.limit = Bytes(7), .paid = true}}};
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
}

TEST(Solve, WhatNoRegionsCanHoldIsProvenInfeasible) {
  const Region limited{.limit = Bytes(8), .paid = true};
  const Problem problem{.items = {item(0, 2, 6), item(0, 2, 6), item(1, 2, 6)}, .regions = {limited, limited}};
  EXPECT_EQ(solve(problem)->status, SolveStatus::infeasible);
}

TEST(Solve, WhatCannotShareIsStackedWithoutASearch) {
  Problem problem;
  for (int i = 0; i < 5; ++i) problem.items.push_back(item(0, 1, 8));
  const SolveOutcome outcome = *solve(problem);
  EXPECT_EQ(outcome.solver, "stacked");
  EXPECT_EQ(outcome.status, SolveStatus::optimal);
}

}  // namespace
}  // namespace stowage
