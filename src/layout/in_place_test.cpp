#include <algorithm>

#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

/// Whether the second tensor may begin where the first one does.
bool may_share(const Analysis& analysis, TensorId a, TensorId b) {
  const Layout& layout = analysis.layout;
  const ClassId first = layout.class_of(a);
  const ClassId second = layout.class_of(b);
  const bool shared = layout.residences[first] == Residence::shared && layout.residences[second] == Residence::shared;
  if (!shared) return false;
  const StorageId from = layout.positions[first].storage;
  const StorageId to = layout.positions[second].storage;
  const Bytes distance = layout.offset_in_storage(a) - layout.offset_in_storage(b);
  if (from == to) return distance == Bytes(0);
  const StorageJoin join = from < to ? StorageJoin{from, to, distance} : StorageJoin{to, from, Bytes(0) - distance};
  return std::find(layout.joins.begin(), layout.joins.end(), join) != layout.joins.end();
}

TEST(InPlace, AnOutputTakesOverADyingInput) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8, TensorFlag::output);
  s.op({x}, {y}, {{0, 0}});
  const Graph graph = s.build();
  EXPECT_TRUE(may_share(analyze(graph), x, y));
  EXPECT_FALSE(may_share(analyze(graph, {.in_place = false}), x, y));
  EXPECT_FALSE(may_share(analyze(graph, {.keep_inputs = true}), x, y));
}

TEST(InPlace, NotWhenTheInputIsNeededLater) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({x}, {y}, {{0, 0}});
  s.op({x, y}, {z});
  EXPECT_FALSE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, NotOnOutputsConstantsVariablesExternalsOrNoReuse) {
  for (const TensorFlag flag :
       {TensorFlag::output, TensorFlag::constant, TensorFlag::variable, TensorFlag::external, TensorFlag::no_reuse}) {
    Sketch s;
    const TensorId x = s.tensor("x", 8, {flag, TensorFlag::input});
    const TensorId y = s.tensor("y", 8);
    s.op({x}, {y}, {{0, 0}});
    EXPECT_FALSE(may_share(analyze(s.build()), x, y)) << static_cast<int>(flag);
  }
}

TEST(InPlace, NotWhenTheOpAlsoReadsTheStorageWithoutAPair) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId half = s.view("half", 4, x, 4);
  const TensorId y = s.tensor("y", 8);
  s.op({x, half}, {y}, {{0, 0}});
  EXPECT_FALSE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, BothReadsPairedIsFine) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  s.op({x, x}, {y}, {{0, 0}, {0, 1}});
  EXPECT_TRUE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhenTheOpWritesIntoTheInputThroughAView) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId half = s.view("half", 4, x, 4);
  const TensorId y = s.tensor("y", 8);
  s.op({x}, {half, y}, {{1, 0}});
  EXPECT_FALSE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhenAnotherInputReadsTheSameBytesAsOtherElements) {
  for (const std::int64_t offset : {0, 4, 8}) {
    Sketch s;
    const TensorId x = s.tensor("x", 16, TensorFlag::input);
    const TensorId low = s.view("low", 8, x, 0);
    const TensorId shifted = s.view("shifted", 8, x, offset);
    const TensorId y = s.tensor("y", 8);
    s.op({low, shifted}, {y}, {{0, 0}, {0, 1}});
    EXPECT_EQ(may_share(analyze(s.build()), x, y), offset != 4) << offset;
  }
}

TEST(InPlace, NotWhenTheOpWritesAnotherPartOfTheOutputToo) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId part = s.view("part", 4, y, 0);
  s.op({x}, {y, part}, {{0, 0}});
  EXPECT_FALSE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, ThroughAViewAtItsOffset) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId tail = s.view("tail", 16, x, 48);
  const TensorId y = s.tensor("y", 16, TensorFlag::output);
  s.op({tail}, {y}, {{0, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(may_share(analysis, tail, y));
  EXPECT_FALSE(may_share(analysis, x, y));
}

TEST(InPlace, ASmallerOutputFitsALargerInputButNotTheOtherWayRound) {
  Sketch s;
  const TensorId big = s.tensor("big", 64, TensorFlag::input);
  const TensorId small = s.tensor("small", 16);
  const TensorId again = s.tensor("again", 64);
  s.op({big}, {small}, {{0, 0}});
  s.op({small}, {again}, {{0, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(may_share(analysis, big, small));
  EXPECT_FALSE(may_share(analysis, small, again));
}

TEST(InPlace, EveryLegalPairIsOffered) {
  Sketch s;
  const TensorId a = s.tensor("a", 8, TensorFlag::input);
  const TensorId b = s.tensor("b", 64, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({a, b}, {y, z}, {{0, 0}, {0, 1}, {1, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(may_share(analysis, a, y));
  EXPECT_TRUE(may_share(analysis, b, y));
  EXPECT_TRUE(may_share(analysis, a, z));
  EXPECT_FALSE(may_share(analysis, b, z));
}

TEST(InPlace, AReadWithoutAPairWithThisVeryOutputForbidsIt) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({x, x}, {y, z}, {{0, 0}, {1, 1}});
  const Analysis analysis = analyze(s.build());
  EXPECT_FALSE(may_share(analysis, x, y));
  EXPECT_FALSE(may_share(analysis, x, z));
}

TEST(InPlace, IntoAMemberOfAGroup) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({}, {x});
  s.op({x}, {y}, {{0, 0}});
  s.op({}, {z});
  s.op({.name = "together", .kind = "X", .inputs = {y, z}, .contiguous_inputs = Contiguity::padded});
  EXPECT_TRUE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhereAnotherMemberOfTheGroupIsNeededAlready) {
  Sketch s;
  const TensorId x = s.tensor("x", 128);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({}, {x});
  s.op({}, {z});
  s.op({x}, {y}, {{0, 0}});  // x also covers the bytes behind y, where z is
  s.op({.name = "together", .kind = "X", .inputs = {y, z}, .contiguous_inputs = Contiguity::padded});
  EXPECT_FALSE(may_share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhereABatchIsFollowedByAnOpThatStillReadsTheInput) {
  for (const bool read_later : {false, true}) {
    Sketch s;
    const TensorId x = s.tensor("x", 8);
    const TensorId y = s.tensor("y", 8);
    s.op({}, {x});
    s.op({.name = "one", .kind = "X", .inputs = {x}, .outputs = {y}, .in_place = {{0, 0}}, .batch = "one"});
    s.op({.name = "two", .kind = "X", .inputs = {x}, .batch = "two"});
    if (read_later) s.op({x}, {});
    EXPECT_EQ(may_share(analyze(s.build()), x, y), !read_later);
  }
}

TEST(InPlace, OnSeveralStreamsEveryOtherReaderMustHaveFinished) {
  for (const bool ordered : {false, true}) {
    Sketch s;
    const TensorId x = s.tensor("x", 8);
    const TensorId y = s.tensor("y", 8, TensorFlag::output);
    const OpId write = s.on(0, {}, {x});
    const OpId read = s.on(1, {x}, {}, {write});
    s.op({.name = "over",
          .kind = "X",
          .inputs = {x},
          .outputs = {y},
          .in_place = {{0, 0}},
          .after = ordered ? std::vector{read} : std::vector<OpId>{}});
    EXPECT_EQ(may_share(analyze(s.build()), x, y), ordered);
  }
}

}  // namespace
}  // namespace stowage
