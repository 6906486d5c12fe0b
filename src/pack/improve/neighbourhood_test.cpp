#include <random>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"

namespace stowage {
namespace {

/// One item begins at each step and meets about `meetings` others.
Problem crowded_problem(std::size_t items, std::int64_t meetings) {
  std::mt19937_64 random(1);
  Problem problem;
  for (std::size_t i = 0; i < items; ++i) {
    const auto begin = static_cast<std::int64_t>(i);
    const std::int64_t length = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * meetings));
    const Bytes size(static_cast<std::int64_t>(64 * (1 + random() % 16) << (random() % 8)));
    problem.items.push_back({.pieces = {{{Step(begin), Step(begin + length)}, {Bytes(0), size}}}, .size = size});
  }
  return problem;
}

TEST(Neighbourhood, EarnsItsPlaceOnCrowdedProblems) {
  const Problem problem = crowded_problem(3'000, 128);
  const Bytes greedy = solve(problem, {.solver = "skyline"})->peak;
  const Bytes perturbed = solve(problem, {.solver = "perturbed", .node_budget = 400'000})->peak;
  const Bytes repaired = solve(problem, {.solver = "neighbourhood", .node_budget = 400'000})->peak;
  EXPECT_LT(repaired, perturbed);
  EXPECT_LE(perturbed, greedy);
}

TEST(Neighbourhood, MeetsACapacityThatTheSkylineMisses) {
  Problem problem = crowded_problem(3'000, 128);
  const SolveOutcome greedy = *solve(problem, {.solver = "skyline"});
  problem.capacity = Bytes((greedy.peak.value() + greedy.bound.bytes.value()) / 2);
  EXPECT_FALSE(solve(problem, {.solver = "skyline"})->has_answer());
  EXPECT_TRUE(solve(problem, {.solver = "neighbourhood", .node_budget = 300'000})->has_answer());
}

}  // namespace
}  // namespace stowage
