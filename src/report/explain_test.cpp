#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "report/explanation.hpp"
#include "stowage/report.hpp"

namespace stowage {
namespace {

ExplainOptions deterministic() {
  ExplainOptions options;
  options.plan.time_limit.reset();
  options.plan.node_budget = 1000;
  options.time_limit.reset();
  return options;
}

/// x → a → b → c → y: a is needed at one peak, c at another.
Graph two_peaks() {
  GraphBuilder builder("two_peaks");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(100), .flags = TensorFlag::input});
  const TensorId a = builder.add(Tensor{.name = "blk.0.a", .size = Bytes(1000)});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(200)});
  const TensorId c = builder.add(Tensor{.name = "blk.1.a", .size = Bytes(1000)});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(200), .flags = TensorFlag::output});
  builder.add(Op{.name = "up.0", .kind = "UP", .inputs = {x}, .outputs = {a}});
  builder.add(Op{.name = "down.0", .kind = "DOWN", .inputs = {a}, .outputs = {b}});
  builder.add(Op{.name = "up.1", .kind = "UP", .inputs = {b}, .outputs = {c}});
  builder.add(Op{.name = "down.1", .kind = "DOWN", .inputs = {c}, .outputs = {y}});
  return std::move(builder.build()).value();
}

TEST(Explain, OneAloneGainsNothingAndBothGain) {
  const Explanation found = explain(two_peaks(), deterministic()).value();
  EXPECT_EQ(found.summary.peak, Bytes(1200));
  ASSERT_FALSE(found.details->gains.empty());
  const Gain& best = found.details->gains.front();
  ASSERT_EQ(best.holders.size(), 2U);
  EXPECT_EQ(best.holders[0].family, "blk.*.a");
  EXPECT_EQ(best.holders[1].family, "blk.*.a");
  EXPECT_EQ(best.gain, Bytes(1000));
  EXPECT_EQ(best.alone, (std::vector<std::optional<Bytes>>{Bytes(0), Bytes(0)}));
  EXPECT_TRUE(best.smallest);
  EXPECT_TRUE(best.proven);
}

TEST(Explain, AGraphWithoutMemoryHasACauseToo) {
  const Explanation found = explain(GraphBuilder("empty").build().value(), deterministic()).value();
  EXPECT_EQ(found.cause, "empty needs no memory that counts towards the peak.");
  EXPECT_TRUE(found.details->gains.empty());
}

TEST(Explain, WhatIsLostMayBeExbibytes) {  // two tensors that are kept apart, one after the other
  GraphBuilder builder("exbibytes");
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(std::int64_t{1} << 60)});
  const TensorId b = builder.add(Tensor{.name = "b", .size = Bytes(std::int64_t{1} << 59)});
  builder.add(Op{.name = "make_a", .kind = "A", .outputs = {a}});
  builder.add(Op{.name = "make_b", .kind = "B", .outputs = {b}});
  GraphDescription apart = builder.build().value().description();
  apart.apart = {{a, b}};
  const Explanation found = explain(Graph::build(std::move(apart)).value(), deterministic()).value();
  EXPECT_EQ(found.summary.peak, Bytes(std::int64_t{3} << 59));
  EXPECT_NE(found.cause.find("512 PiB (33%) is lost to fragmentation"), std::string::npos) << found.cause;
}

TEST(Explain, ABudgetThatIsMetNeedsNoChange) {
  ExplainOptions options = deterministic();
  options.budget = Bytes(1200);
  const BudgetAnswer answer = *explain(two_peaks(), options)->details->budget;
  EXPECT_TRUE(answer.fits);
  EXPECT_FALSE(answer.shrink);
}

TEST(Explain, ATotalBudgetCountsTheWeightsOfEachMemory) {
  GraphBuilder builder("weighted");
  const TensorId x = builder.add(Tensor{.name = "x", .size = Bytes(100), .flags = TensorFlag::input});
  const TensorId w = builder.add(Tensor{.name = "w", .size = Bytes(1000), .flags = TensorFlag::constant});
  const TensorId a = builder.add(Tensor{.name = "a", .size = Bytes(400)});
  const TensorId y = builder.add(Tensor{.name = "y", .size = Bytes(100), .flags = TensorFlag::output});
  builder.add(Op{.name = "up", .kind = "UP", .inputs = {x, w}, .outputs = {a}});
  builder.add(Op{.name = "down", .kind = "DOWN", .inputs = {a, w}, .outputs = {y}});
  const Graph graph = std::move(builder.build()).value();
  const auto answer = [&](std::optional<Bytes> peak, Bytes total) {
    ExplainOptions options = deterministic();
    options.budget = peak;
    options.budget_total = total;
    return *explain(graph, options)->details->budget;
  };
  EXPECT_TRUE(answer({}, Bytes(1500)).fits);
  const BudgetAnswer less = answer({}, Bytes(1499));
  EXPECT_FALSE(less.fits);
  EXPECT_EQ(less.budget, Bytes(499));
  ASSERT_TRUE(less.shrink);
  EXPECT_LE(less.shrink->peak, Bytes(499));
  EXPECT_FALSE(answer(Bytes(499), Bytes(1500)).fits) << "both hold";
  const BudgetAnswer never = answer({}, Bytes(999));
  EXPECT_FALSE(never.shrink);
  EXPECT_EQ(never.budget, Bytes(0));
  EXPECT_EQ(never.reason, "the weights alone take more");
}

TEST(Explain, WithoutTimeForRePlansNothingIsClaimed) {
  ExplainOptions options = deterministic();
  options.time_limit = std::chrono::nanoseconds(0);
  options.budget = Bytes(500);
  const Explanation found = explain(two_peaks(), options).value();
  EXPECT_EQ(found.replans, 0U);
  EXPECT_GT(found.skipped, 0U);
  EXPECT_TRUE(found.details->gains.empty());
  EXPECT_FALSE(found.details->budget->shrink);
  EXPECT_EQ(found.details->budget->reason, "the time for re-plans ran out");
}

/// Layers of decreasing sizes, each with its own peak, in three families.
Graph staircase() {
  GraphBuilder builder("staircase");
  TensorId last = builder.add(Tensor{.name = "x", .size = Bytes(100), .flags = TensorFlag::input});
  for (int layer = 0; layer < 6; ++layer) {
    const std::string number = std::to_string(layer);
    const TensorId up = builder.add(Tensor{.name = "up." + number, .size = Bytes(2000 - 100 * (layer / 2))});
    const TensorId gate = builder.add(Tensor{.name = "gate." + number, .size = Bytes(2000 - 100 * (layer / 3))});
    const TensorId down = builder.add(Tensor{.name = "down." + number, .size = Bytes(700)});
    builder.add(Op{.name = "up", .kind = "UP", .inputs = {last}, .outputs = {up}});
    builder.add(Op{.name = "gate", .kind = "GATE", .inputs = {last}, .outputs = {gate}});
    builder.add(Op{.name = "down", .kind = "DOWN", .inputs = {up, gate}, .outputs = {down}});
    last = down;
  }
  return std::move(builder.build()).value();
}

TEST(Explain, TheTimeMayRunOutAtAnyRePlan) {
  const Graph graph = staircase();
  std::size_t claimed = 0;
  bool ran_out = true;
  std::chrono::milliseconds limit(20);
  for (std::size_t last = 1; ran_out;) {
    ExplainOptions options = deterministic();
    options.budget = Bytes(1500);
    options.time_limit = limit;
    std::size_t replans = 0;
    options.on_replan = [&](const std::string&) {
      if (++replans == last) std::this_thread::sleep_for(limit + std::chrono::milliseconds(1));
    };
    const Explanation found = explain(graph, options).value();
    ran_out = found.skipped > 0;
    claimed = std::max(claimed, found.details->gains.size());
    for (const Gain& gain : found.details->gains) EXPECT_EQ(gain.gain, found.summary.peak - gain.peak);
    EXPECT_FALSE(explanation_to_text(found, SizeStyle::human).empty());
    if (ran_out && replans < last) {
      limit *= 2;  // it ran out before we slept: the machine is slow
    } else {
      ++last;
    }
  }
  EXPECT_GT(claimed, 1U);
}

TEST(Explain, ItsTextIsThis) {
  ExplainOptions options = deterministic();
  options.budget = Bytes(500);
  EXPECT_EQ(explanation_to_text(explain(two_peaks(), options).value(), SizeStyle::bytes),
            R"(two_peaks needs 1.17 KiB because blk.0.a (1000 B, 83%) and b (200 B, 17%) are needed at the same
time at op 'down.0' (step 1), and 2 other peaks are as high.

  peak                 1200   smallest possible (proven): no placement of these tensors in this
                              order of ops is smaller
  bound                1200
  naive                2500   without any reuse; the peak is 48.0% of it
  weights                 0   constants and variables, which keep their places
  total                1200   weights + peak
  largest op           1200   inputs, outputs and workspaces of op 'down.0' (DOWN, step 1) alone

Arena 'memory' (shared), 1200: 3 binding peaks (live bytes within 1% of the most)
          steps            live  fullest at op
              1            1200  down.0 (DOWN, step 1)
              2            1200  up.1 (UP, step 2)
              3            1200  down.1 (DOWN, step 3)
  At step 1, op 'down.0', 2 holders are needed:
             bytes   share    gain if gone        steps  op kind           name
  A           1000   83.3%               0          0-1  UP                blk.0.a
  B            200   16.7%               0          1-2  DOWN              b
  By op kind:
              1000   83.3%  UP (1)
               200   16.7%  DOWN (1)
  By layer:
              1000   83.3%  blk.0 (1)
               200   16.7%  no layer (1)
  Its bytes at the peak (. is free, # is any other holder):
  |AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBB|
  0                                                                       1.17 KiB
  Its bytes over time, offsets upwards, steps to the right:
    1.17 KiB|.BB#
            |#BB#
            |#BB#
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
            |AA##
           0|AA##
              ^ peak at step 1

What would lower the peak (planned again with these at size 0):
              gain  if gone
              1000  2 holders: blk.*.a (2); none of them alone gains anything; then 'down.0' binds
               100  2 holders: blk.1.a, b; none of them alone gains anything; then 'up.0' binds

What constraints cost (planned again without each; below 0 it saves memory):
              cost  constraint                  planned instead
                 0  outputs kept to the end     outputs live to their last use

Capacity 500: does not fit.
  Dropping constraints: none suffices.
  Op 'down.0' alone needs 1200: no plan fits unless the op is split or its tensors shrink.
  Shrinking tensors: it fits (200) without 2 holders: blk.*.a (2).

22 re-plans.
)");
}

}  // namespace
}  // namespace stowage
