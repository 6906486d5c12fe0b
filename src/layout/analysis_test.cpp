#include "layout/interface/analysis.hpp"

#include <gtest/gtest.h>

#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

Interval life(std::int64_t lower, std::int64_t upper) { return {Step(lower), Step(upper)}; }

Interval life_of(const Analysis& analysis, TensorId id) {
  return analysis.liveness.lives[analysis.layout.class_of(id)].span;
}
Residence residence_of(const Analysis& analysis, TensorId id) {
  return analysis.layout.residences[analysis.layout.class_of(id)];
}
Bytes size_of(const Analysis& analysis, TensorId id) {
  return analysis.layout.classes[analysis.layout.class_of(id)].size;
}

TEST(Analysis, LifeRunsFromFirstAccessToBehindTheLast) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8);
  const TensorId c = s.tensor("c", 8, TensorFlag::output);
  s.op({x}, {a});
  s.op({a}, {b});
  s.op({a, b}, {c});
  const Analysis analysis = analyze(s.build());
  EXPECT_EQ(life_of(analysis, x), life(0, 1));
  EXPECT_EQ(life_of(analysis, a), life(0, 3));
  EXPECT_EQ(life_of(analysis, b), life(1, 3));
  EXPECT_EQ(life_of(analysis, c), life(2, 3));
}

TEST(Analysis, AnInputLivesFromStepZeroAndUnreadForStepZeroOnly) {
  Sketch s;
  const TensorId read = s.tensor("read", 8, TensorFlag::input);
  const TensorId unread = s.tensor("unread", 8, TensorFlag::input);
  const TensorId computed = s.tensor("computed", 8, TensorFlag::input);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({read}, {out});
  s.op({read}, {computed});
  const Graph graph = s.build();
  EXPECT_EQ(life_of(analyze(graph), read), life(0, 2));
  EXPECT_EQ(life_of(analyze(graph), unread), life(0, 1));
  EXPECT_EQ(life_of(analyze(graph), computed), life(0, 2));
  EXPECT_EQ(life_of(analyze(graph, {.keep_inputs = true}), unread), life(0, 2));
}

TEST(Analysis, AnOutputLivesToTheEndAndASuspendedResultForItsOwnStep) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  const TensorId suspended = s.tensor("suspended", 8);
  const TensorId last = s.tensor("last", 8);
  s.op({x}, {out});
  s.op({x}, {suspended});
  s.op({x}, {last});
  const Analysis analysis = analyze(s.build());
  EXPECT_EQ(life_of(analysis, out), life(0, 3));
  EXPECT_EQ(life_of(analysis, suspended), life(1, 2));
}

TEST(Analysis, ViewsKeepTheirBaseAlive) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 64);
  const TensorId part = s.view("part", 8, a, 16);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  const TensorId other = s.tensor("other", 8);
  s.op({x}, {a});
  s.op({x}, {other});
  s.op({part}, {out});
  const Analysis analysis = analyze(s.build());
  EXPECT_EQ(analysis.layout.class_of(part), analysis.layout.class_of(a));
  EXPECT_EQ(analysis.layout.sharing.place(part).offset, Bytes(16));
  EXPECT_EQ(life_of(analysis, a), life(0, 3));
  EXPECT_EQ(size_of(analysis, a), Bytes(64));
}

TEST(Analysis, AnAliasMakesOneClassAsLargeAsBoth) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8);
  const TensorId b = s.tensor("b", 8, TensorFlag::output);
  s.op({x}, {a});
  s.op({.name = "extend", .kind = "X", .inputs = {a}, .outputs = {b}, .aliases = {{0, 0, Bytes(4)}}});
  const Analysis analysis = analyze(s.build());
  EXPECT_EQ(analysis.layout.class_of(a), analysis.layout.class_of(b));
  EXPECT_EQ(analysis.layout.sharing.place(b).offset - analysis.layout.sharing.place(a).offset, Bytes(4));
  EXPECT_EQ(size_of(analysis, a), Bytes(12));
}

TEST(Analysis, OpsWithoutATaskTouchNothing) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId same = s.view("same", 8, x, 0);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({x}, {out});
  s.op({.name = "reshape", .kind = "X", .inputs = {x}, .outputs = {same}, .no_task = true});
  EXPECT_EQ(life_of(analyze(s.build()), x), life(0, 1));
}

TEST(Analysis, ResidenceFollowsTheFlags) {
  Sketch s;
  const TensorId constant = s.tensor("constant", 8, {TensorFlag::constant, TensorFlag::input});
  const TensorId variable = s.tensor("variable", 8, TensorFlag::variable);
  const TensorId external = s.tensor("external", 8, TensorFlag::external);
  const TensorId unused = s.tensor("unused", 8);
  const TensorId out = s.tensor("out", 8, TensorFlag::output);
  s.op({constant, variable, external}, {out});
  const Analysis analysis = analyze(s.build());
  EXPECT_EQ(residence_of(analysis, constant), Residence::persistent);
  EXPECT_EQ(residence_of(analysis, variable), Residence::persistent);
  EXPECT_EQ(residence_of(analysis, external), Residence::external);
  EXPECT_EQ(residence_of(analysis, unused), Residence::nowhere);
  EXPECT_EQ(residence_of(analysis, out), Residence::shared);
  EXPECT_EQ(analysis.layout.storages.size(), 3U);
}

TEST(Analysis, NoReuseOfATensorOrAnOpLastsTheWholeRun) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId a = s.tensor("a", 8, TensorFlag::no_reuse);
  const TensorId b = s.tensor("b", 8);
  const TensorId c = s.tensor("c", 8);
  s.op({x}, {c});
  s.op({x}, {a});
  s.op({.name = "keep", .kind = "X", .inputs = {x}, .outputs = {b}, .no_reuse = true});
  const Graph graph = s.build();
  EXPECT_EQ(life_of(analyze(graph), a), life(0, 3));
  EXPECT_EQ(life_of(analyze(graph), b), life(0, 3));
  EXPECT_EQ(life_of(analyze(graph), c), life(0, 1));
  EXPECT_EQ(life_of(analyze(graph, {.no_reuse = true}), c), life(0, 3));
}

}  // namespace
}  // namespace stowage
