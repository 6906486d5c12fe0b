#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

bool share(const Analysis& analysis, TensorId a, TensorId b) {
  const Layout& layout = analysis.layout;
  const ClassId first = layout.class_of(a);
  const ClassId second = layout.class_of(b);
  return layout.residences[first] == Residence::shared && layout.residences[second] == Residence::shared &&
         layout.positions[first].storage == layout.positions[second].storage;
}

TEST(InPlace, AnOutputTakesOverADyingInput) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8, TensorFlag::output);
  s.op({x}, {y}, {{0, 0}});
  const Graph graph = s.build();
  EXPECT_TRUE(share(analyze(graph), x, y));
  EXPECT_FALSE(share(analyze(graph, {.in_place = false}), x, y));
  EXPECT_FALSE(share(analyze(graph, {.keep_inputs = true}), x, y));
}

TEST(InPlace, NotWhenTheInputIsNeededLater) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({x}, {y}, {{0, 0}});
  s.op({x, y}, {z});
  EXPECT_FALSE(share(analyze(s.build()), x, y));
}

TEST(InPlace, NotOnOutputsConstantsVariablesExternalsOrNoReuse) {
  for (const TensorFlag flag :
       {TensorFlag::output, TensorFlag::constant, TensorFlag::variable, TensorFlag::external, TensorFlag::no_reuse}) {
    Sketch s;
    const TensorId x = s.tensor("x", 8, {flag, TensorFlag::input});
    const TensorId y = s.tensor("y", 8);
    s.op({x}, {y}, {{0, 0}});
    EXPECT_FALSE(share(analyze(s.build()), x, y)) << static_cast<int>(flag);
  }
}

TEST(InPlace, NotWhenTheOpAlsoReadsTheStorageWithoutAPair) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId half = s.view("half", 4, x, 4);
  const TensorId y = s.tensor("y", 8);
  s.op({x, half}, {y}, {{0, 0}});
  EXPECT_FALSE(share(analyze(s.build()), x, y));
}

TEST(InPlace, BothReadsPairedIsFine) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  s.op({x, x}, {y}, {{0, 0}, {0, 1}});
  EXPECT_TRUE(share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhenTheOpWritesIntoTheInputThroughAView) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId half = s.view("half", 4, x, 4);
  const TensorId y = s.tensor("y", 8);
  s.op({x}, {half, y}, {{1, 0}});
  EXPECT_FALSE(share(analyze(s.build()), x, y));
}

TEST(InPlace, NotWhenAnotherInputReadsTheSameBytesAsOtherElements) {
  for (const std::int64_t offset : {0, 4, 8}) {
    Sketch s;
    const TensorId x = s.tensor("x", 16, TensorFlag::input);
    const TensorId low = s.view("low", 8, x, 0);
    const TensorId shifted = s.view("shifted", 8, x, offset);
    const TensorId y = s.tensor("y", 8);
    s.op({low, shifted}, {y}, {{0, 0}, {0, 1}});
    EXPECT_EQ(share(analyze(s.build()), x, y), offset != 4) << offset;
  }
}

TEST(InPlace, NotWhenTheOpWritesAnotherPartOfTheOutputToo) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId part = s.view("part", 4, y, 0);
  s.op({x}, {y, part}, {{0, 0}});
  EXPECT_FALSE(share(analyze(s.build()), x, y));
}

TEST(InPlace, ThroughAViewAtItsOffset) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId tail = s.view("tail", 16, x, 48);
  const TensorId y = s.tensor("y", 16, TensorFlag::output);
  s.op({tail}, {y}, {{0, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(share(analysis, x, y));
  EXPECT_EQ(analysis.layout.offset_in_storage(y), Bytes(48));
}

TEST(InPlace, ASmallerOutputFitsALargerInputButNotTheOtherWayRound) {
  Sketch s;
  const TensorId big = s.tensor("big", 64, TensorFlag::input);
  const TensorId small = s.tensor("small", 16);
  const TensorId again = s.tensor("again", 64);
  s.op({big}, {small}, {{0, 0}});
  s.op({small}, {again}, {{0, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(share(analysis, big, small));
  EXPECT_FALSE(share(analysis, small, again));
}

TEST(InPlace, OutputsAreMatchedSoThatAllFindAnInput) {
  Sketch s;
  const TensorId a = s.tensor("a", 8, TensorFlag::input);
  const TensorId b = s.tensor("b", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  const TensorId z = s.tensor("z", 8);
  s.op({a, b}, {y, z}, {{0, 0}, {0, 1}, {1, 0}});
  const Analysis analysis = analyze(s.build());
  EXPECT_TRUE(share(analysis, b, y));
  EXPECT_TRUE(share(analysis, a, z));
}

TEST(InPlace, TheTightestInputIsTaken) {
  Sketch s;
  const TensorId big = s.tensor("big", 64, TensorFlag::input);
  const TensorId same = s.tensor("same", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8);
  s.op({big, same}, {y}, {{0, 0}, {0, 1}});
  EXPECT_TRUE(share(analyze(s.build()), same, y));
}

TEST(InPlace, AnAlignmentThatTheViewBreaksForbidsIt) {
  Sketch s;
  const TensorId x = s.tensor("x", 64, TensorFlag::input);
  const TensorId tail = s.view("tail", 16, x, 8);
  GraphDescription description;
  const TensorId y = s.tensor("y", 16);
  s.op({tail}, {y}, {{0, 0}});
  description = s.build().description();
  description.tensors[y.index()].alignment = Bytes(16);
  EXPECT_FALSE(share(analyze(*Graph::build(description)), x, y));
  description.tensors[y.index()].alignment = Bytes(8);
  EXPECT_TRUE(share(analyze(*Graph::build(description)), x, y));
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
    EXPECT_EQ(share(analyze(s.build()), x, y), ordered);
  }
}

}  // namespace
}  // namespace stowage
