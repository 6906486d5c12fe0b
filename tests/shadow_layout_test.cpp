#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/judges/shadow/hand_made.hpp"

/// Every rule of fills and contiguous groups, followed and violated: shadow execution must find each violation, or it
/// proves nothing.
namespace stowage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// -------------------------------------------------------------------------------------------------------------- fills

/// x → t; then sum += t, where sum must be 7 at first; y = f(sum). 16 bytes each.
Graph accumulator() {
  Op sum = op("sum", {1}, {2});
  sum.zero_fill = {.outputs = {0}, .value = 7};
  return built(
      {tensor("x", 16, TensorFlag::input), tensor("t", 16), tensor("sum", 16), tensor("y", 16, TensorFlag::output)},
      {op("f", {0}, {1}), sum, op("g", {2}, {3})});
}

std::vector<std::string> accumulate(std::vector<std::int64_t> offsets, std::vector<Clear> clears) {
  const Graph graph = accumulator();
  Plan plan = plan_of(graph, 64, std::move(offsets));
  plan.clears = std::move(clears);
  return findings(graph, plan);
}

TEST(ShadowFill, CentralAndSeparateClearsPass) {
  EXPECT_THAT(accumulate({0, 16, 32, 48}, {clear(32, 16, 0, 7)}), IsEmpty());
  EXPECT_THAT(accumulate({0, 16, 0, 48}, {clear(0, 16, 1, 7)}), IsEmpty()) << "x is dead before the separate clear";
}

TEST(ShadowFill, MissingShortAndWrongClearsAreFound) {
  const auto not_filled = Contains(HasSubstr("tensor 'sum' (2), written by op 'sum' (1), is not filled"));
  EXPECT_THAT(accumulate({0, 16, 32, 48}, {}), not_filled);
  EXPECT_THAT(accumulate({0, 16, 32, 48}, {clear(32, 15, 0, 7)}), not_filled);
  EXPECT_THAT(accumulate({0, 16, 32, 48}, {clear(32, 16, 0, 0)}), not_filled);
  EXPECT_THAT(accumulate({0, 16, 32, 48}, {clear(32, 16, 2, 7)}), not_filled);
}

TEST(ShadowFill, CentralClearOnLiveMemoryIsFound) {
  EXPECT_THAT(accumulate({0, 16, 0, 48}, {clear(0, 16, 0, 7)}),
              Contains(HasSubstr("tensor 'x' (0), before the first op")));
}

TEST(ShadowFill, WriteBetweenTheClearAndTheOpIsFound) {
  EXPECT_THAT(accumulate({0, 16, 31, 48}, {clear(31, 16, 0, 7)}), Contains(HasSubstr("is not filled")));
}

TEST(ShadowFill, WorkspacesAreFilledToo) {
  Op f = op("f", {0}, {1});
  f.workspaces = {{.size = Bytes(8)}, {.size = Bytes(8)}};
  f.zero_fill = {.workspaces = {1}};
  const Graph graph = built({tensor("x", 8, TensorFlag::input), tensor("y", 8, TensorFlag::output)}, {f});
  Plan plan = plan_of(graph, 32, {0, 8});
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(16), Bytes(8)},
                     {OpId(0), 1, ArenaId(0), 0, Bytes(24), Bytes(8)}};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("workspace 1 of op 'f' (0) is not filled")));
  plan.clears = {clear(24, 8, 0)};
  EXPECT_THAT(findings(graph, plan, {.runs = 3}), IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------- groups

/// Two producers whose results the group op reads next to each other, in a memory of alignment 8. Sizes 12 and 16.
Graph padded_inputs() {
  Op reduce = op("reduce", {1, 2}, {3});
  reduce.contiguous_inputs = Contiguity::padded;
  return built(
      {tensor("x", 8, TensorFlag::input), tensor("a", 12), tensor("b", 16), tensor("y", 8, TensorFlag::output)},
      {op("f", {0}, {1}), op("g", {0}, {2}), reduce}, {{.name = "cpu", .alignment = Bytes(8)}});
}

TEST(ShadowGroup, PaddedInputsMustLieNextToEachOther) {
  const Graph graph = padded_inputs();
  EXPECT_THAT(findings(graph, plan_of(graph, 48, {0, 8, 24, 40})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_of(graph, 56, {0, 8, 32, 48})),
              Contains(HasSubstr("tensor 'b' (2), read by op 'reduce' (2)")));
  EXPECT_THAT(findings(graph, plan_of(graph, 48, {0, 24, 8, 40})), Not(IsEmpty())) << "in the wrong order";
}

TEST(ShadowGroup, CopyMakesAMemberContiguous) {
  const Graph graph = padded_inputs();
  Plan plan = plan_of(graph, 80, {0, 8, 64, 40});
  plan.copies = {copy(2, 2, 24, 16)};
  EXPECT_THAT(findings(graph, plan), IsEmpty());
  plan.copies = {copy(2, 2, 25, 16)};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'b' (2), read by op 'reduce' (2)")));
  plan.copies = {copy(2, 1, 24, 16)};
  EXPECT_THAT(findings(graph, plan), Contains("the copy of tensor 'b' (2) is for an op that does not have it"));
}

TEST(ShadowGroup, CopyOnLiveMemoryIsFound) {
  const Graph graph = padded_inputs();
  Plan plan = plan_of(graph, 96, {0, 24, 64, 8});
  plan.copies = {copy(1, 2, 48, 12)};
  EXPECT_THAT(findings(graph, plan), IsEmpty());
  plan.placements[1].offset = Bytes(56);  // a itself reaches into b
  EXPECT_THAT(findings(graph, plan), Not(IsEmpty()));
}

TEST(ShadowGroup, PaddedOutputsMustLieNextToEachOther) {
  Op split = op("split", {0}, {1, 2});
  split.contiguous_outputs = Contiguity::padded;
  const Graph graph =
      built({tensor("x", 8, TensorFlag::input), tensor("a", 12), tensor("b", 16), tensor("y", 8, TensorFlag::output)},
            {split, op("g", {1, 2}, {3})}, {{.name = "cpu", .alignment = Bytes(8)}});
  EXPECT_THAT(findings(graph, plan_of(graph, 48, {0, 8, 24, 40})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_of(graph, 56, {0, 8, 32, 48})),
              Contains(HasSubstr("tensor 'b' (2), written by op 'split' (0)")));
}

/// a, b → whole without a move; y = f(whole, a).
Graph concat() {
  Op join = op("join", {1, 2}, {3});
  join.contiguous_inputs = Contiguity::packed;
  return built({tensor("x", 8, TensorFlag::input), tensor("a", 5), tensor("b", 7), tensor("whole", 12),
                tensor("y", 8, TensorFlag::output)},
               {op("f", {0}, {1}), op("g", {0}, {2}), join, op("h", {3, 1}, {4})});
}

TEST(ShadowGroup, ConcatMovesNothing) {
  const Graph graph = concat();
  EXPECT_THAT(findings(graph, plan_of(graph, 32, {0, 8, 13, 8, 24})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_of(graph, 32, {0, 8, 14, 8, 24})),
              Contains(HasSubstr("tensor 'whole' (3), written by op 'join' (2): byte 5")));
  EXPECT_THAT(findings(graph, plan_of(graph, 32, {0, 20, 13, 8, 0})), Not(IsEmpty()));
}

TEST(ShadowGroup, ConcatOfCopiesPasses) {
  const Graph graph = concat();
  Plan plan = plan_of(graph, 48, {0, 32, 13, 8, 24});
  plan.copies = {copy(1, 2, 8, 5)};
  EXPECT_THAT(findings(graph, plan), IsEmpty());
  plan.copies = {copy(1, 2, 9, 5)};
  EXPECT_THAT(findings(graph, plan), Not(IsEmpty()));
}

TEST(ShadowGroup, ConstantsAreCopiedIntoTheirGroup) {
  Op join = op("join", {0, 1}, {2});
  join.contiguous_inputs = Contiguity::packed;
  const Graph graph = built({tensor("c", 8, TensorFlag::constant), tensor("x", 8, TensorFlag::input),
                             tensor("whole", 16), tensor("y", 8, TensorFlag::output)},
                            {join, op("h", {2}, {3})});
  Plan plan = plan_of(graph, 24, {-1, 8, 0, 16});
  plan.arenas.push_back(arena(ArenaKind::persistent, 8));
  place(plan, graph, {0}, 1);
  plan.copies = {copy(0, 0, 0, 8)};
  EXPECT_THAT(findings(graph, plan, {.runs = 2}), IsEmpty());
  plan.copies = {};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'whole' (2), written by op 'join' (0)")));
}

/// whole → a, b without a move; y = f(b), z = g(whole).
Graph split() {
  Op cut = op("cut", {1}, {2, 3});
  cut.contiguous_outputs = Contiguity::packed;
  return built({tensor("x", 8, TensorFlag::input), tensor("whole", 12), tensor("a", 5), tensor("b", 7),
                tensor("y", 8, TensorFlag::output), tensor("z", 8, TensorFlag::output)},
               {op("f", {0}, {1}), cut, op("g", {3}, {4}), op("h", {1}, {5})});
}

TEST(ShadowGroup, SplitMovesNothing) {
  const Graph graph = split();
  EXPECT_THAT(findings(graph, plan_of(graph, 64, {0, 8, 8, 13, 24, 32})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_of(graph, 64, {0, 8, 8, 14, 24, 32})),
              Contains(HasSubstr("tensor 'b' (3), written by op 'cut' (1)")));
  EXPECT_THAT(findings(graph, plan_of(graph, 64, {0, 8, 8, 13, 16, 32})),
              Contains(HasSubstr("tensor 'whole' (1), read by")))
      << "whole is still needed when y is written";
}

TEST(ShadowGroup, OutputOfASplitMayBeCopiedOut) {
  const Graph graph = split();
  Plan plan = plan_of(graph, 64, {0, 8, 8, 40, 24, 32});
  EXPECT_THAT(findings(graph, plan), Not(IsEmpty()));
  plan.copies = {copy(3, 1, 40, 7)};
  EXPECT_THAT(findings(graph, plan), IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------ entries

TEST(ShadowPlan, EntriesThatNameNothingAreFound) {
  const Graph graph = accumulator();
  Plan plan = plan_of(graph, 64, {0, 16, 32, 48});
  plan.clears = {clear(32, 16, 9, 7)};
  plan.copies = {copy(9, 0, 0, 16), copy(1, 7, 0, 16), copy(1, 1, 0, 15), copy(1, 1, 60, 16)};
  plan.placements.push_back({TensorId(99), ArenaId(0), 0, Bytes(0), Bytes(16)});
  const std::vector<std::string> found = findings(graph, plan);
  EXPECT_THAT(found, Contains("a clear comes before an op that does not exist"));
  EXPECT_THAT(found, Contains("a copy names tensor 9, which does not exist"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) comes before an op that does not exist"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) has another size"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) lies outside its region"));
  EXPECT_THAT(found, Contains("tensor 99, which is placed, does not exist"));
}

}  // namespace
}  // namespace stowage::testing
