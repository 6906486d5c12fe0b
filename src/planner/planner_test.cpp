#include "stowage/planner.hpp"

#include <gtest/gtest.h>

#include "planner/interface/plan_with.hpp"
#include "planner/interface/record.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/verify.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

/// a-b-c-d-e, each 64 bytes: two are live at a time, or one in place.
Graph chain(bool in_place) {
  Sketch s;
  TensorId last = s.tensor("x", 64, TensorFlag::input);
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const TensorId next = s.tensor(name, 64, name[0] == 'e' ? TensorFlags(TensorFlag::output) : TensorFlags());
    s.op({last}, {next}, in_place ? std::vector<InPlacePair>{{0, 0}} : std::vector<InPlacePair>{});
    last = next;
  }
  return s.build();
}

TEST(Planner, AChainNeedsTwoTensorsAndInPlaceOne) {
  const Planned two = *plan(chain(false));
  EXPECT_EQ(two.status, SolveStatus::optimal);
  EXPECT_EQ(two.plan->peak(), Bytes(128));
  EXPECT_EQ(two.naive, Bytes(384));
  EXPECT_EQ(two.items, 6U);
  const Planned one = *plan(chain(true));
  EXPECT_EQ(one.plan->peak(), Bytes(64));
  EXPECT_EQ(one.items, 1U);
  EXPECT_EQ(plan(chain(true), {.in_place = false})->plan->peak(), Bytes(128));
}

TEST(Planner, NoReuseCostsTheNaiveSum) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId y = s.tensor("y", 64);
  const TensorId z = s.tensor("z", 64, TensorFlag::output);
  s.op({.name = "a",
        .kind = "X",
        .inputs = {x},
        .outputs = {y},
        .in_place = {{0, 0}},
        .workspaces = {{.size = Bytes(10)}}});
  s.op({.name = "b", .kind = "X", .inputs = {y}, .outputs = {z}, .workspaces = {{.size = Bytes(20)}}});
  const Planned planned = *plan(s.build(), {.no_reuse = true});
  EXPECT_EQ(planned.plan->peak(), Bytes(3 * 64 + 10 + 20));
  EXPECT_EQ(planned.naive, planned.plan->peak());
  EXPECT_TRUE(planned.plan->proven_optimal());
}

TEST(Planner, KeptInputsSurviveTheRun) {
  const Graph graph = chain(false);
  const Planned planned = *plan(graph, {.keep_inputs = true});
  EXPECT_EQ(planned.plan->peak(), Bytes(192));
  EXPECT_TRUE(verify(graph, *planned.plan, {.keep_inputs = true}).empty());
  EXPECT_FALSE(verify(graph, *plan(graph)->plan, {.keep_inputs = true}).empty());
}

TEST(Planner, CapacityThatCannotHoldThePeakHasNoPlan) {
  const Planned planned = *plan(chain(false), {.capacity = Bytes(127)});
  EXPECT_EQ(planned.status, SolveStatus::infeasible);
  EXPECT_FALSE(planned.plan);
  EXPECT_FALSE(planned.has_answer());
  EXPECT_EQ(planned.lower_bound, Bytes(128));
  EXPECT_TRUE(plan(chain(false), {.capacity = Bytes(128)})->has_answer());
}

/// Two memories; 'device' has a session workspace of 40 bytes and tensors of 64 bytes, two of which are live at a time.
Graph two_memories() {
  GraphBuilder builder("two");
  const MemoryId host = builder.add(Memory{.name = "host", .alignment = Bytes(1)});
  const MemoryId device = builder.add(Memory{.name = "device", .alignment = Bytes(1)});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(100), .memory = host, .flags = TensorFlag::input});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(64), .memory = device});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(64), .memory = device, .flags = TensorFlag::output});
  builder.add(Op{.name = "load", .kind = "COPY", .inputs = {x}, .outputs = {a}});
  builder.add(Op{.name = "use",
                 .kind = "X",
                 .inputs = {a},
                 .outputs = {b},
                 .workspaces = {{.size = Bytes(40), .memory = device, .scope = WorkspaceScope::session}}});
  return builder.build().value();
}

TEST(Planner, ShortageNamesTheMemoryAndItsArenas) {
  const Graph graph = two_memories();
  const auto shortage = [&](Bytes capacity) { return shortage_text(*plan(graph, {.capacity = capacity}), capacity); };
  EXPECT_EQ(shortage(Bytes(168)), "") << "40 + 2 × 64";
  EXPECT_EQ(shortage(Bytes(167)),
            "memory 'device' needs at least 168 bytes, 1 more than the 167 available (session 40, shared 128)");
  EXPECT_EQ(shortage(Bytes(99)),
            "memory 'host' needs at least 100 bytes, 1 more than the 99 available; "
            "memory 'device' needs at least 168 bytes, 69 more than the 99 available (session 40, shared 128)");
}

/// Two arenas of one memory; the first has an answer of 9 with a bound of 8. Only the sum of the bounds is a proof.
TEST(Planner, ShortageWithoutProofIsThatOfTheBestAnswer) {
  const Graph graph = two_memories();
  Planned planned{.graph = graph};
  const auto record = std::make_shared<PlanningRecord>();
  planned.record = record;
  record->needs = {{MemoryId(1), ArenaKind::fixed, Bytes(8), Bytes(9)},
                   {MemoryId(1), ArenaKind::shared, Bytes(4), Bytes(4)}};
  EXPECT_EQ(
      shortage_text(planned, Bytes(12)),
      "memory 'device' takes, in the best plan so far, 13 bytes, 1 more than the 12 available (fixed 9, shared 4)");
  EXPECT_EQ(shortage_text(planned, Bytes(11)),
            "memory 'device' needs at least 12 bytes, 1 more than the 11 available (fixed 8, shared 4)");
  record->needs[0].size.reset();
  EXPECT_EQ(shortage_text(planned, Bytes(12)), "");
}

/// A weight of 100 bytes, and a peak of 128.
Graph weighted() {
  GraphBuilder builder("weighted");
  builder.add(Memory{.name = "memory", .alignment = Bytes(1)});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(100), .flags = TensorFlag::constant});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(64), .flags = TensorFlag::output});
  builder.add(Op{.name = "mul", .kind = "MUL", .inputs = {x, w}, .outputs = {y}});
  return builder.build().value();
}

TEST(Planner, WeightsAndPeakAreTheTotal) {
  const Summary summary = summarize(*plan(weighted()));
  EXPECT_EQ(summary.peak, Bytes(128));
  EXPECT_EQ(summary.weights, Bytes(100));
  EXPECT_EQ(summary.folded, Bytes(0));
  EXPECT_EQ(summary.total, Bytes(228));
}

TEST(Planner, TheTotalCapacityCountsWeights) {
  EXPECT_TRUE(plan(weighted(), {.capacity_total = Bytes(228)})->has_answer());
  const Planned planned = *plan(weighted(), {.capacity_total = Bytes(227)});
  EXPECT_EQ(planned.status, SolveStatus::infeasible);
  EXPECT_EQ(shortage_text(planned),
            "it needs at least 228 bytes, 1 more than the 227 available (weights 100, shared 128)");
  EXPECT_EQ(shortage_text(*plan(weighted(), {.capacity_total = Bytes(99)})),
            "it needs at least 228 bytes, 129 more than the 99 available (weights 100, shared 128)");
}

TEST(Planner, BothCapacitiesHoldAtOnce) {
  EXPECT_TRUE(plan(weighted(), {.capacity = Bytes(128), .capacity_total = Bytes(228)})->has_answer());
  EXPECT_FALSE(plan(weighted(), {.capacity = Bytes(127), .capacity_total = Bytes(999)})->has_answer());
  EXPECT_FALSE(plan(weighted(), {.capacity = Bytes(999), .capacity_total = Bytes(227)})->has_answer());
  const Planned planned = *plan(weighted(), {.capacity = Bytes(127), .capacity_total = Bytes(200)});
  EXPECT_EQ(shortage_text(planned), "it needs at least 128 bytes, 1 more than the 127 available");
}

TEST(Planner, WeightsAloneMayExceedTheTotalCapacity) {
  GraphBuilder builder("weights");
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(100), .flags = TensorFlag::constant});
  builder.add(Op{.name = "read", .kind = "X", .inputs = {w}, .outputs = {}});
  const Graph graph = builder.build().value();
  const Planned planned = *plan(graph, {.capacity_total = Bytes(99)});
  EXPECT_EQ(planned.status, SolveStatus::infeasible);
  EXPECT_EQ(shortage_text(planned), "it needs at least 100 bytes, 1 more than the 99 available (weights 100)");
  EXPECT_TRUE(plan(graph, {.capacity_total = Bytes(100)})->has_answer());
}

TEST(Planner, WhatWasPlannedKeepsItsGraphAndWhatWasFoundOut) {
  const Planned planned = *plan(chain(true), {.in_place = false});
  EXPECT_EQ(planned.graph.ops().size(), 5U) << "the caller's graph is gone";
  EXPECT_TRUE(verify(planned.graph, *planned.plan).empty());
  EXPECT_FALSE(planned.options.in_place);
  ASSERT_TRUE(planned.record);
  EXPECT_EQ(planned.record->lowering.arenas.size(), planned.plan->arenas.size());
  EXPECT_EQ(planned.record->analysis.layout.storages.size(), planned.items);
}

TEST(Planner, VerificationIsAnOption) {
  const Planned judged = *plan(chain(false));
  const Planned unjudged = *plan(chain(false), {.verify = false});
  EXPECT_GT(judged.record->times.verify.count(), 0);
  EXPECT_EQ(unjudged.record->times.verify.count(), 0);
  EXPECT_EQ(plan_to_json(judged.graph, *judged.plan), plan_to_json(unjudged.graph, *unjudged.plan));
}

/// The session workspace is alone in its arena, so there is nothing to search.
TEST(Planner, ASearchOfTheCallersOwnAnswersForWhatIsShared) {
  const Graph graph = two_memories();
  std::size_t searches = 0;
  const auto search = [&](const Problem& problem) {
    ++searches;
    return solve(problem);
  };
  const Planned planned = *plan_with(graph, {}, search);
  EXPECT_EQ(searches, 2U) << "one per memory";
  EXPECT_EQ(plan_to_json(graph, *planned.plan), plan_to_json(graph, *plan(graph)->plan));
  const auto in_vain = [](const Problem&) { return Result<SolveOutcome>(SolveOutcome{}); };
  EXPECT_FALSE(plan_with(graph, {}, in_vain)->plan);
}

/// A search that proves nothing, but refuses any capacity.
Result<SolveOutcome> refuse(const Problem& problem) {
  STOWAGE_TRY(SolveOutcome outcome, solve(problem));
  outcome.status = problem.capacity ? SolveStatus::infeasible : SolveStatus::feasible;
  outcome.bound = {};
  if (problem.capacity) outcome.positions.clear();
  return outcome;
}

/// Its ops have constraints, so that what is proven of its Problems is checked by a plan.
Graph with_fixed_addresses() {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({.name = "a", .kind = "X", .inputs = {x}, .outputs = {y}, .fixed_address = true});
  return s.build();
}

TEST(Planner, ARefusedCapacityIsCheckedWithinTheSameTimeLimit) {
  const Graph graph = with_fixed_addresses();
  const PlanOptions any_time{.capacity = Bytes(100), .time_limit = {}};
  EXPECT_EQ(plan_with(graph, any_time, refuse)->status, SolveStatus::infeasible);
  const PlanOptions no_time{.capacity = Bytes(100), .time_limit = std::chrono::nanoseconds(0)};
  EXPECT_EQ(plan_with(graph, no_time, refuse)->status, SolveStatus::timed_out) << "nothing is left for the check";
}

TEST(Planner, WithoutTimeACapacityIsRefusedForBytesThatEveryPlanNeeds) {
  const PlanOptions no_time{.capacity = Bytes(100), .time_limit = std::chrono::nanoseconds(0)};
  EXPECT_EQ(plan(with_fixed_addresses(), no_time)->status, SolveStatus::infeasible);
}

TEST(Planner, UnknownSolversAreErrors) { EXPECT_FALSE(plan(chain(false), {.solver = "magic"})); }

TEST(Planner, ARaceBetweenStreamsIsAnErrorThatNamesBothSides) {
  GraphBuilder builder("race");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(64)});
  const TensorId head = builder.add(Tensor{.name = "head", .size = Bytes(32), .view_of = ViewOf{x, Bytes(0)}});
  builder.add(Op{.name = "write", .kind = "X", .outputs = {x}});
  builder.add(Op{.name = "again", .kind = "X", .outputs = {head}, .stream = StreamId(1)});
  const Result<Planned> planned = plan(builder.build().value());
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().code, ErrorCode::invalid);
  EXPECT_EQ(planned.error().message,
            "op 'write' (0) on stream 0 writes tensor 'x' (0) and op 'again' (1) on stream 1 writes tensor 'head' (1): "
            "both access the same bytes, but neither is ordered after the other; order them with `after`");
}

TEST(Planner, AnEmptyGraphHasAnEmptyPlan) {
  const Graph graph = *GraphBuilder("nothing").build();
  const Planned planned = *plan(graph);
  EXPECT_EQ(planned.status, SolveStatus::optimal);
  EXPECT_TRUE(planned.plan->arenas.empty());
}

TEST(Planner, ConstantsDoNotCountTowardsThePeak) {
  Sketch s;
  const TensorId weight = s.tensor("weight", 1000, TensorFlag::constant);
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({weight, x}, {y});
  const Graph graph = s.build();
  const Planned planned = *plan(graph);
  EXPECT_EQ(planned.plan->peak(), Bytes(128));
  EXPECT_EQ(planned.plan->arenas.size(), 2U);
  const Summary summary = summarize(planned);
  EXPECT_EQ(summary.peak, Bytes(128));
  EXPECT_EQ(summary.naive, Bytes(128));
  EXPECT_EQ(summary.items, 2U);
  EXPECT_EQ(summary.arenas[1].kind, "persistent");
  EXPECT_EQ(summary.arenas[1].size, Bytes(1000));
  EXPECT_TRUE(summary.proven_optimal);
}

TEST(Planner, TheTailOfALargerInputIsFreeOnceItIsOverwritten) {
  Sketch s;
  const TensorId big = s.tensor("big", 100, TensorFlag::input);
  const TensorId small = s.tensor("small", 20);
  const TensorId other = s.tensor("other", 80);
  const TensorId out = s.tensor("out", 4, TensorFlag::output);
  s.op({big}, {small}, {{0, 0}});
  s.op({small}, {other});
  s.op({small, other}, {out}, {{0, 0}});
  EXPECT_EQ(plan(s.build())->plan->peak(), Bytes(100));
}

/// x → a → b → y; a has `size`.
Graph of_size(std::int64_t size) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId a = s.tensor("a", size);
  const TensorId b = s.tensor("b", 128);
  const TensorId y = s.tensor("y", 64, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({b}, {y});
  return s.build();
}

TEST(Planner, FromAPreviousPlanNothingMovesWithoutNeed) {
  const Plan before = *plan(of_size(128), {.solver = "online_best_fit"})->plan;
  const Planned again = *plan(of_size(128), {.previous = before});
  EXPECT_EQ(again.plan->placements, before.placements);
  EXPECT_EQ(again.moved, 0U);
  const Planned smaller = *plan(of_size(64), {.previous = before, .keep_offsets = true});
  for (std::size_t t = 0; t < before.placements.size(); ++t)
    EXPECT_EQ(smaller.plan->placements[t].offset, before.placements[t].offset);
}

TEST(Planner, ATensorWithoutBytesCanBeKeptBesideLargerOnesThanARegion) {
  // The region for the empty one is not listed in the plan, so that its number there is another one's.
  Sketch s;
  const TensorId x = s.tensor("x", 512, TensorFlag::input);
  const TensorId empty = s.tensor("empty", 0);
  const TensorId y = s.tensor("y", 512, TensorFlag::output);
  s.op({x}, {empty});
  s.op({x, empty}, {y});
  const Graph graph = s.build();
  const Plan before = *plan(graph, {.region_limit = Bytes(128)})->plan;
  const Result<Planned> again = plan(graph, {.region_limit = Bytes(128), .previous = before, .keep_offsets = true});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->plan->placements, before.placements);
}

TEST(Planner, WhatMustStayAndCannotIsAnErrorThatNamesTheTensors) {
  const Plan before = *plan(of_size(128))->plan;
  const Planned larger = *plan(of_size(256), {.previous = before});
  EXPECT_EQ(larger.status, SolveStatus::optimal);
  EXPECT_GT(larger.moved, 0U);
  const Result<Planned> fixed = plan(of_size(1024), {.previous = before, .keep_offsets = true});
  ASSERT_FALSE(fixed);
  EXPECT_NE(fixed.error().message.find("tensor '"), std::string::npos) << fixed.error().message;
  EXPECT_EQ(fixed.error().message.find("item"), std::string::npos) << fixed.error().message;
}

TEST(Planner, SomeTensorsCanBeKept) {
  const Plan before = *plan(of_size(128))->plan;
  const Planned larger = *plan(of_size(1024), {.previous = before, .keep = {TensorId(2)}});
  EXPECT_EQ(larger.plan->placements[2].offset, before.placements[2].offset);
}

/// x → wide → narrow → sum; sum is filled, by default at the start of the run.
Graph filled_sum() {
  GraphBuilder builder("filled");
  const auto tensor = [&](const char* name, std::int64_t size, TensorFlags flags = {}) {
    return builder.add(Tensor{.name = name, .size = Bytes(size), .flags = flags});
  };
  const TensorId x = tensor("x", 1024, TensorFlag::input);
  const TensorId wide = tensor("wide", 1024);
  const TensorId narrow = tensor("narrow", 512);
  const TensorId sum = tensor("sum", 512, TensorFlag::output);
  builder.add(Op{.name = "widen", .kind = "A", .inputs = {x}, .outputs = {wide}});
  builder.add(Op{.name = "shrink", .kind = "A", .inputs = {wide}, .outputs = {narrow}});
  Op acc{.name = "acc", .kind = "A", .inputs = {narrow}, .outputs = {sum}};
  acc.zero_fill.outputs = {0};
  builder.add(acc);
  return builder.build().value();
}

TEST(Options, WhatIsProvenWithFillsAtTheStartSaysSo) {
  EXPECT_TRUE(summarize(*plan(filled_sum())).bound_rests_on_options);
  EXPECT_EQ(shortage_text(*plan(filled_sum(), {.capacity = Bytes(2048)})),
            "it needs at least 2560 bytes, 512 more than the 2048 available, with these options; filling memory right "
            "before its op (--zero-fill separate) may need less");
  const Planned separate = *plan(filled_sum(), {.zero_fill = FillPolicy::separate, .capacity = Bytes(2048)});
  EXPECT_EQ(separate.plan->peak(), Bytes(2048));
  EXPECT_FALSE(summarize(separate).bound_rests_on_options);
}

TEST(Options, WhatIsProvenWithoutInPlacePairsSaysSo) {
  GraphBuilder builder("pair");
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(64), .flags = TensorFlag::input});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(64)});
  builder.add(Op{.name = "f", .kind = "A", .inputs = {a}, .outputs = {b}, .in_place = {{0, 0}}});
  const Graph graph = builder.build().value();
  EXPECT_FALSE(summarize(*plan(graph)).bound_rests_on_options);
  EXPECT_TRUE(summarize(*plan(graph, {.in_place = false})).bound_rests_on_options);
  EXPECT_EQ(shortage_text(*plan(graph, {.in_place = false, .capacity = Bytes(64)})),
            "it needs at least 128 bytes, 64 more than the 64 available, with these options");
}

}  // namespace
}  // namespace stowage
