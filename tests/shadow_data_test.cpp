#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/pack.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/data.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Every plan of every solver is correct, for the recorded graphs (STOWAGE_DATA) and for thousands of random ones.
namespace stowage::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

#define SKIP_WITHOUT_DATA() \
  if (graph_files().empty()) GTEST_SKIP() << "NO DATA: there are no recorded graphs (set STOWAGE_DATA)"

/// All recorded graphs are aligned to 32 bytes.
constexpr Bytes kGranularity{32};

Graph read_graph(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path.string());
  EXPECT_TRUE(text) << (text ? "" : to_string(text.error()));
  Result<Graph> graph = parse_graph(*text, path.string());
  EXPECT_TRUE(graph) << (graph ? "" : to_string(graph.error()));
  return std::move(graph).value();
}

Plan plan_with(const Graph& graph, const PlanOptions& options) {
  Result<Planned> planned = plan(graph, options);
  EXPECT_TRUE(planned) << (planned ? "" : to_string(planned.error()));
  return std::move(planned->plan).value();
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverInfo& solver : solvers()) names.emplace_back(solver.name);
  return names;
}

// ---------------------------------------------------------------------------------------------------- recorded graphs

class ShadowOfSolver : public ::testing::TestWithParam<std::string> {};

TEST_P(ShadowOfSolver, RunsEveryRecordedGraph) {
  SKIP_WITHOUT_DATA();
  for (const std::filesystem::path& file : graph_files()) {
    const Graph graph = read_graph(file);
    for (const bool in_place : {true, false}) {
      const Plan plan = plan_with(graph, {.in_place = in_place, .solver = GetParam()});
      const ShadowReport report = shadow_execute(graph, plan, {.granularity = kGranularity});
      EXPECT_THAT(report.findings, IsEmpty()) << graph.name() << (in_place ? ", in place" : ", not in place");
      EXPECT_GT(report.compared, plan.peak()) << graph.name();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, ShadowOfSolver, ::testing::ValuesIn(solver_names()),
                         [](const ::testing::TestParamInfo<std::string>& solver) { return solver.param; });

/// A value in a shared arena that an op writes and a later one reads.
struct Value {
  TensorId tensor;
  std::size_t written = 0;
  std::size_t read = 0;
};

bool in_shared_arena(const Plan& plan, const Placement& place) {
  return plan.arenas[place.arena.index()].kind == ArenaKind::shared;
}

/// Values without views and aliases, so that nothing else accesses their bytes.
std::vector<Value> plain_values(const Graph& graph, const Plan& plan) {
  std::vector<std::optional<Value>> values(graph.tensors().size());
  for (std::size_t k = 0; k < graph.ops().size(); ++k) {
    if (graph.ops()[k].no_task) continue;
    for (const TensorId output : graph.ops()[k].outputs) values[output.index()] = Value{output, k, k};
    for (const std::optional<TensorId>& input : graph.ops()[k].inputs) {
      if (input && values[input->index()]) values[input->index()]->read = k;
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t root = graph.root(TensorId(i)).tensor.index();
    if (root != i) values[i] = values[root] = std::nullopt;
  }
  std::vector<Value> result;
  for (const Placement& place : plan.placements) {
    const std::optional<Value>& value = values[place.tensor.index()];
    if (value && place.size > Bytes(0) && in_shared_arena(plan, place)) result.push_back(*value);
  }
  return result;
}

Placement& place_of(Plan& plan, TensorId tensor) {
  const auto found = std::find_if(plan.placements.begin(), plan.placements.end(),
                                  [&](const Placement& place) { return place.tensor == tensor; });
  return *found;
}

/// Moves a value onto one that was written before it and is read after it.
bool plant_overlap(const Graph& graph, Plan& plan, std::mt19937_64& random) {
  const std::vector<Value> values = plain_values(graph, plan);
  for (int attempt = 0; attempt < 100'000; ++attempt) {
    const Value& victim = values[random() % values.size()];
    const Value& moved = values[random() % values.size()];
    if (victim.written >= moved.written || moved.written >= victim.read) continue;
    const Placement& target = place_of(plan, victim.tensor);
    Placement& place = place_of(plan, moved.tensor);
    const Bytes top = plan.arenas[target.arena.index()].regions[target.region];
    if (place.arena != target.arena || target.offset + place.size > top) continue;
    place.region = target.region;
    place.offset = target.offset;
    return true;
  }
  return false;
}

TEST(ShadowData, FindsPlantedOverlaps) {
  SKIP_WITHOUT_DATA();
  for (const std::filesystem::path& file : graph_files()) {
    const Graph graph = read_graph(file);
    std::mt19937_64 random(1);
    for (int round = 0; round < 3; ++round) {
      Plan plan = plan_with(graph, {});
      ASSERT_TRUE(plant_overlap(graph, plan, random)) << graph.name();
      const ShadowReport report = shadow_execute(graph, plan, {.granularity = kGranularity, .max_findings = 1});
      EXPECT_THAT(report.findings, Not(IsEmpty())) << graph.name() << ", round " << round;
    }
  }
}

// ------------------------------------------------------------------------------------------------------ random graphs

PlanOptions options_for(std::uint64_t seed, std::string solver) {
  // A small budget: plans must be correct here, not optimal.
  return {.in_place = seed % 5 != 0,
          .keep_inputs = seed % 3 == 0,
          .no_reuse = seed % 31 == 0,
          .solver = std::move(solver),
          .time_limit = {},
          .node_budget = 2'000};
}

/// In the linear order and in some others.
void expect_runs(const Graph& graph, const Plan& plan, const PlanOptions& options, std::uint64_t seed) {
  EXPECT_THAT(verify(graph, plan, {.keep_inputs = options.keep_inputs}), IsEmpty()) << graph.name();
  ShadowOptions shadow{.seed = seed, .keep_inputs = options.keep_inputs};
  EXPECT_THAT(shadow_execute(graph, plan, shadow).findings, IsEmpty()) << graph.name() << ", " << options.solver;
  shadow.order = ShadowOptions::Order::random;
  for (; shadow.seed < seed + 5; ++shadow.seed) {
    const std::vector<std::string> findings = shadow_execute(graph, plan, shadow).findings;
    EXPECT_THAT(findings, IsEmpty()) << graph.name() << ", " << options.solver << ", order " << shadow.seed;
  }
}

TEST(ShadowRandom, EveryPlanOfRandomGraphsRunsInRandomOrders) {
  const std::vector<std::string> names = solver_names();
  for (std::uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    const Graph graph = random_graph(seed);
    for (const std::string& solver : {std::string("auto"), names[seed % names.size()]}) {
      const PlanOptions options = options_for(seed, solver);
      expect_runs(graph, plan_with(graph, options), options, seed);
    }
  }
}

/// Proof that the random orders are effective: a plan that relies on the linear order fails if streams deviate from it.
TEST(ShadowRandom, PlansForOneStreamRaceOnSeveral) {
  std::size_t races = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = random_graph(seed, {.max_memories = 1});
    GraphDescription serial = graph.description();
    for (Op& op : serial.ops) op.stream = StreamId(0);
    const Plan plan = plan_with(Graph::build(serial).value(), {});
    for (std::uint64_t order = 0; order < 8; ++order) {
      const ShadowOptions options{.seed = order, .order = ShadowOptions::Order::random, .max_findings = 1};
      if (shadow_execute(graph, plan, options).findings.empty()) continue;
      ++races;
      break;
    }
  }
  EXPECT_GT(races, 50u);
}

}  // namespace
}  // namespace stowage::testing
