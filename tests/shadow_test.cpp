#include "support/judges/shadow/shadow.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/judges/shadow/hand_made.hpp"
#include "support/judges/shadow/schedule.hpp"

namespace stowage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// x → a → b → y, and y reads a too. 16 bytes each.
Graph diamond() {
  return built(
      {tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16), tensor("y", 16, TensorFlag::output)},
      {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {1, 2}, {3})});
}

TEST(Shadow, RightPlanPasses) {
  const Graph graph = diamond();
  const ShadowReport report = shadow_execute(graph, plan_at(graph, {0, 16, 0, 32}));
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.ops, 3u);
  EXPECT_GT(report.compared, Bytes(100));
}

TEST(Shadow, OverlapOfTwoLiveTensorsIsFound) {
  const Graph graph = diamond();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 16, 32})),
              Contains(HasSubstr("tensor 'a' (1), read by op 'g' (1): byte 0")));
}

TEST(Shadow, OverlapOfOneByteIsFoundAndSaysWhoDidIt) {
  const Graph graph = diamond();
  const std::vector<std::string> found = findings(graph, plan_at(graph, {0, 16, 31, 48}));
  ASSERT_THAT(found, Not(IsEmpty()));
  EXPECT_THAT(found[0], HasSubstr("tensor 'a' (1), read by op 'g' (1): byte 15 is 0xdb"));
  EXPECT_THAT(found[0], HasSubstr("last written by the start of op 'g' (1), for output tensor 'b' (2)"));
}

TEST(Shadow, OutputOnTopOfAnUnpairedInputIsFound) {
  const Graph graph = diamond();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 16, 32})),
              Contains(HasSubstr("tensor 'x' (0), read by op 'f' (0)")));
}

TEST(Shadow, FindingsStopAtTheMaximum) {
  const Graph graph = diamond();
  EXPECT_EQ(findings(graph, plan_at(graph, {0, 0, 0, 0}), {.max_findings = 2}).size(), 2u);
}

TEST(Shadow, TensorWithoutPlaceOrOutsideItsRegionIsFound) {
  const Graph graph = diamond();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, -1, 16, 32})), Contains("tensor 'a' (1) has no place"));
  Plan plan = plan_at(graph, {0, 16, 0, 32});
  plan.arenas[0].regions = {Bytes(40)};
  EXPECT_THAT(findings(graph, plan), Contains("tensor 'y' (3) lies outside its region"));
  plan.placements[1].region = 7;
  EXPECT_THAT(findings(graph, plan), Contains("tensor 'a' (1) lies in a region that does not exist"));
}

TEST(Shadow, DistantPlacesCostNoMemory) {
  const Graph graph = diamond();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, std::int64_t{1} << 60, 0, std::int64_t{1} << 61})), IsEmpty());
}

// ----------------------------------------------------------------------------------------------------------- in place

/// x → a, then b = f(a) where b may overwrite a; then y = g(what is read last).
Graph in_place_chain(std::vector<std::size_t> read_last) {
  Op second = op("second", {1}, {2});
  second.in_place = {{0, 0}};
  return built(
      {tensor("x", 21, TensorFlag::input), tensor("a", 21), tensor("b", 21), tensor("y", 21, TensorFlag::output)},
      {op("first", {0}, {1}), second, op("third", std::move(read_last), {3})});
}

TEST(Shadow, InPlacePasses) {
  const Graph graph = in_place_chain({2});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 32, 64})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 64, 0})), IsEmpty());
}

TEST(Shadow, InPlaceOnAnInputThatIsReadLaterIsFound) {
  const Graph graph = in_place_chain({1, 2});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 32, 64})),
              Contains(HasSubstr("tensor 'a' (1), read by op 'third' (2)")));
}

TEST(Shadow, ShiftedInPlaceIsFound) {
  const Graph graph = in_place_chain({2});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 40, 64})), Contains(HasSubstr("read by op 'second' (1)")));
}

TEST(Shadow, InPlaceOverAnInputThatIsAlsoReadWithoutPairIsFound) {
  Op twice = op("twice", {1, 1}, {2});
  twice.in_place = {{0, 0}};
  const Graph graph = built({tensor("x", 24, TensorFlag::input), tensor("a", 24), tensor("y", 24, TensorFlag::output)},
                            {op("first", {0}, {1}), twice});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 64})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32, 32})),
              Contains(HasSubstr("overwritten while read by op 'twice' (1)")));
}

TEST(Shadow, InPlaceOverTwoInputsOfDifferentLengthPasses) {
  Op both = op("both", {1, 0}, {2});
  both.in_place = {{0, 0}, {0, 1}};
  const Graph graph =
      built({tensor("x", 24, TensorFlag::input), view("head", 8, 0, 0), tensor("y", 24, TensorFlag::output)}, {both});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 0})), IsEmpty());
}

TEST(Shadow, TwoOutputsInPlaceOfOneInputAreFound) {
  Op split = op("split", {0}, {1, 2});
  split.in_place = {{0, 0}, {1, 0}};
  const Graph graph = built(
      {tensor("x", 24, TensorFlag::input), tensor("a", 24, TensorFlag::output), tensor("b", 24, TensorFlag::output)},
      {split});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 24})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 0})),
              Contains(HasSubstr("tensor 'a' (1), written by op 'split' (0)")));
}

TEST(Shadow, InPlaceOverPartOfAnotherPairedInputIsFoundInSomeDirection) {
  Op add = op("add", {1, 2}, {3});
  add.in_place = {{0, 0}, {0, 1}};
  const Graph graph = built({tensor("x", 96, TensorFlag::input), view("low", 64, 0, 0), view("high", 64, 0, 32),
                             tensor("y", 64, TensorFlag::output)},
                            {add});
  std::set<bool> found;
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    found.insert(findings(graph, plan_at(graph, {0, 0, 32, 0}), {.seed = seed}).empty());
  EXPECT_EQ(found, (std::set<bool>{false, true}));
}

// --------------------------------------------------------------------------------------------------------- workspaces

/// y = f(x) with two workspaces of 32 bytes.
Graph with_workspaces() {
  Op f = op("f", {0}, {1});
  f.workspaces = {{.size = Bytes(32)}, {.size = Bytes(32)}};
  return built({tensor("x", 32, TensorFlag::input), tensor("y", 32, TensorFlag::output)}, {f});
}

std::vector<WorkspacePlacement> workspaces_at(std::int64_t first, std::int64_t second) {
  return {{.op = OpId(0), .index = 0, .arena = ArenaId(0), .offset = Bytes(first), .size = Bytes(32)},
          {.op = OpId(0), .index = 1, .arena = ArenaId(0), .offset = Bytes(second), .size = Bytes(32)}};
}

TEST(Shadow, WorkspaceOverlapsAreFound) {
  const Graph graph = with_workspaces();
  const auto found = [&](std::int64_t first, std::int64_t second) {
    return findings(graph, plan_at(graph, {0, 32}, workspaces_at(first, second)));
  };
  EXPECT_THAT(found(64, 96), IsEmpty());
  EXPECT_THAT(found(64, 63), Contains(HasSubstr("workspace 0 of op 'f' (0) changed at byte 0")));
  EXPECT_THAT(found(96, 33), Contains(HasSubstr("workspace 1 of op 'f' (0) changed at byte 0")));
  EXPECT_THAT(found(31, 96), Contains(HasSubstr("tensor 'x' (0), read by op 'f' (0): byte 31")));
}

TEST(Shadow, WorkspaceWithoutPlaceIsFound) {
  const Graph graph = with_workspaces();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 32})), Contains("workspace 0 of op 'f' (0) has no place"));
}

// ----------------------------------------------------------------------------------------------- what the caller sees

TEST(Shadow, OutputOverwrittenBeforeTheEndIsFound) {
  const Graph graph = built(
      {tensor("x", 16, TensorFlag::input), tensor("y", 16, TensorFlag::output), tensor("z", 16, TensorFlag::output)},
      {op("f", {0}, {1}), op("g", {0}, {2})});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 32})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 16})),
              Contains(HasSubstr("tensor 'y' (1), after the last op, as an output")));
}

TEST(Shadow, InputsOverlapIsFoundBeforeTheFirstOp) {
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("y", 16, TensorFlag::input)}, {});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 8})),
              Contains(HasSubstr("tensor 'x' (0), before the first op: byte 8")));
}

TEST(Shadow, OverwrittenInputIsFoundOnlyWhenKept) {
  const Graph graph = diamond();
  const Plan plan = plan_at(graph, {0, 16, 0, 32});
  EXPECT_THAT(findings(graph, plan, {.keep_inputs = true}),
              Contains(HasSubstr("tensor 'x' (0), after the last op, as a kept input")));
}

TEST(Shadow, OverwrittenVariableIsFound) {
  const Graph graph =
      built({tensor("v", 16, TensorFlag::variable), tensor("y", 16, TensorFlag::output)}, {op("f", {}, {1})});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 8})), Contains(HasSubstr("tensor 'v' (0), after the last op")));
}

TEST(Shadow, ReuseOfWhatMayNotBeReusedIsFound) {
  const Graph graph = built(
      {tensor("x", 16, TensorFlag::input), tensor("a", 16, TensorFlag::no_reuse), tensor("y", 16, TensorFlag::output)},
      {op("f", {0}, {1}), op("g", {0}, {2})});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 32})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 16})),
              Contains(HasSubstr("tensor 'a' (1), after the last op, as one")));
}

TEST(Shadow, ConstantsAndExternalsNeedNoPlace) {
  const Graph graph = built({tensor("w", std::int64_t{1} << 50, TensorFlag::constant),
                             tensor("e", 16, TensorFlag::external), tensor("y", 16, TensorFlag::output)},
                            {op("f", {0, 1}, {2})});
  EXPECT_THAT(findings(graph, plan_at(graph, {-1, -1, 0})), IsEmpty());
}

// -------------------------------------------------------------------------------------------------- views and aliases

/// x is written as two halves through views, then read as a whole.
Graph halves() {
  return built({tensor("x", 32), view("low", 16, 0, 0), view("high", 16, 0, 16), tensor("y", 16, TensorFlag::output)},
               {op("f", {}, {1}), op("g", {}, {2}), op("h", {0}, {3})});
}

TEST(Shadow, WritingThroughViewsPasses) {
  const Graph graph = halves();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 16, 32})), IsEmpty());
}

TEST(Shadow, MisplacedViewIsFound) {
  const Graph graph = halves();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 0, 17, 40})),
              Contains(HasSubstr("tensor 'x' (0), read by op 'h' (2): byte 16")));
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 64, 16, 32})),
              Contains(HasSubstr("tensor 'x' (0), read by op 'h' (2): byte 0")));
}

TEST(Shadow, BytesThatNobodyWroteAreNotCompared) {
  const Graph graph = built({tensor("t", 16), tensor("x", 48), view("low", 16, 1, 0), view("high", 16, 1, 32),
                             tensor("y", 48, TensorFlag::output)},
                            {op("f", {}, {2}), op("g", {}, {0}), op("h", {0}, {3}), op("i", {1}, {4})});
  // t lies in the part of x that is never written.
  EXPECT_THAT(findings(graph, plan_at(graph, {16, 0, 0, 32, 48})), IsEmpty());
}

TEST(Shadow, MandatoryAliasOutsideItsInputIsFound) {
  Op f = op("f", {0}, {1});
  f.aliases = {{0, 0, Bytes(8)}};
  const Graph graph = built({tensor("x", 32, TensorFlag::input), tensor("a", 16), tensor("y", 32, TensorFlag::output)},
                            {f, op("g", {0, 1}, {2})});
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 8, 32})), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 64, 32})), Not(IsEmpty()));
}

TEST(Shadow, NoTaskOpsTouchNothing) {
  Op reshape = op("reshape", {1}, {2});
  reshape.no_task = true;
  const Graph graph = built(
      {tensor("x", 16, TensorFlag::input), tensor("a", 16), view("b", 16, 1, 0), tensor("y", 16, TensorFlag::output)},
      {op("f", {0}, {1}), reshape, op("g", {2}, {3})});
  const ShadowReport report = shadow_execute(graph, plan_at(graph, {0, 16, 16, 0}));
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.ops, 2u);
}

// -------------------------------------------------------------------------------------------------------- granularity

TEST(Shadow, CoarseMemoryStillFindsOverlaps) {
  GraphDescription description = diamond().description();
  for (Tensor& each : description.tensors) each.size = Bytes(1000);
  const Graph graph = built(description.tensors, description.ops, {{.name = "cpu", .alignment = Bytes(32)}});
  const ShadowOptions options{.granularity = Bytes(32)};
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 1024, 0, 2048}), options), IsEmpty());
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 1024, 2016, 3072}), options), Contains(HasSubstr("byte 992")));
}

TEST(Shadow, GranularityAboveAnAlignmentIsRefused) {
  const Graph graph = diamond();
  EXPECT_THAT(findings(graph, plan_at(graph, {0, 16, 0, 32}), {.granularity = Bytes(32)}),
              Contains("tensor 'x' (0) is aligned too finely to shadow"));
}

// ------------------------------------------------------------------------------------------------------------ streams

/// Two streams that share an input: x → a → y on one, x → b → z on the other, with workspaces where asked.
struct Streams {
  bool ordered = false;
  bool workspaces = false;
};
Graph two_streams(Streams with) {
  std::vector<Op> ops = {op("a", {0}, {1}), op("y", {1}, {2}), op("b", {0}, {3}), op("z", {3}, {4})};
  ops[2].stream = StreamId(1);
  ops[3].stream = StreamId(1);
  if (with.ordered) ops[2].after = {OpId(1)};
  if (with.workspaces) {
    for (Op& each : ops) each.workspaces = {{.size = Bytes(8)}};
  }
  return built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("y", 16, TensorFlag::output),
                tensor("b", 16), tensor("z", 16, TensorFlag::output)},
               ops);
}

TEST(Shadow, StreamRaceIsFoundInSomeOrders) {
  const Plan shares_a_and_b = plan_at(two_streams({}), {0, 16, 32, 16, 48});
  const Graph racing = two_streams({});
  EXPECT_THAT(findings(racing, shares_a_and_b), IsEmpty()) << "the linear order shows nothing";
  const std::size_t failures = orders_that_fail(racing, shares_a_and_b);
  EXPECT_GT(failures, 0u);
  EXPECT_LT(failures, 64u);
  EXPECT_EQ(orders_that_fail(two_streams({.ordered = true}), shares_a_and_b), 0u);
}

TEST(Shadow, WorkspacesOfOpsThatOverlapInTimeMustBeApart) {
  const auto with_places = [](const Graph& graph, std::int64_t b_workspace) {
    std::vector<WorkspacePlacement> places;
    for (const std::int64_t offset : {std::int64_t{80}, std::int64_t{88}, b_workspace, std::int64_t{104}}) {
      places.push_back({.op = OpId(places.size()), .arena = ArenaId(0), .offset = Bytes(offset), .size = Bytes(8)});
    }
    return plan_at(graph, {0, 16, 32, 48, 64}, places);
  };
  const Graph racing = two_streams({.workspaces = true});
  const Graph ordered = two_streams({.ordered = true, .workspaces = true});
  EXPECT_EQ(orders_that_fail(racing, with_places(racing, 96)), 0u);
  EXPECT_GT(orders_that_fail(racing, with_places(racing, 80)), 0u);
  EXPECT_EQ(orders_that_fail(ordered, with_places(ordered, 80)), 0u);
}

TEST(Schedule, RandomOrdersKeepWhatTheGraphOrders) {
  // b on stream 1 reads a through a view that a no_task op made; c waits for b through `after`.
  Op shape = op("shape", {1}, {2});
  shape.no_task = true;
  Op b = op("b", {2}, {3});
  b.stream = StreamId(1);
  Op c = op("c", {0}, {4});
  c.after = {OpId(2)};
  c.stream = StreamId(2);
  const Graph graph = built({tensor("x", 4, TensorFlag::input), tensor("a", 4), view("v", 4, 1, 0), tensor("b", 4),
                             tensor("c", 4, TensorFlag::output)},
                            {op("a", {0}, {1}), shape, b, c});
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    std::vector<std::size_t> order;
    for (const Event& event : random_schedule(graph, seed)) order.push_back(event.op.index());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 0, 2, 2, 3, 3}));
  }
}

TEST(Schedule, UnorderedOpsComeInEveryOrderAndOverlap) {
  const Graph graph = two_streams({});
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::vector<std::size_t> order;
    for (const Event& event : random_schedule(graph, seed)) order.push_back(event.op.index());
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 70u) << "8 events, 4 of each stream: 8! / (4! 4!)";
}

}  // namespace
}  // namespace stowage::testing
