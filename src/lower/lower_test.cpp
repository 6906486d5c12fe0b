#include "lower/interface/lower.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/interface/pieces.hpp"
#include "support/builders/items.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Sketch;

using testing::piece;

TEST(DisjointPieces, EqualBytesJoinInTime) {
  EXPECT_THAT(disjoint_pieces({piece(0, 3, 0, 8), piece(2, 5, 0, 8), piece(5, 6, 0, 8)}),
              ElementsAre(piece(0, 6, 0, 8)));
}

TEST(DisjointPieces, AHoleInTimeStays) {
  EXPECT_THAT(disjoint_pieces({piece(0, 2, 0, 8), piece(4, 5, 0, 8)}),
              ElementsAre(piece(0, 2, 0, 8), piece(4, 5, 0, 8)));
}

TEST(DisjointPieces, ASmallerSuccessorLeavesTheTailFree) {
  EXPECT_THAT(disjoint_pieces({piece(0, 3, 0, 8), piece(2, 6, 0, 4)}),
              ElementsAre(piece(0, 3, 0, 8), piece(3, 6, 0, 4)));
}

TEST(DisjointPieces, SuccessorsInTwoPlacesBecomeTwoPieces) {
  EXPECT_THAT(disjoint_pieces({piece(0, 2, 0, 8), piece(1, 3, 0, 2), piece(1, 4, 6, 8)}),
              ElementsAre(piece(0, 2, 0, 8), piece(2, 3, 0, 2), piece(2, 4, 6, 8)));
}

TEST(DisjointPieces, WhatHasNoBytesKeepsItsPlaceInTime) {
  EXPECT_THAT(disjoint_pieces({piece(1, 2, 0, 0), piece(3, 4, 0, 0)}), ElementsAre(piece(1, 2, 0, 0)));
}

TEST(DisjointPieces, AGroupThatGrowsMemberByMemberIsOnePieceAStep) {
  EXPECT_THAT(disjoint_pieces({piece(0, 3, 0, 8), piece(1, 3, 8, 16), piece(2, 4, 16, 24)}),
              ElementsAre(piece(0, 1, 0, 8), piece(1, 2, 0, 16), piece(2, 3, 0, 24), piece(3, 4, 16, 24)));
}

/// For each step, the occupied bytes as maximal stretches.
std::vector<std::vector<ByteRange>> stretches_by_step(const std::vector<Piece>& pieces, std::size_t steps) {
  std::vector<std::vector<ByteRange>> result(steps);
  for (std::size_t k = 0; k < steps; ++k) {
    std::vector<bool> occupied(40);
    for (const Piece& each : pieces) {
      if (!each.when.contains(Step(static_cast<std::int64_t>(k)))) continue;
      for (Bytes at = each.bytes.lower; at < each.bytes.upper; at += Bytes(1))
        occupied[static_cast<std::size_t>(at.value())] = true;
    }
    for (std::int64_t at = 0; at < 40; ++at) {
      if (!occupied[static_cast<std::size_t>(at)]) continue;
      if (result[k].empty() || result[k].back().upper != Bytes(at)) result[k].push_back({Bytes(at), Bytes(at)});
      result[k].back().upper = Bytes(at + 1);
    }
  }
  return result;
}

TEST(DisjointPieces, AreTheStretchesOfEveryStepAndAsLongAsTheseStay) {
  std::mt19937 random(1);
  const auto number = [&](unsigned below) { return static_cast<std::int64_t>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Piece> rectangles;
    for (std::int64_t count = 1 + number(12); count > 0; --count) {
      const std::int64_t step = number(10);
      const std::int64_t byte = number(30);
      rectangles.push_back(piece(step, step + 1 + number(6), byte, byte + 1 + number(8)));
    }
    const std::vector<std::vector<ByteRange>> expected = stretches_by_step(rectangles, 17);
    const std::vector<Piece> pieces = disjoint_pieces(rectangles);
    std::size_t slices = 0;
    for (const Piece& each : pieces) {
      for (Step step = each.when.lower; step < each.when.upper; step += Step(1)) {
        const std::vector<ByteRange>& there = expected[static_cast<std::size_t>(step.value())];
        ASSERT_TRUE(std::find(there.begin(), there.end(), each.bytes) != there.end()) << "round " << round;
        ++slices;
      }
      const bool goes_on = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& next) {
        return next.bytes == each.bytes && next.when.lower == each.when.upper;
      });
      ASSERT_FALSE(goes_on) << "round " << round;
    }
    std::size_t all = 0;
    for (const std::vector<ByteRange>& there : expected) all += there.size();
    ASSERT_EQ(slices, all) << "round " << round;
  }
}

TEST(Lower, SizesAreRoundedUpToTheAlignment) {
  GraphBuilder builder("g");
  const MemoryId cpu = builder.add(Memory{.name = "cpu", .alignment = Bytes(32)});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(33), .memory = cpu, .flags = TensorFlag::input});
  const TensorId y = builder.add(
      Tensor{.name = "y", .size = Bytes(5), .memory = cpu, .alignment = Bytes(8), .flags = TensorFlag::output});
  builder.add(
      Op{.name = "a", .kind = "X", .inputs = {x}, .outputs = {y}, .workspaces = {{.size = Bytes(1), .memory = cpu}}});
  const Graph graph = *builder.build();
  const Lowering lowering = lower(graph, analyze(graph));
  ASSERT_EQ(lowering.arenas.size(), 1U);
  const std::vector<Item>& items = lowering.arenas[0].problem.items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].size, Bytes(64));
  EXPECT_EQ(items[1].size, Bytes(8));
  EXPECT_EQ(items[1].alignment, Bytes(8));
  EXPECT_EQ(items[2].size, Bytes(32));
  EXPECT_EQ(lowering.naive, Bytes(104));
}

TEST(Lower, AnInPlacePairIsAJoinOfTwoItems) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId tail = s.view("tail", 16, x, 48);
  const TensorId y = s.tensor("y", 16, TensorFlag::output);
  s.op({x}, {});
  s.op({tail}, {y}, {{0, 0}});
  s.op({}, {});
  const Graph graph = s.build();
  const Lowering lowering = lower(graph, analyze(graph));
  const Problem& problem = lowering.arenas[0].problem;
  ASSERT_EQ(problem.items.size(), 2U);
  EXPECT_THAT(problem.items[0].pieces, ElementsAre(piece(0, 2, 0, 64)));
  EXPECT_THAT(problem.items[1].pieces, ElementsAre(piece(1, 3, 0, 16)));
  EXPECT_THAT(problem.joins, ElementsAre(Join{0, 1, Bytes(48)}));
  EXPECT_EQ(lowering.naive, Bytes(80));
}

TEST(Lower, MemoriesAndKindsAreProblemsOfTheirOwn) {
  GraphBuilder builder("g");
  const MemoryId cpu = builder.add(Memory{.name = "cpu"});
  const MemoryId gpu = builder.add(Memory{.name = "gpu"});
  const TensorId weight =
      builder.add(Tensor{.name = "w", .size = Bytes(8), .memory = gpu, .flags = TensorFlag::constant});
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(8), .memory = cpu, .flags = TensorFlag::input});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(8), .memory = gpu, .flags = TensorFlag::output});
  builder.add(Op{.name = "a", .kind = "X", .inputs = {weight, x}, .outputs = {y}});
  const Graph graph = *builder.build();
  const Lowering lowering = lower(graph, analyze(graph), {.capacity = Bytes(100)});
  ASSERT_EQ(lowering.arenas.size(), 3U);
  EXPECT_EQ(lowering.arenas[0].name, "cpu");
  EXPECT_EQ(lowering.arenas[1].name, "gpu");
  EXPECT_EQ(lowering.arenas[2].name, "gpu persistent");
  EXPECT_EQ(lowering.arenas[1].problem.capacity, Bytes(100));
  EXPECT_EQ(lowering.arenas[2].problem.capacity, std::nullopt);
  EXPECT_EQ(lowering.naive, Bytes(16));
}

TEST(Lower, AMaximumSizeMakesRegionsAndOthersMayUseThoseOfOversizeItems) {
  GraphBuilder builder("g");
  const MemoryId gpu = builder.add(Memory{.name = "gpu", .max_size = Bytes(100)});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(60), .memory = gpu, .flags = TensorFlag::input});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(60), .memory = gpu, .flags = TensorFlag::input});
  const TensorId c = builder.add(Tensor{.name = "c", .size = Bytes(500), .memory = gpu, .flags = TensorFlag::output});
  builder.add(Op{.name = "join", .kind = "X", .inputs = {a, b}, .outputs = {c}});
  const Graph graph = *builder.build();
  const Problem problem = lower(graph, analyze(graph)).arenas[0].problem;
  ASSERT_EQ(problem.regions.size(), 3U);
  EXPECT_EQ(problem.regions[0].limit, Bytes(500));
  EXPECT_EQ(problem.regions[2].limit, Bytes(100));
  EXPECT_THAT(problem.items[2].allowed, ElementsAre(0U));
  EXPECT_THAT(problem.items[0].allowed, IsEmpty()) << "everywhere";
}

TEST(Lower, OnlyARegionThatAnOversizeItemMustLieInIsOpenToOthers) {
  GraphBuilder builder("g");
  const MemoryId gpu = builder.add(Memory{.name = "gpu", .max_size = Bytes(100)});
  const auto tensor = [&](const char* name, std::int64_t size) {
    return builder.add(Tensor{.name = name, .size = Bytes(size), .memory = gpu});
  };
  const TensorId a = tensor("a", 500);
  const TensorId b = tensor("b", 60);
  const TensorId c = tensor("c", 400);
  builder.add(Op{.name = "f", .kind = "X", .outputs = {a}});
  builder.add(Op{.name = "g", .kind = "X", .inputs = {a}, .outputs = {b}});
  builder.add(Op{.name = "h", .kind = "X", .inputs = {b}, .outputs = {c}});
  const Graph graph = *builder.build();
  const ArenaProblem arena = lower(graph, analyze(graph)).arenas[0];
  ASSERT_EQ(arena.problem.regions.size(), 3U);
  EXPECT_THAT(arena.problem.items[0].allowed, ElementsAre(0U));
  EXPECT_THAT(arena.problem.items[1].allowed, ElementsAre(0U, 1U));
  EXPECT_THAT(arena.problem.items[2].allowed, ElementsAre(0U, 2U));
  EXPECT_EQ(arena.problem.regions[2].limit, Bytes(400));
  EXPECT_FALSE(arena.covers_graph) << "c might be the one to which b comes";
}

TEST(Lower, WithAlternativesTheProblemDoesNotCoverTheGraph) {
  const auto covers = [](const std::string& first, const std::string& second) {
    Sketch s;
    for (const std::string& batch : {first, second})
      s.op({.name = batch, .kind = "X", .outputs = {s.tensor("t" + batch, 8)}, .batch = batch});
    const Graph graph = s.build();
    return lower(graph, analyze(graph)).arenas.at(0).covers_graph;
  };
  EXPECT_TRUE(covers("", ""));
  EXPECT_FALSE(covers("one", "two")) << "steps only approximate which batches exclude each other";
}

TEST(Lower, StreamsBecomeThresholds) {
  Sketch s;
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  const OpId write = s.on(0, {}, {a});
  s.on(1, {a}, {}, {write});
  s.on(0, {}, {b});
  const Graph graph = s.build();
  const Problem problem = lower(graph, analyze(graph)).arenas[0].problem;
  EXPECT_EQ(problem.order.streams, 2U);
  // b begins on stream 0 at step 2, but the reader of a on stream 1 is not ordered before it.
  EXPECT_FALSE(problem.order.before(0, 1));
  EXPECT_EQ(problem.order.first[2], Step(2));
}

TEST(Raise, PlacesViewsAndDropsRegionsThatStayEmpty) {
  GraphBuilder builder("g");
  const MemoryId gpu = builder.add(Memory{.name = "gpu", .max_size = Bytes(100)});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(60), .memory = gpu, .flags = TensorFlag::input});
  const TensorId v =
      builder.add(Tensor{.name = "v", .size = Bytes(10), .memory = gpu, .view_of = ViewOf{a, Bytes(50)}});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(60), .memory = gpu, .flags = TensorFlag::output});
  builder.add(Tensor{.name = "unused", .size = Bytes(60), .memory = gpu});
  builder.add(Op{.name = "f", .kind = "X", .inputs = {v}, .outputs = {b}});
  const Graph graph = *builder.build();
  const Analysis analysis = analyze(graph);
  const Lowering lowering = lower(graph, analysis);
  ASSERT_EQ(lowering.arenas[0].problem.regions.size(), 2U);
  const Certificate bound{Certificate::Argument::live_bytes, Bytes(120), Step(0)};
  const std::vector<ArenaSolution> solutions = {
      {{{0, Bytes(0)}, {1, Bytes(4)}}, bound, proof_of(analysis, lowering.arenas[0], bound)}};
  const Plan plan = raise(graph, analysis, lowering, solutions);
  EXPECT_EQ(plan.arenas[0].size, Bytes(124));
  EXPECT_EQ(plan.arenas[0].proof, (BoundProof{.argument = BoundProof::Argument::live_bytes, .op = OpId(0)}));
  EXPECT_THAT(plan.arenas[0].regions, ElementsAre(Bytes(60), Bytes(64)));
  ASSERT_EQ(plan.placements.size(), 3U);
  EXPECT_EQ(plan.placements[1], (Placement{v, ArenaId(0), 0, Bytes(50), Bytes(10)}));
  EXPECT_EQ(plan.placements[2], (Placement{b, ArenaId(0), 1, Bytes(4), Bytes(60)}));
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_EQ(plan.notes[0].tensor, TensorId(3));
  EXPECT_FALSE(plan.proven_optimal());
}

}  // namespace
}  // namespace stowage
