#include "rewrite/interface/rewrites.hpp"

#include <algorithm>
#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders/sketch.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"

namespace stowage::rewrite {
namespace {

using ::testing::ElementsAre;
using testing::Sketch;

constexpr std::array kConstraints{Constraint::padded_groups,      Constraint::packed_groups, Constraint::kept_outputs,
                                  Constraint::no_reuse,           Constraint::alignments,    Constraint::streams,
                                  Constraint::largest_buffers,    Constraint::batches,       Constraint::rings,
                                  Constraint::session_workspaces, Constraint::apart};
constexpr std::array kOpFlagsToDrop{&Op::fixed_address, &Op::no_reuse};
constexpr std::array kTensorFlagsToDrop{TensorFlags{TensorFlag::zero_copy, TensorFlag::reusable},
                                        TensorFlags{TensorFlag::no_reuse}};

/// Drops every kind of constraint, each from a graph as it was; `check` gets what there was any of.
template <class Check>
void relax_each(const Graph& graph, const Check& check) {
  const auto drop_all = [&](const auto& kinds) {
    for (const auto& kind : kinds) {
      Editor editor(graph);
      if (relax(editor, kind)) check(std::move(editor));
    }
  };
  drop_all(kConstraints);
  drop_all(kOpFlagsToDrop);
  drop_all(kTensorFlagsToDrop);
}

/// None of these rewrites adds, removes or reorders anything.
void expect_unmoved(const Graph& graph, const Result<Rewritten>& result) {
  if (!result) return;
  ASSERT_EQ(result->origins.tensors.size(), graph.tensors().size());
  ASSERT_EQ(result->origins.ops.size(), graph.ops().size());
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    EXPECT_EQ(result->origins.tensors[t], (Origin<TensorId>{OriginKind::same, TensorId(t)}));
    EXPECT_EQ(result->graph.tensors()[t].name, graph.tensors()[t].name);
  }
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    EXPECT_EQ(result->origins.ops[k], (Origin<OpId>{OriginKind::same, OpId(k)}));
    EXPECT_EQ(result->graph.ops()[k].name, graph.ops()[k].name);
    EXPECT_EQ(result->graph.ops()[k].inputs, graph.ops()[k].inputs);
  }
}

TEST(WithAlignment, ReplacesTheMemories) {
  Sketch s;
  s.tensor("x", 8);
  const Result<Rewritten> result = with_alignment(s.build(), Bytes(64));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->graph.alignment(TensorId(0)), Bytes(64));
}

TEST(MergeMemories, TakesTheStricterAlignmentAndLimit) {
  Sketch s;
  GraphDescription description = s.build().description();
  description.memories = {{.name = "a", .alignment = Bytes(4), .max_size = Bytes(100), .kind = "host"},
                          {.name = "b", .alignment = Bytes(32), .max_size = Bytes(50)}};
  description.tensors = {{.name = "x", .size = Bytes(8), .memory = MemoryId(1)}};
  const Graph graph = Graph::build(description).value();
  const std::array<std::size_t, 2> target{0, 0};
  const Result<Rewritten> result =
      merge_memories(graph, {{.name = "both", .alignment = Bytes(16), .max_size = Bytes(80), .kind = ""}}, target);
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->graph.memories(),
              ElementsAre(Memory{.name = "both", .alignment = Bytes(32), .max_size = Bytes(50), .kind = "host"}));
  EXPECT_EQ(result->graph.tensor(TensorId(0)).memory, MemoryId(0));
}

TEST(DropTensors, TakesWhatLiesInThemAlong) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 4);
  const TensorId z = s.tensor("z", 4);
  s.op({.name = "part",
        .kind = "X",
        .inputs = {x},
        .outputs = {y},
        .aliases = {{0, 0, Bytes(4)}},
        .workspaces = {{Bytes(16)}}});
  s.op({y}, {z});
  const Graph graph = s.build();
  const Dropped dropped = closed(graph, {{y}, {{OpId(0), 0}}});
  EXPECT_THAT(dropped.tensors, ElementsAre(x, y));
  const Result<Rewritten> result = drop_tensors(graph, dropped);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->graph.tensor(x).size, Bytes(0));
  EXPECT_EQ(result->graph.tensor(z).size, Bytes(4));
  EXPECT_EQ(result->graph.op(OpId(0)).aliases[0].offset, Bytes(0));
  EXPECT_EQ(result->graph.op(OpId(0)).workspaces[0].size, Bytes(0));
}

TEST(MergeMemories, TakesTheLowerBandwidth) {
  GraphDescription description{.name = "two",
                               .memories = {{.name = "a", .bandwidth = 4}, {.name = "b", .bandwidth = 3}},
                               .tensors = {},
                               .ops = {}};
  const Graph graph = Graph::build(description).value();
  const std::array<std::size_t, 2> target{0, 0};
  EXPECT_EQ(merge_memories(graph, {{.name = "both"}}, target)->graph.memories()[0].bandwidth, 3);
}

TEST(DropTensors, NothingIsKeptApartFromWhatIsGone) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  GraphDescription description = s.build().description();
  description.apart = {{x, y}, {z, x}, {y, z}};
  const Graph graph = Graph::build(description).value();
  EXPECT_THAT(drop_tensors(graph, {{y}, {}})->graph.apart(), ElementsAre(ApartTensors{z, x}));
}

TEST(Relax, TensorsNeedNotBeKeptApart) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  GraphDescription description = s.build().description();
  description.apart = {{x, y}};
  Editor editor(Graph::build(description).value());
  EXPECT_TRUE(relax(editor, Constraint::apart));
  EXPECT_FALSE(relax(editor, Constraint::apart)) << "the second time there is nothing left";
  EXPECT_TRUE(std::move(editor).build_graph()->apart().empty());
}

TEST(Relax, SaysWhetherThereWasAnything) {
  Sketch s;
  s.tensor({.name = "x", .size = Bytes(8), .alignment = Bytes(16), .flags = {TensorFlag::input, TensorFlag::no_reuse}});
  s.on(1, {}, {});
  const Graph graph = s.build();
  Editor editor(graph);
  for (const Constraint each : kConstraints) {
    const bool there = each == Constraint::alignments || each == Constraint::streams || each == Constraint::no_reuse;
    EXPECT_EQ(relax(editor, each), there) << static_cast<int>(each);
    EXPECT_FALSE(relax(editor, each)) << "the second time there is nothing left";
  }
  const Result<Graph> result = std::move(editor).build_graph();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->stream_count(), 1U);
  EXPECT_EQ(result->tensor(TensorId(0)).flags, TensorFlags(TensorFlag::input)) << "other flags stay";
  EXPECT_EQ(result->alignment(TensorId(0)), Bytes(1));
}

TEST(Relax, FlagsAreDroppedByThemselves) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, {TensorFlag::input, TensorFlag::zero_copy});
  s.op({.name = "a", .kind = "X", .inputs = {x}, .fixed_address = true});
  Editor editor(s.build());
  EXPECT_FALSE(relax(editor, &Op::no_reuse));
  EXPECT_TRUE(relax(editor, &Op::fixed_address));
  EXPECT_FALSE(relax(editor, &Op::fixed_address)) << "the second time there is nothing left";
  EXPECT_TRUE(relax(editor, TensorFlags{TensorFlag::zero_copy, TensorFlag::reusable}));
  EXPECT_EQ(editor.tensor(x).flags, TensorFlags(TensorFlag::input)) << "other flags stay";
}

TEST(RewritesProperty, OriginsAreRightAfterEachOfThem) {
  std::mt19937_64 random(5);
  std::size_t relaxed = 0;
  for (std::uint64_t seed = 0; seed < 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = seed % 3 == 0 ? testing::random_graph(seed) : testing::constrained_graph(seed);
    expect_unmoved(graph, with_alignment(graph, Bytes(64)));
    const std::vector<std::size_t> target(graph.memories().size(), 0);
    expect_unmoved(graph, merge_memories(graph, {{.name = "all"}}, target));
    if (!graph.tensors().empty()) {
      const TensorId one(std::uniform_int_distribution<std::size_t>(0, graph.tensors().size() - 1)(random));
      expect_unmoved(graph, drop_tensors(graph, closed(graph, {{one}, {}})));
    }
    relax_each(graph, [&](Editor editor) {
      ++relaxed;
      expect_unmoved(graph, std::move(editor).build());
    });
  }
  EXPECT_GT(relaxed, 1000U);
}

}  // namespace
}  // namespace stowage::rewrite
