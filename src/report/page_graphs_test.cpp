#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "layout/interface/analysis.hpp"
#include "planner/interface/record.hpp"
#include "stowage/report.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"
#include "support/report/page.hpp"

/// What pages say of random graphs, against their plans.
namespace stowage {
namespace {

using nlohmann::json;

constexpr std::uint64_t kGraphs = 300;

PlanOptions quick() {
  PlanOptions options;
  options.time_limit.reset();
  options.node_budget = 500;
  return options;
}

struct Rectangle {
  std::int64_t first, end, low, high;
};

/// The holders' pieces of a page.
std::vector<std::vector<Rectangle>> pieces_of(const json& shown) {
  std::vector<std::vector<Rectangle>> all;
  const json& pieces = shown.at("pieces");
  std::size_t next = 0;
  for (const json& count : shown.at("holders").at("piece_count")) {
    all.emplace_back();
    for (std::size_t i = 0; i < count.get<std::size_t>(); ++i, ++next) {
      const auto low = pieces.at("low").at(next).get<std::int64_t>();
      all.back().push_back({pieces.at("first").at(next), pieces.at("end").at(next), low,
                            low + pieces.at("size").at(next).get<std::int64_t>()});
    }
  }
  return all;
}

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.first < b.end && b.first < a.end && a.low < b.high && b.low < a.high;
}

/// Whether the pieces that are there at a step cover the bytes.
bool covered(std::vector<Rectangle> pieces, std::int64_t step, std::int64_t low, std::int64_t high) {
  std::sort(pieces.begin(), pieces.end(), [](const Rectangle& a, const Rectangle& b) { return a.low < b.low; });
  for (const Rectangle& piece : pieces) {
    if (piece.first <= step && step < piece.end && piece.low <= low) low = std::max(low, piece.high);
  }
  return low >= high;
}

Bytes base_of(const Arena& arena, std::uint32_t region) {
  Bytes base;
  for (std::uint32_t r = 0; r < region; ++r) base += arena.regions[r];
  return base;
}

/// The steps at which some op that touches memory touches the class of each tensor.
std::vector<std::vector<Step>> touched(const Analysis& analysis) {
  std::vector<std::vector<Step>> steps;
  for (const ClassPlace& place : analysis.layout.sharing.places) {
    const auto accesses = analysis.liveness.accesses[place.id];
    steps.emplace_back(accesses.begin(), accesses.end());
  }
  return steps;
}

void expect_placements(const Analysis& analysis, const Plan& plan, const json& shown) {
  const auto steps = touched(analysis);
  const auto pieces = pieces_of(shown);
  std::size_t placed = 0;
  for (const Placement& placement : plan.placements) {
    const std::size_t tensor = placement.tensor.index();
    const auto holder = shown.at("tensors").at("holder").at(tensor).get<std::int64_t>();
    if (placement.size == Bytes(0)) continue;
    ASSERT_GE(holder, 0) << "tensor " << tensor;
    ++placed;
    const auto h = static_cast<std::size_t>(holder);
    EXPECT_EQ(shown.at("holders").at("arena").at(h), placement.arena.index());
    const Bytes low = base_of(plan.arenas[placement.arena.index()], placement.region) + placement.offset;
    for (const Step step : steps[tensor]) {
      EXPECT_TRUE(covered(pieces[h], step.value(), low.value(), (low + placement.size).value()))
          << "tensor " << tensor << " at step " << step.value();
    }
  }
  EXPECT_LE(placed, shown.at("tensors").at("name").size());
}

/// Workspaces have holders without a tensor.
void expect_workspaces(const Plan& plan, const json& shown) {
  const auto pieces = pieces_of(shown);
  for (const WorkspacePlacement& placement : plan.workspaces) {
    if (placement.size == Bytes(0)) continue;
    const Bytes low = base_of(plan.arenas[placement.arena.index()], placement.region) + placement.offset;
    bool found = false;
    for (std::size_t h = 0; h < pieces.size(); ++h) {
      if (shown.at("holders").at("op").at(h) == -1 || shown.at("holders").at("arena").at(h) != placement.arena.index())
        continue;
      found =
          found || (pieces[h].front().low == low.value() && pieces[h].front().high >= (low + placement.size).value());
    }
    EXPECT_TRUE(found) << "workspace " << placement.index << " of op " << placement.op.index();
  }
}

/// No two holders of an arena share bytes at a step, unless it says that this may be; all lie inside, in their lives.
void expect_apart(const json& shown) {
  const auto pieces = pieces_of(shown);
  const json& holders = shown.at("holders");
  for (std::size_t a = 0; a < pieces.size(); ++a) {
    const json& arena = shown.at("arenas").at(holders.at("arena").at(a).get<std::size_t>());
    for (const Rectangle& piece : pieces[a]) {
      EXPECT_LE(piece.high, arena.at("size").get<std::int64_t>());
      EXPECT_GE(piece.first, holders.at("first").at(a).get<std::int64_t>());
      EXPECT_LE(piece.end, holders.at("end").at(a).get<std::int64_t>());
    }
    for (std::size_t b = a + 1; b < pieces.size() && !arena.at("concurrent").get<bool>(); ++b) {
      if (holders.at("arena").at(a) != holders.at("arena").at(b)) continue;
      for (const Rectangle& one : pieces[a]) {
        for (const Rectangle& other : pieces[b]) EXPECT_FALSE(overlap(one, other)) << "holders " << a << " and " << b;
      }
    }
  }
}

/// By arena and first step.
void expect_sorted(const json& shown) {
  std::array<std::int64_t, 2> last{-1, -1};
  for (std::size_t h = 0; h < shown.at("holders").at("arena").size(); ++h) {
    const std::array<std::int64_t, 2> now{shown.at("holders").at("arena").at(h), shown.at("holders").at("first").at(h)};
    EXPECT_LE(last, now);
    last = now;
  }
}

void expect_right(const Graph& graph, const PlanOptions& options, std::size_t& users) {
  const Planned planned = plan(graph, options).value();
  const json shown = testing::read_page(plan_page(planned, {.label = "x"}).value()).at("plans").at(0);
  testing::expect_sound(shown);
  expect_placements(planned.record->analysis, *planned.plan, shown);
  expect_workspaces(*planned.plan, shown);
  expect_apart(shown);
  expect_sorted(shown);
  for (const json& arena : shown.at("arenas")) users += arena.at("kind") == "user" ? 1U : 0U;
}

TEST(PageOfGraphs, WithEveryConstraintShowsThePlan) {
  std::size_t users = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    PlanOptions options = quick();
    options.in_place = seed % 3 != 0;
    options.memory_priority = seed % 5 == 0;
    if (seed % 4 == 0) options.base = AddressBase::refreshable;
    expect_right(testing::constrained_graph(seed), options, users);
  }
  EXPECT_GT(users, 10U) << "guests in callers' buffers are among them";
}

TEST(PageOfGraphs, AtRandomShowsThePlan) {
  std::size_t users = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    PlanOptions options = quick();
    if (seed % 4 == 0) options.region_limit = Bytes(4096);
    options.keep_inputs = seed % 7 == 0;
    expect_right(testing::random_graph(seed), options, users);
  }
}

TEST(PageOfGraphs, FromElsewhereShowsThePlan) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = seed % 2 == 0 ? testing::random_graph(seed) : testing::constrained_graph(seed);
    const Plan plan = *stowage::plan(graph, quick()).value().plan;
    const PlanDiff same = diff({graph, plan}, {graph, plan});
    const json shown =
        testing::read_page(diff_page({graph, plan, "a"}, {graph, plan, "b"}, quick(), same).value()).at("plans").at(0);
    testing::expect_sound(shown);
    expect_placements(analyze(graph), plan, shown);
    expect_workspaces(plan, shown);
    expect_sorted(shown);
  }
}

}  // namespace
}  // namespace stowage
