#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Requirements on the plan of examples/training_step.json, with every base and fill policy.
namespace stowage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kFile = STOWAGE_SOURCE_DIR "/examples/training_step.json";

// Of eight layers, 256 wide, the first with 512 inputs: weights and biases, f32. All of them are live when the last
// bucket is reduced.
constexpr Bytes kGradients(8 * (256 * 256 + 256) * 4 + 256 * 256 * 4);
constexpr Bytes kReduceWorkspace(65536);

Graph training_step() {
  const std::string file(kFile);
  return parse_graph(read_file(file).value(), file).value();
}

Plan planned(const Graph& graph, AddressBase base, FillPolicy fill) {
  const PlanOptions options{.zero_fill = fill, .base = base, .time_limit = std::nullopt, .node_budget = 100000};
  return plan(graph, options).value().plan.value();
}

class TrainingStep : public ::testing::TestWithParam<std::tuple<AddressBase, FillPolicy>> {
 protected:
  [[nodiscard]] const Placement& place(TensorId id) const {
    const auto at = std::find_if(plan_.placements.begin(), plan_.placements.end(),
                                 [&](const Placement& p) { return p.tensor == id; });
    EXPECT_NE(at, plan_.placements.end()) << describe(graph_.tensor(id), id);
    return at == plan_.placements.end() ? plan_.placements.front() : *at;
  }
  [[nodiscard]] ArenaKind kind_of(ArenaId id) const { return plan_.arenas[id.index()].kind; }
  [[nodiscard]] Bytes size_of(ArenaKind kind) const {
    Bytes sum;
    for (const Arena& arena : plan_.arenas) {
      if (arena.kind == kind) sum += arena.size;
    }
    return sum;
  }
  [[nodiscard]] std::vector<OpId> collectives() const {
    std::vector<OpId> result;
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      if (graph_.ops()[k].kind == "ALL_REDUCE") result.push_back(OpId(k));
    }
    return result;
  }

  const AddressBase base_ = std::get<0>(GetParam());
  const FillPolicy fill_ = std::get<1>(GetParam());
  const Graph graph_ = training_step();
  const Plan plan_ = planned(graph_, base_, fill_);
};

INSTANTIATE_TEST_SUITE_P(Bases, TrainingStep,
                         ::testing::Combine(::testing::Values(AddressBase::fixed, AddressBase::refreshable),
                                            ::testing::Values(FillPolicy::central, FillPolicy::separate)),
                         [](const auto& instance) {
                           const std::string base =
                               std::get<0>(instance.param) == AddressBase::fixed ? "FixedBase" : "RefreshableBase";
                           return base +
                                  (std::get<1>(instance.param) == FillPolicy::central ? "CentralFill" : "SeparateFill");
                         });

TEST_P(TrainingStep, PlanIsValid) {
  for (const Finding& finding : verify(graph_, plan_, {.base = base_})) ADD_FAILURE() << finding.message;
}

TEST_P(TrainingStep, PlanWorksRunAfterRunInAnyOrderOfTheStreams) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const ShadowOptions options{.seed = seed,
                                .order = seed == 0 ? ShadowOptions::Order::linear : ShadowOptions::Order::random,
                                .granularity = Bytes(4),
                                .runs = 3,
                                .base = base_};
    const ShadowReport report = shadow_execute(graph_, plan_, options);
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_EQ(report.ops, 3 * graph_.ops().size());
  }
}

TEST_P(TrainingStep, GradientsOfABucketAreContiguous) {
  const std::vector<OpId> buckets = collectives();
  ASSERT_EQ(buckets.size(), 4u);
  for (const OpId bucket : buckets) {
    const Op& op = graph_.op(bucket);
    ASSERT_EQ(op.inputs.size(), 4u);
    const Placement& first = place(*op.inputs.front());
    Bytes next = first.offset;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const Placement& gradient = place(*op.inputs[i]);
      EXPECT_EQ(gradient.arena, first.arena);
      EXPECT_EQ(gradient.region, first.region);
      EXPECT_EQ(gradient.offset, next) << describe(graph_.tensor(*op.inputs[i]), *op.inputs[i]);
      EXPECT_EQ(place(op.outputs[i]).offset, next) << "the sum replaces what was summed";
      next = align_up(gradient.offset + gradient.size, Bytes(512));
    }
  }
  EXPECT_THAT(plan_.copies, IsEmpty()) << "every gradient is in one bucket only";
}

TEST_P(TrainingStep, WhatCollectivesTouchNeverMoves) {
  const ArenaKind expected = base_ == AddressBase::fixed ? ArenaKind::shared : ArenaKind::fixed;
  for (const OpId bucket : collectives()) {
    for (const std::optional<TensorId>& input : graph_.op(bucket).inputs)
      EXPECT_EQ(kind_of(place(*input).arena), expected);
    for (const TensorId output : graph_.op(bucket).outputs) EXPECT_EQ(kind_of(place(output).arena), expected);
    const auto workspace = std::find_if(plan_.workspaces.begin(), plan_.workspaces.end(),
                                        [&](const WorkspacePlacement& each) { return each.op == bucket; });
    ASSERT_NE(workspace, plan_.workspaces.end());
    EXPECT_EQ(kind_of(workspace->arena), expected);
  }
  // One workspace serves all four: they follow each other on one stream.
  EXPECT_EQ(size_of(ArenaKind::fixed), base_ == AddressBase::fixed ? Bytes(0) : kGradients + kReduceWorkspace);
}

TEST_P(TrainingStep, InputsStayInTheCallersBuffers) {
  std::vector<std::string> bound;
  for (const Binding& binding : plan_.bindings) bound.push_back(graph_.tensor(binding.tensor).name);
  EXPECT_THAT(bound, ElementsAre("samples", "labels", "learning_rate"));
  EXPECT_THAT(plan_.notes, IsEmpty());
  for (const Placement& placement : plan_.placements)
    EXPECT_FALSE(graph_.tensor(placement.tensor).flags.has(TensorFlag::input));
}

TEST_P(TrainingStep, TheBufferOfTheSamplesServesOthersOnceTheyAreRead) {
  GraphDescription without = graph_.description();
  without.tensors[0].flags = {TensorFlag::input, TensorFlag::zero_copy};
  const Plan costlier = planned(Graph::build(without).value(), base_, fill_);
  EXPECT_LT(plan_.peak(), costlier.peak());
  EXPECT_EQ(size_of(ArenaKind::user), graph_.tensor(TensorId(0)).size);
  for (const Placement& placement : plan_.placements) {
    if (kind_of(placement.arena) != ArenaKind::user) continue;
    EXPECT_FALSE(graph_.tensor(placement.tensor).flags.any_of(kOwnAddress | TensorFlag::output));
  }
}

TEST_P(TrainingStep, SumsStartFromZero) {
  std::size_t filled = 0;
  for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
    for (const std::uint32_t output : graph_.ops()[k].zero_fill.outputs) {
      const Placement& sum = place(graph_.ops()[k].outputs[output]);
      const bool cleared = std::any_of(plan_.clears.begin(), plan_.clears.end(), [&](const Clear& clear) {
        const bool in_time = clear.before == (fill_ == FillPolicy::central ? OpId(0) : OpId(k));
        return in_time && clear.value == 0 && clear.arena == sum.arena && clear.region == sum.region &&
               clear.offset <= sum.offset && sum.offset + sum.size <= clear.offset + clear.size;
      });
      EXPECT_TRUE(cleared) << graph_.ops()[k].name;
      ++filled;
    }
  }
  EXPECT_EQ(filled, 9u) << "the loss, and eight biases";
}

TEST_P(TrainingStep, WeightsAndMomentumArePersistent) {
  EXPECT_EQ(size_of(ArenaKind::persistent), kGradients + kGradients);
}

TEST(TrainingStepPeak, FillingSeparatelyIsNoWorse) {
  const Graph graph = training_step();
  for (const AddressBase base : {AddressBase::fixed, AddressBase::refreshable})
    EXPECT_LE(planned(graph, base, FillPolicy::separate).peak(), planned(graph, base, FillPolicy::central).peak());
}

}  // namespace
}  // namespace stowage::testing
