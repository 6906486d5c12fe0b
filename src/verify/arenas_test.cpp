#include <functional>

#include "support/builders/plans.hpp"

/// What belongs in which arena: session, fixed, pool and user, with bindings to callers' buffers,
/// and the limits of regions.
namespace stowage::verification {
namespace {

// ------------------------------------------------------------------------------------------------------------ session

TEST(SessionWorkspaces, HaveBytesOfTheirOwnInAnArenaOfTheirOwn) {
  Op first = op("first", {}, {});
  Op second = op("second", {}, {});
  first.workspaces = second.workspaces = {{.size = Bytes(512), .scope = WorkspaceScope::session}};
  const Graph graph = graph_of({}, {first, second});
  Plan plan = plan_of(graph, {}, {0, 512});
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::arena, Rule::arena));
  const ArenaId session = add_arena(plan, ArenaKind::session, 1024);
  for (WorkspacePlacement& workspace : plan.workspaces) workspace.arena = session;
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.workspaces[1].offset = Bytes(256);
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::overlap)) << "although one is over before the other begins";
}

// -------------------------------------------------------------------------------------------------------------- fixed

/// a → (collective) → b → c; the collective needs fixed addresses.
Graph collective() {
  Op reduce = op("reduce", {0}, {1});
  reduce.fixed_address = true;
  reduce.workspaces = {{Bytes(50)}};
  return graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput)},
                  {op("a", {}, {0}), reduce, op("c", {1}, {2})});
}

TEST(FixedAddress, WithARefreshableBaseWhatSuchAnOpTouchesLiesInAFixedArena) {
  const Graph graph = collective();
  Plan plan = plan_of(graph, {0, 100, 0}, {200});
  EXPECT_THAT(verify(graph, plan), IsEmpty()) << "the base is fixed";
  const VerifyOptions refreshable{.base = AddressBase::refreshable};
  EXPECT_THAT(rules(verify(graph, plan, refreshable)), ElementsAre(Rule::arena, Rule::arena, Rule::arena));
  const ArenaId fixed = add_arena(plan, ArenaKind::fixed, 250);
  plan.placements[0].arena = plan.placements[1].arena = plan.workspaces[0].arena = fixed;
  EXPECT_THAT(verify(graph, plan, refreshable), IsEmpty());
  plan.workspaces[0].arena = ArenaId(0);
  EXPECT_THAT(verify(graph, plan, refreshable),
              ElementsAre(Breaks(Rule::arena, "workspace 0 of op 'reduce' (1) belongs in a fixed")));
}

TEST(FixedAddress, WithARefreshableBaseNothingElseLiesInAFixedArena) {
  const Graph graph = collective();
  Plan plan = plan_of(graph, {0, 100, 0}, {200});
  const ArenaId fixed = add_arena(plan, ArenaKind::fixed, 250);
  for (Placement& each : plan.placements) each.arena = fixed;
  plan.workspaces[0].arena = fixed;
  plan.arenas[0].size = plan.arenas[0].regions[0] = Bytes(0);
  plan.arenas[0].proven_optimal = true;
  EXPECT_THAT(verify(graph, plan), IsEmpty()) << "under a fixed base all arenas are alike";
  EXPECT_THAT(verify(graph, plan, {.base = AddressBase::refreshable}),
              ElementsAre(Breaks(Rule::arena, "tensor 'c' (2) needs no fixed address")));
}

TEST(FixedAddress, WhatAGroupTiesToAFixedAddressLiesInTheFixedArenaToo) {
  Op gather = op("gather", {0, 1}, {2});
  gather.contiguous_inputs = Contiguity::padded;
  Op reduce = op("reduce", {0}, {});
  reduce.fixed_address = true;
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 100), tensor("c", 100, kOutput)},
                               {op("a", {}, {0}), op("b", {}, {1}), reduce, gather});
  Plan plan = plan_of(graph, {0, 100, 0});
  const ArenaId fixed = add_arena(plan, ArenaKind::fixed, 200);
  plan.placements[0].arena = plan.placements[1].arena = fixed;
  fit(plan.arenas[0], Bytes(100));
  EXPECT_THAT(verify(graph, plan, {.base = AddressBase::refreshable}), IsEmpty());
}

// -------------------------------------------------------------------------------------------------------------- pools

/// A ring of 2048 bytes: prefetches of 512, 1024, 512 and 512 on stream 1, each read on stream 0.
Graph ring() {
  GraphDescription description{.name = "test",
                               .memories = {Memory{.name = "cpu"}},
                               .tensors = {tensor("p0", 512), tensor("p1", 1024), tensor("p2", 512), tensor("p3", 512)},
                               .ops = {},
                               .rings = {{.name = "ring", .size = Bytes(2048)}}};
  for (std::size_t i = 0; i < 4; ++i) {
    description.ops.push_back(op_on(1, "prefetch", {}, {i}));
    description.ops.back().prefetch = RingId(0);
    description.ops.push_back(op_on(0, "use", {i}, {}));
  }
  Result<Graph> graph = Graph::build(std::move(description));
  EXPECT_TRUE(graph.has_value());
  return std::move(graph).value();
}

Plan ring_plan(const Graph& graph) {
  Plan plan = plan_of(graph, {0, 512, 1536, 0});
  const ArenaId pool = add_arena(plan, ArenaKind::ring, 2048);
  for (Placement& placement : plan.placements) placement.arena = pool;
  plan.arenas[0].size = plan.arenas[0].regions[0] = Bytes(0);
  plan.arenas[0].proven_optimal = true;
  plan.edges = {{OpId(1), OpId(6)}};
  return plan;
}

TEST(Pools, TheFourthPrefetchWaitsForTheReaderOfTheFirst) {
  const Graph graph = ring();
  Plan plan = ring_plan(graph);
  EXPECT_THAT(verify(graph, plan), IsEmpty());
  plan.edges.clear();
  EXPECT_THAT(
      verify(graph, plan),
      ElementsAre(Breaks(Rule::overlap, "nothing orders step 1 (op 'use' (1)) before step 6 (op 'prefetch' (6))")));
}

TEST(Pools, PrefetchedTensorsLieInTheirPoolOfItsSize) {
  const Graph graph = ring();
  Plan elsewhere = ring_plan(graph);
  elsewhere.placements[0].arena = ArenaId(0);
  fit(elsewhere.arenas[0], Bytes(512));
  EXPECT_THAT(verify(graph, elsewhere), Contains(Breaks(Rule::arena, "tensor 'p0' (0) belongs in a pool arena")));
  Plan small = ring_plan(graph);
  small.arenas[2].size = small.arenas[2].regions[0] = Bytes(4096);
  EXPECT_THAT(verify(graph, small), ElementsAre(Breaks(Rule::size, "ring 'ring' is one range of 2048 bytes")));
}

TEST(Edges, LeadForwardBetweenTasksOfTheRoot) {
  const Graph graph = ring();
  Plan plan = ring_plan(graph);
  plan.edges.push_back({OpId(6), OpId(1)});
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::edge, "backward")));
  plan.edges.back() = {OpId(6), OpId(8)};
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::reference, "edge 1")));
}

TEST(Edges, DoNotLeadFromAnOpToItself) {
  const Graph graph = ring();
  Plan plan = ring_plan(graph);
  plan.edges.push_back({OpId(6), OpId(6)});
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::edge, "edge 1 leads backward, from op 'prefetch' (6) to op 'prefetch' (6)")));
}

TEST(Edges, OrderNothingWhereAnOpHasNoTask) {
  for (const std::size_t nothing : {0U, 1U}) {
    std::vector<Op> ops = {op_on(0, "a", {}, {}), op_on(1, "b", {}, {})};
    ops[nothing].no_task = true;
    const Graph graph = graph_of({}, ops);
    Plan plan = plan_of(graph, {});
    plan.edges = {{OpId(0), OpId(1)}};
    EXPECT_THAT(
        verify(graph, plan),
        ElementsAre(Breaks(Rule::edge, "from op 'a' (0) to op 'b' (1) orders nothing: not both ops have a task")));
  }
}

TEST(Edges, OrderSomethingThatTheGraphDoesNotOrder) {
  const Graph graph = ring();
  Plan plan = ring_plan(graph);
  plan.edges = {{OpId(1), OpId(6)}, {OpId(1), OpId(6)}};
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::edge, "from op 'use' (1) to op 'prefetch' (6) is not needed")))
      << "the same edge twice";
  plan.edges = {{OpId(0), OpId(3)}, {OpId(1), OpId(6)}};
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::edge, "from op 'prefetch' (0) to op 'use' (3)")))
      << "a stream and data order the two";
  plan.edges = {{OpId(1), OpId(4)}, {OpId(1), OpId(6)}};
  EXPECT_THAT(verify(graph, plan), IsEmpty()) << "the second follows from the first, but not from the graph";
}

TEST(Edges, AreNeededInSomeBatchThatRunsBothOps) {
  const auto build = [](const std::string& from, const std::string& to) {
    std::vector<Op> ops = {op_on(0, "a", {}, {}), op_on(1, "b", {}, {}), op_on(0, "c", {}, {})};
    ops[0].batch = from;
    ops[1].batch = to;
    ops[2].batch = "other";
    return graph_of({}, ops);
  };
  const auto with_edge = [](const Graph& graph) {
    Plan plan = plan_of(graph, {});
    plan.edges = {{OpId(0), OpId(1)}};
    return plan;
  };
  const Graph never = build("one", "two");
  EXPECT_THAT(rules(verify(never, with_edge(never))), ElementsAre(Rule::edge));
  const Graph once = build("one", "");
  EXPECT_THAT(verify(once, with_edge(once)), IsEmpty());
}

// ----------------------------------------------------------------------------------------------------------- bindings

constexpr TensorFlags kBoundInput{TensorFlag::input, TensorFlag::zero_copy, TensorFlag::reusable};
constexpr TensorFlags kBoundOutput{TensorFlag::output, TensorFlag::zero_copy, TensorFlag::reusable};

/// in → a → b → out; both ends may lie in the caller's buffers.
Graph bound_chain(const std::function<void(GraphDescription&)>& change = {}) {
  GraphDescription description{
      .name = "test",
      .memories = {Memory{.name = "cpu", .alignment = Bytes(4)}},
      .tensors = {tensor("in", 100, kBoundInput), tensor("a", 100), tensor("b", 100), tensor("out", 100, kBoundOutput)},
      .ops = {op("a", {0}, {1}), op("b", {1}, {2}), op("out", {2}, {3})}};
  if (change) change(description);
  Result<Graph> graph = Graph::build(std::move(description));
  if (!graph) ADD_FAILURE() << to_string(graph.error());
  return std::move(graph).value();
}

Plan bound_plan(const Graph& graph) {
  Plan plan = plan_of(graph, {{}, 0, 100, {}});
  plan.bindings = {{TensorId(0), Bytes(100), Bytes(4)}, {TensorId(3), Bytes(100), Bytes(4)}};
  return plan;
}

TEST(Bindings, BoundTensorsHaveNoPlacement) {
  const Graph graph = bound_chain();
  EXPECT_THAT(verify(graph, bound_plan(graph)), IsEmpty());
  Plan twice = bound_plan(graph);
  twice.placements.insert(twice.placements.begin(), {TensorId(0), ArenaId(0), 0, Bytes(100), Bytes(100)});
  EXPECT_THAT(verify(graph, twice),
              Contains(Breaks(Rule::missing, "tensor 'in' (0) is bound to a caller's buffer, but has")));
  Plan neither = bound_plan(graph);
  neither.bindings.pop_back();
  EXPECT_THAT(verify(graph, neither), ElementsAre(Breaks(Rule::missing, "tensor 'out' (3) needs memory")));
}

TEST(Bindings, SizeAndAlignmentAreTheTensors) {
  const Graph graph = bound_chain();
  Plan plan = bound_plan(graph);
  plan.bindings[0].size = Bytes(99);
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::size));
  plan = bound_plan(graph);
  plan.bindings[0].alignment = Bytes(2);
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::alignment));
  plan.bindings[0].tensor = TensorId(9);
  EXPECT_THAT(verify(graph, plan), Contains(Breaks(Rule::reference, "binding 0 names tensor 9")));
}

TEST(Bindings, EachRuleOfZeroCopyIsChecked) {
  using Change = std::function<void(GraphDescription&)>;
  const std::vector<std::pair<const char*, Change>> cases = {
      {"is not zero_copy", [](GraphDescription& d) { d.tensors[0].flags = TensorFlag::input; }},
      {"is neither input nor output", [](GraphDescription& d) { d.tensors[3].flags = TensorFlag::zero_copy; }},
      {"'in' (0) is bound to a caller's buffer, but shares memory with a tensor that has its own address",
       [](GraphDescription& d) {
         d.ops[0].aliases = {{0, 0, Bytes(0)}};
         d.tensors[1].flags = TensorFlag::variable;
       }},
      {"'out' (3) is bound to a caller's buffer, but shares memory with several outputs",
       [](GraphDescription& d) {
         d.ops[2].aliases = {{0, 0, Bytes(0)}};
         d.tensors[2].flags = kOutput;
       }},
      {"'out' (3) is bound to a caller's buffer, but must be filled",
       [](GraphDescription& d) { d.ops[2].zero_fill.outputs = {0}; }},
      {"needs a fixed address", [](GraphDescription& d) { d.ops[0].fixed_address = true; }},
      {"contiguous group",
       [](GraphDescription& d) {
         d.ops[1].inputs.emplace_back(TensorId(0));
         d.ops[1].contiguous_inputs = Contiguity::padded;
       }},
      {"p2p", [](GraphDescription& d) { d.memories[0].kind = "p2p"; }},
      {"shapes of a graph with batches",
       [](GraphDescription& d) {
         d.tensors[0].flags |= TensorFlag::shape_data;
         d.ops[1].batch = "a";
       }},
      {"another zero-copy tensor",
       [](GraphDescription& d) {
         d.ops[0].aliases = {{0, 0, Bytes(0)}};
         d.tensors[1].flags = kBoundOutput;
       }},
      {"does not cover", [](GraphDescription& d) {
         d.ops[0].aliases = {{0, 0, Bytes(0)}};
         d.tensors[1].size = Bytes(200);
       }}};
  for (const auto& [words, change] : cases) {
    const Graph graph = bound_chain(change);
    EXPECT_THAT(verify(graph, bound_plan(graph)), Contains(Breaks(Rule::binding, words))) << words;
  }
}

TEST(Bindings, WhatGoesIntoABodyIsNotBound) {
  const Graph graph = bound_chain([](GraphDescription& d) {
    d.ops[0].control = Control::call;
    d.ops[0].bodies = {{.tensors = {tensor("x", 100), tensor("y", 100)},
                        .ops = {op("y", {0}, {1})},
                        .inputs = {{TensorId(0), TensorId(0)}},
                        .outputs = {{TensorId(1), TensorId(1)}},
                        .carried = {}}};
  });
  Plan plan = plan_of(graph, {{}, 0, 100, {}, {}, 0});
  plan.bindings = bound_plan(graph).bindings;
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::binding, "tensor 'in' (0) is bound to a caller's buffer, but goes")));
}

/// A plan in which tensor `guest` lies in the caller's buffer of tensor `host`.
Plan hosted(const Graph& graph, std::size_t guest, std::size_t host) {
  Plan plan = bound_plan(graph);
  const ArenaId arena = add_arena(plan, ArenaKind::user, 100);
  plan.arenas.back().tensor = TensorId(host);
  for (Placement& placement : plan.placements) {
    if (placement.tensor == TensorId(guest)) placement = {placement.tensor, arena, 0, Bytes(0), Bytes(100)};
  }
  return plan;
}

TEST(UserArenas, HostOthersOutsideTheirOwnUse) {
  const Graph graph = bound_chain();
  EXPECT_THAT(verify(graph, hosted(graph, 2, 0)), IsEmpty()) << "b, after in was read";
  EXPECT_THAT(verify(graph, hosted(graph, 2, 0), {.keep_inputs = true}),
              Contains(Breaks(Rule::overlap, "tensor 'in' (0)")));
  EXPECT_THAT(verify(graph, hosted(graph, 1, 0)),
              ElementsAre(Breaks(Rule::overlap, "tensor 'in' (0) [0, 100) and tensor 'a' (1)")));
  EXPECT_THAT(verify(graph, hosted(graph, 1, 3)), IsEmpty()) << "a, before out is written";
  EXPECT_THAT(rules(verify(graph, hosted(graph, 2, 3))), ElementsAre(Rule::overlap));
}

TEST(UserArenas, OfAnOutputHostNothingOnceItIsWritten) {
  const Graph graph = bound_chain([](GraphDescription& d) {
    d.tensors.push_back(tensor("late", 100));
    d.ops.push_back(op("late", {}, {4}));
  });
  Plan plan = hosted(graph, 1, 3);
  Placement late = plan.placements.front();
  late.tensor = TensorId(4);
  plan.placements.push_back(late);
  EXPECT_THAT(verify(graph, plan),
              ElementsAre(Breaks(Rule::overlap, "tensor 'out' (3) [0, 100) and tensor 'late' (4)")));
}

TEST(UserArenas, AreOneForEachTensorInItsMemory) {
  const Graph graph = bound_chain([](GraphDescription& d) { d.memories.push_back({.name = "other"}); });
  Plan plan = hosted(graph, 2, 0);
  const ArenaId second = add_arena(plan, ArenaKind::user, 100);
  plan.arenas[second.index()].tensor = TensorId(0);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::binding, "which already has an arena")));
  plan.arenas.pop_back();
  plan.arenas.back().tensor = TensorId(1);
  EXPECT_THAT(verify(graph, plan),
              Contains(Breaks(Rule::binding, "is the buffer of tensor 'a' (1), which is not bound")));
  plan.arenas.back().tensor = TensorId(0);
  plan.arenas.back().memory = MemoryId(1);
  EXPECT_THAT(verify(graph, plan), Contains(Breaks(Rule::binding, "which is in another memory")));
}

TEST(UserArenas, BelongToABoundReusableTensorAndHaveItsSize) {
  const Graph graph = bound_chain();
  Plan plan = hosted(graph, 2, 0);
  plan.arenas.back().tensor.reset();
  EXPECT_THAT(rules(verify(graph, plan)), ElementsAre(Rule::reference));
  plan = hosted(graph, 2, 0);
  plan.arenas.back().size = plan.arenas.back().regions[0] = Bytes(128);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::binding, "has a different size")));
  plan = hosted(graph, 2, 0);
  plan.arenas[0].tensor = TensorId(0);
  EXPECT_THAT(verify(graph, plan), ElementsAre(Breaks(Rule::arena, "is not a user arena")));
  const Graph strict =
      bound_chain([](GraphDescription& d) { d.tensors[0].flags = {TensorFlag::input, TensorFlag::zero_copy}; });
  EXPECT_THAT(verify(strict, hosted(strict, 2, 0)), ElementsAre(Breaks(Rule::binding, "is not reusable")));
}

TEST(UserArenas, SomeGuestsAreNotWelcome) {
  using Change = std::function<void(GraphDescription&)>;
  const std::vector<std::pair<const char*, Change>> cases = {
      {"it is an output", [](GraphDescription& d) { d.tensors[2].flags = kOutput; }},
      {"must not share its bytes", [](GraphDescription& d) { d.tensors[2].flags = TensorFlag::no_reuse; }},
      {"needs a fixed address", [](GraphDescription& d) { d.ops[2].fixed_address = true; }},
      {"its alignment is larger", [](GraphDescription& d) { d.tensors[2].alignment = Bytes(8); }},
      {"it must be filled", [](GraphDescription& d) { d.ops[1].zero_fill.outputs = {0}; }}};
  for (const auto& [words, change] : cases) {
    const Graph graph = bound_chain(change);
    EXPECT_THAT(verify(graph, hosted(graph, 2, 0)), Contains(Breaks(Rule::arena, words))) << words;
  }
}

// ------------------------------------------------------------------------------------------------------------- limits

TEST(RegionLimit, OfTheOptionsHoldsLikeTheMemorys) {
  const Graph graph = graph_of({tensor("in", 100, kInput), tensor("out", 100, kOutput)}, {op("copy", {0}, {1})});
  Plan plan = plan_of(graph, {0, 100});
  EXPECT_THAT(verify(graph, plan, {.region_limit = Bytes(200)}), IsEmpty());
  EXPECT_THAT(rules(verify(graph, plan, {.region_limit = Bytes(199)})), ElementsAre(Rule::bounds));
  plan.arenas[0].regions = {Bytes(100), Bytes(100)};
  plan.placements[1].region = 1;
  plan.placements[1].offset = Bytes(0);
  EXPECT_THAT(verify(graph, plan, {.region_limit = Bytes(100)}), IsEmpty());
}

TEST(RegionLimit, NeverCutsAGroup) {
  Op last = op("gather", {0, 1}, {2});
  last.contiguous_inputs = Contiguity::padded;
  const Graph graph = graph_of({tensor("a", 100), tensor("b", 50), tensor("sum", 10, kOutput)},
                               {op("a", {}, {0}), op("b", {}, {1}), last});
  Plan plan = plan_of(graph, {0, 100, 0});
  plan.placements[2].region = 1;
  plan.arenas[0].regions = {Bytes(150), Bytes(10)};
  plan.arenas[0].size = Bytes(160);
  EXPECT_THAT(verify(graph, plan, {.region_limit = Bytes(120)}), IsEmpty())
      << "the group is larger than the limit itself";
}

}  // namespace
}  // namespace stowage::verification
