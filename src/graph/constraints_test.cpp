#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/graph.hpp"

/// For every rule of groups, fills, flags, bodies, batches and rings: a graph that obeys it, and the error for one that
/// does not.
namespace stowage {
namespace {

using ::testing::HasSubstr;

using Change = std::function<void(GraphDescription&)>;

Tensor tensor(std::string name, std::int64_t size, TensorFlags flags = {}) {
  return {.name = std::move(name), .size = Bytes(size), .flags = flags};
}

Op op(std::string name, std::vector<std::optional<TensorId>> inputs, std::vector<TensorId> outputs) {
  return {.name = std::move(name), .kind = "X", .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

TensorId t(std::size_t id) { return TensorId(id); }

/// x, y → make → a, b → join → whole; two memories.
GraphDescription base() {
  GraphDescription graph{.name = "base", .memories = {{.name = "device"}, {.name = "host"}}, .tensors = {}, .ops = {}};
  graph.tensors = {tensor("x", 8, TensorFlag::input), tensor("y", 8, TensorFlag::constant), tensor("a", 8),
                   tensor("b", 8), tensor("whole", 16, TensorFlag::output)};
  graph.ops = {op("make", {t(0), t(1)}, {t(2), t(3)}), op("join", {t(2), t(3)}, {t(4)})};
  return graph;
}

std::string verdict(GraphDescription graph, const Change& change = {}) {
  if (change) change(graph);
  const Result<Graph> built = Graph::build(std::move(graph));
  return built ? "built" : to_string(built.error());
}

// ------------------------------------------------------------------------------------------------------------- groups

/// A value of a byte, to which `count` concats append a byte each.
GraphDescription concats(std::size_t count) {
  GraphDescription graph{
      .name = "nested", .memories = {}, .tensors = {tensor("first", 1)}, .ops = {op("make", {}, {t(0)})}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t part = graph.tensors.size();
    const auto size = static_cast<std::int64_t>(i) + 2;
    graph.tensors.insert(graph.tensors.end(), {tensor("part", 1), tensor("whole", size)});
    graph.ops.push_back(op("make", {}, {t(part)}));
    graph.ops.push_back(op("join", {t(part - 1), t(part)}, {t(part + 1)}));
    graph.ops.back().contiguous_inputs = Contiguity::packed;
  }
  return graph;
}

TEST(Groups, PackedOnesAreNested128DeepAtMost) {
  EXPECT_EQ(verdict(concats(128)), "built");
  EXPECT_EQ(verdict(concats(129)),
            "ops[2].contiguous_inputs: op 'join' (2) is inside of more than 128 packed groups, one in another");
}

TEST(Groups, PaddedAndPackedOnesAreAccepted) {
  EXPECT_EQ(verdict(base(), [](auto& g) { g.ops[1].contiguous_inputs = Contiguity::padded; }), "built");
  EXPECT_EQ(verdict(base(), [](auto& g) { g.ops[1].contiguous_inputs = Contiguity::packed; }), "built");
  EXPECT_EQ(verdict(base(), [](auto& g) { g.ops[0].contiguous_outputs = Contiguity::padded; }), "built");
}

TEST(Groups, OneMemberIsNone) {
  EXPECT_EQ(verdict(base(),
                    [](auto& g) {
                      g.ops[1].inputs = {t(2), std::nullopt};
                      g.ops[1].contiguous_inputs = Contiguity::packed;
                    }),
            "built");
}

TEST(Groups, MembersOfTwoMemoriesAreAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[3].memory = MemoryId(1);
                        g.ops[1].contiguous_inputs = Contiguity::padded;
                      }),
              HasSubstr("ops[1].contiguous_inputs: op 'join' (1) wants tensor 'b' (3) next to tensor 'a' (2), which is "
                        "in another memory"));
}

TEST(Groups, SizesThatDoNotSumAreAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[4].size = Bytes(17);
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                      }),
              HasSubstr("the sizes of its inputs sum to 16, but tensor 'whole' (4) has 17 bytes"));
}

TEST(Groups, AConcatHasOneOutputAndASplitOneInput) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors.push_back(tensor("more", 4));
                        g.ops[1].outputs.push_back(t(5));
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                      }),
              HasSubstr("op 'join' (1) packs its inputs, so it must have exactly one output, not 2"));
  EXPECT_THAT(verdict(base(), [](auto& g) { g.ops[0].contiguous_outputs = Contiguity::packed; }),
              HasSubstr("op 'make' (0) splits its input without a copy, so it must have exactly one input"));
}

TEST(Groups, OutputsThatAreRefsAreSoAllOrNone) {
  const auto refs = [](std::size_t count) {
    return [count](GraphDescription& g) {
      g.tensors[1].flags = TensorFlag::input;
      for (std::uint32_t i = 0; i < count; ++i) g.ops[0].aliases.push_back({i, i, Bytes(0)});
      g.ops[0].contiguous_outputs = Contiguity::padded;
    };
  };
  EXPECT_EQ(verdict(base(), refs(2)), "built");
  EXPECT_THAT(
      verdict(base(), refs(1)),
      HasSubstr("op 'make' (0) has contiguous outputs, of which some lie in other tensors, like tensor 'a' (2)"));
}

TEST(Groups, RefsThatCannotBeContiguousAreAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[0].size = Bytes(16);
                        g.ops[0].aliases = {{0, 0, Bytes(8)}, {1, 0, Bytes(0)}};
                        g.ops[0].contiguous_outputs = Contiguity::padded;
                      }),
              HasSubstr("the contiguous outputs of op 'make' (0) are impossible: other groups, views or aliases "
                        "require a different offset for tensor 'b' (3)"));
}

// -------------------------------------------------------------------------------------------------------------- fills

TEST(Fills, OutputsAndWorkspacesMayBeFilled) {
  EXPECT_EQ(verdict(base(),
                    [](auto& g) {
                      g.ops[0].workspaces = {{.size = Bytes(4)}};
                      g.ops[0].zero_fill = {.outputs = {0, 1}, .workspaces = {0}, .value = 7};
                    }),
            "built");
}

TEST(Fills, OfARefAViewOrAPackedOutputIsAnError) {
  const auto message = HasSubstr("which lies inside another tensor, whose bytes would be destroyed");
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.ops[0].aliases = {{0, 0, Bytes(0)}};
                        g.ops[0].zero_fill = {.outputs = {0}};
                      }),
              message);
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                        g.ops[1].zero_fill = {.outputs = {0}};
                      }),
              message);
}

TEST(Fills, OfWhatIsNotThereIsAnError) {
  EXPECT_THAT(verdict(base(), [](auto& g) { g.ops[0].zero_fill = {.outputs = {2}}; }),
              HasSubstr("ops[0].zero_fill.outputs[0]: op 'make' (0) has no output 2"));
  EXPECT_THAT(verdict(base(), [](auto& g) { g.ops[0].zero_fill = {.workspaces = {0}}; }),
              HasSubstr("op 'make' (0) has no workspace 0"));
}

TEST(Fills, OfBytesThatTheOpReadsIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[2].view_of = ViewOf{t(4), Bytes(0)};
                        g.ops[1].zero_fill = {.outputs = {0}};
                      }),
              HasSubstr("ops[1].zero_fill: op 'join' (1) fills tensor 'whole' (4), but reads the same bytes as tensor "
                        "'a' (2)"));
}

TEST(Fills, OfAVariableIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[2].flags = TensorFlag::variable;
                        g.ops[0].zero_fill = {.outputs = {0}};
                      }),
              HasSubstr("op 'make' (0) fills tensor 'a' (2), which already holds a value"));
}

TEST(Fills, OfBytesWithAnInitialValueUnderAnotherNameIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[0].view_of = ViewOf{t(3), Bytes(0)};
                        g.ops[0] = op("make", {t(1)}, {t(2), t(3)});
                        g.ops[0].zero_fill = {.outputs = {1}};
                      }),
              HasSubstr("op 'make' (0) fills tensor 'b' (3), which already holds a value: tensor 'x' (0)"));
}

// -------------------------------------------------------------------------------------------------------------- flags

TEST(Flags, ReusableNeedsZeroCopy) {
  EXPECT_EQ(verdict(base(), [](auto& g) { g.tensors[0].flags |= {TensorFlag::zero_copy, TensorFlag::reusable}; }),
            "built");
  EXPECT_THAT(verdict(base(), [](auto& g) { g.tensors[0].flags |= TensorFlag::reusable; }),
              HasSubstr("tensors[0].flags: tensor 'x' (0) is reusable but not zero_copy"));
}

TEST(Flags, ZeroCopyAndAnAddressOfItsOwnContradict) {
  EXPECT_THAT(
      verdict(base(), [](auto& g) { g.tensors[1].flags |= TensorFlag::zero_copy; }),
      HasSubstr(
          "tensor 'y' (1) is zero_copy, but a constant, variable or external tensor already has its own address"));
}

// ------------------------------------------------------------------------------------------------------------- bodies

/// Like `base`, but the second op is a call of a body that adds its two inputs.
GraphDescription with_call() {
  GraphDescription graph = base();
  graph.tensors[4].size = Bytes(8);
  Body body;
  body.tensors = {tensor("left", 8), tensor("right", 8), tensor("sum", 8)};
  body.ops = {op("add", {t(0), t(1)}, {t(2)})};
  body.inputs = {{t(2), t(0)}, {t(3), t(1)}};
  body.outputs = {{t(2), t(4)}};
  graph.ops[1].control = Control::call;
  graph.ops[1].bodies = {body};
  return graph;
}

/// The same body in a loop that carries the sum into `left`.
GraphDescription with_loop() {
  GraphDescription graph = with_call();
  graph.ops[1].control = Control::loop;
  graph.ops[1].bodies.front().carried = {{t(2), t(0)}};
  return graph;
}

TEST(Bodies, CallsBranchesAndLoopsAreAccepted) {
  EXPECT_EQ(verdict(with_call()), "built");
  EXPECT_EQ(verdict(with_loop()), "built");
  EXPECT_EQ(verdict(with_call(),
                    [](auto& g) {
                      g.ops[1].control = Control::branch;
                      g.ops[1].bodies.push_back(g.ops[1].bodies.front());
                    }),
            "built");
}

TEST(Bodies, TensorsAndOpsComeBehindTheRootsWithIdsOfTheirOwnList) {
  const Graph graph = *Graph::build(with_call());
  ASSERT_EQ(graph.scopes().size(), 2U);
  EXPECT_EQ(graph.tensor(t(7)).name, "sum");
  EXPECT_EQ(graph.op(OpId(2)).outputs.front(), t(7));
  EXPECT_EQ(graph.scope_of(t(7)), ScopeId(1));
  EXPECT_EQ(graph.scope_of(OpId(1)), ScopeId(0));
  EXPECT_EQ(graph.path(ScopeId(1)), (BodyPath{1, 0}));
  EXPECT_EQ(graph.find_scope(BodyPath{1, 0}), ScopeId(1));
  EXPECT_FALSE(graph.find_scope(BodyPath{0, 0}));
}

TEST(Bodies, ControlSaysHowManyThereAre) {
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].control = Control::none; }),
              HasSubstr("op 'join' (1) has 1 body; an op with bodies needs 'control'"));
  EXPECT_THAT(verdict(with_loop(), [](auto& g) { g.ops[1].bodies.push_back(g.ops[1].bodies.front()); }),
              HasSubstr("op 'join' (1) has 2 bodies; a loop has exactly one"));
}

TEST(Bodies, AnIdOutsideOfItsOwnScopeIsAnErrorThatNamesThePlace) {
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].ops[0].inputs[0] = t(3); }),
              HasSubstr("ops[1].bodies[0].ops[0].inputs[0]: op 'add' (0) names tensor 3, which does not exist"));
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].inputs[0].outer = t(9); }),
              HasSubstr("ops[1].bodies[0].inputs[0]"));
}

TEST(Bodies, PairsAreOfEqualSizeAndMemory) {
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].tensors[0].size = Bytes(4); }),
              HasSubstr("has 4 bytes, tensor 'a' (2) has 8"));
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].tensors[0].memory = MemoryId(1); }),
              HasSubstr("are in different memories"));
}

TEST(Bodies, EveryOutputNeedsAValue) {
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].outputs.clear(); }),
              HasSubstr("body 0 of op 'join' (1): nothing gives tensor 'whole' (4) a value"));
}

TEST(Bodies, ValuesComeInAndGoOutByPairsOnly) {
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].tensors[2].flags = TensorFlag::output; }),
              HasSubstr("ops[1].bodies[0].tensors[2].flags: tensor 'sum' (7) is in a body"));
  EXPECT_THAT(verdict(with_call(), [](auto& g) { g.ops[1].bodies[0].ops[0].outputs = {t(1)}; }),
              HasSubstr("which comes from outside the body"));
}

TEST(Loops, AResultThatIsNotCarriedIsAnError) {
  EXPECT_THAT(
      verdict(with_loop(), [](auto& g) { g.ops[1].bodies[0].carried.clear(); }),
      HasSubstr(
          "tensor 'sum' (7) is a result of the loop but is not carried: after zero iterations it would be undefined"));
}

TEST(Loops, ACarriedValueNeedsAFirstOneAndAWriter) {
  EXPECT_THAT(verdict(with_loop(), [](auto& g) { g.ops[1].bodies[0].carried = {{t(2), t(2)}}; }),
              HasSubstr("has no value for the first iteration"));
  EXPECT_THAT(verdict(with_loop(), [](auto& g) { g.ops[1].bodies[0].carried = {{t(1), t(0)}}; }),
              HasSubstr("no op of the body writes it"));
}

TEST(Loops, WhatGoesAroundIsNotWhatCameInAsSomethingElse) {
  EXPECT_THAT(verdict(with_loop(),
                      [](auto& g) {
                        Body& body = g.ops[1].bodies[0];
                        body.ops[0].aliases = {{0, 1, Bytes(0)}};
                      }),
              HasSubstr("tensor 'sum' (7) is carried, but shares memory with tensor 'right' (6), which enters the body "
                        "as another value"));
}

TEST(Bodies, WhatComesInMustBeAlignedWhereItLies) {
  const auto view = [](std::int64_t offset) {
    return [offset](GraphDescription& g) {
      g.memories[0].alignment = Bytes(8);
      g.tensors.push_back({.name = "half", .size = Bytes(8), .view_of = ViewOf{t(5), Bytes(offset)}});
      g.tensors.insert(g.tensors.end() - 1, tensor("both", 16, TensorFlag::input));
      g.ops[1].inputs[0] = t(6);
      g.ops[1].bodies[0].inputs[0].outer = t(6);
    };
  };
  EXPECT_EQ(verdict(with_call(), view(8)), "built");
  EXPECT_THAT(verdict(with_call(), view(4)), HasSubstr("would lie 4 bytes into the memory that it shares through "
                                                       "bodies, which is not a multiple of its alignment 8"));
}

TEST(Groups, PackedOnesHaveATaskAndNothingExternal) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                        g.ops[1].no_task = true;
                      }),
              HasSubstr("op 'join' (1) is packed, so it must have a task"));
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.tensors[4].flags = TensorFlag::external;
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                      }),
              HasSubstr("op 'join' (1) is packed and copies nothing, but tensor 'whole' (4) is external"));
}

// ------------------------------------------------------------------------------------------------------------ batches

TEST(Batches, AMergeMayReadWhatOnlySomeBatchesWrite) {
  EXPECT_EQ(verdict(base(), [](auto& g) { g.ops[0].batch = "small"; }), "built");
}

TEST(Batches, AnOpOfAnotherBatchMayNot) {
  EXPECT_THAT(
      verdict(base(),
              [](auto& g) {
                g.ops[0].batch = "small";
                g.ops[1].batch = "large";
              }),
      HasSubstr("ops[1].inputs[0]: op 'join' (1) of batch 'large' reads tensor 'a' (2), which only op 'make' (0) of "
                "batch 'small' writes"));
}

TEST(Batches, WhatSomeBatchesLackIsNotPassedOn) {
  const Change two = [](GraphDescription& g) {
    g.ops[0].batch = "small";
    g.ops.push_back(op("other", {}, {}));
    g.ops.back().batch = "large";
  };
  EXPECT_THAT(verdict(with_call(), two),
              HasSubstr("op 'join' (1) passes tensor 'a' (2) into a body, but it has no value in batch 'large'"));
  EXPECT_THAT(verdict(base(),
                      [&](auto& g) {
                        two(g);
                        g.ops[1].contiguous_inputs = Contiguity::packed;
                      }),
              HasSubstr("op 'join' (1) passes tensor 'a' (2) on without a copy, but it has no value in batch 'large'"));
}

// -------------------------------------------------------------------------------------------------------------- rings

TEST(Rings, APrefetchedTensorIsNothingElse) {
  const Change ring = [](GraphDescription& g) {
    g.rings = {{.name = "ring", .size = Bytes(64)}};
    g.ops[0].prefetch = RingId(0);
  };
  EXPECT_EQ(verdict(base(), ring), "built");
  EXPECT_THAT(
      verdict(base(),
              [&](auto& g) {
                ring(g);
                g.tensors[2].flags = TensorFlag::output;
              }),
      HasSubstr("op 'make' (0) prefetches tensor 'a' (2), which cannot be a view, an alias, filled or a member of a "
                "contiguous group, and cannot have flags"));
  EXPECT_THAT(verdict(base(), [](auto& g) { g.ops[0].prefetch = RingId(3); }),
              HasSubstr("prefetches into ring 3, which does not exist"));
}

TEST(Rings, AReaderOfATakenRangeIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.rings = {{.name = "ring", .size = Bytes(16)}};
                        g.ops[0].prefetch = RingId(0);
                        g.tensors.push_back(tensor("late", 16));
                        Op late = op("late", {}, {t(5)});
                        late.prefetch = RingId(0);
                        g.ops.insert(g.ops.begin() + 1, late);
                      }),
              HasSubstr("op 'join' (2) reads tensor 'a' (2), whose bytes in ring 'ring' of 16 bytes were already taken "
                        "by op 'late' (1)"));
}

TEST(Rings, AnAccessBeforeTheRangeIsTakenIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.rings = {{.name = "ring", .size = Bytes(64)}};
                        g.tensors.push_back(tensor("late", 16));
                        g.tensors[2].view_of = ViewOf{t(5), Bytes(0)};
                        Op late = op("late", {}, {t(5)});
                        late.prefetch = RingId(0);
                        g.ops.push_back(late);
                      }),
              HasSubstr("op 'make' (0) writes tensor 'a' (2), whose bytes in ring 'ring' are not taken before op "
                        "'late' ("));
}

TEST(Rings, WhatSharesMemoryWithAPrefetchedTensorHasNoFlags) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.rings = {{.name = "ring", .size = Bytes(64)}};
                        g.ops[0].prefetch = RingId(0);
                        g.tensors[4].size = Bytes(8);
                        g.ops[1].aliases = {{0, 0, Bytes(0)}};
                      }),
              HasSubstr("tensor 'whole' (4) shares memory with a prefetched tensor, so it cannot have flags"));
}

TEST(Rings, AnOpWithNoReuseCannotWriteToOne) {
  const Change ring = [](GraphDescription& g) {
    g.rings = {{.name = "ring", .size = Bytes(64)}};
    g.ops[0].prefetch = RingId(0);
  };
  EXPECT_THAT(verdict(base(),
                      [&](auto& g) {
                        ring(g);
                        g.ops[0].no_reuse = true;
                      }),
              HasSubstr("op 'make' (0) cannot have no_reuse, because tensor 'a' (2) lies in a ring"));
  EXPECT_EQ(verdict(base(),
                    [&](auto& g) {
                      ring(g);
                      g.ops[1].no_reuse = true;
                    }),
            "built");
}

TEST(Rings, MoreAtOnceThanTheRingHoldsIsAnError) {
  EXPECT_THAT(verdict(base(),
                      [](auto& g) {
                        g.rings = {{.name = "ring", .size = Bytes(12)}};
                        g.ops[0].prefetch = RingId(0);
                      }),
              HasSubstr("op 'make' (0) prefetches more at once than ring 'ring' of 12 bytes holds"));
}

// -------------------------------------------------------------------------------------------------------------- plain

TEST(Graph, IsPlainAsLongAsAddressesServeIt) {
  EXPECT_TRUE(Graph::build(base())->needs_addresses_only());
  EXPECT_FALSE(Graph::build(with_call())->needs_addresses_only());
  GraphDescription filled = base();
  filled.ops[0].zero_fill = {.outputs = {0}};
  EXPECT_FALSE(Graph::build(filled)->needs_addresses_only());
}

}  // namespace
}  // namespace stowage
