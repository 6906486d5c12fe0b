#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "lower/interface/program.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/builders/program_text.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/program/program_judge.hpp"
#include "support/judges/shadow/schedule.hpp"

/// Programs of random graphs with every constraint, and what becomes of them when a step is taken out, repeated, moved,
/// exchanged or changed. What `verify` accepts, a judge that performs the program must accept too; a program without
/// one of its steps, or with one twice, must never be accepted.
namespace stowage {
namespace {

using Kind = ProgramStep::Kind;
using Steps = std::vector<ProgramStep>;

struct Tally {
  std::size_t done = 0;
  std::size_t refused = 0;
  std::size_t right = 0;  ///< Refused, although the judge finds nothing wrong.
};

class ProgramMutation : public ::testing::Test {
 protected:
  static std::vector<Finding> check(const Graph& graph, const Plan& plan) {
    return verify(graph, plan, {.max_findings = 3, .base = AddressBase::refreshable});
  }

  void examine(const Graph& graph, Plan plan, std::uint64_t seed) {
    plan.program.reset();
    if (!check(graph, plan).empty()) return;
    plan.program = make_program(graph, plan);
    const std::vector<Finding> findings = check(graph, plan);
    ASSERT_TRUE(findings.empty()) << "seed " << seed << ": " << findings.front().message << text(plan);
    const std::optional<std::string> fault = testing::fault_of_program(graph, plan, seed);
    ASSERT_FALSE(fault.has_value()) << "seed " << seed << ": " << *fault << text(plan);
    ++programs_;
    for (const ProgramStep& step : plan.program->steps) ++steps_[step.kind];
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < plan.program->steps.size() && !HasFatalFailure(); ++i) spoil(graph, plan, i, random);
  }

  /// All mutations of one step.
  void spoil(const Graph& graph, const Plan& plan, std::size_t at, std::mt19937_64& random) {
    const Steps& steps = plan.program->steps;
    const auto below = [&](std::size_t limit) { return random() % limit; };
    const auto spoilt = [&](const char* word, bool must_be_refused, auto change) {
      Plan other = plan;
      change(other.program->steps);
      if (other.program->steps != steps) judge(graph, other, word, must_be_refused, at);
    };
    constexpr const char* kRemove[] = {"remove bind", "remove fill",   "remove copy",
                                       "remove op",   "remove record", "remove wait"};
    spoilt(kRemove[static_cast<std::size_t>(steps[at].kind)], true, [&](Steps& list) { list.erase(place(list, at)); });
    spoilt("repeat", true, [&](Steps& list) { list.insert(place(list, below(list.size() + 1)), steps[at]); });
    spoilt("move", false, [&](Steps& list) {
      list.erase(place(list, at));
      list.insert(place(list, below(list.size() + 1)), steps[at]);
    });
    spoilt("move a little", false, [&](Steps& list) {
      list.erase(place(list, at));
      list.insert(place(list, std::min(list.size(), at + 1 + below(3) - std::min<std::size_t>(at, 2))), steps[at]);
    });
    spoilt("exchange", false, [&](Steps& list) { std::swap(list[at], list[below(list.size())]); });
    spoilt("other stream", false,
           [&](Steps& list) { list[at].stream = StreamId(below(std::max<std::size_t>(2, graph.stream_count()))); });
    spoilt("other index", false,
           [&](Steps& list) { list[at].index = static_cast<std::uint32_t>(below(steps.size())); });
    spoilt("other batch", false,
           [&](Steps& list) { list[at].batch = static_cast<std::uint32_t>(below(graph.batches().size() + 1)); });
    spoilt("other body", false, [&](Steps& list) { list[at].scope = ScopeId(below(graph.scopes().size())); });
    spoilt("add a wait", false, [&](Steps& list) { add_wait(list, at, below(4), graph.stream_count()); });
  }

  /// Another event, recorded behind a step and waited for on the next stream some steps later.
  static void add_wait(Steps& list, std::size_t at, std::size_t later, std::size_t streams) {
    const ProgramStep behind = list[at];
    if (behind.kind == Kind::bind) return;
    std::uint32_t number = 0;
    for (std::size_t k = 0; k <= at; ++k) number += list[k].kind == Kind::record ? 1U : 0U;
    for (ProgramStep& step : list)
      if ((step.kind == Kind::record || step.kind == Kind::wait) && step.index >= number) ++step.index;
    const StreamId other((behind.stream.index() + 1) % streams);
    const std::size_t end = std::min(list.size(), at + 1 + later);
    list.insert(place(list, end), ProgramStep{Kind::wait, number, other, behind.scope, behind.batch});
    list.insert(place(list, at + 1), ProgramStep{Kind::record, number, behind.stream, behind.scope, behind.batch});
  }

  void judge(const Graph& graph, const Plan& spoilt, const char* word, bool must_be_refused, std::size_t at) {
    Tally& tally = tallies_[word];
    ++tally.done;
    const std::vector<Finding> findings = check(graph, spoilt);
    const std::optional<std::string> fault = can_be_performed(graph, spoilt)
                                                 ? testing::fault_of_program(graph, spoilt, at)
                                                 : "a step is of what is not there";
    if (!findings.empty()) ++tally.refused;
    if (!findings.empty() && !fault) ++tally.right;
    if (must_be_refused) {
      ASSERT_FALSE(findings.empty()) << word << " step " << at << text(spoilt);
      // The judge does not enter every body, and nobody else may miss a binding that no op uses.
      const bool removed = std::string_view(word).starts_with("remove") && std::string_view(word) != "remove bind";
      ASSERT_TRUE(fault || graph.has_bodies() || !removed) << word << " step " << at << ": harmless" << text(spoilt);
    }
    if (!findings.empty()) return;
    ASSERT_FALSE(fault.has_value()) << word << " step " << at << ": accepted, but " << *fault << text(spoilt);
  }

  /// The judge can perform a program only if what its steps name exists, and stands where it may.
  static bool can_be_performed(const Graph& graph, const Plan& plan) {
    const auto exists = [&](const ProgramStep& step) {
      switch (step.kind) {
        case Kind::bind:
          return step.index < plan.bindings.size();
        case Kind::fill:
          return step.index < plan.clears.size();
        case Kind::copy:
          return step.index < plan.copies.size();
        case Kind::op:
          return step.index < graph.ops().size() && graph.scope_of(OpId(step.index)) == step.scope;
        case Kind::record:
        case Kind::wait:
          return true;
      }
      return false;
    };
    return std::all_of(plan.program->steps.begin(), plan.program->steps.end(), exists);
  }

  static Steps::iterator place(Steps& list, std::size_t at) { return list.begin() + static_cast<std::ptrdiff_t>(at); }

  static std::string text(const Plan& plan) {
    std::string all = "\n";
    for (const std::string& line : testing::lines_of(*plan.program)) all += line + "\n";
    return all;
  }

  void print() const {
    for (const auto& [word, tally] : tallies_)
      std::printf("  %-14s %7zu done  %7zu refused  %6zu of them right\n", word.c_str(), tally.done, tally.refused,
                  tally.right);
    std::printf("  %zu programs:", programs_);
    constexpr const char* kWords[] = {"bindings", "fills", "copies", "ops", "records", "waits"};
    for (const auto& [kind, number] : steps_) std::printf(" %zu %s", number, kWords[static_cast<int>(kind)]);
    std::printf("\n");
  }

  std::map<std::string, Tally> tallies_;
  std::map<Kind, std::size_t> steps_;
  std::size_t programs_ = 0;
};

/// The waits of a plain graph with streams, counted in three ways.
struct Waits {
  std::size_t made = 0;       ///< By the program.
  std::size_t fewest = 0;     ///< Pairs of ops of two streams, one before the other, and no third op in between.
  std::size_t crossings = 0;  ///< Dependencies between ops of two streams.

  Waits& operator+=(const Waits& other) {
    made += other.made;
    fewest += other.fewest;
    crossings += other.crossings;
    return *this;
  }
};

Waits count_waits(const Graph& graph) {
  const std::size_t ops = graph.ops().size();
  const auto stream = [&](std::size_t op) { return graph.ops()[op].stream; };
  const std::vector<std::vector<std::size_t>> direct = testing::predecessors(graph);
  std::vector<std::vector<bool>> before(ops, std::vector<bool>(ops));
  Waits waits;
  for (std::size_t b = 0; b < ops; ++b) {
    if (graph.ops()[b].no_task) continue;
    std::set<std::size_t> earlier(direct[b].begin(), direct[b].end());
    for (const std::size_t a : earlier) waits.crossings += stream(a) != stream(b) ? 1U : 0U;
    for (std::size_t a = 0; a < b; ++a)
      if (!graph.ops()[a].no_task && stream(a) == stream(b)) earlier.insert(a);
    for (const std::size_t a : earlier) {
      before[b][a] = true;
      for (std::size_t k = 0; k < a; ++k) before[b][k] = before[b][k] || before[a][k];
    }
    for (std::size_t a = 0; a < b; ++a) {
      bool between = false;
      for (std::size_t c = a + 1; c < b; ++c) between = between || (before[c][a] && before[b][c]);
      if (before[b][a] && !between && stream(a) != stream(b)) ++waits.fewest;
    }
  }
  const Plan none{.graph = {}, .arenas = {}, .placements = {}, .workspaces = {}, .notes = {}};
  for (const ProgramStep& step : make_program(graph, none).steps) waits.made += step.kind == Kind::wait ? 1U : 0U;
  return waits;
}

TEST(ProgramWaits, AreTheFewestThatOrderWhatTheGraphOrders) {
  Waits all;
  const testing::SeedRange seeds = testing::seeds(300);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    const Waits waits = count_waits(testing::random_graph(seed, {.max_ops = 60, .max_streams = 6}));
    ASSERT_EQ(waits.made, waits.fewest) << "seed " << seed;
    all += waits;
  }
  std::printf("  %zu waits, where a wait for each dependency on another stream makes %zu\n", all.made, all.crossings);
  EXPECT_LE(all.made, all.crossings);
}

TEST_F(ProgramMutation, OfOurPlans) {
  const testing::SeedRange seeds = testing::seeds(150);
  for (std::uint64_t seed = seeds.first; seed < seeds.last && !HasFatalFailure(); ++seed) {
    const Result<Graph> graph = testing::draw_constrained_graph(seed);
    if (!graph) continue;
    PlanOptions options{.base = AddressBase::refreshable, .time_limit = {}, .node_budget = 200};
    if (seed % 2 == 1) options.zero_fill = FillPolicy::separate;
    const Result<Planned> planned = plan(*graph, options);
    if (planned && planned->plan) examine(*graph, *planned->plan, seed);
  }
  print();
  if (!seeds.is_many()) return;
  EXPECT_GT(tallies_["repeat"].done, 1000U);
}

TEST_F(ProgramMutation, OfPlansThatAreMadeAtRandom) {
  const testing::SeedRange seeds = testing::seeds(400);
  for (std::uint64_t seed = seeds.first; seed < seeds.last && !HasFatalFailure(); ++seed) {
    const Result<Graph> graph = testing::draw_constrained_graph(seed, testing::tiny_constrained_graphs());
    if (!graph) continue;
    if (const std::optional<Plan> plan = testing::CarelessPlan(*graph, {.seed = seed}).make())
      examine(*graph, *plan, seed);
  }
  print();
  if (!seeds.is_many()) return;
  EXPECT_GT(tallies_["repeat"].done, 1000U);
}

}  // namespace
}  // namespace stowage
