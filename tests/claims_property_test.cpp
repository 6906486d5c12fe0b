#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/data.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/every_plan.hpp"

/// The bytes that `verify` says every plan of a graph needs: no valid plan has fewer, and they are as many as the
/// planner claims because of live bytes.
namespace stowage {
namespace {

/// What `verify` says the arena needs at least. Found by a claim that is too large for anything but a search.
Bytes least_bytes(const Graph& graph, Plan plan, std::size_t arena, const VerifyOptions& options) {
  for (Arena& each : plan.arenas) {
    each.lower_bound = Bytes(0);
    each.proof = {};
  }
  Arena& asked = plan.arenas[arena];
  asked.regions.push_back(Bytes(std::int64_t{1} << 40));
  asked.size += asked.regions.back();
  asked.lower_bound = asked.size;
  asked.proof.argument = BoundProof::Argument::search;
  for (const UncheckedClaim& claim : unchecked_claims(graph, plan, options)) return claim.checked;
  return asked.size;
}

bool is_packed(const Arena& arena) {
  return arena.kind == ArenaKind::shared || arena.kind == ArenaKind::fixed || arena.kind == ArenaKind::session;
}

/// No arena of a valid plan is smaller than that, all arenas of its memory and kind together.
void expect_room(const Graph& graph, const Plan& plan, const VerifyOptions& options, const std::string& name) {
  std::map<std::pair<MemoryId, ArenaKind>, Bytes> sizes;
  for (const Arena& arena : plan.arenas) sizes[{arena.memory, arena.kind}] += arena.size;
  for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
    const Arena& arena = plan.arenas[a];
    if (!is_packed(arena)) continue;
    const Bytes size = sizes[{arena.memory, arena.kind}];
    ASSERT_LE(least_bytes(graph, plan, a, options), size) << name;
  }
}

PlanOptions draw_options(std::uint64_t seed) {
  PlanOptions options{.time_limit = {}, .seed = seed, .node_budget = 500};
  options.keep_inputs = seed % 5 == 0;
  options.in_place = seed % 7 != 0;
  if (seed % 3 == 0) options.zero_fill = FillPolicy::separate;
  if (seed % 4 == 0) options.padding = Padding::none;
  if (seed % 6 == 0) options.base = AddressBase::refreshable;
  if (seed % 11 == 0) options.batch_start = BatchStart::same;
  return options;
}

VerifyOptions rules_of(const PlanOptions& options) {
  return {.keep_inputs = options.keep_inputs,
          .base = options.base,
          .region_limit = options.region_limit,
          .batch_start = options.batch_start};
}

/// Counts the arguments of the planner's proofs.
class Proofs {
 public:
  void add(const Plan& plan) {
    for (const Arena& arena : plan.arenas) {
      if (is_packed(arena)) ++count_[std::string(to_string(arena.proof.argument))];
    }
  }
  std::size_t operator[](const std::string& argument) { return count_[argument]; }
  void print() const {
    for (const auto& [argument, count] : count_) std::printf("  %6zu %s\n", count, argument.c_str());
  }

 private:
  std::map<std::string, std::size_t> count_;
};

void examine(const Graph& graph, const PlanOptions& options, const std::string& name, Proofs& proofs) {
  const Result<Planned> planned = plan(graph, options);
  if (!planned || !planned->plan) return;
  proofs.add(*planned->plan);
  expect_room(graph, *planned->plan, rules_of(options), name);
}

TEST(Claims, NoPlanOfThePlannerIsBelowTheBoundOfVerify) {
  const testing::SeedRange seeds = testing::seeds(2000);
  Proofs proofs;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const std::string name = "seed " + std::to_string(seed);
    testing::ConstrainedGraphOptions limited;
    limited.memory_limits = seed % 2 == 0 ? 80 : limited.memory_limits;
    examine(testing::constrained_graph(seed, limited), draw_options(seed), name, proofs);
    examine(testing::random_graph(seed), draw_options(seed), name + " of random_graph", proofs);
    if (::testing::Test::HasFatalFailure()) return;
  }
  proofs.print();
  EXPECT_GT(proofs["live_bytes"], seeds.is_many() ? 1000U : 0U);
}

TEST(Claims, NoCarelessPlanThatIsValidIsBelowTheBoundOfVerify) {
  const testing::SeedRange seeds = testing::seeds(2000);
  std::size_t valid = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Result<Graph> graph = testing::draw_constrained_graph(
        seed, seed % 2 == 0 ? testing::tiny_graphs() : testing::tiny_constrained_graphs());
    for (std::uint64_t variant = 0; graph && variant < 8; ++variant) {
      const std::optional<Plan> plan =
          testing::CarelessPlan(*graph, {.seed = seed * 100 + variant, .moves = 4 * variant}).make();
      const VerifyOptions options{.base = AddressBase::refreshable};
      if (!plan || !verify(*graph, *plan, options).empty()) continue;
      ++valid;
      expect_room(*graph, *plan, options, "seed " + std::to_string(seed) + " variant " + std::to_string(variant));
      if (HasFatalFailure()) return;
    }
  }
  std::printf("  %zu valid plans\n", valid);
  EXPECT_GE(valid, seeds.is_many() ? 2000U : 0U);
}

/// Tries every position of everything: nothing fits into one unit less than the bound. Often something fits into it.
TEST(Claims, NoPlanAtAllIsBelowTheBoundOfVerify) {
  const testing::SeedRange seeds = testing::seeds(1500);
  std::size_t tried = 0;
  std::size_t reached = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    testing::ConstrainedGraphOptions drawing = testing::tiny_graphs();
    drawing.size_unit = 8;
    drawing.max_ops = 4;
    drawing.max_memories = 1;
    drawing.memory_limits = 0;
    drawing.own_alignment = 0;
    const Result<Graph> graph = testing::draw_constrained_graph(seed, drawing);
    if (!graph || graph->stream_count() > 2) continue;
    testing::CarelessPlan apart(*graph, {.seed = 2 * seed});
    const std::optional<Plan> like = apart.make();
    if (!like || !verify(*graph, *like, {}).empty()) continue;
    testing::EveryPlan every(*graph, *like, apart.parts(), {.unit = Bytes(8)});
    const Bytes least = least_bytes(*graph, *like, 0, {});
    double plans = 1;
    for (std::size_t i = 0; i < every.part_count(); ++i) plans *= static_cast<double>(least.value()) / 8;
    if (least == Bytes(0) || plans > 3000) continue;
    ++tried;
    ASSERT_FALSE(every.find(least - Bytes(8))) << "seed " << seed << " has a plan below " << least.value();
    reached += every.find(least).has_value();
  }
  std::printf("  %zu graphs, the bound of %zu is reached\n", tried, reached);
  if (seeds.is_many()) {
    EXPECT_GT(tried, 200U);
    EXPECT_GT(reached, tried * 3 / 4);
  }
}

TEST(Claims, OfPlansOfRealGraphsAreSupported) {
  const std::vector<std::filesystem::path> files = testing::graph_files();
  if (files.empty()) GTEST_SKIP() << "SKIPPED: no graphs. Set STOWAGE_DATA to the data folder.";
  Proofs proofs;
  for (const std::filesystem::path& file : files) {
    const Result<Graph> graph = parse_graph(*read_file(file.string()), file.string());
    ASSERT_TRUE(graph) << to_string(graph.error());
    examine(*graph, {.time_limit = std::nullopt, .node_budget = 2'000}, file.filename().string(), proofs);
    if (HasFatalFailure()) return;
  }
  proofs.print();
  EXPECT_GT(proofs["live_bytes"], files.size() / 2);
}

}  // namespace
}  // namespace stowage
