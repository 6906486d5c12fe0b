#include "lower/interface/program.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders/program_text.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using testing::Sketch;

std::vector<std::string> lines(const Graph& graph, const Plan& plan = {}) {
  return testing::lines_of(make_program(graph, plan));
}

Placement place(TensorId tensor, std::int64_t offset, std::int64_t size) {
  return {tensor, ArenaId(0), 0, Bytes(offset), Bytes(size)};
}

Clear clear(std::int64_t offset, std::int64_t size, std::size_t before, std::uint8_t value = 0) {
  return {ArenaId(0), 0, Bytes(offset), Bytes(size), value, OpId(before)};
}

Copy copy(TensorId tensor, CopyMoment when, std::int64_t size) {
  return {.tensor = tensor, .when = when, .arena = ArenaId(0), .offset = Bytes(0), .size = Bytes(size), .reason = "r"};
}

TEST(Program, OfOneStreamIsTheOpsWithATask) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  s.op({}, {a});
  s.op(Op{.name = "view", .kind = "X", .inputs = {a}, .no_task = true});
  s.op({a}, {b});
  EXPECT_THAT(lines(s.build()), ElementsAre("s0 op 0", "s0 op 2"));
}

TEST(Program, OneRecordServesSeveralWaits) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.on(0, {}, {a});
  s.on(1, {a}, {});
  s.on(2, {a}, {});
  EXPECT_THAT(lines(s.build()), ElementsAre("s0 op 0", "s0 record 0", "s1 wait 0", "s1 op 1", "s2 wait 0", "s2 op 2"));
}

TEST(Program, WhatAStreamHasWaitedForOnceItDoesNotWaitForAgain) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  s.on(0, {}, {a});
  s.on(0, {}, {b});
  s.on(1, {b}, {});
  s.on(1, {a, b}, {});
  EXPECT_THAT(lines(s.build()), ElementsAre("s0 op 0", "s0 op 1", "s0 record 0", "s1 wait 0", "s1 op 2", "s1 op 3"));
}

TEST(Program, AWaitForTheLaterOpImpliesTheEarlierOnesThatItWaitedFor) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  s.on(0, {}, {a});
  s.on(1, {a}, {b});
  s.on(2, {a, b}, {});  // waits for b only: b's op comes after a's
  EXPECT_THAT(lines(s.build()),
              ElementsAre("s0 op 0", "s0 record 0", "s1 wait 0", "s1 op 1", "s1 record 1", "s2 wait 1", "s2 op 2"));
}

TEST(Program, EdgesOfThePlanAreWaitedForAndThoseThatAreImpliedAreNot) {
  Sketch s;
  s.on(0, {}, {});
  s.on(0, {}, {});
  s.on(1, {}, {});
  const Plan plan{.graph = {},
                  .arenas = {},
                  .placements = {},
                  .workspaces = {},
                  .edges = {{OpId(0), OpId(2)}, {OpId(1), OpId(2)}},
                  .notes = {}};
  EXPECT_THAT(lines(s.build(), plan), ElementsAre("s0 op 0", "s0 op 1", "s0 record 0", "s1 wait 0", "s1 op 2"));
}

TEST(Program, FillsAndCopiesComeAfterTheWaitsOfTheirOp) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.on(0, {}, {a});
  s.on(1, {a}, {});
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.clears = {clear(8, 8, 1)};
  plan.copies = {copy(a, CopyMoment::before(OpId(1)), 8)};
  EXPECT_THAT(lines(s.build(), plan),
              ElementsAre("s0 op 0", "s0 record 0", "s1 wait 0", "s1 fill 0", "s1 copy 0", "s1 op 1"));
}

TEST(Program, FillsAndCopiesOfNoBytesAreNotMade) {
  Sketch s;
  const TensorId a = s.tensor("a", 0, TensorFlag::input);
  s.on(0, {a}, {});
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.clears = {clear(8, 0, 0)};
  plan.copies = {copy(a, CopyMoment::before(OpId(0)), 0)};
  EXPECT_THAT(lines(s.build(), plan), ElementsAre("s0 op 0"));
}

/// Stream 0: f, which fills `filled`. Stream 1: g, which writes `other`, and h, which reads it.
struct Filled {
  Sketch s;
  TensorId filled = s.tensor("filled", 8);
  TensorId other = s.tensor("other", 8);
  Filled() {
    s.on(1, {}, {other});
    s.op(Op{.name = "f", .kind = "X", .outputs = {filled}, .zero_fill = {.outputs = {0}}});
    s.on(1, {other}, {});
  }
  Plan plan(std::int64_t other_at) {
    Plan result{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
    result.placements = {place(filled, 0, 8), place(other, other_at, 8)};
    result.clears = {clear(0, 16, 0)};
    return result;
  }
};

TEST(Program, AFillAtTheStartIsOnTheStreamThatMeetsItFirst) {
  Filled filled;
  EXPECT_THAT(lines(filled.s.build(), filled.plan(16)), ElementsAre("s0 fill 0", "s1 op 0", "s0 op 1", "s1 op 2"));
}

TEST(Program, AnOpThatUsesBytesOfAFillForSomethingElseWaitsForIt) {
  Filled filled;
  EXPECT_THAT(lines(filled.s.build(), filled.plan(8)),
              ElementsAre("s1 fill 0", "s1 record 0", "s1 op 0", "s0 wait 0", "s0 op 1", "s1 op 2"));
}

TEST(Program, AFillForOneBatchIsMadeInThatBatch) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.op(Op{.name = "f", .kind = "X", .outputs = {a}, .zero_fill = {.outputs = {0}}, .batch = "one"});
  s.op(Op{.name = "g", .kind = "X", .batch = "two"});
  s.op({}, {});
  Plan plan{.graph = {}, .arenas = {}, .placements = {place(a, 0, 8)}, .workspaces = {}, .notes = {}};
  plan.clears = {clear(0, 8, 0)};
  EXPECT_THAT(lines(s.build(), plan), ElementsAre("s0 fill 0 if 1", "s0 op 0 if 1", "s0 op 1 if 2", "s0 op 2"));
}

TEST(Program, ACopyOfWhatABatchDoesNotHaveIsNotMadeInIt) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8, TensorFlag::input);
  s.op(Op{.name = "f", .kind = "X", .outputs = {a}, .batch = "one"});
  s.op(Op{.name = "g", .kind = "X", .batch = "two"});
  s.op({a, b}, {});
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.copies = {copy(a, CopyMoment::before(OpId(2)), 8), copy(b, CopyMoment::before(OpId(2)), 8)};
  EXPECT_THAT(lines(s.build(), plan),
              ElementsAre("s0 op 0 if 1", "s0 op 1 if 2", "s0 copy 0 if 1", "s0 copy 1", "s0 op 2"));
}

TEST(Program, EachBatchWaitsForWhatItNeeds) {
  // p (s0) → q (s1). In batch one, r (s1) waits for s (s0), which comes after p, before q does.
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  s.on(0, {}, {a});
  s.op(Op{.name = "s", .kind = "X", .outputs = {b}, .batch = "one"});
  s.op(Op{.name = "r", .kind = "X", .inputs = {b}, .stream = StreamId(1), .batch = "one"});
  s.op(Op{.name = "t", .kind = "X", .batch = "two"});
  s.on(1, {a}, {});
  EXPECT_THAT(lines(s.build()),
              ElementsAre("s0 op 0", "s0 record 0 if 2", "s0 op 1 if 1", "s0 record 1 if 1", "s1 wait 1 if 1",
                          "s1 op 2 if 1", "s0 op 3 if 2", "s1 wait 0 if 2", "s1 op 4"));
}

TEST(Program, AWaitOfAllBatchesLendsItsEventToThoseOfSome) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.on(0, {}, {a});
  s.on(1, {a}, {});
  s.op(Op{.name = "one", .kind = "X", .inputs = {a}, .stream = StreamId(2), .batch = "one"});
  s.op(Op{.name = "two", .kind = "X", .batch = "two"});
  EXPECT_THAT(lines(s.build()), ElementsAre("s0 op 0", "s0 record 0", "s1 wait 0", "s1 op 1", "s2 wait 0 if 1",
                                            "s2 op 2 if 1", "s0 op 3 if 2"));
}

TEST(Program, BindingsComeFirstInTheBatchesThatUseThem) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, {TensorFlag::input, TensorFlag::zero_copy});
  const TensorId y = s.tensor("y", 8, {TensorFlag::input, TensorFlag::zero_copy});
  s.op(Op{.name = "one", .kind = "X", .inputs = {x}, .batch = "one"});
  s.op(Op{.name = "two", .kind = "X", .batch = "two"});
  s.op({y}, {});
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.bindings = {{x, Bytes(8), Bytes(1)}, {y, Bytes(8), Bytes(1)}};
  EXPECT_THAT(lines(s.build(), plan), ElementsAre("bind 0 if 1", "bind 1", "s0 op 0 if 1", "s0 op 1 if 2", "s0 op 2"));
}

/// x (0) → loop or call on stream 0 → y (1). In the body: in (2) → f (s1) → mid (3) → g (s0) → out (4).
Graph with_body(Control control, bool goes_on, std::size_t last_stream = 0) {
  const auto tensor = [](std::string name) { return Tensor{.name = std::move(name), .size = Bytes(8)}; };
  const Body body{
      .tensors = {tensor("in"), tensor("mid"), tensor("out")},
      .ops = {{.name = "f", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}, .stream = StreamId(1)},
              {.name = "g",
               .kind = "X",
               .inputs = {TensorId(1)},
               .outputs = {TensorId(2)},
               .stream = StreamId(last_stream)}},
      .inputs = {{TensorId(0), TensorId(0)}},
      .outputs = {{TensorId(2), TensorId(1)}},
      .carried = control == Control::loop ? std::vector<Carried>{{TensorId(2), TensorId(0)}} : std::vector<Carried>{}};
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  s.op(Op{.name = "body", .kind = "X", .inputs = {x}, .outputs = {y}, .control = control, .bodies = {body}});
  if (goes_on) s.on(0, {y}, {});
  return s.build();
}

TEST(Program, ABodyOnTwoStreamsBeginsAndEndsWithItsOp) {
  // f need not wait, because nothing comes before the call; the end waits for nothing, because g, on the op's stream,
  // came after f.
  EXPECT_THAT(lines(with_body(Control::call, true)),
              ElementsAre("s0 op 0", "s1 op 2 in 1", "s1 record 0 in 1", "s0 wait 0 in 1", "s0 op 3 in 1", "s0 op 1"));
}

TEST(Program, TheEndOfABodyWaitsForTheOtherStreamsIfItsOwnGoesOn) {
  EXPECT_THAT(lines(with_body(Control::call, true, 1)),
              ElementsAre("s0 op 0", "s1 op 2 in 1", "s1 op 3 in 1", "s1 record 0 in 1", "s0 wait 0 in 1", "s0 op 1"));
  EXPECT_THAT(lines(with_body(Control::call, false, 1)), ElementsAre("s0 op 0", "s1 op 1 in 1", "s1 op 2 in 1"))
      << "nothing comes after it";
}

TEST(Program, TheEndOfAnIterationWaitsBecauseTheNextOneFollows) {
  EXPECT_THAT(lines(with_body(Control::loop, false, 1)),
              ElementsAre("s0 op 0", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 1 in 1", "s1 op 2 in 1",
                          "s1 record 1 in 1", "s0 wait 1 in 1"));
}

TEST(Program, CopiesOfABackEdgeComeLastOnTheStreamOfTheLoop) {
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.copies = {copy(TensorId(0), CopyMoment::before(OpId(0)), 8), copy(TensorId(4), CopyMoment::at_back_edge(), 8)};
  EXPECT_THAT(lines(with_body(Control::loop, false), plan),
              ElementsAre("s0 copy 0", "s0 op 0", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 1 in 1",
                          "s1 record 1 in 1", "s0 wait 1 in 1", "s0 op 2 in 1", "s0 copy 1 in 1"));
}

TEST(Program, NestedBodiesFollowTheirOps) {
  const Body inner{.tensors = {},
                   .ops = {{.name = "h", .kind = "X", .stream = StreamId(1)}},
                   .inputs = {},
                   .outputs = {},
                   .carried = {}};
  Body outer{.tensors = {}, .ops = {}, .inputs = {}, .outputs = {}, .carried = {}};
  outer.ops.push_back(
      Op{.name = "inner", .kind = "X", .stream = StreamId(1), .control = Control::call, .bodies = {inner}});
  Sketch s;
  s.op(Op{.name = "outer", .kind = "X", .control = Control::branch, .bodies = {outer, inner}});
  s.on(0, {}, {});
  EXPECT_THAT(lines(s.build()),
              ElementsAre("s0 op 0", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 2 in 1", "s1 op 3 in 2",
                          "s1 record 1 in 1", "s0 wait 1 in 1", "s0 record 2 in 3", "s1 wait 2 in 3", "s1 op 4 in 3",
                          "s1 record 3 in 3", "s0 wait 3 in 3", "s0 op 1"));
}

/// An op on stream 0 with bodies; each has one op, on the stream given, or none.
Op with_bodies(Control control, const std::vector<std::optional<std::size_t>>& streams) {
  Op op{.name = "bodies", .kind = "X", .control = control};
  for (const std::optional<std::size_t> stream : streams) {
    Body body{.tensors = {}, .ops = {}, .inputs = {}, .outputs = {}, .carried = {}};
    if (stream) body.ops.push_back({.name = "h", .kind = "X", .stream = StreamId(*stream)});
    op.bodies.push_back(body);
  }
  return op;
}

TEST(Program, ABodyWaitsForWhatPrecedesItsOpUnlessItsStreamHasDoneSo) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.on(0, {}, {a});
  s.op(with_bodies(Control::call, {1}));
  EXPECT_THAT(lines(s.build()),
              ElementsAre("s0 op 0", "s0 op 1", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 2 in 1"));
  Sketch waited;
  const TensorId b = waited.tensor("b", 8);
  waited.on(0, {}, {b});
  waited.on(1, {b}, {});
  waited.op(with_bodies(Control::call, {1}));
  EXPECT_THAT(lines(waited.build()),
              ElementsAre("s0 op 0", "s0 record 0", "s1 wait 0", "s1 op 1", "s0 op 2", "s1 op 3 in 1"));
}

/// a is written on stream 0; after an op with bodies on that stream, it is read on stream 1.
std::vector<std::string> read_behind(const Op& bodies) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.on(0, {}, {a});
  s.op(bodies);
  s.on(1, {a}, {});
  return lines(s.build());
}

TEST(Program, WhatAllBodiesHaveWaitedForIsNotWaitedForBehindThem) {
  EXPECT_THAT(read_behind(with_bodies(Control::call, {1})),
              ElementsAre("s0 op 0", "s0 op 1", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 3 in 1", "s1 op 2"));
  EXPECT_THAT(read_behind(with_bodies(Control::branch, {1, 1})),
              ElementsAre("s0 op 0", "s0 op 1", "s0 record 0 in 1", "s1 wait 0 in 1", "s1 op 3 in 1",
                          "s0 record 1 in 2", "s1 wait 1 in 2", "s1 op 4 in 2", "s1 op 2"));
}

TEST(Program, WhatABodyThatMayNotRunHasWaitedForIsWaitedForBehindIt) {
  EXPECT_THAT(read_behind(with_bodies(Control::branch, {1, std::nullopt})),
              ElementsAre("s0 op 0", "s0 record 0", "s0 op 1", "s0 record 1 in 1", "s1 wait 1 in 1", "s1 op 3 in 1",
                          "s1 wait 0", "s1 op 2"));
  EXPECT_THAT(read_behind(with_bodies(Control::loop, {1})),
              ElementsAre("s0 op 0", "s0 record 0", "s0 op 1", "s0 record 1 in 1", "s1 wait 1 in 1", "s1 op 3 in 1",
                          "s1 record 2 in 1", "s0 wait 2 in 1", "s1 wait 0", "s1 op 2"));
}

TEST(Program, TheEndOfABodyDoesNotWaitForWhatSomethingLaterWaitsForAnyway) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  s.op(with_bodies(Control::call, {1}));
  s.on(1, {}, {a});
  s.on(0, {a}, {});
  EXPECT_THAT(lines(s.build()),
              ElementsAre("s0 op 0", "s1 op 3 in 1", "s1 op 1", "s1 record 0", "s0 wait 0", "s0 op 2"));
}

TEST(Program, ABodyDoesNotWaitForAFillOnTheStreamOfItsOpThatNobodyInItMeets) {
  Sketch s;
  const TensorId filled = s.tensor("filled", 8);
  s.op(with_bodies(Control::call, {1}));
  s.op(Op{.name = "f", .kind = "X", .outputs = {filled}, .zero_fill = {.outputs = {0}}});
  Plan plan{.graph = {}, .arenas = {}, .placements = {place(filled, 0, 8)}, .workspaces = {}, .notes = {}};
  plan.clears = {clear(0, 8, 0)};
  EXPECT_THAT(lines(s.build(), plan),
              ElementsAre("s0 fill 0", "s0 op 0", "s1 op 2 in 1", "s1 record 0 in 1", "s0 wait 0 in 1", "s0 op 1"));
}

TEST(Program, CopiesAtTheEndOfABodyWithoutOpsWaitForWhatItsOpReads) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId y = s.tensor("y", 8, TensorFlag::output);
  s.on(1, {}, {a});
  const Body body{.tensors = {Tensor{.name = "in", .size = Bytes(8)}},
                  .ops = {},
                  .inputs = {{a, TensorId(0)}},
                  .outputs = {{TensorId(0), y}},
                  .carried = {}};
  s.op(Op{.name = "c", .kind = "X", .inputs = {a}, .outputs = {y}, .control = Control::call, .bodies = {body}});
  Plan plan{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.copies = {copy(TensorId(2), CopyMoment::at_body_end(), 8)};
  EXPECT_THAT(lines(s.build(), plan), ElementsAre("s1 op 0", "s1 record 0", "s0 wait 0", "s0 op 1", "s0 copy 0 in 1"));
}

}  // namespace
}  // namespace stowage
