#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liveness/interface/happens_before.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/judges/shadow/shadow.hpp"

/// The cases about streams of GE's sixteen (ge_cases_test.cpp has the others, including 2 and 6): which stream waits
/// for which, and what may therefore share bytes.
namespace stowage {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// An op on a stream, with a new tensor as result: name, bytes, inputs, ops that it waits for.
class Streams {
 public:
  struct Made {
    TensorId tensor;
    Step step;
  };

  Made op(std::size_t stream, const std::string& name, std::vector<Made> inputs = {}, std::vector<Made> after = {}) {
    return add({.name = name, .kind = "X", .stream = StreamId(stream)}, inputs, after);
  }
  /// A data node: it passes its input on and does nothing.
  Made data(std::size_t stream, const std::string& name, Made input, std::vector<Made> after = {}) {
    const TensorId tensor =
        builder_.add(Tensor{.name = name, .size = Bytes(512), .view_of = ViewOf{input.tensor, Bytes(0)}});
    Op op{.name = name,
          .kind = "DATA",
          .inputs = {input.tensor},
          .outputs = {tensor},
          .no_task = true,
          .stream = StreamId(stream)};
    for (const Made& each : after) op.after.push_back(OpId(static_cast<std::size_t>(each.step.value())));
    return {tensor, Step(static_cast<std::int64_t>(builder_.add(std::move(op)).index()))};
  }
  Graph build() {
    Result<Graph> graph = builder_.build();
    EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
    return std::move(graph).value();
  }

 private:
  Made add(Op op, const std::vector<Made>& inputs, const std::vector<Made>& after) {
    for (const Made& each : inputs) op.inputs.push_back(each.tensor);
    for (const Made& each : after) op.after.push_back(OpId(static_cast<std::size_t>(each.step.value())));
    const TensorId tensor = builder_.add(Tensor{.name = op.name, .size = Bytes(512)});
    op.outputs = {tensor};
    return {tensor, Step(static_cast<std::int64_t>(builder_.add(std::move(op)).index()))};
  }

  GraphBuilder builder_{"streams"};
};

using Made = Streams::Made;

Plan planned(const Graph& graph) {
  const Planned planned = *plan(graph, {.time_limit = std::nullopt, .node_budget = 100'000});
  EXPECT_EQ(planned.status, SolveStatus::optimal);
  EXPECT_THAT(testing::shadow_execute(graph, *planned.plan, {}).findings, IsEmpty());
  return *planned.plan;
}

/// Findings when `tensor` is moved onto `other`; nothing else is near.
std::vector<std::string> moved_onto(const Graph& graph, Plan plan, Made tensor, Made other) {
  // All other tensors have separate bytes, so that only these two share.
  for (std::size_t i = 0; i < plan.placements.size(); ++i) {
    if (!graph.tensor(plan.placements[i].tensor).view_of)
      plan.placements[i].offset = Bytes(512 * static_cast<std::int64_t>(i));
  }
  const auto place = [&](TensorId id) -> Placement& {
    return *std::find_if(plan.placements.begin(), plan.placements.end(),
                         [&](const Placement& each) { return each.tensor == id; });
  };
  place(tensor.tensor).offset = place(other.tensor).offset;
  for (Placement& each : plan.placements) {
    if (const auto& view = graph.tensor(each.tensor).view_of) each.offset = place(view->tensor).offset;
  }
  for (Arena& arena : plan.arenas) {
    arena.size = arena.regions.front() = Bytes(512 * static_cast<std::int64_t>(plan.placements.size()));
    arena.lower_bound = Bytes(0);
    arena.proven_optimal = false;
  }
  std::vector<std::string> messages;
  for (const Finding& finding : verify(graph, plan)) messages.push_back(finding.message);
  return messages;
}

TEST(GeStreams, Case3OfSeveralEventsTheTightestCounts) {
  Streams s;
  const Made a = s.op(0, "a");
  const Made c = s.op(1, "c", {}, {a});
  const Made e = s.op(2, "e", {}, {c});
  const Made b = s.op(0, "b");
  const Made d = s.op(1, "d", {}, {a, b});  // already ordered after a
  const Made f = s.op(2, "f", {}, {a, d});
  const HappensBefore order(s.build());
  EXPECT_EQ(order.next(a.step, 1), c.step) << "not d, which waits for a too";
  EXPECT_EQ(order.next(a.step, 2), e.step) << "by way of c, not f";
  EXPECT_EQ(order.next(b.step, 1), d.step);
  EXPECT_EQ(order.next(b.step, 2), f.step) << "by way of d";
  EXPECT_EQ(order.next(c.step, 0), kNever) << "nobody tells stream 0 anything";
}

TEST(GeStreams, Case4CrossedEdgesOrderEachItsOwnEnds) {
  Streams s;
  const Made a = s.op(0, "a");
  const Made c = s.op(1, "c");
  const Made b = s.op(0, "b", {c});  // s1 → s0
  const Made d = s.op(1, "d", {a});  // s0 → s1, across it
  const Graph graph = s.build();
  const HappensBefore order(graph);
  EXPECT_TRUE(order.before(c.step, b.step) && order.before(a.step, d.step));
  EXPECT_FALSE(order.before(a.step, c.step) || order.before(c.step, a.step));
  EXPECT_FALSE(order.before(b.step, d.step) || order.before(d.step, b.step));
  // All four may be in use at the same time: a and c until the other stream has read them.
  EXPECT_EQ(planned(graph).peak(), Bytes(4 * 512));
}

TEST(GeStreams, Case5WhatFeedsAMergeMayNotTakeWhatTheOtherSideStillReads) {
  Streams s;
  const Made x = s.op(1, "x");
  const Made y = s.op(1, "y", {x});
  const Made c = s.op(0, "C");
  const Made d = s.op(1, "D", {y});
  const Made merge = s.op(2, "merge", {c, d});
  const Graph graph = s.build();
  const Plan plan = planned(graph);
  // C runs at any time before the merge, D's stream may still read y.
  EXPECT_THAT(moved_onto(graph, plan, c, y), Contains(AllOf(HasSubstr("'C'"), HasSubstr("'y'"))));
  EXPECT_THAT(moved_onto(graph, plan, c, x), Contains(AllOf(HasSubstr("'C'"), HasSubstr("'x'"))));
  // The merge is after everything.
  EXPECT_THAT(moved_onto(graph, plan, merge, y), IsEmpty());
  EXPECT_THAT(moved_onto(graph, plan, merge, x), IsEmpty());
  EXPECT_EQ(plan.peak(), Bytes(3 * 512)) << "C, and two of x, y, D and the merge's";
}

TEST(GeStreams, Case7AHopOverAllStreamsAndBackIsOrder) {
  Streams s;
  const Made a = s.op(0, "a");
  const Made b = s.op(1, "b", {a});
  const Made c = s.op(2, "c", {b});
  const Made d = s.op(0, "d", {c});
  const Graph graph = s.build();
  const Plan plan = planned(graph);
  EXPECT_EQ(plan.peak(), Bytes(2 * 512)) << "as on one stream";
  EXPECT_THAT(moved_onto(graph, plan, d, a), IsEmpty());
  EXPECT_THAT(moved_onto(graph, plan, c, a), IsEmpty());
  EXPECT_THAT(moved_onto(graph, plan, d, b), IsEmpty());
  EXPECT_THAT(moved_onto(graph, plan, d, c), Not(IsEmpty())) << "d reads it";
}

TEST(GeStreams, Case8ADataNodeOrdersNothing) {
  const auto peak = [](bool data) {
    Streams s;
    const Made a = s.op(0, "a");
    const Made b = s.op(0, "b", {a});
    // Between the streams: a node that does nothing, or an op.
    const Made between = data ? s.data(0, "data", b, {b}) : s.op(0, "op", {b});
    s.op(1, "c", {}, {between});
    return planned(s.build()).peak();
  };
  EXPECT_EQ(peak(true), Bytes(3 * 512)) << "c waits for nobody: a, b and c at one time";
  EXPECT_EQ(peak(false), Bytes(2 * 512)) << "c is after all of a, b and the op's";
}

}  // namespace
}  // namespace stowage
