#include "stowage/verify.hpp"

#include <limits>

#include "support/builders/plans.hpp"

namespace stowage::verification {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTiny = std::numeric_limits<std::int64_t>::min();

/// in → (relu) → mid → (copy) → out, 100 bytes each.
Graph small_graph() {
  return graph_of({tensor("in", 100, TensorFlag::input), tensor("mid", 100), tensor("out", 100, TensorFlag::output)},
                  {op("relu", {0}, {1}), op("copy", {1}, {2})});
}

Plan small_plan(const Graph& graph) { return plan_of(graph, {0, 100, 0}); }

TEST(Verify, AcceptsAGoodPlan) {
  const Graph graph = small_graph();
  EXPECT_THAT(verify(graph, small_plan(graph)), IsEmpty());
}

TEST(Verify, AcceptsAnEmptyGraph) {
  const Graph graph = graph_of({}, {});
  EXPECT_THAT(verify(graph, Plan{.graph = "test", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}}),
              IsEmpty());
}

TEST(Verify, StopsAtTheLimit) {
  const Graph graph = small_graph();
  const Plan nothing{.graph = "test", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  EXPECT_THAT(verify(graph, nothing), SizeIs(3));
  EXPECT_THAT(verify(graph, nothing, {.max_findings = 2}), SizeIs(2));
  EXPECT_THAT(verify(graph, nothing, {.max_findings = 0}), SizeIs(1))
      << "no findings would mean that the plan is right";
}

// ---------------------------------------------------------------------------------------------------------- reference

TEST(VerifyReference, PlanOfAnotherGraph) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.graph = "another";
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::reference, "for the graph 'another', not for 'test'")));
}

TEST(VerifyReference, UnknownIdsAreNamed) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.placements.push_back({TensorId(7), ArenaId(0), 0, Bytes(0), Bytes(0)});
  plan.workspaces.push_back({OpId(9), 0, ArenaId(0), 0, Bytes(0), Bytes(0)});
  plan.workspaces.push_back({OpId(1), 3, ArenaId(0), 0, Bytes(0), Bytes(0)});
  plan.notes.push_back({TensorId(8), "because"});
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::reference, "tensor 7"), Breaks(Rule::reference, "workspace 0 of op 9"),
                          Breaks(Rule::reference, "workspace 3 of op 1"), Breaks(Rule::reference, "tensor 8")));
}

TEST(VerifyReference, UnknownArenaAndRegionAreOneFindingEach) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.placements[0].arena = ArenaId(5);
  plan.placements[1].region = 1;
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::reference, "arena 5"), Breaks(Rule::reference, "region 1 of arena 'cpu'")));
}

TEST(VerifyReference, ArenaOfUnknownMemory) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.arenas[1].memory = MemoryId(3);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::reference, "arena 'weights' (1) is in memory 3")));
}

TEST(VerifyReference, PlacedTwice) {
  Op work = op("work", {0}, {1});
  work.workspaces = {{Bytes(50)}};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("out", 100, TensorFlag::output)}, {work});
  Plan plan = plan_of(graph, {0, 100}, {200});
  plan.placements.push_back(plan.placements[1]);
  plan.workspaces.push_back(plan.workspaces[0]);
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::reference, "tensor 'out' (1) is placed twice"),
                          Breaks(Rule::reference, "workspace 0 of op 'work' (0) is placed twice")));
}

// ------------------------------------------------------------------------------------------------------------ missing

TEST(VerifyMissing, EveryTensorInUseNeedsAPlacement) {
  const Graph graph = small_graph();
  EXPECT_THAT(verify(graph, plan_of(graph, {0, {}, 0})), ElementsAre(Breaks(Rule::missing, "tensor 'mid' (1)")));
}

TEST(VerifyMissing, ConstantsInputsAndOutputsNeedOneEvenWhenNobodyTouchesThem) {
  const Graph graph = graph_of(
      {tensor("c", 4, TensorFlag::constant), tensor("v", 4, TensorFlag::variable), tensor("i", 4, TensorFlag::input),
       tensor("o", 4, TensorFlag::output), tensor("n", 4, TensorFlag::no_reuse)},
      {});
  EXPECT_THAT(verify(graph, plan_of(graph, {{}, {}, {}, {}, {}})),
              ElementsAre(Breaks(Rule::missing, "'c'"), Breaks(Rule::missing, "'v'"), Breaks(Rule::missing, "'i'"),
                          Breaks(Rule::missing, "'o'")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 4, 0, 4, {}})), IsEmpty());
}

TEST(VerifyMissing, UnusedTensorsNeedNoneAndOccupyNothing) {
  const Graph graph =
      graph_of({tensor("in", 100, TensorFlag::input), tensor("out", 100, TensorFlag::output), tensor("unused", 100)},
               {op("copy", {0}, {1})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, {}})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100, 50})), IsEmpty());
}

TEST(VerifyMissing, AllMembersOfAValueInUseNeedOne) {
  const Graph graph = graph_of({tensor("base", 100), view("half", 50, 0, 50), tensor("out", 50, TensorFlag::output)},
                               {op("write", {}, {1}), op("read", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {{}, 50, 100})), ElementsAre(Breaks(Rule::missing, "tensor 'base' (0)")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 50, 100})), IsEmpty());
}

TEST(VerifyMissing, TensorsOfOpsWithoutTaskAreNotAccessed) {
  Op shape = op("shape", {0}, {1});
  shape.no_task = true;
  shape.workspaces = {{Bytes(10)}};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("nothing", 100)}, {shape});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, {}})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 20}, {50})), IsEmpty());
}

TEST(VerifyMissing, ExternalTensorsMustHaveNone) {
  const Graph graph = graph_of(
      {tensor("theirs", 100, TensorFlag::external), view("part", 50, 0, 0), tensor("out", 50, TensorFlag::output)},
      {op("copy", {1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {{}, {}, 0})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {100, 100, 0})),
              ElementsAre(Breaks(Rule::missing, "tensor 'theirs' (0) is external"),
                          Breaks(Rule::missing, "tensor 'part' (1) is external")));
}

TEST(VerifyMissing, AliasOfAnExternalTensorIsExternal) {
  Op update = op("update", {0}, {1});
  update.aliases = {{0, 0, Bytes(0)}};
  const Graph graph = graph_of({tensor("theirs", 100, TensorFlag::external), tensor("new", 100)}, {update});
  EXPECT_THAT(verify(graph, plan_of(graph, {{}, {}})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {{}, 0})), ElementsAre(Breaks(Rule::missing, "tensor 'new' (1)")));
}

TEST(VerifyMissing, WorkspacesOfTasksNeedOneUnlessEmpty) {
  Op work = op("work", {0}, {1});
  work.workspaces = {{Bytes(0)}, {Bytes(8)}};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("out", 100, TensorFlag::output)}, {work});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100}, {{}, 200})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 100})),
              ElementsAre(Breaks(Rule::missing, "workspace 1 of op 'work' (0)")));
}

TEST(VerifyMissing, TensorsOfSizeZeroNeedOneAndOccupyNothing) {
  const Graph graph =
      graph_of({tensor("in", 100, TensorFlag::input), tensor("none", 0), tensor("out", 100, TensorFlag::output)},
               {op("a", {0}, {1}), op("b", {0, 1}, {2})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, {}, 100})), ElementsAre(Breaks(Rule::missing, "tensor 'none' (1)")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 50, 100})), IsEmpty());
}

// ---------------------------------------------------------------------------------------------------- size and bounds

TEST(VerifySize, PlacementMustHaveTheTensorsSize) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.placements[1].size = Bytes(99);
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::size, "tensor 'mid' (1) has 100 bytes, but its placement has 99")));
}

TEST(VerifySize, ArenaIsTheSumOfItsRegions) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.arenas[0].size = Bytes(201);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::size, "has the size 201, but its regions sum to 200")));
}

TEST(VerifyBounds, PlacementMustLieInItsRegion) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.arenas[0].regions[0] = plan.arenas[0].size = Bytes(199);
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::bounds, "tensor 'mid' (1) at 100 with 100 bytes lies outside [0, 199)")));
  plan = small_plan(graph);
  plan.placements[1].offset = Bytes(-1);
  EXPECT_THAT(verify(graph, plan), Contains(Breaks(Rule::bounds, "tensor 'mid' (1) at -1")));
}

TEST(VerifyBounds, RegionsMayNotExceedTheLargestBufferWithoutNeed) {
  const Memory small{.name = "small", .max_size = Bytes(150)};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("out", 100, TensorFlag::output)},
                               {op("copy", {0}, {1})}, {small});
  Plan plan = plan_of(graph, {0, 100});
  EXPECT_THAT(
      verify(graph, plan),
      ElementsAre(Breaks(Rule::bounds, "region 0 of arena 'cpu' (0) has 200 bytes, but memory 'small' allows 150")));
  plan.arenas[0].regions = {Bytes(100), Bytes(100)};
  plan.placements[1].region = 1;
  plan.placements[1].offset = Bytes(0);
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

TEST(VerifyBounds, WhatIsLargerThanTheLargestBufferHasARegionOfItsOwn) {
  const Memory small{.name = "small", .max_size = Bytes(150)};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("out", 200, TensorFlag::output)},
                               {op("copy", {0}, {1})}, {small});
  Plan plan = plan_of(graph, {0, 0});
  plan.arenas[0].regions = {Bytes(100), Bytes(200)};
  plan.arenas[0].size = Bytes(300);
  plan.placements[1].region = 1;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

TEST(VerifyBounds, OthersMayLieInALargeRegionButNotMakeItLarger) {
  const Memory small{.name = "small", .max_size = Bytes(150)};
  const Graph graph =
      graph_of({tensor("in", 100, TensorFlag::input), tensor("big", 200), tensor("a", 60), tensor("b", 90)},
               {op("x", {0}, {}), op("y", {}, {1}), op("z", {}, {2}), op("w", {2}, {3})}, {small});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 0, 60})), IsEmpty()) << "three share the 200 bytes with 'big'";
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 0, 150, 210})),
              ElementsAre(Breaks(Rule::bounds,
                                 "has 300 bytes, but memory 'small' allows 150, and the largest thing in "
                                 "the region has 200")));
}

TEST(VerifyBounds, SizesRoundedUpToTheAlignmentCountAgainstTheLargestBuffer) {
  const Memory small{.name = "small", .alignment = Bytes(64), .max_size = Bytes(100)};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input)}, {op("read", {0}, {})}, {small});
  Plan plan = plan_of(graph, {0});
  plan.arenas[0].regions[0] = plan.arenas[0].size = Bytes(128);
  EXPECT_THAT(verify(graph, plan), IsEmpty());
}

// -------------------------------------------------------------------------------------------------- alignment, arenas

const VerifyOptions kExact{.padding = Padding::none};

TEST(VerifyAlignment, OffsetsAreMultiplesOfTheAlignment) {
  Op work = op("work", {0}, {1});
  work.workspaces = {{.size = Bytes(10), .alignment = Bytes(64)}};
  Tensor out = tensor("out", 100, TensorFlag::output);
  out.alignment = Bytes(8);
  const Graph graph =
      graph_of({tensor("in", 100, TensorFlag::input), out}, {work}, {Memory{.name = "cpu", .alignment = Bytes(32)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 104}, {256}), kExact), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {16, 120}, {256}), kExact),
              ElementsAre(Breaks(Rule::alignment, "tensor 'in' (0) at 16")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 101}, {256}), kExact),
              ElementsAre(Breaks(Rule::alignment, "alignment 8")));
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 104}, {224}), kExact),
              ElementsAre(Breaks(Rule::alignment, "workspace 0 of op 'work' (0) at 224")));
}

TEST(VerifyAlignment, ViewsFollowTheirBaseUnlessTheyHaveTheirOwn) {
  Tensor picky = view("picky", 16, 0, 64);
  picky.alignment = Bytes(64);
  const Graph graph = graph_of({tensor("base", 100, TensorFlag::input), view("odd", 10, 0, 7), picky},
                               {op("read", {1, 2}, {})}, {Memory{.name = "cpu", .alignment = Bytes(32)}});
  EXPECT_THAT(verify(graph, plan_of(graph, {64, 71, 128}), kExact), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {32, 39, 96}), kExact),
              ElementsAre(Breaks(Rule::alignment, "tensor 'picky' (2) at 96")));
}

TEST(VerifyArena, MemoryAndKindMustFit) {
  const std::vector<Memory> memories = {Memory{.name = "cpu"}, Memory{.name = "gpu"}};
  const Graph graph = graph_of({tensor("in", 100, TensorFlag::input), tensor("w", 50, TensorFlag::constant)},
                               {op("read", {0, 1}, {})}, memories);
  const Plan plan = plan_of(graph, {0, 0});
  EXPECT_THAT(verify(graph, plan), IsEmpty());

  Plan swapped = plan;
  std::swap(swapped.arenas[0].kind, swapped.arenas[1].kind);
  EXPECT_THAT(verify(graph, swapped), ElementsAre(Breaks(Rule::arena, "tensor 'in' (0) belongs in a shared arena"),
                                                  Breaks(Rule::arena, "tensor 'w' (1) belongs in a persistent arena")));
  Plan elsewhere = plan;
  elsewhere.arenas[0].memory = MemoryId(1);
  EXPECT_THAT(verify(graph, elsewhere), ElementsAre(Breaks(Rule::arena, "tensor 'in' (0) is in memory 0")));
}

// ------------------------------------------------------------------------------------------------------------- layout

TEST(VerifyLayout, ViewsLieInTheirBase) {
  const Graph graph = graph_of({tensor("base", 100, TensorFlag::input), view("v", 40, 0, 20), view("vv", 10, 1, 30)},
                               {op("read", {2}, {})});
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 20, 50})), IsEmpty());
  EXPECT_THAT(verify(graph, plan_of(graph, {0, 20, 30})),
              ElementsAre(Breaks(Rule::layout,
                                 "tensor 'vv' (2) at 30 of region 0 of arena 'cpu' (0) is not where it must be, 50 "
                                 "bytes into tensor 'base' (0)")));
  Plan plan = plan_of(graph, {0, 20, 50});
  plan.arenas[0].regions.emplace_back(100);
  plan.arenas[0].size = Bytes(200);
  plan.placements[2].region = 1;
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::layout));
}

TEST(VerifyLayout, AliasesLieInTheirInput) {
  Op append = op("append", {0}, {1});
  append.aliases = {{0, 0, Bytes(60)}};
  const Graph graph = graph_of({tensor("cache", 100, TensorFlag::variable), tensor("new", 40)}, {append});
  Plan plan = plan_of(graph, {0, 60});
  plan.placements[1].arena = ArenaId(1);
  plan.arenas[0].regions[0] = plan.arenas[0].size = Bytes(0);
  plan.arenas[0].proven_optimal = true;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.placements[1].offset = Bytes(59);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::layout, "60 bytes into tensor 'cache' (0)")));
}

// -------------------------------------------------------------------------------------------------------------- claim

TEST(VerifyClaim, BoundAndProofMustAgreeWithTheSize) {
  const Graph graph = small_graph();
  Plan plan = small_plan(graph);
  plan.arenas[0].lower_bound = Bytes(200);
  plan.arenas[0].proven_optimal = true;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.arenas[0].proven_optimal = false;
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::claim, "does not claim to be optimal")));
  plan.arenas[0].lower_bound = Bytes(201);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::claim, "claims the lower bound 201, above its size 200")));
  plan.arenas[0].lower_bound = Bytes(199);
  plan.arenas[0].proven_optimal = true;
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::claim, "claims to be optimal")));
}

// ----------------------------------------------------------------------------------------------------- absurd numbers

TEST(VerifyAbsurd, ExtremeOffsetsAndSizesAreFindings) {
  const Graph graph = small_graph();
  for (const std::int64_t number : {kHuge, kHuge - 50, kTiny, kTiny + 1, std::int64_t{-1}, std::int64_t{1} << 62}) {
    Plan plan = small_plan(graph);
    plan.placements[1].offset = Bytes(number);
    EXPECT_THAT(rules(verify(graph, plan)), Contains(Rule::bounds)) << number;
    plan.placements[1].size = Bytes(number);
    EXPECT_THAT(rules(verify(graph, plan)), Contains(Rule::size)) << number;
    plan.arenas[0].regions = {Bytes(number), Bytes(number), Bytes(1)};
    EXPECT_THAT(verify(graph, plan), Not(IsEmpty())) << number;
    plan.arenas[0].size = Bytes(number);
    plan.arenas[0].lower_bound = Bytes(kTiny);
    EXPECT_THAT(verify(graph, plan), Not(IsEmpty())) << number;
  }
}

TEST(VerifyAbsurd, AllOfTheAddressSpaceIsStillARegion) {
  const Graph graph =
      graph_of({tensor("a", 10, TensorFlag::input), tensor("b", 10, TensorFlag::input)}, {op("read", {0, 1}, {})});
  Plan plan = plan_of(graph, {0, 0});
  plan.arenas[0].regions[0] = plan.arenas[0].size = Bytes(kHuge);
  plan.placements[1].offset = Bytes(kHuge - 10);
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.placements[1].offset = Bytes(kHuge - 9);
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::bounds));
}

TEST(VerifyAbsurd, EverythingWrongAtOnceIsDescribed) {
  const Graph graph = small_graph();
  Plan plan{.graph = "", .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  plan.arenas.push_back({.name = "",
                         .memory = MemoryId(99),
                         .size = Bytes(kTiny),
                         .regions = {Bytes(kTiny)},
                         .lower_bound = Bytes(kHuge),
                         .proven_optimal = true});
  for (std::size_t i = 0; i < 8; ++i) {
    plan.placements.push_back(
        {TensorId(i % 5), ArenaId(i % 2), static_cast<std::uint32_t>(i % 3), Bytes(kTiny), Bytes(kHuge)});
    plan.workspaces.push_back({OpId(i), 7, ArenaId(i), 0xffffffff, Bytes(kHuge), Bytes(kHuge)});
  }
  const std::vector<Finding> findings = verify(graph, plan);
  EXPECT_THAT(findings.size(), testing::Gt(16U));
  EXPECT_THAT(findings, Each(Field(&Finding::message, Not(HasSubstr("{}")))));
}

TEST(Verify, FindingsAreJsonOnOneLine) {
  EXPECT_EQ(findings_to_json({}),
            "{\"schema\":\"stowage.findings/1\",\"valid\":true,\"findings\":[],\"unchecked\":[]}\n");
  EXPECT_EQ(findings_to_json({{Rule::overlap, "tensor 'a\"b'"}}),
            "{\"schema\":\"stowage.findings/1\",\"valid\":false,\"findings\":[{\"rule\":\"overlap\","
            "\"message\":\"tensor 'a\\\"b'\"}],\"unchecked\":[]}\n");
}

}  // namespace
}  // namespace stowage::verification
