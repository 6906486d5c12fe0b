#include "stowage/pack/replanner.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "stowage/pack.hpp"
#include "support/builders/items.hpp"
#include "support/generators/random_problem.hpp"

namespace stowage {
namespace {

using testing::item;

PreviousAnswer previous(std::vector<std::int64_t> offsets, std::int64_t peak, std::int64_t bound) {
  PreviousAnswer result{{}, Bytes(peak), Bytes(bound)};
  for (const std::int64_t offset : offsets) result.positions.push_back(Position{0, Bytes(offset)});
  return result;
}

std::vector<std::int64_t> offsets(const Replanner& replanner) {
  std::vector<std::int64_t> result;
  for (const Position& position : replanner.positions()) result.push_back(position.offset.value());
  return result;
}

/// Two items at the same time, and two after them.
Problem four_items() { return {.items = {item(0, 2, 4), item(0, 2, 6), item(2, 4, 5), item(2, 4, 2)}}; }

TEST(Replanner, TakesOverAnAnswerAsItIs) {
  const Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10));
  EXPECT_EQ(offsets(replanner), (std::vector<std::int64_t>{6, 0, 2, 0}));
  EXPECT_EQ(replanner.outcome().status, SolveStatus::optimal);
  EXPECT_EQ(replanner.outcome().moved, 0U);
}

TEST(Replanner, AnItemThatShrinksStays) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10), {.tolerance = 0.2});
  const Replanned done = *replanner.change({{{.item = 1, .becomes = item(0, 2, 5)}}});
  EXPECT_EQ(done.moved, 0U);
  EXPECT_EQ(done.bound.bytes, Bytes(9));
  EXPECT_EQ(done.peak, Bytes(10));
}

TEST(Replanner, AnItemThatGrowsStaysWhereThereIsRoom) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10));
  const Replanned done = *replanner.change({{{.item = 2, .becomes = item(2, 4, 8)}}});
  EXPECT_EQ(done.moved, 0U);
  EXPECT_EQ(done.status, SolveStatus::optimal);
}

TEST(Replanner, OfTwoThatCollideTheSmallerMoves) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10), {.tolerance = 1});
  EXPECT_EQ(replanner.change({{{.item = 3, .becomes = item(2, 4, 3)}}})->moved, 1U);
  EXPECT_EQ(offsets(replanner), (std::vector<std::int64_t>{6, 0, 2, 7}));
}

TEST(Replanner, AKeptItemStaysThoughItIsTheSmaller) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10), {.tolerance = 1, .kept = {3}});
  EXPECT_EQ(replanner.change({{{.item = 3, .becomes = item(2, 4, 3)}}})->moved, 1U);
  EXPECT_EQ(offsets(replanner), (std::vector<std::int64_t>{6, 0, 3, 0}));
}

TEST(Replanner, KeptItemsThatCollideAreAnErrorThatChangesNothing) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10), {.kept = {2, 3}});
  const Result<Replanned> done = replanner.change({{{.item = 3, .becomes = item(2, 4, 3)}}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "item 3 must stay at 0, but overlaps item 2, which must stay too");
  EXPECT_EQ(replanner.problem(), four_items());
  EXPECT_EQ(replanner.change({{{.item = 2, .becomes = item(2, 4, 8)}}})->moved, 0U);
}

TEST(Replanner, ALifeMayReachBeyondAllOthers) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10));
  const Replanned done = *replanner.change({{{.item = 2, .becomes = item(1000, 1'000'000, 5)}}});
  EXPECT_EQ(done.moved, 0U);
  EXPECT_FALSE(validate(replanner.problem(), replanner.positions()));
}

TEST(Replanner, SolvesFromScratchWhatWouldWasteTooMuch) {
  // No repair gets two items of 5 bytes, both at multiples of 4, near the 10 bytes that are live; the solver knows that
  // 13 is the smallest possible peak.
  Problem problem{.items = {testing::aligned(item(0, 2, 4), 4), testing::aligned(item(0, 2, 5), 4)}};
  Replanner replanner = *Replanner::make(problem, previous({0, 4}, 9, 9));
  EXPECT_FALSE(replanner.outcome().from_scratch);
  const Replanned done = *replanner.change({{{.item = 0, .becomes = testing::aligned(item(0, 2, 5), 4)}}});
  EXPECT_TRUE(done.from_scratch);
  EXPECT_EQ(done.status, SolveStatus::optimal);
  EXPECT_EQ(done.peak, Bytes(13));
}

TEST(Replanner, ExhaustionIsAStatus) {
  Problem problem = four_items();
  problem.capacity = Bytes(10);
  Replanner replanner = *Replanner::make(problem, previous({6, 0, 2, 0}, 10, 10));
  EXPECT_EQ(replanner.change({{{.item = 0, .becomes = item(0, 2, 5)}}})->status, SolveStatus::infeasible);
  EXPECT_FALSE(validate(replanner.problem(), replanner.positions()));
  EXPECT_EQ(replanner.change({{{.item = 0, .becomes = item(0, 2, 4)}}})->status, SolveStatus::optimal);
}

TEST(Replanner, RefusesWhatBreaksARule) {
  Replanner replanner = *Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10));
  EXPECT_FALSE(replanner.change({{{.item = 4, .becomes = item(0, 2, 5)}}}));
  EXPECT_FALSE(replanner.change({{{.item = 0, .becomes = item(0, 2, 5)}, {.item = 4, .becomes = item(0, 2, 5)}}}));
  EXPECT_FALSE(replanner.change({{{.item = 0, .becomes = item(2, 2, 5)}}}));
  EXPECT_FALSE(
      replanner.change({{{.item = 0, .becomes = item(0, 2, 1)}, {.item = 1, .becomes = item(0, 2, INT64_MAX)}}}));
  EXPECT_EQ(replanner.problem(), four_items());
  EXPECT_FALSE(Replanner::make(four_items(), previous({6, 0, 2}, 10, 10)));
  EXPECT_FALSE(Replanner::make(four_items(), previous({6, 0, 2, 1}, 10, 10), {.kept = {2, 3}}));
  EXPECT_FALSE(Replanner::make(four_items(), previous({6, 0, 2, 0}, 10, 10), {.tolerance = -0.1}));
}

TEST(Replanner, StartsWithNoAnswerToo) {
  const Replanner replanner = *Replanner::make(four_items(), {});
  EXPECT_EQ(replanner.positions().size(), 4U);
  EXPECT_FALSE(validate(replanner.problem(), replanner.positions()));
}

/// Random sequences of changes. Each answer is checked by `validate` and against the bound by definition.
class RandomChanges {
 public:
  RandomChanges(std::uint64_t seed, const testing::RandomProblemOptions& options) : random_(seed) {
    Problem problem = testing::random_problem(seed, options);
    if (below(3) == 0) problem.capacity = lower_bound(problem).bytes + Bytes(below(4));
    const SolveOutcome outcome = *solve(problem, {.solver = "first_fit_by_size"});
    if (outcome.positions.empty()) return;
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      if (below(6) == 0) kept_.push_back(i);
    }
    ReplanOptions replan{
        .solve = {.solver = "auto", .node_budget = 200}, .tolerance = below(2) == 0 ? 0.005 : 0.2, .kept = kept_};
    Result<Replanner> started = Replanner::make(std::move(problem), PreviousAnswer::of(outcome), std::move(replan));
    EXPECT_TRUE(started) << seed;
    if (started) replanner_ = std::move(*started);
  }

  /// Returns false when something is wrong.
  bool step() {
    if (!replanner_ || replanner_->positions().empty()) return true;
    const Problem before = replanner_->problem();
    const std::vector<Position> were = replanner_->positions();
    const std::vector<ItemChange> changes = random_changes(before);
    const Result<Replanned> done = replanner_->change(changes);
    if (!done) return replanner_->problem() == before && replanner_->positions() == were && ++refused;
    return agrees(*done, were);
  }

  std::size_t refused = 0;
  std::size_t from_scratch = 0;
  std::size_t moved = 0;
  std::size_t without_answer = 0;

  [[nodiscard]] std::vector<Position> positions() const {
    return replanner_ ? replanner_->positions() : std::vector<Position>{};
  }

 private:
  bool agrees(const Replanned& done, const std::vector<Position>& were) {
    const Problem& problem = replanner_->problem();
    const std::vector<Position>& positions = replanner_->positions();
    from_scratch += done.from_scratch;
    moved += done.moved;
    without_answer += !done.has_answer();
    if (positions.empty()) return !done.has_answer();
    std::size_t differ = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) differ += positions[i] != were[i];
    const bool stayed = std::all_of(kept_.begin(), kept_.end(), [&](std::size_t i) { return positions[i] == were[i]; });
    const bool searched = done.bound.argument == Certificate::Argument::exhausted_search;
    const bool fits = !problem.capacity || done.peak <= *problem.capacity;
    return !validate(problem, positions) && stayed && differ == done.moved &&
           done.peak == peak_of(problem, positions) && (searched || check_bound(problem, done.bound)) &&
           is_above_live_bytes(problem, done.bound.bytes) && done.has_answer() == fits;
  }

  static bool is_above_live_bytes(const Problem& problem, Bytes bound) {
    return std::all_of(problem.items.begin(), problem.items.end(), [&](const Item& item) {
      return std::none_of(item.pieces.begin(), item.pieces.end(), [&](const Piece& piece) {
        return check_bound(problem, {Certificate::Argument::live_bytes, bound + Bytes(1), piece.when.lower, 0});
      });
    });
  }

  std::vector<ItemChange> random_changes(const Problem& problem) {
    std::vector<ItemChange> changes;
    for (std::int64_t k = 0, count = 1 + below(3); k < count; ++k) {
      ItemChange change{.item = static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.items.size()))),
                        .becomes = {}};
      change.becomes = problem.items[change.item];
      if (change.becomes.pieces.size() == 1) vary(change.becomes, problem);
      changes.push_back(std::move(change));
    }
    return changes;
  }

  void vary(Item& item, const Problem& problem) {
    if (below(2) == 0) {
      item.size = Bytes(below(8) == 0 ? 0 : std::max<std::int64_t>(0, item.size.value() + below(7) - 3));
      item.pieces.front().bytes = {Bytes(0), item.size};
    }
    if (below(3) == 0 && problem.order.empty()) {
      const Step begin(below(12));
      item.pieces.front().when = {begin, begin + Step(1 + below(5))};
    }
    if (below(8) == 0) item.alignment = Bytes(std::int64_t{1} << below(3));
  }

  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  std::mt19937_64 random_;
  std::vector<std::size_t> kept_;
  std::optional<Replanner> replanner_;
};

struct Walked {
  std::size_t refused = 0;
  std::size_t from_scratch = 0;
  std::size_t moved = 0;
  std::size_t without_answer = 0;
  std::vector<std::vector<Position>> ends = {};  ///< The last answer of each walk.
};

Walked walk_all(std::uint64_t walks, int steps, const testing::RandomProblemOptions& options) {
  Walked sum;
  for (std::uint64_t seed = 0; seed < walks; ++seed) {
    RandomChanges walk(seed, options);
    for (int k = 0; k < steps; ++k) {
      const bool good = walk.step();
      EXPECT_TRUE(good) << "seed " << seed << ", step " << k;
      if (!good) return sum;
    }
    sum.refused += walk.refused;
    sum.from_scratch += walk.from_scratch;
    sum.moved += walk.moved;
    sum.without_answer += walk.without_answer;
    sum.ends.push_back(walk.positions());
  }
  return sum;
}

TEST(Replanner, IsRightAfterAnyChangesOfPlainProblems) {
  const Walked walked = walk_all(3'000, 15, testing::plain_options(24));
  EXPECT_GT(walked.refused, 500U);
  EXPECT_GT(walked.from_scratch, 1'000U);
  EXPECT_GT(walked.moved, 10'000U);
  EXPECT_GT(walked.without_answer, 1'000U);
}

TEST(Replanner, IsRightAfterAnyChangesOfOtherProblems) {
  const Walked walked = walk_all(4'000, 8, {.max_items = 10, .joins = false});
  EXPECT_GT(walked.refused, 200U);
  EXPECT_GT(walked.moved, 2'000U);
}

TEST(Replanner, RefusesJoins) {
  const Problem problem{.items = {item(0, 3, 8), item(2, 5, 8)}, .joins = {{0, 1, Bytes(0)}}};
  EXPECT_EQ(Replanner::make(problem, {}).error().code, ErrorCode::unsupported);
}

TEST(Replanner, IsDeterministic) {
  const testing::RandomProblemOptions plain = testing::plain_options(24);
  EXPECT_EQ(walk_all(50, 10, plain).ends, walk_all(50, 10, plain).ends);
}

}  // namespace
}  // namespace stowage
