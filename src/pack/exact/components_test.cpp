#include "pack/exact/components.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"
#include "support/judges/brute_force.hpp"

namespace stowage::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using testing::item;
using testing::pinned;

std::vector<std::vector<std::size_t>> components(const Problem& problem) {
  std::vector<std::vector<std::size_t>> result;
  for (const Component& component : find_components(problem)) {
    EXPECT_TRUE(check_problem(component.problem));
    result.push_back(component.items);
  }
  return result;
}

TEST(Components, AreCutWhereNothingLivesOn) {
  const Problem problem{
      .items = {item(5, 7, 4), item(0, 2, 4), item(2, 4, 4), item(1, 3, 4), item(4, 6, 0), item(6, 8, 1)}};
  EXPECT_THAT(components(problem), ElementsAre(ElementsAre(0, 5), ElementsAre(1, 2, 3)));
}

TEST(Components, AnItemOfSeveralPiecesConnectsWhatItsPiecesMeetAndNotWhatIsBetween) {
  Item twice = item(0, 2, 4);
  twice.pieces.push_back({{Step(8), Step(9)}, {Bytes(0), Bytes(4)}});
  const Problem problem{.items = {twice, item(4, 5, 2), item(1, 2, 4), item(8, 9, 4)}};
  EXPECT_THAT(components(problem), ElementsAre(ElementsAre(0, 2, 3), ElementsAre(1)));
}

TEST(Components, PinnedItemsConnectNothingAndGoWithEachThatTheyMeet) {
  const Problem problem{.items = {item(0, 2, 4), pinned(item(1, 5, 4), 8), item(4, 6, 4), pinned(item(8, 9, 1), 0)}};
  EXPECT_THAT(components(problem), ElementsAre(ElementsAre(0, 1), ElementsAre(1, 2)));
}

/// Two streams: 0 and 1 on one, 2 unordered to both on the other, 3 after everything.
TEST(Components, WithStreamOrderWhatIsUnorderedMeets) {
  Problem problem{.items = {item(0, 1, 4), item(2, 3, 4), item(1, 2, 4), item(4, 5, 4)}};
  problem.order.streams = 2;
  problem.order.threshold = {Step(2), Step(4), Step(4), Step(4), Step(4), Step(3), kNever, kNever};
  problem.order.first = {Step(0), kNever, Step(2), kNever, kNever, Step(1), Step(4), kNever};
  ASSERT_TRUE(check_problem(problem));
  EXPECT_THAT(components(problem), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
  EXPECT_EQ(find_components(problem)[1].problem.order.first, (std::vector<Step>{Step(4), kNever}));
}

/// By definition, pair by pair: each unpinned item with all items that it meets, transitively.
std::set<std::vector<std::size_t>> by_definition(const Problem& problem) {
  const auto counts = [&](std::size_t i) { return problem.items[i].size > Bytes(0); };
  const auto meet = [&](std::size_t a, std::size_t b) {
    const bool apart = std::any_of(problem.apart.begin(), problem.apart.end(), [&](const ApartPair& pair) {
      return pair.a == std::min(a, b) && pair.b == std::max(a, b) && !bytes_in(problem, pair, a).empty() &&
             !bytes_in(problem, pair, b).empty();
    });
    const bool ordered = problem.order.before(a, b) || problem.order.before(b, a);
    return counts(a) && counts(b) && (apart || !ordered);
  };
  std::set<std::vector<std::size_t>> components;
  for (std::size_t start = 0; start < problem.items.size(); ++start) {
    if (problem.items[start].pinned || !counts(start)) continue;
    std::vector<std::size_t> found = {start};
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (problem.items[found[k]].pinned) continue;
      for (std::size_t i = 0; i < problem.items.size(); ++i) {
        if (meet(found[k], i) && std::find(found.begin(), found.end(), i) == found.end()) found.push_back(i);
      }
    }
    std::sort(found.begin(), found.end());
    components.insert(found);
  }
  return components;
}

TEST(Components, WithStreamOrderAreThoseOfTheDefinition) {
  std::size_t several = 0;
  for (std::uint64_t seed = 0; seed < 8'000; ++seed) {
    const Problem problem = testing::random_problem(seed, {.max_items = 1 + seed % 20, .regions = false});
    if (problem.order.empty()) continue;
    std::set<std::vector<std::size_t>> found;
    for (const Component& component : find_components(problem)) found.insert(component.items);
    ASSERT_EQ(found, by_definition(problem)) << seed;
    several += found.size() > 1;
  }
  EXPECT_GT(several, 100U);
}

TEST(Components, OfPinsAndNothingsThereAreNone) {
  EXPECT_THAT(components({.items = {pinned(item(0, 2, 4), 0), item(0, 2, 0)}}), IsEmpty());
}

TEST(Components, OneThatHasNoAnswerLeavesTheWholeWithoutOne) {
  Problem problem{.items = {item(0, 2, 6), item(0, 2, 6), item(5, 7, 4), item(6, 8, 4)},
                  .regions = {Region{.limit = Bytes(8), .paid = true}}};
  EXPECT_EQ(solve(problem, {.solver = "exact"})->status, SolveStatus::infeasible);
  problem.capacity = Bytes(20);
  EXPECT_EQ(solve(problem, {.solver = "exact"})->status, SolveStatus::infeasible);
  problem.items[1] = item(0, 2, 2);
  EXPECT_EQ(solve(problem, {.solver = "exact"})->status, SolveStatus::optimal);
}

/// The first and the last component can end at 12 or 14, the other at 13: the bound of the whole is not a multiple of
/// the grain of the former.
TEST(Components, GoByAGrainOfTheirOwn) {
  Problem problem{.items = {item(0, 4, 6), item(5, 9, 6), item(5, 6, 7), item(1, 3, 6)}};
  problem.items[2].alignment = Bytes(2);
  problem.items[3].alignment = Bytes(4);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SolveOutcome outcome = *solve(problem, {.solver = "exact", .seed = seed});
    EXPECT_EQ(outcome.status, SolveStatus::optimal) << seed;
    EXPECT_EQ(outcome.peak, Bytes(13)) << seed;
  }
}

/// Random problems one after the other in time, perhaps with a pinned item across all of them.
Problem in_a_row(std::uint64_t seed) {
  Problem problem;
  for (std::uint64_t k = 0; k < 3; ++k) {
    Problem next = testing::random_problem(
        3 * seed + k, {.max_items = 4, .regions = false, .streams = false, .joins = false, .apart = false});
    for (Item& each : next.items) {
      for (Piece& piece : each.pieces) {
        piece.when.lower += Step(static_cast<std::int64_t>(100 * k));
        piece.when.upper += Step(static_cast<std::int64_t>(100 * k));
      }
      problem.items.push_back(each);
    }
  }
  if (seed % 2 == 0) problem.items.push_back(pinned(item(0, 300, 2), static_cast<std::int64_t>(seed % 9)));
  if (seed % 3 == 0) problem.regions.front().limit = Bytes(static_cast<std::int64_t>(8 + seed % 16));
  return problem;
}

/// The optimum, component by component: brute force on the whole problem would take too long.
std::optional<Bytes> optimum_of(const Problem& problem) {
  Bytes peak;
  for (const Item& each : problem.items) {
    if (each.pinned && each.size > Bytes(0)) peak = std::max(peak, *each.pinned + each.size);
  }
  for (std::int64_t k = 0; k < 3; ++k) {
    Problem third{.items = {}, .regions = problem.regions};
    for (const Item& each : problem.items) {
      if (each.life().overlaps({Step(100 * k), Step(100 * k + 100)})) third.items.push_back(each);
    }
    const std::optional<testing::BruteForceAnswer> answer = testing::solve_by_brute_force(third);
    if (!answer) return std::nullopt;
    peak = std::max(peak, answer->peak);
  }
  return peak;
}

TEST(Components, SolvedApartGiveTheOptimumOfTheWholeAndProveIt) {
  std::size_t infeasible = 0;
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    Problem problem = in_a_row(seed);
    const std::optional<Bytes> optimum = optimum_of(problem);
    const SolveOutcome outcome = *solve(problem, {.solver = "exact", .node_budget = 1'000'000});
    ASSERT_EQ(outcome.status, optimum ? SolveStatus::optimal : SolveStatus::infeasible) << seed;
    infeasible += !optimum;
    if (!optimum) continue;
    ASSERT_EQ(outcome.peak, *optimum) << seed;
    const bool searched = outcome.bound.argument == Certificate::Argument::exhausted_search;
    ASSERT_TRUE(searched || check_bound(problem, outcome.bound)) << seed;
    if (*optimum == Bytes(0)) continue;
    problem.capacity = *optimum;
    ASSERT_TRUE(solve(problem, {.solver = "exact", .node_budget = 1'000'000})->has_answer()) << seed;
    problem.capacity = *optimum - Bytes(1);
    ASSERT_EQ(solve(problem, {.solver = "exact", .node_budget = 1'000'000})->status, SolveStatus::infeasible) << seed;
  }
  EXPECT_GT(infeasible, 50U);
}

}  // namespace
}  // namespace stowage::pack
