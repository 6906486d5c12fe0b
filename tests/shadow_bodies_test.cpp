#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/judges/shadow/hand_made.hpp"
#include "support/judges/shadow/schedule.hpp"

/// The rules of bodies: plans that follow them and plans that violate them.
namespace stowage::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// ----------------------------------------------------------------------------------------------------------- branches

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
  place(plan, graph, std::move(first_body), 0, 1);
  place(plan, graph, {16}, 0, 2);
  plan.copies = std::move(copies);
  return plan;
}

TEST(ShadowBranch, BodiesGiveTheirResultInPlaceOrByCopy) {
  const Graph graph = branch();
  EXPECT_EQ(orders_that_fail(graph, plan_of_branch(graph, {0, 48, 32}, {copy(7, kBodyEnd, 32, 16)}), {.runs = 3}), 0u);
  EXPECT_EQ(orders_that_fail(graph,
                             plan_of_branch(graph, {0, 32, 48}, {copy(6, kBodyEnd, 32, 16), copy(7, kBodyEnd, 32, 16)}),
                             {.runs = 3}),
            0u);
  EXPECT_EQ(orders_that_fail(graph,
                             plan_of_branch(graph, {0, 48, 0}, {copy(6, kBodyEnd, 32, 16), copy(7, kBodyEnd, 32, 16)})),
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
  const Plan plan = plan_of_branch(graph, {0, 16, 32}, {copy(7, kBodyEnd, 32, 16)});
  EXPECT_THAT(findings(graph, plan, {.runs = 8}), Contains(HasSubstr("tensor 'k' (1), read by op 'h' (1)")));
}

TEST(ShadowBranch, InnerInputElsewhereThanTheOuterOneIsFound) {
  const Graph graph = branch();
  const Plan plan = plan_of_branch(graph, {48, 64, 32}, {copy(7, kBodyEnd, 32, 16)});
  EXPECT_THAT(findings(graph, plan, {.runs = 8}), Contains(HasSubstr("tensor 'in' (4), read by op 'f' (2)")));
}

TEST(ShadowBranch, StreamsDoNotOrderWhatIsInsideAndOutside) {
  // The op outside is on the same stream as the body's ops, but only the branch itself is ordered after it.
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
    place(plan, graph, {0, 16}, 0, 1);
    return orders_that_fail(graph, plan);
  };
  EXPECT_GT(failures(graph_of(false)), 0u);
  EXPECT_EQ(failures(graph_of(true)), 0u);
}

// -------------------------------------------------------------------------------------------------------------- loops

/// y = loop(x): in → t → out, carried; `late` (optional) reads `in` once more, and op h reads x after the loop.
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

Plan plan_of_loop(const Graph& graph, std::vector<std::int64_t> root, std::vector<std::int64_t> body,
                  std::vector<Copy> copies) {
  Plan plan = plan_of(graph, 128, std::move(root));
  place(plan, graph, std::move(body), 0, 1);
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
  const std::vector<Copy> back = {copy(6, kBackEdge, 0, 16)};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 80, 32, 64}, back), {.runs = 3}), 0u);
  EXPECT_GT(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 80, 32, 64}, {})), 20u);
}

TEST(ShadowLoop, IncomingValueThatIsNeededLaterMustBeCopied) {
  const Graph graph = loop({.x_needed = true});
  const std::vector<Copy> before = {copy(0, 0, 96, 16)};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 96, 48, 64}, {96, 16, 96, 32, 64}, before), {.runs = 3}),
            0u);
  EXPECT_GT(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {})), 20u);
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 96, 48, 64}, {96, 16, 96, 32, 64}, {})), 64u);
}

TEST(ShadowLoop, ResultOfZeroTripsIsTheIncomingValue) {
  const Graph graph = loop({});
  // y where `out` is, with a copy back to `in`: right after one trip, wrong after none.
  const std::vector<Copy> back = {copy(6, kBackEdge, 0, 16)};
  const std::size_t failures = orders_that_fail(graph, plan_of_loop(graph, {0, 80, 48, 64}, {0, 16, 80, 32, 64}, back));
  EXPECT_GT(failures, 5u);
  EXPECT_LT(failures, 40u);
}

TEST(ShadowLoop, WhatTheBodyReadsFromOutsideLivesThroughAllIterations) {
  const Graph graph = loop({});
  const std::vector<Copy> back = {copy(6, kBackEdge, 0, 16)};
  EXPECT_EQ(orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 80, 96, 32, 64}, back)), 0u);
  // `out` overwrites w, which is not read again in this iteration.
  const std::size_t failures = orders_that_fail(graph, plan_of_loop(graph, {0, 0, 48, 64}, {0, 80, 64, 32, 64}, back));
  EXPECT_GT(failures, 10u) << "the next iteration does";
  EXPECT_LT(failures, 64u) << "zero or one trip";
}

TEST(ShadowLoop, FilledInALoopMustBeClearedInEachIteration) {
  GraphDescription description = loop({}).description();
  description.ops[0].bodies[0].ops[0].zero_fill = {.outputs = {0}, .value = 9};
  const Graph graph = built(description);
  Plan plan = plan_of_loop(graph, {0, 0, 48, 64}, {0, 16, 0, 32, 64}, {});
  plan.clears = {clear(16, 16, 2, 9)};
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

// ------------------------------------------------------------------------------------------------------------ nesting

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
  place(plan, graph, {0, 8}, 0, 1);
  place(plan, graph, {8, 24, 32}, 0, 2);
  plan.copies = {copy(2, 1, 8, 8), copy(5, kBackEdge, 8, 8)};
  EXPECT_EQ(orders_that_fail(graph, plan, {.keep_inputs = true, .runs = 2}), 0u);
  plan.copies.pop_back();
  EXPECT_GT(orders_that_fail(graph, plan), 20u);
}

}  // namespace
}  // namespace stowage::testing
