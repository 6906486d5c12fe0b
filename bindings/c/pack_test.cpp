#include "stowage/pack.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/stowage.h"
#include "support/generators/random_problem.hpp"

namespace stowage::testing {
namespace {

/// Arrays, and what points to them.
struct Items {
  std::vector<int64_t> lower, upper, size, alignment = {}, fixed = {};
  std::vector<stowage_join> joins = {};
  std::vector<stowage_pair> apart = {};

  [[nodiscard]] stowage_pack_input input() const {
    stowage_pack_input input{};
    input.struct_size = sizeof(input);
    input.count = lower.size();
    input.lower = lower.data();
    input.upper = upper.data();
    input.size = size.data();
    input.alignment = alignment.empty() ? nullptr : alignment.data();
    input.fixed = fixed.empty() ? nullptr : fixed.data();
    input.joins = joins.data();
    input.join_count = joins.size();
    input.apart = apart.data();
    input.apart_count = apart.size();
    return input;
  }
};

struct Packed {
  stowage_code code;
  std::vector<int64_t> offsets;
  stowage_pack_result result;
};

Packed pack(const Items& items, const stowage_pack_options* options = nullptr) {
  const stowage_pack_input input = items.input();
  Packed packed{STOWAGE_OK, std::vector<int64_t>(items.lower.size(), -7), {}};
  packed.result.struct_size = sizeof(packed.result);
  packed.code = stowage_pack(&input, options, packed.offsets.data(), &packed.result);
  return packed;
}

stowage_pack_options default_options() {
  stowage_pack_options options{};
  options.struct_size = sizeof(options);
  return options;
}

const Items kTwoThatMeet{.lower = {0, 0}, .upper = {2, 2}, .size = {100, 50}};

TEST(CPack, PutsItemsThatAreLiveTogetherApart) {
  const Packed packed = pack(kTwoThatMeet);
  ASSERT_EQ(packed.code, STOWAGE_OK);
  EXPECT_EQ(packed.result.peak, 150);
  EXPECT_EQ(packed.result.lower_bound, 150);
  EXPECT_EQ(packed.result.proven, 1);
  EXPECT_EQ(packed.result.outcome, STOWAGE_OPTIMAL);
  EXPECT_TRUE(packed.offsets == (std::vector<int64_t>{0, 100}) || packed.offsets == (std::vector<int64_t>{50, 0}));
}

TEST(CPack, PutsJoinedItemsAtOnePlace) {
  Items items{.lower = {0, 1}, .upper = {2, 3}, .size = {100, 100}};
  EXPECT_EQ(pack(items).result.peak, 200);
  items.joins = {{1, 0, 0}};  // in either order
  const Packed packed = pack(items);
  EXPECT_EQ(packed.result.peak, 100);
  EXPECT_EQ(packed.offsets, (std::vector<int64_t>{0, 0}));
}

TEST(CPack, ADistanceCountsFromTheFirstOfTheTwo) {
  Items items{.lower = {0, 1}, .upper = {2, 3}, .size = {100, 40}};
  items.joins = {{1, 0, -60}};  // item 0 begins 60 bytes before item 1
  items.fixed = {0, 60};
  const Packed packed = pack(items);
  ASSERT_EQ(packed.code, STOWAGE_OK) << packed.result.message;
  EXPECT_EQ(packed.result.peak, 100);
}

TEST(CPack, KeepsPairsApartThatNeverMeet) {
  Items items{.lower = {0, 5}, .upper = {1, 6}, .size = {100, 100}};
  EXPECT_EQ(pack(items).result.peak, 100);
  items.apart = {{1, 0}};
  EXPECT_EQ(pack(items).result.peak, 200);
}

TEST(CPack, HonoursFixedOffsetsAndAlignments) {
  Items items{.lower = {0, 0}, .upper = {2, 2}, .size = {100, 50}, .alignment = {1, 64}, .fixed = {0, -1}};
  const Packed packed = pack(items);
  EXPECT_EQ(packed.offsets, (std::vector<int64_t>{0, 128}));
  EXPECT_EQ(packed.result.peak, 178);
}

TEST(CPack, SaysWhenNothingFitsTheCapacity) {
  stowage_pack_options options = default_options();
  options.capacity = 149;
  const Packed packed = pack(kTwoThatMeet, &options);
  EXPECT_EQ(packed.code, STOWAGE_OK);
  EXPECT_EQ(packed.result.outcome, STOWAGE_INFEASIBLE);
  EXPECT_EQ(packed.result.proven, 0);
  EXPECT_EQ(packed.offsets, (std::vector<int64_t>{-1, -1}));
}

TEST(CPack, NothingNeedsNothing) {
  const Packed packed = pack({});
  EXPECT_EQ(packed.code, STOWAGE_OK);
  EXPECT_EQ(packed.result.peak, 0);
  EXPECT_EQ(packed.result.proven, 1);
}

TEST(CPack, NamesTheItemAtFault) {
  Items items = kTwoThatMeet;
  items.size[1] = -3;
  EXPECT_EQ(pack(items).code, STOWAGE_INVALID);
  EXPECT_NE(std::string(pack(items).result.message).find("items[1]"), std::string::npos) << pack(items).result.message;
  items = kTwoThatMeet;
  items.joins = {{0, 2, 0}};
  EXPECT_EQ(pack(items).code, STOWAGE_INVALID);
  EXPECT_NE(std::string(pack(items).result.message).find("item 2"), std::string::npos) << pack(items).result.message;
}

TEST(CPack, RefusesListsThatAreNull) {
  stowage_pack_input input = kTwoThatMeet.input();
  input.upper = nullptr;
  std::array<int64_t, 2> offsets{};
  stowage_pack_result result{};
  result.struct_size = sizeof(result);
  EXPECT_EQ(stowage_pack(&input, nullptr, offsets.data(), &result), STOWAGE_INVALID);
  EXPECT_STREQ(result.message, "upper is NULL");
  input = kTwoThatMeet.input();
  EXPECT_EQ(stowage_pack(&input, nullptr, nullptr, &result), STOWAGE_INVALID);
  EXPECT_EQ(stowage_pack(nullptr, nullptr, offsets.data(), &result), STOWAGE_INVALID);
}

TEST(CPack, RefusesAnUnknownSolver) {
  stowage_pack_options options = default_options();
  options.solver = "magic";
  const Packed packed = pack(kTwoThatMeet, &options);
  EXPECT_EQ(packed.code, STOWAGE_UNKNOWN_NAME);
  EXPECT_NE(std::string(packed.result.message).find("magic"), std::string::npos);
}

TEST(CPack, ProgressCanStopTheSearch) {
  Items items;
  const Problem problem = cut_rectangle(3, {.steps = 60, .bytes = 400, .cuts = 300});
  for (const Item& item : problem.items) {
    items.lower.push_back(item.life().lower.value());
    items.upper.push_back(item.life().upper.value());
    items.size.push_back(item.size.value());
  }
  int calls = 0;
  stowage_pack_options options = default_options();
  options.time_limit = -1;
  options.user = &calls;
  options.on_better = [](void* user, const char*, int64_t, int64_t) -> int32_t {
    ++*static_cast<int*>(user);
    return 1;
  };
  const Packed packed = pack(items, &options);
  EXPECT_EQ(packed.code, STOWAGE_OK);
  EXPECT_GE(calls, 1);
  EXPECT_GE(packed.result.peak, packed.result.lower_bound);
}

TEST(CPackVersions, AStructWithoutASizeIsRefused) {
  stowage_pack_input input = kTwoThatMeet.input();
  input.struct_size = 0;
  std::array<int64_t, 2> offsets{};
  stowage_pack_result result{};
  result.struct_size = sizeof(result);
  EXPECT_EQ(stowage_pack(&input, nullptr, offsets.data(), &result), STOWAGE_INVALID);
  EXPECT_NE(std::string(result.message).find("struct_size"), std::string::npos);
}

TEST(CPackVersions, FieldsThatAnOlderHeaderDoesNotHaveAreZero) {
  Items items{.lower = {0, 1}, .upper = {2, 3}, .size = {100, 100}};
  items.joins = {{0, 1, 0}};
  stowage_pack_input input = items.input();
  input.struct_size = offsetof(stowage_pack_input, joins);  // what follows is not the caller's
  std::array<int64_t, 2> offsets{};
  stowage_pack_result result{};
  result.struct_size = sizeof(result);
  ASSERT_EQ(stowage_pack(&input, nullptr, offsets.data(), &result), STOWAGE_OK);
  EXPECT_EQ(result.peak, 200);
}

TEST(CPackVersions, FieldsOfANewerHeaderMustBeZero) {
  struct Newer {
    stowage_pack_options options;
    int64_t more;
  } newer{default_options(), 0};
  newer.options.struct_size = sizeof(newer);
  EXPECT_EQ(pack(kTwoThatMeet, &newer.options).code, STOWAGE_OK);
  newer.more = 1;
  EXPECT_EQ(pack(kTwoThatMeet, &newer.options).code, STOWAGE_UNSUPPORTED);
}

TEST(CPackVersions, AResultIsNotWrittenBeyondItsSize) {
  const stowage_pack_input input = kTwoThatMeet.input();
  std::array<int64_t, 2> offsets{};
  stowage_pack_result result;
  std::memset(&result, 0x5a, sizeof(result));
  result.struct_size = offsetof(stowage_pack_result, lower_bound);
  ASSERT_EQ(stowage_pack(&input, nullptr, offsets.data(), &result), STOWAGE_OK);
  EXPECT_EQ(result.peak, 150);
  EXPECT_EQ(result.struct_size, offsetof(stowage_pack_result, lower_bound));
  EXPECT_EQ(result.lower_bound, 0x5a5a5a5a5a5a5a5a);
  EXPECT_EQ(stowage_pack(&input, nullptr, offsets.data(), nullptr), STOWAGE_OK);
}

/// The problem as arrays, if arrays can say it: one piece per item.
Items arrays_of(const Problem& problem) {
  Items items;
  for (const Item& item : problem.items) {
    items.lower.push_back(item.life().lower.value());
    items.upper.push_back(item.life().upper.value());
    items.size.push_back(item.size.value());
    items.alignment.push_back(item.alignment.value());
    items.fixed.push_back(item.pinned ? item.pinned->value() : -1);
  }
  for (const Join& join : problem.joins) items.joins.push_back({join.a, join.b, join.distance.value()});
  for (const ApartPair& pair : problem.apart) items.apart.push_back({pair.a, pair.b});
  return items;
}

bool names_parts(const Problem& problem) {
  for (const ApartPair& pair : problem.apart) {
    if (pair.of_a || pair.of_b) return true;
  }
  return false;
}

TEST(CPackProperty, AnswersAsTheCppLibraryDoes) {
  const RandomProblemOptions options{.max_items = 9, .pieces = false, .regions = false, .streams = false};
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Problem problem = random_problem(seed, options);
    if (names_parts(problem)) continue;
    stowage_pack_options limits = default_options();
    limits.time_limit = -1;
    limits.node_budget = 20'000;
    limits.seed = seed;
    const Packed packed = pack(arrays_of(problem), &limits);
    Problem again = problem;
    again.capacity.reset();
    const Result<SolveOutcome> expected = solve(again, {.seed = seed, .node_budget = 20'000});
    ASSERT_TRUE(expected) << to_string(expected.error());
    ASSERT_EQ(packed.code, STOWAGE_OK) << "seed " << seed << ": " << packed.result.message;
    EXPECT_EQ(packed.result.outcome, static_cast<stowage_outcome>(expected->status)) << "seed " << seed;
    EXPECT_EQ(packed.result.lower_bound, expected->bound.bytes.value());
    for (std::size_t k = 0; expected->has_answer() && k < expected->positions.size(); ++k)
      EXPECT_EQ(packed.offsets[k], expected->positions[k].offset.value()) << "seed " << seed;
    ++compared;
  }
  EXPECT_GT(compared, 200U);
}

}  // namespace
}  // namespace stowage::testing
