#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shadow/hand_made.hpp"
#include "shadow/schedule.hpp"

/// Every rule of a plan, kept and broken: what is broken must be found, or shadow execution proves nothing.
namespace stowage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Clear clear(std::int64_t offset, std::int64_t size, std::size_t before, std::uint8_t value = 0, BodyPath body = {}) {
  return {ArenaId(0), 0, Bytes(offset), Bytes(size), value, OpId(before), std::move(body)};
}

Copy copy(std::size_t tensor, std::int64_t before, std::int64_t offset, std::int64_t size, BodyPath body = {}) {
  return {TensorId(tensor), before, ArenaId(0), 0, Bytes(offset), Bytes(size), "by hand", std::move(body)};
}

// ----------------------------------------------------------------------------------------------------------------- fills

/// x → t; then sum += t, where sum must be 7 at first; y = f(sum). 16 bytes each.
Graph accumulator() {
  Op sum = op("sum", {1}, {2});
  sum.zero_fill = {.outputs = {0}, .value = 7};
  return built({tensor("x", 16, TensorFlag::input), tensor("t", 16), tensor("sum", 16), tensor("y", 16, TensorFlag::output)},
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
  EXPECT_THAT(accumulate({0, 16, 0, 48}, {clear(0, 16, 0, 7)}), Contains(HasSubstr("tensor 'x' (0), before the first op")));
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
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(16), Bytes(8)}, {OpId(0), 1, ArenaId(0), 0, Bytes(24), Bytes(8)}};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("workspace 1 of op 'f' (0) is not filled")));
  plan.clears = {clear(24, 8, 0)};
  EXPECT_THAT(findings(graph, plan, {.runs = 3}), IsEmpty());
}

// ---------------------------------------------------------------------------------------------------------------- groups

/// Two producers whose results the group op reads next to each other, in a memory of alignment 8. Sizes 12 and 16.
Graph padded_inputs() {
  Op reduce = op("reduce", {1, 2}, {3});
  reduce.contiguous_inputs = Contiguity::padded;
  return built({tensor("x", 8, TensorFlag::input), tensor("a", 12), tensor("b", 16), tensor("y", 8, TensorFlag::output)},
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
  const Graph graph = built({tensor("c", 8, TensorFlag::constant), tensor("x", 8, TensorFlag::input), tensor("whole", 16),
                             tensor("y", 8, TensorFlag::output)},
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
  EXPECT_THAT(findings(graph, plan_of(graph, 64, {0, 8, 8, 13, 16, 32})), Contains(HasSubstr("tensor 'whole' (1), read by")))
      << "whole is still needed when y is written";
}

TEST(ShadowGroup, OutputOfASplitMayBeCopiedOut) {
  const Graph graph = split();
  Plan plan = plan_of(graph, 64, {0, 8, 8, 40, 24, 32});
  EXPECT_THAT(findings(graph, plan), Not(IsEmpty()));
  plan.copies = {copy(3, 1, 40, 7)};
  EXPECT_THAT(findings(graph, plan), IsEmpty());
}

// ------------------------------------------------------------------------------------------------- callers' buffers, bases

/// x → a → b → y. 16 bytes each; x and y are the caller's, and y may host others.
Graph callers() {
  return built({tensor("x", 16, {TensorFlag::input, TensorFlag::zero_copy}), tensor("a", 16), tensor("b", 16),
                tensor("y", 16, {TensorFlag::output, TensorFlag::zero_copy, TensorFlag::reusable})},
               {op("f", {0}, {1}), op("g", {1}, {2}), op("h", {2}, {3})});
}

/// a in y's buffer, b in an arena of ours.
Plan plan_in_buffers(const Graph& graph) {
  Plan plan = plan_of(graph, 16, {-1, -1, 0});
  plan.arenas.push_back(arena(ArenaKind::user, 16));
  plan.arenas.back().tensor = TensorId(3);
  place(plan, graph, {-1, 0}, 1);
  plan.bindings = {{TensorId(0), Bytes(16), Bytes(4)}, {TensorId(3), Bytes(16), Bytes(4)}};
  return plan;
}

TEST(ShadowBinding, CallersBuffersHostOthersOutsideTheirUse) {
  const Graph graph = callers();
  Plan plan = plan_in_buffers(graph);
  EXPECT_THAT(findings(graph, plan, {.runs = 3}), IsEmpty());
  plan.placements.clear();
  place(plan, graph, {-1, -1, 0}, 1);
  place(plan, graph, {-1, 0});
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'b' (2), read by op 'h' (2)"))) << "b is read while y is written";
}

TEST(ShadowBinding, HostingBeforeTheLastReadIsFound) {
  const Graph graph = callers();
  Plan plan = plan_in_buffers(graph);
  plan.arenas[1].tensor = TensorId(0);
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'x' (0), read by op 'f' (0)")));
}

TEST(ShadowBinding, BufferIsAlignedToNoMoreThanThePlanAsks) {
  GraphDescription description = callers().description();
  description.tensors[1].alignment = Bytes(8);
  const Graph graph = built(description);
  Plan plan = plan_in_buffers(graph);
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("output 0 of op 'f' (0) is not aligned")));
  plan.bindings[1].alignment = Bytes(8);
  EXPECT_THAT(findings(graph, plan, {.runs = 3}), IsEmpty());
}

TEST(ShadowBinding, WrongBindingsAreFound) {
  const Graph graph = callers();
  Plan plan = plan_in_buffers(graph);
  plan.bindings[0].size = Bytes(15);
  EXPECT_THAT(findings(graph, plan), Contains("tensor 'x' (0) lies outside its region"));
  plan = plan_in_buffers(graph);
  place(plan, graph, {0});
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'x' (0) has a place, though")));
  plan = plan_in_buffers(graph);
  plan.bindings.pop_back();
  EXPECT_THAT(findings(graph, plan), Contains("arena 'user' is no caller's buffer"));
  plan = plan_in_buffers(graph);
  plan.bindings.erase(plan.bindings.begin());
  EXPECT_THAT(findings(graph, plan), Contains("tensor 'x' (0) has no place"));
}

/// x → v (a variable) on a fixed-address op with a workspace, then v → y.
Graph with_fixed_address() {
  Op f = op("f", {0}, {1});
  f.fixed_address = true;
  f.workspaces = {{.size = Bytes(16)}};
  return built({tensor("x", 16, TensorFlag::input), tensor("t", 16), tensor("y", 16, TensorFlag::output)},
               {f, op("g", {1}, {2})});
}

TEST(ShadowBase, FixedAddressesMayNotMoveWithTheBase) {
  const Graph graph = with_fixed_address();
  Plan plan = plan_of(graph, 64, {0, 16, 32});
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(48), Bytes(16)}};
  const ShadowOptions moving{.runs = 3, .base = AddressBase::refreshable};
  EXPECT_THAT(findings(graph, plan, {.runs = 3}), IsEmpty());
  EXPECT_THAT(findings(graph, plan, {.runs = 1, .base = AddressBase::refreshable}), IsEmpty());
  const std::vector<std::string> moved = findings(graph, plan, moving);
  EXPECT_THAT(moved, Contains(HasSubstr("input 0 of op 'f' (0), which needs a fixed address, has moved")));
  EXPECT_THAT(moved, Contains(HasSubstr("output 0 of op 'f' (0), which needs a fixed address, has moved")));
  EXPECT_THAT(moved, Contains(HasSubstr("workspace 0 of op 'f' (0), which needs a fixed address, has moved")));
  plan.arenas.push_back(arena(ArenaKind::fixed, 64));
  for (const std::size_t i : {0U, 1U}) plan.placements[i].arena = ArenaId(1);
  plan.workspaces[0].arena = ArenaId(1);
  EXPECT_THAT(findings(graph, plan, moving), IsEmpty()) << "y may move";
}

TEST(ShadowBase, FixedAddressInACallersBufferIsFound) {
  GraphDescription description = with_fixed_address().description();
  description.ops[0].workspaces.clear();
  const Graph graph = built(description);
  Plan plan = plan_of(graph, 64, {-1, 16, 32});
  plan.bindings = {{TensorId(0), Bytes(16), Bytes(1)}};
  EXPECT_THAT(findings(graph, plan, {.runs = 4}), Contains(HasSubstr("input 0 of op 'f' (0), which needs a fixed address")));
}

/// v is read into y and then written anew from x.
Graph with_variable() {
  return built({tensor("x", 16, TensorFlag::input), tensor("v", 16, TensorFlag::variable), tensor("y", 16, TensorFlag::output),
                tensor("t", 16)},
               {op("f", {1}, {2}), op("g", {0}, {1}), op("h", {0}, {3})});
}

TEST(ShadowRuns, VariablesKeepTheirValueFromRunToRun) {
  const Graph graph = with_variable();
  Plan plan = plan_of(graph, 64, {0, -1, 16, 32});
  plan.arenas.push_back(arena(ArenaKind::persistent, 16));
  place(plan, graph, {-1, 0}, 1);
  EXPECT_THAT(findings(graph, plan, {.runs = 4, .base = AddressBase::refreshable}), IsEmpty());
  plan.placements.back().arena = ArenaId(0);
  plan.placements.back().offset = Bytes(48);
  EXPECT_THAT(findings(graph, plan, {.runs = 2}), IsEmpty()) << "nothing else is there";
  EXPECT_THAT(findings(graph, plan, {.runs = 2, .base = AddressBase::refreshable}),
              Contains(HasSubstr("run 2, event 0: tensor 'v' (1), read by op 'f' (0)")));
}

TEST(ShadowRuns, WorkspacesOfTheSessionKeepTheirContent) {
  Op f = op("f", {0}, {1});
  f.workspaces = {{.size = Bytes(16), .scope = WorkspaceScope::session}};
  const Graph graph =
      built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("y", 16, TensorFlag::output)}, {f, op("g", {1}, {2})});
  Plan plan = plan_of(graph, 64, {0, 16, 32});
  plan.arenas.push_back(arena(ArenaKind::session, 16));
  plan.workspaces = {{OpId(0), 0, ArenaId(1), 0, Bytes(0), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan, {.runs = 3, .base = AddressBase::refreshable}), IsEmpty());
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(48), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan, {.runs = 2, .base = AddressBase::refreshable}),
              Contains(HasSubstr("session workspace 0 of op 'f' (0) changed")));
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(32), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("session workspace 0 of op 'f' (0) changed"))) << "y lies there later";
}

// --------------------------------------------------------------------------------------------------------------- batches

/// x → a in batch A, x → b in batch B, t of everybody, then y = merge(a, b, t).
Graph batches() {
  std::vector<Op> ops = {op("t", {0}, {3}), op("a", {0}, {1}), op("b", {0}, {2}), op("merge", {1, 2, 3}, {4})};
  ops[1].batch = "A";
  ops[2].batch = "B";
  return built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("b", 16), tensor("t", 16),
                tensor("y", 16, TensorFlag::output)},
               ops);
}

TEST(ShadowBatch, BatchesLieOverEachOther) {
  const Graph graph = batches();
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_THAT(findings(graph, plan_of(graph, 64, {0, 16, 16, 32, 48}), {.seed = seed, .runs = 4}), IsEmpty());
}

TEST(ShadowBatch, LabelledOverUnlabelledIsFoundInTheRunsOfThatLabel) {
  const Graph graph = batches();
  const Plan plan = plan_of(graph, 64, {0, 32, 16, 32, 48});
  EXPECT_THAT(findings(graph, plan, {.runs = 16}), Contains(HasSubstr("tensor 't' (3), read by op 'merge' (3)")));
  std::set<bool> fails;
  for (std::uint64_t seed = 0; seed < 16; ++seed) fails.insert(findings(graph, plan, {.seed = seed}).empty());
  EXPECT_EQ(fails, (std::set<bool>{false, true}));
}

TEST(ShadowBatch, OpsThatDoNotRunOrderNothing) {
  // first (stream 0) → hop (stream 1, batch A) → last (stream 2); `other` gives the graph a second label.
  std::vector<Op> ops = {op("first", {}, {0}), op("hop", {}, {1}), op("last", {}, {2}), op("other", {}, {3})};
  for (std::size_t i = 0; i < 3; ++i) ops[i].stream = StreamId(i);
  ops[1].batch = "A";
  ops[3].batch = "B";
  ops[1].after = {OpId(0)};
  ops[2].after = {OpId(1)};
  const Graph graph = built({tensor("p", 1), tensor("q", 1), tensor("r", 1), tensor("s", 1)}, ops);
  const auto last_came_first = [&](const std::string& batch) {
    bool result = false;
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      const std::vector<Event> events = random_schedule(graph, RunChoice{.seed = seed, .batch = batch});
      result = result || events.front().op == OpId(2);
    }
    return result;
  };
  EXPECT_FALSE(last_came_first("A"));
  EXPECT_TRUE(last_came_first("B"));
}

// ----------------------------------------------------------------------------------------------------------------- rings

TEST(ShadowRing, SlotNeedsAnEdgeFromTheReaderBefore) {
  // Stream 1 prefetches p and q into one slot, stream 0 reads them.
  std::vector<Op> ops = {op("p", {}, {0}), op("use p", {0}, {2}), op("q", {}, {1}), op("use q", {1}, {3})};
  for (const std::size_t i : {0U, 2U}) {
    ops[i].stream = StreamId(1);
    ops[i].prefetch = PoolId(0);
  }
  const Graph graph = built(GraphDescription{
      "ring",
      {{.name = "cpu"}},
      {tensor("p", 16), tensor("q", 16), tensor("y", 16, TensorFlag::output), tensor("z", 16, TensorFlag::output)},
      ops,
      {{.name = "ring", .size = Bytes(16)}}});
  Plan plan = plan_of(graph, 32, {-1, -1, 0, 16});
  plan.arenas.push_back(arena(ArenaKind::pool, 16));
  place(plan, graph, {0, 0}, 1);
  EXPECT_GT(orders_that_fail(graph, plan), 0u);
  plan.edges = {{OpId(1), OpId(2)}};
  EXPECT_EQ(orders_that_fail(graph, plan, {.runs = 2}), 0u);
  plan.edges = {{OpId(1), OpId(9)}};
  EXPECT_THAT(findings(graph, plan), Contains("an edge names an op that does not exist"));
}

// -------------------------------------------------------------------------------------------------------------- branches

/// y = branch(x, k): body 0 makes t and from it the result; body 1 passes k on. z = f(k, y). 16 bytes each.
///   root: 0 x, 1 k, 2 y, 3 z     body 0: 0 in, 1 t, 2 result     body 1: 0 in
Graph branch() {
  Op choose = op("choose", {0, 1}, {2});
  choose.control = Control::branch;
  choose.bodies = {{{tensor("in", 16), tensor("t", 16), tensor("result", 16)},
                    {op("f", {0}, {1}), op("g", {1}, {2})},
                    {{TensorId(0), TensorId(0)}},
                    {{TensorId(2), TensorId(2)}},
                    {}},
                   {{tensor("in", 16)}, {}, {{TensorId(1), TensorId(0)}}, {{TensorId(0), TensorId(2)}}, {}}};
  return built({tensor("x", 16, TensorFlag::input), tensor("k", 16, TensorFlag::input), tensor("y", 16),
                tensor("z", 16, TensorFlag::output)},
               {choose, op("h", {1, 2}, {3})});
}

Plan plan_of_branch(const Graph& graph, std::vector<std::int64_t> first_body, std::vector<Copy> copies) {
  Plan plan = plan_of(graph, 80, {0, 16, 32, 64});
  place(plan, graph, std::move(first_body), 0, {0, 0});
  place(plan, graph, {16}, 0, {0, 1});
  plan.copies = std::move(copies);
  return plan;
}

TEST(ShadowBranch, BodiesGiveTheirResultInPlaceOrByCopy) {
  const Graph graph = branch();
  EXPECT_EQ(orders_that_fail(graph, plan_of_branch(graph, {0, 48, 32}, {copy(0, 0, 32, 16, {0, 1})}), {.runs = 3}), 0u);
  EXPECT_EQ(orders_that_fail(graph, plan_of_branch(graph, {0, 32, 48}, {copy(2, 2, 32, 16, {0, 0}), copy(0, 0, 32, 16, {0, 1})}),
                             {.runs = 3}),
            0u);
  EXPECT_EQ(orders_that_fail(graph, plan_of_branch(graph, {0, 48, 0}, {copy(2, 2, 32, 16, {0, 0}), copy(0, 0, 32, 16, {0, 1})})),
            0u)
      << "x is dead by then";
}

TEST(ShadowBranch, MissingCopyIsFoundWhenThatBodyRuns) {
  const Graph graph = branch();
  const std::size_t failures = orders_that_fail(graph, plan_of_branch(graph, {0, 48, 32}, {}));
  EXPECT_GT(failures, 10u);
  EXPECT_LT(failures, 54u);
}

TEST(ShadowBranch, BodyOverWhatIsNeededOutsideIsFound) {
  const Graph graph = branch();
  const Plan plan = plan_of_branch(graph, {0, 16, 32}, {copy(0, 0, 32, 16, {0, 1})});
  EXPECT_THAT(findings(graph, plan, {.runs = 8}), Contains(HasSubstr("tensor 'k' (1), read by op 'h' (1)")));
}

TEST(ShadowBranch, InnerInputElsewhereThanTheOuterOneIsFound) {
  const Graph graph = branch();
  const Plan plan = plan_of_branch(graph, {48, 64, 32}, {copy(0, 0, 32, 16, {0, 1})});
  EXPECT_THAT(findings(graph, plan, {.runs = 8}), Contains(HasSubstr("tensor 'in' (4), read by op 'f' (2)")));
}

TEST(ShadowBranch, StreamsDoNotOrderWhatIsInsideAndOutside) {
  // The op outside is on the stream of the body's, but only the branch itself is behind it.
  Op call = op("call", {0}, {1});
  call.control = Control::call;
  call.bodies = {{{tensor("in", 16), tensor("out", 16)},
                  {op("f", {0}, {1})},
                  {{TensorId(0), TensorId(0)}},
                  {{TensorId(1), TensorId(1)}},
                  {}}};
  Op outside = op("outside", {0}, {2});
  call.stream = StreamId(1);
  const auto graph_of = [&](bool ordered) {
    Op last = outside;
    if (ordered) last.after = {OpId(0)};
    return built({tensor("x", 16, TensorFlag::input), tensor("y", 16), tensor("z", 16)}, {call, last});
  };
  const auto failures = [&](const Graph& graph) {
    Plan plan = plan_of(graph, 32, {0, 16, 16});
    place(plan, graph, {0, 16}, 0, {0, 0});
    return orders_that_fail(graph, plan);
  };
  EXPECT_GT(failures(graph_of(false)), 0u);
  EXPECT_EQ(failures(graph_of(true)), 0u);
}

// ----------------------------------------------------------------------------------------------------------------- loops

/// y = loop(x): in → t → out, carried; `late` (optional) reads `in` once more, and so does op h behind the loop with x.
///   root: 0 x, 1 y, 2 z, 3 w     body: 0 in, 1 t, 2 out, 3 late, 4 from outside
struct LoopOptions {
  bool late_read = false;
  bool x_needed = false;
};
Graph loop(LoopOptions with) {
  std::vector<Op> inside = {op("f", {0, 4}, {1}), op("g", {1}, {2})};
  if (with.late_read) inside.push_back(op("late", {0}, {3}));
  Op repeat = op("repeat", {0, 3}, {1});
  repeat.control = Control::loop;
  repeat.bodies = {{{tensor("in", 16), tensor("t", 16), tensor("out", 16), tensor("late", 16), tensor("w", 16)},
                    inside,
                    {{TensorId(0), TensorId(0)}, {TensorId(3), TensorId(4)}},
                    {{TensorId(2), TensorId(1)}},
                    {{TensorId(2), TensorId(0)}}}};
  Op last = with.x_needed ? op("h", {0, 1}, {2}) : op("h", {1}, {2});
  return built({tensor("x", 16, TensorFlag::input), tensor("y", 16), tensor("z", 16, TensorFlag::output),
                tensor("w", 16, TensorFlag::input)},
               {repeat, last});
}

Plan plan_of_loop(const Graph& graph, std::vector<std::int64_t> root, std::vector<std::int64_t> body, std::vector<Copy> copies) {
  Plan plan = plan_of(graph, 128, std::move(root));
  place(plan, graph, std::move(body), 0, {0, 0});
  plan.copies = std::move(copies);
  return plan;
}

TEST(ShadowLoop, CarriedValueInOnePlacePassesWhereItIsDeadBefore) {
  const Graph graph = loop({});
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {}), {.runs = 3}), 0u);
  const Graph late = loop({.late_read = true});
  EXPECT_GT(orders_that_fail(late, plan_of_loop(late, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {})), 20u);
}

TEST(ShadowLoop, BackEdgeCopyPasses) {
  const Graph graph = loop({.late_read = true});
  const std::vector<Copy> back = {copy(2, Copy::kBackEdge, 0, 16, {0, 0})};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 80, 32, 64}, back), {.runs = 3}), 0u);
  EXPECT_GT(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 80, 32, 64}, {})), 20u);
}

TEST(ShadowLoop, IncomingValueThatIsNeededLaterMustBeCopied) {
  const Graph graph = loop({.x_needed = true});
  const std::vector<Copy> before = {copy(0, 0, 96, 16)};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 96, 48, 64}, {96, 16, 96, 32, 64}, before), {.runs = 3}), 0u);
  EXPECT_GT(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {})), 20u);
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 96, 48, 64}, {96, 16, 96, 32, 64}, {})), 64u);
}

TEST(ShadowLoop, ResultOfZeroTripsIsTheIncomingValue) {
  const Graph graph = loop({});
  // y where `out` is, with a copy back to `in`: right after one trip, wrong after none.
  const std::vector<Copy> back = {copy(2, Copy::kBackEdge, 0, 16, {0, 0})};
  const std::size_t failures = orders_that_fail(graph, plan_of_loop(graph, {0, 80, 48, 64}, {0, 16, 80, 32, 64}, back));
  EXPECT_GT(failures, 5u);
  EXPECT_LT(failures, 40u);
}

TEST(ShadowLoop, WhatTheBodyReadsFromOutsideLivesThroughAllIterations) {
  const Graph graph = loop({});
  const std::vector<Copy> back = {copy(2, Copy::kBackEdge, 0, 16, {0, 0})};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 80, 96, 32, 64}, back)), 0u);
  // `out` over w, which nobody reads any more in this iteration.
  const std::size_t failures = orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 80, 64, 32, 64}, back));
  EXPECT_GT(failures, 10u) << "the next iteration does";
  EXPECT_LT(failures, 64u) << "zero or one trip";
}

TEST(ShadowLoop, FilledInALoopMustBeClearedInEachIteration) {
  GraphDescription description = loop({}).description();
  description.ops[0].bodies[0].ops[0].zero_fill = {.outputs = {0}, .value = 9};
  const Graph graph = built(description);
  Plan plan = plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {});
  plan.clears = {clear(16, 16, 0, 9, {0, 0})};
  EXPECT_EQ(orders_that_fail(graph, plan, {.runs = 2}), 0u);
  plan.clears = {clear(16, 16, 0, 9)};
  const std::size_t failures = orders_that_fail(graph, plan);
  EXPECT_GT(failures, 10u) << "the second iteration finds what the first one left";
  EXPECT_LT(failures, 64u) << "zero or one trip";
}

TEST(Schedule, LoopsMakeZeroOneAndManyTripsAndIterationsFollowEachOther) {
  const Graph graph = loop({});
  std::set<std::size_t> trips;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    std::size_t entered = 0;
    bool inside = false;
    for (const Event& event : random_schedule(graph, seed)) {
      if (event.phase == Event::Phase::enter) ++entered;
      if (event.phase == Event::Phase::enter || event.phase == Event::Phase::leave) {
        EXPECT_EQ(inside, event.phase == Event::Phase::leave);
        inside = !inside;
      } else if (event.op.index() >= 2) {
        EXPECT_TRUE(inside);
      } else {
        EXPECT_FALSE(inside);
      }
    }
    trips.insert(entered);
  }
  EXPECT_EQ(trips, (std::set<std::size_t>{0, 1, 2, 3}));
}

// ---------------------------------------------------------------------------------------------------------------- nesting

TEST(ShadowNested, LoopInABranchIsRunWithItsOwnCopies) {
  Op repeat = op("repeat", {0}, {1});
  repeat.control = Control::loop;
  repeat.bodies = {{{tensor("in", 8), tensor("out", 8), tensor("late", 8)},
                    {op("f", {0}, {1}), op("late", {0}, {2})},
                    {{TensorId(0), TensorId(0)}},
                    {{TensorId(1), TensorId(1)}},
                    {{TensorId(1), TensorId(0)}}}};
  Op choose = op("choose", {0}, {1});
  choose.control = Control::branch;
  choose.bodies = {
      {{tensor("in", 8), tensor("out", 8)}, {repeat}, {{TensorId(0), TensorId(0)}}, {{TensorId(1), TensorId(1)}}, {}}};
  const Graph graph = built({tensor("x", 8, TensorFlag::input), tensor("y", 8, TensorFlag::output)}, {choose});
  Plan plan = plan_of(graph, 48, {0, 8});
  place(plan, graph, {0, 8}, 0, {0, 0});
  place(plan, graph, {8, 24, 32}, 0, {0, 0, 0, 0});
  plan.copies = {copy(0, 0, 8, 8, {0, 0}), copy(1, Copy::kBackEdge, 8, 8, {0, 0, 0, 0})};
  EXPECT_EQ(orders_that_fail(graph, plan, {.keep_inputs = true, .runs = 2}), 0u);
  plan.copies.pop_back();
  EXPECT_GT(orders_that_fail(graph, plan), 20u);
}

TEST(ShadowPlan, EntriesThatNameNothingAreFound) {
  const Graph graph = accumulator();
  Plan plan = plan_of(graph, 64, {0, 16, 32, 48});
  plan.clears = {clear(32, 16, 9, 7)};
  plan.copies = {copy(9, 0, 0, 16), copy(1, 7, 0, 16), copy(1, 1, 0, 15), copy(1, 1, 60, 16)};
  plan.placements.push_back({TensorId(0), ArenaId(0), 0, Bytes(0), Bytes(16), {3, 0}});
  const std::vector<std::string> found = findings(graph, plan);
  EXPECT_THAT(found, Contains("a clear comes before an op that does not exist"));
  EXPECT_THAT(found, Contains("a copy names tensor 9, which does not exist"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) comes before an op that does not exist"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) has another size"));
  EXPECT_THAT(found, Contains("the copy of tensor 't' (1) lies outside its region"));
  EXPECT_THAT(found, Contains("tensor 0, which is placed, does not exist"));
}

}  // namespace
}  // namespace stowage::testing
