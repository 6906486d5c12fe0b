#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/interface/rewrites.hpp"
#include "support/builders/sketch.hpp"
#include "support/generators/constrained_graph.hpp"

namespace stowage::rewrite {
namespace {

using ::testing::ElementsAre;
using testing::Sketch;

constexpr TensorFlags kConstant = TensorFlag::constant;
constexpr TensorFlags kLeftOut{TensorFlag::constant, TensorFlag::external};

Graph folded(const Graph& graph, FoldFilter filter = nullptr) {
  Result<Rewritten> result = fold_constants(graph, filter);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return std::move(result->graph);
}

std::vector<bool> tasks(const Graph& graph) {
  std::vector<bool> list;
  for (const Op& op : graph.ops()) list.push_back(!op.no_task);
  return list;
}

std::vector<TensorFlags> flags(const Graph& graph) {
  std::vector<TensorFlags> list;
  for (const Tensor& tensor : graph.tensors()) list.push_back(tensor.flags);
  return list;
}

/// w → t → u, which the last op reads with x.
class FoldConstants : public ::testing::Test {
 protected:
  Graph build() {
    s_.op({w_}, {t_}, {{0, 0}});
    s_.op(change_);
    s_.op({x_, u_}, {y_});
    return s_.build();
  }

  Sketch s_;
  TensorId w_ = s_.tensor("w", 8, TensorFlag::constant);
  TensorId x_ = s_.tensor("x", 8, TensorFlag::input);
  TensorId t_ = s_.tensor("t", 8);
  TensorId u_ = s_.tensor("u", 8);
  TensorId y_ = s_.tensor("y", 8, TensorFlag::output);
  Op change_{.name = "change", .kind = "X", .inputs = {t_}, .outputs = {u_}};
};

TEST_F(FoldConstants, WhatIsComputedFromConstantsIsConstantAndWhatNoRunReadsIsLeftOut) {
  const Graph graph = folded(build());
  EXPECT_THAT(tasks(graph), ElementsAre(false, false, true));
  EXPECT_THAT(flags(graph), ElementsAre(kLeftOut, TensorFlag::input, kLeftOut, kConstant, TensorFlag::output));
  EXPECT_TRUE(graph.ops()[0].in_place.empty());
}

TEST_F(FoldConstants, AConstantThatARunReadsStays) {
  const TensorId z = s_.tensor("z", 8, TensorFlag::output);
  s_.op({w_, x_}, {z});
  const Graph graph = folded(build());
  EXPECT_EQ(graph.tensor(w_).flags, kConstant);
  EXPECT_EQ(graph.tensor(t_).flags, kLeftOut);
}

TEST_F(FoldConstants, TwiceIsTheSameAsOnce) {
  const Graph graph = folded(build());
  EXPECT_EQ(folded(graph).description(), graph.description());
}

TEST_F(FoldConstants, TheFilterDecides) {
  const Graph graph = folded(build(), [](const Op& op) { return op.name != "change"; });
  EXPECT_THAT(tasks(graph), ElementsAre(false, true, true));
  EXPECT_THAT(flags(graph), ElementsAre(kLeftOut, TensorFlag::input, kConstant, TensorFlags(), TensorFlag::output));
}

TEST_F(FoldConstants, AnOpThatMustNotBeRepeatedStays) {
  change_.recompute = false;
  EXPECT_THAT(tasks(folded(build())), ElementsAre(false, true, true));
}

TEST_F(FoldConstants, AnOpThatReadsNothingStays) {
  change_.inputs = {};
  EXPECT_THAT(tasks(folded(build())), ElementsAre(false, true, true));
}

TEST_F(FoldConstants, AnOpInAnOrderStays) {
  change_.after = {OpId(0)};
  EXPECT_THAT(tasks(folded(build())), ElementsAre(true, true, true));
}

TEST(FoldConstantsOf, AnOutputOfTheGraphIsComputedInEachRun) {
  Sketch s;
  const TensorId w = s.tensor("w", 8, TensorFlag::constant);
  const TensorId y = s.tensor("y", 8, TensorFlag::output);
  s.op({w}, {y});
  const Graph graph = s.build();
  EXPECT_EQ(folded(graph).description(), graph.description());
}

TEST(FoldConstantsOf, AConstantThatTheCallerMayReplaceIsNotReadAsOne) {
  Sketch s;
  const TensorId w = s.tensor("w", 8, {TensorFlag::constant, TensorFlag::input});
  const TensorId t = s.tensor("t", 8);
  s.op({w}, {t});
  s.op({t}, {s.tensor("y", 8, TensorFlag::output)});
  EXPECT_THAT(tasks(folded(s.build())), ElementsAre(true, true));
}

TEST(FoldConstantsOf, ViewsOfConstantsAreReadAndViewsOfWhatIsFoldedLieInIt) {
  Sketch s;
  const TensorId w = s.tensor("w", 8, TensorFlag::constant);
  const TensorId part = s.view("part", 4, w, 4);
  const TensorId t = s.tensor("t", 4);
  const TensorId reshaped = s.view("reshaped", 4, t, 0);
  const TensorId x = s.tensor("x", 4, TensorFlag::input);
  const TensorId y = s.tensor("y", 4, TensorFlag::output);
  s.op({.name = "slice", .kind = "X", .inputs = {w}, .outputs = {part}, .no_task = true});
  s.op({part}, {t});
  s.op({.name = "reshape", .kind = "X", .inputs = {t}, .outputs = {reshaped}, .no_task = true});
  s.op({x, reshaped}, {y});
  const Graph graph = folded(s.build());
  EXPECT_THAT(tasks(graph), ElementsAre(false, false, false, true));
  EXPECT_EQ(graph.tensor(w).flags, kLeftOut);
  EXPECT_EQ(graph.tensor(t).flags, kConstant) << "a run reads it through its view";
}

TEST(FoldConstantsOf, ATensorThatSeveralOpsWriteStays) {
  Sketch s;
  const TensorId w = s.tensor("w", 8, TensorFlag::constant);
  const TensorId x = s.tensor("x", 4, TensorFlag::input);
  const TensorId t = s.tensor("t", 8);
  const TensorId half = s.view("half", 4, t, 4);
  s.op({w}, {t});
  s.op({x}, {half});
  s.op({t}, {s.tensor("y", 8, TensorFlag::output)});
  EXPECT_THAT(tasks(folded(s.build())), ElementsAre(true, true, true));
}

TEST(FoldConstantsOf, BodiesReadTheConstantsThatTheyAreGiven) {
  GraphDescription description{.name = "branch", .memories = {}, .tensors = {}, .ops = {}};
  description.tensors = {{.name = "w", .size = Bytes(8), .flags = TensorFlag::constant},
                         {.name = "x", .size = Bytes(8), .flags = TensorFlag::input},
                         {.name = "y", .size = Bytes(8), .flags = TensorFlag::output}};
  Body body;
  body.tensors = {{.name = "inner w", .size = Bytes(8)},
                  {.name = "inner x", .size = Bytes(8)},
                  {.name = "t", .size = Bytes(8)},
                  {.name = "inner y", .size = Bytes(8)}};
  body.ops = {{.name = "change", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(2)}},
              {.name = "add", .kind = "X", .inputs = {TensorId(1), TensorId(2)}, .outputs = {TensorId(3)}}};
  body.inputs = {{TensorId(0), TensorId(0)}, {TensorId(1), TensorId(1)}};
  body.outputs = {{TensorId(3), TensorId(2)}};
  description.ops = {{.name = "call",
                      .kind = "CALL",
                      .inputs = {TensorId(0), TensorId(1)},
                      .outputs = {TensorId(2)},
                      .control = Control::call,
                      .bodies = {body}}};
  const Graph graph = folded(Graph::build(description).value());
  EXPECT_THAT(tasks(graph), ElementsAre(true, false, true));
  EXPECT_EQ(graph.tensor(TensorId(0)).flags, kConstant) << "it still goes into the body";
  EXPECT_EQ(graph.tensor(TensorId(5)).flags, kConstant);
}

TEST(FoldConstantsProperty, RandomGraphsStayValidAndFoldingAgainChangesNothing) {
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = testing::constrained_graph(seed);
    const Graph once = folded(graph);
    if (once.description() != graph.description()) ++changed;
    EXPECT_EQ(folded(once).description(), once.description());
  }
  EXPECT_GT(changed, 0U);
}

}  // namespace
}  // namespace stowage::rewrite
