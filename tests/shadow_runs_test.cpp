#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/judges/shadow/hand_made.hpp"
#include "support/judges/shadow/schedule.hpp"

/// The rules about what changes from run to run (callers' buffers, bases, kept memory, batches, rings), followed and
/// violated.
namespace stowage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// -------------------------------------------------------------------------------------------- callers' buffers, bases

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
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("tensor 'b' (2), read by op 'h' (2)")))
      << "b is read while y is written";
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
  EXPECT_THAT(findings(graph, plan, {.runs = 4}),
              Contains(HasSubstr("input 0 of op 'f' (0), which needs a fixed address")));
}

/// v is read into y and then written anew from x.
Graph with_variable() {
  return built({tensor("x", 16, TensorFlag::input), tensor("v", 16, TensorFlag::variable),
                tensor("y", 16, TensorFlag::output), tensor("t", 16)},
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
  const Graph graph = built({tensor("x", 16, TensorFlag::input), tensor("a", 16), tensor("y", 16, TensorFlag::output)},
                            {f, op("g", {1}, {2})});
  Plan plan = plan_of(graph, 64, {0, 16, 32});
  plan.arenas.push_back(arena(ArenaKind::session, 16));
  plan.workspaces = {{OpId(0), 0, ArenaId(1), 0, Bytes(0), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan, {.runs = 3, .base = AddressBase::refreshable}), IsEmpty());
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(48), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan, {.runs = 2, .base = AddressBase::refreshable}),
              Contains(HasSubstr("session workspace 0 of op 'f' (0) changed")));
  plan.workspaces = {{OpId(0), 0, ArenaId(0), 0, Bytes(32), Bytes(16)}};
  EXPECT_THAT(findings(graph, plan), Contains(HasSubstr("session workspace 0 of op 'f' (0) changed")))
      << "y lies there later";
}

// ------------------------------------------------------------------------------------------------------------ batches

/// x → a in batch A, x → b in batch B, t in every batch, then y = merge(a, b, t).
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

// -------------------------------------------------------------------------------------------------------------- rings

TEST(ShadowRing, SlotNeedsAnEdgeFromTheReaderBefore) {
  // Stream 1 prefetches p and q into the same bytes of a ring, stream 0 reads them.
  std::vector<Op> ops = {op("p", {}, {0}), op("use p", {0}, {2}), op("q", {}, {1}), op("use q", {1}, {3})};
  for (const std::size_t i : {0U, 2U}) {
    ops[i].stream = StreamId(1);
    ops[i].prefetch = RingId(0);
  }
  const Graph graph = built(GraphDescription{
      "ring",
      {{.name = "cpu"}},
      {tensor("p", 16), tensor("q", 16), tensor("y", 16, TensorFlag::output), tensor("z", 16, TensorFlag::output)},
      ops,
      {{.name = "ring", .size = Bytes(16)}}});
  Plan plan = plan_of(graph, 32, {-1, -1, 0, 16});
  plan.arenas.push_back(arena(ArenaKind::ring, 16));
  place(plan, graph, {0, 0}, 1);
  EXPECT_GT(orders_that_fail(graph, plan), 0u);
  plan.edges = {{OpId(1), OpId(2)}};
  EXPECT_EQ(orders_that_fail(graph, plan, {.runs = 2}), 0u);
  plan.edges = {{OpId(1), OpId(9)}};
  EXPECT_THAT(findings(graph, plan), Contains("an edge names an op that does not exist"));
}

}  // namespace
}  // namespace stowage::testing
