#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/judges/every_plan.hpp"

/// What "smallest possible" claims of a graph, against brute force over every legal plan: every position of every
/// tensor, and with it every choice of in-place pairs. The only judge of what is legal is `verify`.
namespace stowage {
namespace {

/// At most four ops on up to three streams, sizes up to 4, alignment 1, many in-place pairs, some views.
class TinyGraph {
 public:
  explicit TinyGraph(std::uint64_t seed) : random_(seed) {}

  Graph build() {
    streams_ = 1 + below(3);
    for (std::size_t i = 0, inputs = 1 + below(2); i < inputs; ++i) add_tensor(TensorFlag::input);
    for (std::size_t k = 0, ops = 2 + below(3); k < ops; ++k) add_op();
    return *Graph::build(std::move(graph_));
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  TensorId add_tensor(TensorFlags flags) {
    graph_.tensors.push_back({.name = "t" + std::to_string(graph_.tensors.size()),
                              .size = Bytes(static_cast<std::int64_t>(1 + below(4))),
                              .flags = flags});
    return TensorId(graph_.tensors.size() - 1);
  }

  /// An existing tensor, or a view of one.
  TensorId some_tensor() {
    const TensorId base(below(graph_.tensors.size()));
    const Tensor whole = graph_.tensors[base.index()];
    if (below(5) != 0 || whole.view_of || whole.size == Bytes(1)) return base;
    const Bytes offset(static_cast<std::int64_t>(below(static_cast<std::size_t>(whole.size.value()))));
    graph_.tensors.push_back({.name = "v" + std::to_string(graph_.tensors.size()),
                              .size = whole.size - offset,
                              .view_of = ViewOf{base, offset}});
    return TensorId(graph_.tensors.size() - 1);
  }

  void add_op() {
    Op op{.name = "op" + std::to_string(graph_.ops.size()), .kind = "X", .stream = StreamId(below(streams_))};
    for (std::size_t i = 0, inputs = below(3); i < inputs; ++i) op.inputs.emplace_back(some_tensor());
    for (std::size_t o = 0, outputs = below(4) == 0 ? 2 : 1; o < outputs; ++o) {
      op.outputs.push_back(add_tensor(below(4) == 0 ? TensorFlags(TensorFlag::output) : TensorFlags()));
      for (std::uint32_t i = 0; i < op.inputs.size(); ++i) {
        if (below(3) != 0) op.in_place.push_back({static_cast<std::uint32_t>(o), i});
      }
    }
    if (!graph_.ops.empty() && below(3) == 0) op.after.emplace_back(below(graph_.ops.size()));
    graph_.ops.push_back(std::move(op));
  }

  std::mt19937_64 random_;
  std::size_t streams_ = 1;
  GraphDescription graph_{.name = "tiny", .memories = {{.name = "m"}}, .tensors = {}, .ops = {}};
};

struct Tally {
  std::size_t proven = 0;
  std::size_t optimal = 0;
  double excess = 0;  ///< Of the plans that are not optimal, summed.
};

void check(const Graph& graph, std::uint64_t seed, Tally& tally) {
  const Planned planned = *plan(graph, {.node_budget = 20'000});
  ASSERT_TRUE(planned.plan) << seed;
  if (planned.plan->arenas.size() != 1) return;  // nothing is placed
  const Bytes size = planned.plan->peak();
  testing::CarelessPlan apart(graph, {});
  const std::optional<Plan> like = apart.make();
  ASSERT_TRUE(like && verify(graph, *like).empty()) << seed;
  const std::int64_t peak = size.value();
  const std::int64_t least = testing::EveryPlan(graph, *like, apart.parts(), {}).least(size).value_or(size).value();
  ASSERT_LE(planned.lower_bound.value(), least) << seed;
  ASSERT_FALSE(planned.status == SolveStatus::optimal && least < peak) << seed << ": " << least << " < " << peak;
  tally.proven += planned.status == SolveStatus::optimal;
  tally.optimal += least == peak;
  tally.excess += static_cast<double>(peak - least) / static_cast<double>(std::max<std::int64_t>(1, least));
  const Planned limited = *plan(graph, {.capacity = Bytes(least), .node_budget = 20'000});
  ASSERT_NE(limited.status, SolveStatus::infeasible) << seed << ": " << least << " is possible";
}

TEST(Proof, NoPlanThatIsCalledProvenCanBeBeatenAndNoCapacityIsRefusedThatSuffices) {
  const testing::SeedRange seeds = testing::seeds(1'500);
  Tally tally;
  std::size_t graphs = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed, ++graphs) {
    check(TinyGraph(seed).build(), seed, tally);
    if (HasFatalFailure()) return;
  }
  std::cout << graphs << " graphs, " << tally.proven << " proven, " << tally.optimal
            << " optimal; the others exceed the optimum by " << 100 * tally.excess << "% in total\n";
  if (seeds.is_many()) {
    EXPECT_GT(tally.proven, graphs * 95 / 100);
  }
}

}  // namespace
}  // namespace stowage
