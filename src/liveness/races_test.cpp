#include "liveness/interface/races.hpp"

#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

std::optional<Race> race_of(Sketch& sketch) {
  const Graph graph = sketch.build();
  const Analysis analysis = analyze(graph);
  return find_race(graph, analysis.layout.sharing, analysis.liveness.timeline, analysis.liveness.order);
}

TEST(Races, TwoWritersOfTheSameBytesOnTwoStreams) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  const OpId first = s.on(0, {}, {x});
  const OpId second = s.on(1, {}, {head});
  const std::optional<Race> race = race_of(s);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->first.op, first);
  EXPECT_EQ(race->first.tensor, x);
  EXPECT_TRUE(race->first.writes);
  EXPECT_EQ(race->second.op, second);
  EXPECT_EQ(race->second.tensor, head);
  EXPECT_TRUE(race->second.writes);
}

TEST(Races, AfterOrdersTheWriters) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  const OpId first = s.on(0, {}, {x});
  s.on(1, {}, {head}, {first});
  EXPECT_FALSE(race_of(s));
}

TEST(Races, OneStreamIsInOrder) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  s.on(0, {}, {x});
  s.on(0, {}, {head});
  s.on(1, {}, {});
  EXPECT_FALSE(race_of(s));
}

TEST(Races, PartsThatDoNotOverlapMayBeWrittenInAnyOrder) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  const TensorId tail = s.view("tail", 4, x, 4);
  s.on(0, {}, {head});
  s.on(1, {}, {tail});
  EXPECT_FALSE(race_of(s));
}

TEST(Races, ReadersOfOneValueMayComeInAnyOrder) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  s.on(0, {}, {x});
  s.on(1, {x}, {});
  s.on(2, {x}, {});
  EXPECT_FALSE(race_of(s));
}

TEST(Races, AWriterMustWaitForTheReadersOfWhatItOverwrites) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId again = s.view("again", 8, x, 0);
  const OpId write = s.on(0, {}, {x});
  const OpId read = s.on(1, {x}, {});
  const OpId overwrite = s.on(0, {}, {again}, {write});
  const std::optional<Race> race = race_of(s);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->first.op, read);
  EXPECT_FALSE(race->first.writes);
  EXPECT_EQ(race->second.op, overwrite);
}

TEST(Races, AnAccessBehindAnUnorderedOneOfOtherBytesIsFoundToo) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  const TensorId tail = s.view("tail", 4, x, 4);
  const TensorId head_again = s.view("head_again", 4, x, 0);
  const OpId write_head = s.on(0, {}, {head});
  s.on(0, {}, {tail});
  const OpId overwrite = s.on(1, {}, {head_again});
  const std::optional<Race> race = race_of(s);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->first.op, write_head);
  EXPECT_EQ(race->second.op, overwrite);
}

TEST(Races, AResultOfABodyIsWrittenInThere) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId head = s.view("head", 4, x, 0);
  Op branch{.name = "branch", .kind = "If", .outputs = {x}, .stream = StreamId(1), .control = Control::branch};
  Body body;
  body.tensors.push_back(Tensor{.name = "y", .size = Bytes(8)});
  body.ops.push_back(Op{.name = "make", .kind = "X", .outputs = {TensorId(0)}});
  body.outputs = {{TensorId(0), x}};
  branch.bodies = {body};
  s.op(std::move(branch));
  s.on(0, {}, {head});
  EXPECT_TRUE(race_of(s));
}

/// Two batches write `x` on different streams, and nothing orders them. That is no race, because only one of them runs.
TEST(Races, EachBatchIsARunOfItsOwn) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId in_a = s.view("in_a", 8, x, 0);
  const TensorId in_b = s.view("in_b", 8, x, 0);
  const OpId start = s.on(0, {}, {x});
  const OpId a =
      s.op({.name = "a", .kind = "X", .outputs = {in_a}, .stream = StreamId(1), .after = {start}, .batch = "a"});
  const OpId b =
      s.op({.name = "b", .kind = "X", .outputs = {in_b}, .stream = StreamId(2), .after = {start}, .batch = "b"});
  s.on(0, {x}, {}, {a, b});
  EXPECT_FALSE(race_of(s));
}

TEST(Races, ABatchMayRaceWithWhatIsCommon) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId in_a = s.view("in_a", 8, x, 0);
  const OpId start = s.on(0, {}, {x});
  const OpId a =
      s.op({.name = "a", .kind = "X", .outputs = {in_a}, .stream = StreamId(1), .after = {start}, .batch = "a"});
  s.op({.name = "b", .kind = "X", .stream = StreamId(2), .after = {start}, .batch = "b"});
  s.on(0, {x}, {});
  const std::optional<Race> race = race_of(s);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->first.op, a);
}

}  // namespace
}  // namespace stowage
