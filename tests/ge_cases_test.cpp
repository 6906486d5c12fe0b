#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/stowage.hpp"
#include "support/judges/shadow/shadow.hpp"

/// The sixteen documented cases of GE's static memory reuse (docs/ge.md), re-created with our graphs and GE's numbers.
namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Builds graphs concisely. Everything is aligned to 512, as on GE's devices.
class Draft {
 public:
  Draft() { description_.memories = {Memory{.name = "device", .alignment = Bytes(512)}}; }

  MemoryId memory(Memory memory) {
    description_.memories.push_back(std::move(memory));
    return MemoryId(description_.memories.size() - 1);
  }
  TensorId tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
    description_.tensors.push_back(Tensor{.name = std::move(name), .size = Bytes(size), .flags = flags});
    return TensorId(description_.tensors.size() - 1);
  }
  OpId op(Op op) {
    op.kind = "X";
    description_.ops.push_back(std::move(op));
    return OpId(description_.ops.size() - 1);
  }
  OpId op(std::string name, std::vector<std::optional<TensorId>> inputs, std::vector<TensorId> outputs,
          std::size_t stream = 0, std::vector<OpId> after = {}) {
    return op({.name = std::move(name),
               .kind = "X",
               .inputs = std::move(inputs),
               .outputs = std::move(outputs),
               .stream = StreamId(stream),
               .after = std::move(after)});
  }
  Tensor& at(TensorId id) { return description_.tensors[id.index()]; }
  GraphDescription& description() { return description_; }

  [[nodiscard]] Graph build() const {
    Result<Graph> graph = Graph::build(description_);
    EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
    return std::move(graph).value();
  }
  [[nodiscard]] std::string error() const {
    const Result<Graph> graph = Graph::build(description_);
    return graph ? "no error" : to_string(graph.error());
  }

 private:
  GraphDescription description_;
};

/// Deterministic: limited by nodes, not by time.
Plan planned(const Graph& graph, PlanOptions options = {}) {
  options.time_limit = {};
  options.node_budget = 100'000;
  Result<Planned> result = plan(graph, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  EXPECT_TRUE(result->plan.has_value());
  const testing::ShadowReport run = testing::shadow_execute(graph, *result->plan, {.keep_inputs = options.keep_inputs});
  EXPECT_THAT(run.findings, IsEmpty());
  return *result->plan;
}

Placement place(const Plan& plan, TensorId tensor) {
  const auto found = std::find_if(plan.placements.begin(), plan.placements.end(),
                                  [&](const Placement& each) { return each.tensor == tensor; });
  EXPECT_NE(found, plan.placements.end());
  return *found;
}

Bytes offset(const Plan& plan, TensorId tensor) { return place(plan, tensor).offset; }

bool is_bound(const Plan& plan, TensorId tensor) {
  return std::any_of(plan.bindings.begin(), plan.bindings.end(),
                     [&](const Binding& each) { return each.tensor == tensor; });
}

/// The plan with one tensor moved to where another lies.
Plan moved(Plan plan, TensorId tensor, Bytes offset) {
  for (Placement& each : plan.placements) {
    if (each.tensor == tensor) each.offset = offset;
  }
  for (Arena& arena : plan.arenas)
    arena.size = arena.regions.front() = arena.regions.front() + Bytes(4096), arena.proven_optimal = false;
  return plan;
}

std::vector<std::string> messages(const Graph& graph, const Plan& plan) {
  std::vector<std::string> result;
  for (const Finding& finding : verify(graph, plan)) result.push_back(finding.message);
  return result;
}

/// a → b → … on one stream; the first is an input.
struct Chain {
  Draft draft;
  std::vector<TensorId> tensors;

  explicit Chain(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const bool first = tensors.empty();
      tensors.push_back(draft.tensor(name, 512, first ? TensorFlags(TensorFlag::input) : TensorFlags()));
      if (!first) draft.op("make " + name, {tensors[tensors.size() - 2]}, {tensors.back()});
    }
  }
};

TEST(GeCases, Case1AChainPlansAndAForcedOverlapNamesBoth) {
  Chain chain({"a", "b", "c", "d", "e"});
  const Graph graph = chain.draft.build();
  const Plan plan = planned(graph);
  EXPECT_EQ(plan.peak(), Bytes(1024));
  const std::vector<std::string> found = messages(graph, moved(plan, chain.tensors[3], offset(plan, chain.tensors[2])));
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found.front(), HasSubstr("tensor 'c' (2)"));
  EXPECT_THAT(found.front(), HasSubstr("tensor 'd' (3)"));
}

TEST(GeCases, Case2StreamsThatNothingOrdersMayNotShare) {
  Draft draft;
  const TensorId a = draft.tensor("a", 512), b = draft.tensor("b", 512), c = draft.tensor("c", 512);
  const TensorId d = draft.tensor("d", 512), e = draft.tensor("e", 512);
  draft.op("a", {}, {a});
  draft.op("b", {a}, {b});
  draft.op("c", {b}, {c});
  draft.op("d", {}, {d}, 1);
  draft.op("e", {d}, {e}, 1);
  const Graph graph = draft.build();
  const Plan plan = planned(graph);
  EXPECT_NE(offset(plan, d), offset(plan, b));
  const std::vector<std::string> found = messages(graph, moved(plan, d, offset(plan, b)));
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found.front(), HasSubstr("'d'"));
}

TEST(GeCases, Case6APackedGroupAcrossStreamsReusesOnlyBehindTheControlEdge) {
  for (const bool ordered : {false, true}) {
    Draft draft;
    const TensorId old = draft.tensor("old", 1024), seen = draft.tensor("seen", 512);
    const TensorId x = draft.tensor("x", 512), y = draft.tensor("y", 512),
                   both = draft.tensor("both", 1024, TensorFlag::output);
    draft.op("old", {}, {old});
    const OpId read = draft.op("read", {old}, {seen});
    const OpId make = draft.op("x", {}, {x}, 1, ordered ? std::vector<OpId>{read} : std::vector<OpId>{});
    draft.op("y", {}, {y}, 1, {make});
    draft.op({.name = "concat",
              .kind = "X",
              .inputs = {x, y},
              .outputs = {both},
              .stream = StreamId(1),
              .contiguous_inputs = Contiguity::packed});
    const Plan plan = planned(draft.build());
    EXPECT_EQ(offset(plan, y), offset(plan, x) + Bytes(512));
    EXPECT_EQ(offset(plan, both), offset(plan, x));
    EXPECT_EQ(plan.peak(), Bytes(ordered ? 1536 : 2560)) << ordered;
  }
}

TEST(GeCases, Case9ACollectiveChainIsOneOrderedRun) {
  Draft draft;
  std::vector<TensorId> parts;
  Bytes total;
  for (int i = 0; i < 7; ++i) {
    parts.push_back(draft.tensor("part" + std::to_string(i), 100 + 500 * i));
    total += align_up(Bytes(100 + 500 * i), Bytes(512));
  }
  std::vector<TensorId> first(parts.begin(), parts.begin() + 4);
  draft.op({.name = "reduce a", .kind = "X", .outputs = first, .contiguous_outputs = Contiguity::padded});
  draft.op({.name = "reduce b",
            .kind = "X",
            .outputs = {parts.begin() + 4, parts.end()},
            .contiguous_outputs = Contiguity::padded});
  draft.op(
      {.name = "gather", .kind = "X", .inputs = {parts.begin(), parts.end()}, .contiguous_inputs = Contiguity::padded});
  const Plan plan = planned(draft.build());
  EXPECT_EQ(plan.peak(), total);
  EXPECT_THAT(plan.copies, IsEmpty());
  Bytes next = offset(plan, parts.front());
  for (const TensorId part : parts) {
    EXPECT_EQ(offset(plan, part), next);
    next += align_up(draft.at(part).size, Bytes(512));
  }
}

TEST(GeCases, Case9TheSameMemberTwiceIsAnError) {
  Draft draft;
  const TensorId x = draft.tensor("x", 512, TensorFlag::input);
  draft.op({.name = "gather", .kind = "X", .inputs = {x, x}, .contiguous_inputs = Contiguity::padded});
  EXPECT_THAT(draft.error(), HasSubstr("op 'gather' (0) lists tensor 'x' (0) twice"));
}

/// Each of the four kinds of groups, one member a byte off.
TEST(GeCases, Case10AMemberThatIsShiftedByOneByteFails) {
  for (const Contiguity kind : {Contiguity::padded, Contiguity::packed}) {
    for (const bool inputs : {true, false}) {
      Draft draft;
      draft.description().memories.front().alignment = Bytes(1);
      const TensorId x = draft.tensor("x", 512), y = draft.tensor("y", 512);
      const TensorId whole = draft.tensor("whole", 1024);
      if (inputs) {
        draft.op("make", {}, {x, y});
        draft.op({.name = "group", .kind = "X", .inputs = {x, y}, .outputs = {whole}, .contiguous_inputs = kind});
        draft.op("use", {whole}, {});
      } else {
        draft.op("make", {}, {whole});
        draft.op({.name = "group", .kind = "X", .inputs = {whole}, .outputs = {x, y}, .contiguous_outputs = kind});
        draft.op("use", {x, y}, {});
      }
      const Graph graph = draft.build();
      const Plan plan = planned(graph);
      EXPECT_EQ(offset(plan, y), offset(plan, x) + Bytes(512));
      EXPECT_FALSE(verify(graph, moved(plan, y, offset(plan, y) + Bytes(1))).empty()) << inputs;
    }
  }
}

TEST(GeCases, Case11BatchesLieOnTopOfEachOtherAndSessionWorkspacesDoNot) {
  Draft draft;
  const MemoryId p2p = draft.memory({.name = "p2p", .alignment = Bytes(512), .kind = "p2p"});
  for (const std::int64_t size : {2048, 3072, 4096}) {
    const TensorId data = draft.tensor("data" + std::to_string(size), size);
    draft.at(data).memory = p2p;
    draft.op({.name = "run" + std::to_string(size),
              .kind = "X",
              .outputs = {data},
              .workspaces = {{.size = Bytes(512), .scope = WorkspaceScope::session}},
              .batch = "batch" + std::to_string(size)});
  }
  const Plan plan = planned(draft.build());
  ASSERT_THAT(plan.arenas, SizeIs(2));
  EXPECT_EQ(plan.arenas[0].kind, ArenaKind::session);
  EXPECT_EQ(plan.arenas[0].size, Bytes(1536));
  EXPECT_EQ(plan.arenas[1].memory, p2p);
  EXPECT_EQ(plan.arenas[1].size, Bytes(4096));
}

TEST(GeCases, Case12ClearsThatTouchAreOneAndNoneCrossesASegment) {
  Draft draft;
  std::vector<TensorId> sums;
  for (int i = 0; i < 3; ++i) sums.push_back(draft.tensor("sum" + std::to_string(i), 512));
  draft.op({.name = "accumulate", .kind = "X", .outputs = sums, .zero_fill = {.outputs = {0, 1, 2}}});
  const Graph graph = draft.build();
  const Plan one = planned(graph);
  EXPECT_THAT(one.clears,
              ElementsAre(Clear{.arena = ArenaId(0), .offset = Bytes(0), .size = Bytes(1536), .before = OpId(0)}));
  const Plan cut = planned(graph, {.region_limit = Bytes(1024)});
  EXPECT_THAT(cut.clears, SizeIs(2));
  EXPECT_EQ(cut.arenas.front().regions.size(), 2U);
  Bytes sum;
  for (const Bytes region : cut.arenas.front().regions) sum += region;
  EXPECT_EQ(sum, cut.arenas.front().size);
}

TEST(GeCases, Case13AClearedTensorAndAnInputNeverShareBeforeTheClear) {
  Draft draft;
  const TensorId x = draft.tensor("x", 512, TensorFlag::input), y = draft.tensor("y", 512),
                 sum = draft.tensor("sum", 512);
  draft.op("read", {x}, {y});
  draft.op({.name = "accumulate", .kind = "X", .inputs = {y}, .outputs = {sum}, .zero_fill = {.outputs = {0}}});
  const Graph graph = draft.build();
  const Plan central = planned(graph);
  EXPECT_NE(offset(central, x), offset(central, sum));
  EXPECT_EQ(central.peak(), Bytes(1536));
  const Plan separate = planned(graph, {.zero_fill = FillPolicy::separate});
  EXPECT_EQ(offset(separate, x), offset(separate, sum));
  EXPECT_EQ(separate.peak(), Bytes(1024));
  EXPECT_FALSE(verify(graph, moved(central, sum, offset(central, x))).empty());
}

constexpr TensorFlags kUserInput{TensorFlag::input, TensorFlag::zero_copy};
constexpr TensorFlags kUserOutput{TensorFlag::output, TensorFlag::zero_copy};

TEST(GeCases, Case14ZeroCopyIsGrantedToPlainInputsAndOutputs) {
  Draft draft;
  const TensorId x = draft.tensor("x", 512, kUserInput), y = draft.tensor("y", 512, kUserOutput);
  draft.op("op", {x}, {y});
  const Plan plan = planned(draft.build());
  EXPECT_TRUE(is_bound(plan, x));
  EXPECT_TRUE(is_bound(plan, y));
  EXPECT_EQ(plan.peak(), Bytes(0));
}

TEST(GeCases, Case14NextToACollectiveOrASwitchItIsNot) {
  Draft draft;
  const TensorId x = draft.tensor("x", 512, kUserInput), y = draft.tensor("y", 512, kUserOutput);
  draft.op({.name = "allreduce", .kind = "X", .inputs = {x}, .outputs = {y}, .fixed_address = true});
  const Plan plan = planned(draft.build());
  EXPECT_THAT(plan.bindings, IsEmpty());
  ASSERT_THAT(plan.notes, SizeIs(2));
  EXPECT_THAT(plan.notes.front().reason, HasSubstr("the same address in every run"));
}

TEST(GeCases, Case14NorIsTheOutputOfASubgraph) {
  Draft draft;
  const TensorId x = draft.tensor("x", 512, TensorFlag::input), y = draft.tensor("y", 512, kUserOutput);
  Body body;
  body.tensors = {Tensor{.name = "in", .size = Bytes(512)}, Tensor{.name = "out", .size = Bytes(512)}};
  body.ops = {Op{.name = "inside", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}}};
  body.inputs = {{x, TensorId(0)}};
  body.outputs = {{TensorId(1), y}};
  draft.op({.name = "call", .kind = "X", .inputs = {x}, .outputs = {y}, .control = Control::call, .bodies = {body}});
  const Plan plan = planned(draft.build());
  EXPECT_THAT(plan.bindings, IsEmpty());
  EXPECT_EQ(plan.peak(), Bytes(1024));
}

TEST(GeCases, Case14NorTheShapeDataOfAGraphWithBatches) {
  Draft draft;
  const TensorId shapes = draft.tensor("shapes", 512, kUserInput | TensorFlag::shape_data),
                 x = draft.tensor("x", 512, kUserInput);
  draft.op({.name = "run", .kind = "X", .inputs = {shapes, x}, .batch = "small"});
  const Plan plan = planned(draft.build());
  EXPECT_FALSE(is_bound(plan, shapes));
  EXPECT_TRUE(is_bound(plan, x));
}

TEST(GeCases, Case14InputsUpToTheFusionLimitAreCopiedInTogether) {
  Draft draft;
  const TensorId at = draft.tensor("at", 1024, kUserInput), small = draft.tensor("small", 100, kUserInput);
  const TensorId above = draft.tensor("above", 1025, kUserInput);
  draft.op("op", {at, small, above}, {});
  const Plan plan = planned(draft.build(), {.fuse_inputs_up_to = Bytes(1024)});
  EXPECT_FALSE(is_bound(plan, at));
  EXPECT_TRUE(is_bound(plan, above));
  EXPECT_EQ(offset(plan, small), offset(plan, at) + Bytes(1024));
}

/// Prefetches on stream 1, each read by an op on stream 0.
struct RingCase {
  Draft draft;
  std::vector<TensorId> tensors;
  std::vector<OpId> prefetches, readers;

  explicit RingCase(std::int64_t size, const std::vector<std::int64_t>& sizes, bool readers_between = true) {
    draft.description().memories.front().alignment = Bytes(1);
    draft.description().rings = {{.name = "ring", .size = Bytes(size)}};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      tensors.push_back(draft.tensor("t" + std::to_string(i), sizes[i]));
      prefetches.push_back(draft.op({.name = "prefetch" + std::to_string(i),
                                     .kind = "X",
                                     .outputs = {tensors[i]},
                                     .stream = StreamId(1),
                                     .prefetch = RingId(0)}));
      if (readers_between) readers.push_back(draft.op("read" + std::to_string(i), {tensors[i]}, {}));
    }
  }
};

TEST(GeCases, Case15TheFourthPrefetchWrapsAndWaitsForTheReaderOfTheFirst) {
  const RingCase ring(2048, {512, 1024, 512, 512});
  const Plan plan = planned(ring.draft.build());
  std::vector<Bytes> offsets;
  for (const TensorId tensor : ring.tensors) offsets.push_back(offset(plan, tensor));
  EXPECT_THAT(offsets, ElementsAre(Bytes(0), Bytes(512), Bytes(1536), Bytes(0)));
  EXPECT_THAT(plan.edges, ElementsAre(Edge{ring.readers[0], ring.prefetches[3]}));
  EXPECT_EQ(plan.arenas.front().kind, ArenaKind::ring);
  EXPECT_EQ(plan.peak(), Bytes(2048));
}

TEST(GeCases, Case15APoolThatIsTooSmallIsAnError) {
  EXPECT_THAT(RingCase(1024, {2000}).draft.error(),
              HasSubstr("prefetches tensor 't0' (0) of 2000 bytes into ring 'ring' of 1024"));
  RingCase both(1024, {600, 600}, false);
  both.draft.op("read both", {both.tensors[0], both.tensors[1]}, {});
  EXPECT_THAT(both.draft.error(), HasSubstr("op 'read both' (2) reads"));
}

TEST(GeCases, Case15OnePoolWithTwoSizesOrTwoMemoriesIsAnError) {
  RingCase sizes(1024, {512});
  sizes.draft.description().rings.push_back({.name = "ring", .size = Bytes(2048)});
  EXPECT_THAT(sizes.draft.error(), HasSubstr("ring 'ring' has two sizes, 1024 and 2048"));
  RingCase memories(1024, {512});
  const MemoryId other = memories.draft.memory({.name = "host"});
  memories.draft.description().rings.push_back({.name = "ring", .size = Bytes(1024), .memory = other});
  EXPECT_THAT(memories.draft.error(), HasSubstr("ring 'ring' is in two memories"));
}

TEST(GeCases, Case16ANegativeWorkspaceIsAnError) {
  Draft draft;
  draft.op({.name = "op", .kind = "X", .workspaces = {{.size = Bytes(-2)}}});
  EXPECT_THAT(draft.error(), HasSubstr("workspace 0 of op 'op' (0) has the negative size -2"));
}

// Only files use -1 for "no workspace", so that later workspaces keep their index. A Graph has sizes, never codes: "no
// workspace" is 0 bytes, and -1 is as invalid as -2.
TEST(GeCases, Case16AWorkspaceOfMinusOneIsNone) {
  const Result<Graph> graph = parse_graph(
      R"({"schema":"stowage.graph/1","name":"g","memories":[{"name":"device","alignment":512}],"tensors":[],
          "ops":[{"name":"op","workspaces":[{"size":-1},{"size":500}]}]})",
      "g.json");
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->ops()[0].workspaces[0].size, Bytes(0));
  const Plan plan = planned(*graph);
  EXPECT_EQ(plan.peak(), Bytes(512));
  ASSERT_THAT(plan.workspaces, SizeIs(1));
  EXPECT_EQ(plan.workspaces[0].index, 1U);
  EXPECT_EQ(plan.workspaces[0].size, Bytes(500));

  Draft draft;
  draft.op({.name = "op", .kind = "X", .workspaces = {{.size = Bytes(0)}, {.size = Bytes(500)}}});
  EXPECT_EQ(planned(draft.build()).peak(), Bytes(512));
  draft.description().ops[0].workspaces[0].size = Bytes(-1);
  EXPECT_THAT(draft.error(), HasSubstr("workspace 0 of op 'op' (0) has the negative size -1"));
}

TEST(GeCases, Case16SegmentsSumToTheTotal) {
  Chain chain({"a", "b", "c", "d", "e"});
  const Plan plan = planned(chain.draft.build(), {.no_reuse = true, .region_limit = Bytes(1024)});
  ASSERT_THAT(plan.arenas, SizeIs(1));
  EXPECT_THAT(plan.arenas[0].regions, ElementsAre(Bytes(1024), Bytes(1024), Bytes(512)));
  EXPECT_EQ(plan.arenas[0].size, Bytes(5 * 512));
}

TEST(GeCases, Case16WithoutReuseThePeakIsTheAlignedSum) {
  Chain chain({"a", "b", "c", "d", "e"});
  EXPECT_EQ(planned(chain.draft.build(), {.no_reuse = true}).peak(), Bytes(5 * 512));
}

TEST(GeCases, Case16MoreThanTheCapacityDoesNotFit) {
  Chain chain({"a", "b", "c"});
  const Result<Planned> result =
      plan(chain.draft.build(), {.capacity = Bytes(1023), .time_limit = {}, .node_budget = 1000});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, SolveStatus::infeasible);
  EXPECT_EQ(result->lower_bound, Bytes(1024));
}

}  // namespace
}  // namespace stowage
