#include "stowage/liveness.hpp"

#include <gtest/gtest.h>

#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

Interval life(std::int64_t lower, std::int64_t upper) { return {Step(lower), Step(upper)}; }

const AliasClass& class_of(const Liveness& liveness, TensorId id) {
  return liveness.classes[liveness.places[id.index()].id.index()];
}

TEST(Liveness, LifeRunsFromFirstAccessToBehindTheLast) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  const TensorId c = s.tensor("c", 8, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({a, b}, {c});
  const Liveness liveness = analyze(s.build());
  EXPECT_EQ(class_of(liveness, x).life, life(0, 1));
  EXPECT_EQ(class_of(liveness, a).life, life(0, 3));
  EXPECT_EQ(class_of(liveness, b).life, life(1, 3));
  EXPECT_EQ(class_of(liveness, c).life, life(2, 3));
}

TEST(Liveness, AnInputLivesFromStepZeroAndUnreadForStepZeroOnly) {
  Sketch s;
  const TensorId read = s.tensor("read", 8, TensorFlag::input);
  const TensorId unread = s.tensor("unread", 8, TensorFlag::input);
  const TensorId computed = s.tensor("computed", 8, TensorFlag::input);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({read}, {out});
  s.op({read}, {computed});
  const Graph graph = s.build();
  EXPECT_EQ(class_of(analyze(graph), read).life, life(0, 2));
  EXPECT_EQ(class_of(analyze(graph), unread).life, life(0, 1));
  EXPECT_EQ(class_of(analyze(graph), computed).life, life(0, 2));
  EXPECT_EQ(class_of(analyze(graph, {.keep_inputs = true}), unread).life, life(0, 2));
}

TEST(Liveness, AnOutputLivesToTheEndAndASuspendedResultForItsOwnStep) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  const TensorId suspended = s.tensor("suspended", 8);
  const TensorId last = s.tensor("last", 8);
  s.op({x}, {out});
  s.op({x}, {suspended});
  s.op({x}, {last});
  const Liveness liveness = analyze(s.build());
  EXPECT_EQ(class_of(liveness, out).life, life(0, 3));
  EXPECT_EQ(class_of(liveness, suspended).life, life(1, 2));
}

TEST(Liveness, ViewsKeepTheirBaseAlive) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 64);
  const TensorId part = s.view("part", 8, a, 16);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  const TensorId other = s.tensor("other", 8);
  s.op({x}, {a});
  s.op({x}, {other});
  s.op({part}, {out});
  const Liveness liveness = analyze(s.build());
  EXPECT_EQ(liveness.places[part.index()].id, liveness.places[a.index()].id);
  EXPECT_EQ(liveness.places[part.index()].offset, Bytes(16));
  EXPECT_EQ(class_of(liveness, a).life, life(0, 3));
  EXPECT_EQ(class_of(liveness, a).size, Bytes(64));
}

TEST(Liveness, AnAliasMakesOneClassAsLargeAsBoth) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8, TensorFlag::output);
  s.op({x}, {a});
  s.op({.name = "extend", .kind = "X", .inputs = {a}, .outputs = {b}, .aliases = {{0, 0, Bytes(4)}}});
  const Liveness liveness = analyze(s.build());
  EXPECT_EQ(liveness.places[a.index()].id, liveness.places[b.index()].id);
  EXPECT_EQ(liveness.places[b.index()].offset - liveness.places[a.index()].offset, Bytes(4));
  EXPECT_EQ(class_of(liveness, a).size, Bytes(12));
}

TEST(Liveness, OpsWithoutATaskTouchNothing) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId same = s.view("same", 8, x, 0);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({x}, {out});
  s.op({.name = "reshape", .kind = "X", .inputs = {x}, .outputs = {same}, .no_task = true});
  EXPECT_EQ(class_of(analyze(s.build()), x).life, life(0, 1));
}

TEST(Liveness, ResidenceFollowsTheFlags) {
  Sketch s;
  const TensorId constant = s.tensor("constant", 8, {TensorFlag::constant, TensorFlag::input});
  const TensorId variable = s.tensor("variable", 8, TensorFlag::variable);
  const TensorId external = s.tensor("external", 8, TensorFlag::external);
  const TensorId unused = s.tensor("unused", 8);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({constant, variable, external}, {out});
  const Liveness liveness = analyze(s.build());
  EXPECT_EQ(class_of(liveness, constant).residence, Residence::persistent);
  EXPECT_EQ(class_of(liveness, variable).residence, Residence::persistent);
  EXPECT_EQ(class_of(liveness, external).residence, Residence::external);
  EXPECT_EQ(class_of(liveness, unused).residence, Residence::nowhere);
  EXPECT_EQ(class_of(liveness, out).residence, Residence::shared);
  EXPECT_EQ(liveness.storages.size(), 3U);
}

TEST(Liveness, NoReuseOfATensorOrAnOpLastsTheWholeRun) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8, TensorFlag::no_reuse);
  const TensorId b = s.tensor("b", 8);
  const TensorId c = s.tensor("c", 8);
  s.op({x}, {c});
  s.op({x}, {a});
  s.op({.name = "keep", .kind = "X", .inputs = {x}, .outputs = {b}, .no_reuse = true});
  const Graph graph = s.build();
  EXPECT_EQ(class_of(analyze(graph), a).life, life(0, 3));
  EXPECT_EQ(class_of(analyze(graph), b).life, life(0, 3));
  EXPECT_EQ(class_of(analyze(graph), c).life, life(0, 1));
  EXPECT_EQ(class_of(analyze(graph, {.no_reuse = true}), c).life, life(0, 3));
}

}  // namespace
}  // namespace stowage
