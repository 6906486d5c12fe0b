#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "support/builders/sketch.hpp"

/// Members of groups that are copied although they could lie in the group.
namespace stowage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Sketch;

/// x → b; G reads the padded group (x, b) and writes y; idle is read by nobody.
class CopiedMembersTest : public ::testing::Test {
 protected:
  CopiedMembersTest() {
    x_ = s_.tensor("x", 8, TensorFlag::input);
    b_ = s_.tensor("b", 8);
    y_ = s_.tensor("y", 16, TensorFlag::output);
    s_.op({x_}, {b_});
  }

  Graph graph(Contiguity contiguity = Contiguity::padded) {
    s_.op({.name = "G", .kind = "X", .inputs = {x_, b_}, .outputs = {y_}, .contiguous_inputs = contiguity});
    return s_.build();
  }
  Interval life(const Analysis& analysis, TensorId id) const {
    return analysis.liveness.lives[analysis.layout.class_of(id)].span;
  }

  Sketch s_;
  TensorId x_;
  TensorId b_;
  TensorId y_;
};

Interval steps(std::int64_t lower, std::int64_t upper) { return {Step(lower), Step(upper)}; }

std::vector<std::string> reasons(const Analysis& analysis) {
  std::vector<std::string> reasons;
  for (const PlannedCopy& copy : analysis.layout.copies) reasons.push_back(copy.reason);
  return reasons;
}

TEST_F(CopiedMembersTest, LiveUntilTheyAreCopiedRightBeforeTheOp) {
  const Graph graph = this->graph();
  const Analysis joined = analyze(graph);
  EXPECT_THAT(joined.layout.copies, IsEmpty());
  EXPECT_EQ(life(joined, x_), steps(0, 2));
  const Analysis copied = analyze(graph, {.copied = {{OpId(1), x_, "test"}}});
  EXPECT_THAT(reasons(copied), ElementsAre("test"));
  EXPECT_EQ(copied.liveness.timeline.horizon(), Step(3)) << "b, the copy, G";
  EXPECT_EQ(life(copied, x_), steps(0, 2)) << "to the copy";
  EXPECT_EQ(life(copied, b_), steps(0, 3)) << "to the op";
  EXPECT_EQ(life(copied, y_), steps(2, 3));
  const Storage& group = copied.layout.storage(copied.layout.positions[copied.layout.class_of(b_)].storage);
  ASSERT_EQ(group.copy_targets.size(), 1U);
  EXPECT_THAT(group.copy_targets.front().lives, ElementsAre(steps(1, 3)));
}

TEST_F(CopiedMembersTest, LieInTheWholeFromTheirCopyOn) {
  const Analysis copied = analyze(graph(Contiguity::packed), {.copied = {{OpId(1), x_, "test"}}});
  EXPECT_THAT(reasons(copied), ElementsAre("test"));
  EXPECT_EQ(life(copied, x_), steps(0, 2));
  EXPECT_EQ(life(copied, y_), steps(2, 3));
  const Storage& whole = copied.layout.storage(copied.layout.positions[copied.layout.class_of(y_)].storage);
  ASSERT_EQ(whole.copy_targets.size(), 1U);
  EXPECT_EQ(whole.copy_targets.front().bytes, (ByteRange{Bytes(0), Bytes(8)}));
  EXPECT_THAT(whole.copy_targets.front().lives, ElementsAre(steps(1, 2))) << "until G makes the whole";
}

TEST_F(CopiedMembersTest, AreCopiedOneAfterAnother) {
  const Analysis copied = analyze(graph(), {.copied = {{OpId(1), b_, "first"}, {OpId(1), x_, "second"}}});
  EXPECT_THAT(reasons(copied), ElementsAre("first", "second"));
  EXPECT_EQ(copied.liveness.timeline.horizon(), Step(4)) << "b, two copies, G";
  EXPECT_EQ(life(copied, b_), steps(0, 2));
  EXPECT_EQ(life(copied, x_), steps(0, 3));
  EXPECT_EQ(life(copied, y_), steps(3, 4));
}

TEST_F(CopiedMembersTest, AnInputThatNobodyReadsLivesThroughTheFirstOpNotOnlyItsCopies) {
  Sketch s;
  const TensorId a = s.tensor("a", 8, TensorFlag::input);
  const TensorId b = s.tensor("b", 8, TensorFlag::input);
  const TensorId unread = s.tensor("unread", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 8, TensorFlag::output);
  s.op({.name = "G", .kind = "X", .inputs = {a, b}, .outputs = {y}, .contiguous_inputs = Contiguity::padded});
  const Analysis copied = analyze(s.build(), {.copied = {{OpId(0), a, "test"}}});
  EXPECT_EQ(life(copied, a), steps(0, 1));
  EXPECT_EQ(life(copied, unread), steps(0, 2));
}

TEST_F(CopiedMembersTest, WhatIsNoMemberIsNotCopied) {
  const Analysis analysis = analyze(graph(), {.copied = {{OpId(0), x_, "not in a group"}, {OpId(1), y_, "an output"}}});
  EXPECT_THAT(analysis.layout.copies, IsEmpty());
  EXPECT_EQ(analysis.liveness.timeline.horizon(), Step(2));
}

}  // namespace
}  // namespace stowage
