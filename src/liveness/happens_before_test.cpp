#include "liveness/interface/happens_before.hpp"

#include <random>

#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

namespace stowage {
namespace {

using testing::Sketch;

Step step(OpId op) { return Step(static_cast<std::int64_t>(op.index())); }

TEST(HappensBefore, OneStreamIsTheLinearOrder) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  const OpId b = s.on(0, {}, {});
  const HappensBefore order(s.build());
  EXPECT_TRUE(order.before(step(a), step(b)));
  EXPECT_FALSE(order.before(step(b), step(a)));
}

TEST(HappensBefore, StreamsAreUnorderedWithoutAnEdge) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  const OpId b = s.on(1, {}, {});
  const HappensBefore order(s.build());
  EXPECT_FALSE(order.before(step(a), step(b)));
  EXPECT_EQ(order.next(step(a), 1), kNever);
}

TEST(HappensBefore, ASerialHopOverThreeStreamsCounts) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  const OpId b = s.on(1, {}, {}, {a});
  const OpId c = s.on(2, {}, {}, {b});
  const OpId d = s.on(0, {}, {}, {c});
  const HappensBefore order(s.build());
  EXPECT_TRUE(order.before(step(a), step(c)));
  EXPECT_TRUE(order.before(step(b), step(d)));
  EXPECT_EQ(order.next(step(a), 2), step(c));
}

TEST(HappensBefore, DataOrdersThroughViewsOfResults) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId part = s.view("part", 4, x, 0);
  const OpId write = s.on(0, {}, {x});
  s.op({.name = "view", .kind = "X", .inputs = {x}, .outputs = {part}, .no_task = true});
  const OpId read = s.on(1, {part}, {});
  const HappensBefore order(s.build());
  EXPECT_TRUE(order.before(step(write), step(read)));
}

TEST(HappensBefore, OpsWithoutATaskOrderNothing) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  const OpId idle = s.op({.name = "idle", .kind = "X", .no_task = true, .after = {a}});
  const OpId b = s.on(1, {}, {}, {idle});
  const HappensBefore order(s.build());
  EXPECT_FALSE(order.before(step(a), step(b)));
}

TEST(HappensBefore, ManyPathsToOneTensorAreWalkedOnce) {
  Sketch s;
  TensorId last = s.tensor("x", 8);
  const OpId write = s.on(0, {}, {last});
  for (int i = 0; i < 200; ++i) {  // each link is a view and an alias at once: 2^200 paths
    const TensorId next = s.view("link", 8, last, 0);
    s.op({.name = "link",
          .kind = "X",
          .inputs = {last},
          .outputs = {next},
          .no_task = true,
          .aliases = {{0, 0, Bytes(0)}}});
    last = next;
  }
  const OpId read = s.on(1, {last}, {});
  EXPECT_TRUE(HappensBefore(s.build()).before(step(write), step(read)));
}

/// The ops of a batch have a column of their own, but they are still ops of their stream.
TEST(HappensBefore, TheOpsOfABatchComeBetweenTheirNeighboursOfTheStream) {
  Sketch s;
  const OpId first = s.on(0, {}, {});
  const OpId labelled = s.op({.name = "labelled", .kind = "X", .batch = "x"});
  const OpId last = s.on(0, {}, {});
  s.on(1, {}, {});
  const Graph graph = s.build();
  const Analysis analysis = analyze(graph);
  const auto at = [&](OpId op) { return analysis.liveness.timeline.spans(op).front().lower; };
  EXPECT_TRUE(analysis.liveness.order.steps.before(at(first), at(labelled)));
  EXPECT_TRUE(analysis.liveness.order.steps.before(at(labelled), at(last)));
}

/// Compares random ops on random streams with random edges against reachability by repeated relaxation.
TEST(HappensBefore, EqualsReachabilityOnRandomGraphs) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Sketch s;
    const std::size_t count = 2 + random() % 20;
    const std::size_t streams = 2 + random() % 4;
    std::vector<std::size_t> stream_of;
    std::vector<std::vector<bool>> reach(count, std::vector<bool>(count));
    for (std::size_t k = 0; k < count; ++k) {
      stream_of.push_back(random() % streams);
      std::vector<OpId> after;
      for (std::size_t j = 0; j < k; ++j) {
        const bool edge = random() % 8 == 0;
        if (edge) after.emplace_back(j);
        reach[j][k] = edge || stream_of[j] == stream_of[k];
      }
      s.on(stream_of[k], {}, {}, after);
    }
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) reach[a][b] = reach[a][b] || (reach[a][m] && reach[m][b]);
      }
    }
    const HappensBefore order(s.build());
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b)
        ASSERT_EQ(order.before(step(OpId(a)), step(OpId(b))), reach[a][b]) << round << ": " << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace stowage
