#include <cstdlib>
#include <iostream>
#include <map>
#include <new>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/child.hpp"
#include "support/environment.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/dump_graph.hpp"
#include "support/generators/reduce_graph.hpp"
#include "support/generators/scope_draft.hpp"
#include "support/judges/shadow/shadow.hpp"

/// Random graphs that combine every constraint, with random options: planned, verified, and run. It goes on
/// after a fault, until there are five kinds of them (support/environment.hpp).
namespace stowage::testing {
namespace {

/// Statistics of the plans, in memory that child processes share.
struct Totals {
  std::uint64_t seed = 0;  ///< The current one.
  std::uint64_t planned = 0;
  std::uint64_t ops = 0;
  std::uint64_t copies = 0;
  std::uint64_t copies_made = 0;
  std::uint64_t clears = 0;
  std::uint64_t bindings = 0;
  std::uint64_t hosted = 0;  ///< Placements in callers' buffers.
  std::uint64_t edges = 0;
  std::uint64_t fixed = 0;    ///< Placements.
  std::uint64_t regions = 0;  ///< Beyond the first.
  std::uint64_t notes = 0;
  std::uint64_t in_bodies = 0;  ///< Placements.
};

Totals& shared_totals() {
  void* const memory = mmap(nullptr, sizeof(Totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  STOWAGE_CHECK(memory != MAP_FAILED, "no shared memory");
  return *new (memory) Totals;
}

PlanOptions draw_options(const Graph& graph, std::uint64_t seed) {
  Dice dice(seed ^ 0x5bd1e995u);
  PlanOptions options{.time_limit = {}, .seed = seed, .node_budget = 200};
  options.in_place = dice.chance(75);
  options.keep_inputs = dice.chance(25);
  options.no_reuse = dice.chance(3);
  if (dice.chance(40)) options.zero_fill = FillPolicy::separate;
  if (dice.chance(40)) options.base = AddressBase::refreshable;
  if (dice.chance(30)) options.batch_start = BatchStart::same;
  if (dice.chance(20)) options.region_limit = Bytes(64 + static_cast<std::int64_t>(dice.below(512)));
  if (dice.chance(30)) options.fuse_inputs_up_to = Bytes(static_cast<std::int64_t>(1 + dice.below(64)));
  for (std::size_t i = dice.chance(15) ? 1 + dice.below(2) : 0; i > 0 && !graph.ops().empty(); --i) {
    const bool of_op = dice.chance(50) || graph.tensors().empty();
    options.no_reuse_names.push_back(of_op ? graph.ops()[dice.below(graph.ops().size())].name
                                           : graph.tensors()[dice.below(graph.tensors().size())].name);
  }
  if (dice.chance(30)) options.padding = Padding::none;
  return options;
}

std::string describe(const PlanOptions& options) {
  std::ostringstream out;
  out << "in_place " << options.in_place << ", keep_inputs " << options.keep_inputs << ", no_reuse " << options.no_reuse
      << ", separate fills " << (options.zero_fill == FillPolicy::separate) << ", refreshable base "
      << (options.base == AddressBase::refreshable) << ", same batch start "
      << (options.batch_start == BatchStart::same) << ", fuse_inputs_up_to " << options.fuse_inputs_up_to.value();
  if (options.padding == Padding::none) out << ", no padding";
  if (options.region_limit) out << ", region_limit " << options.region_limit->value();
  for (const std::string& name : options.no_reuse_names) out << ", no_reuse '" << name << "'";
  return out.str();
}

void count(const Graph& graph, const Plan& plan, Totals& totals) {
  ++totals.planned;
  totals.copies += plan.copies.size();
  totals.clears += plan.clears.size();
  totals.bindings += plan.bindings.size();
  totals.edges += plan.edges.size();
  totals.notes += plan.notes.size();
  for (const Arena& arena : plan.arenas) totals.regions += arena.regions.empty() ? 0 : arena.regions.size() - 1;
  for (const Placement& each : plan.placements) {
    totals.hosted += plan.arenas[each.arena.index()].kind == ArenaKind::user;
    totals.fixed += plan.arenas[each.arena.index()].kind == ArenaKind::fixed;
    totals.in_bodies += !graph.scopes().front().contains(each.tensor);
  }
}

/// What is wrong with the planner's plan; empty if nothing is.
std::string fault_of(const Graph& graph, const PlanOptions& options, Totals& totals) {
  const Result<Planned> planned = plan(graph, options);
  if (!planned) return "not planned: " + to_string(planned.error());
  if (!planned->has_answer() || !planned->plan) return "no plan";
  const VerifyOptions rules{.keep_inputs = options.keep_inputs,
                            .base = options.base,
                            .region_limit = options.region_limit,
                            .batch_start = options.batch_start};
  for (const Finding& finding : verify(graph, *planned->plan, rules)) return "verify: " + finding.message;
  count(graph, *planned->plan, totals);
  for (std::uint64_t order = 0; order < 4; ++order) {
    const ShadowOptions run{.seed = options.seed + (order << 32),
                            .order = order == 0 ? ShadowOptions::Order::linear : ShadowOptions::Order::random,
                            .keep_inputs = options.keep_inputs,
                            .runs = 3,
                            .base = options.base};
    const ShadowReport report = shadow_execute(graph, *planned->plan, run);
    totals.ops += report.ops;
    totals.copies_made += report.copies;
    for (const std::string& finding : report.findings) return "shadow execution: " + finding;
  }
  return "";
}

/// A fault, or a crash, in a child process.
std::string fault_in_child(const Graph& graph, const PlanOptions& options) {
  const ChildResult result = run_in_child([&] {
    Totals unused;
    return fault_of(graph, options, unused);
  });
  return result.died ? "died: " + result.text : result.text;
}

/// The fault without names and numbers, to group faults with the same cause.
std::string kind_of(const std::string& fault) {
  std::string kind;
  bool quoted = false;
  for (const char each : fault.substr(0, fault.find(';'))) {
    if (each == '\'') quoted = !quoted;
    if (!quoted && (each < '0' || each > '9')) kind += each;
  }
  return kind;
}

/// Reports the fault of that graph, unless one of the same kind was reported before.
void report_fault(std::uint64_t seed, std::map<std::string, std::size_t>& kinds) {
  const Graph graph = constrained_graph(seed);
  const PlanOptions options = draw_options(graph, seed);
  const std::string fault = fault_in_child(graph, options);
  const std::string kind = kind_of(fault);
  if (++kinds[kind] > 1) return;
  const Graph least =
      reduce_graph(graph, [&](const Graph& each) { return kind_of(fault_in_child(each, options)) == kind; });
  ADD_FAILURE() << "STOWAGE_PROPERTY_SEED=" << seed << " with " << describe(options) << "\n"
                << fault << "\nreduced to:\n"
                << dump_graph(least) << fault_in_child(least, options);
}

/// Tries the seeds from `first` to `last` in one child process; returns the first that fails, or `last`.
std::uint64_t first_fault(std::uint64_t first, std::uint64_t last, Totals& totals) {
  const ChildResult result = run_in_child([&]() -> std::string {
    for (totals.seed = first; totals.seed < last; ++totals.seed) {
      const Graph graph = constrained_graph(totals.seed);
      if (!fault_of(graph, draw_options(graph, totals.seed), totals).empty()) return "fault";
    }
    return "";
  });
  return result.died || !result.text.empty() ? totals.seed : last;
}

TEST(ConstraintsProperty, EveryRandomGraphIsPlannedVerifiedAndRuns) {
  constexpr std::uint64_t kAtATime = 500;
  const std::uint64_t most_kinds = max_fault_kinds(5);
  std::map<std::string, std::size_t> kinds;
  const SeedRange range = seeds(2'000);
  if (!range.is_many()) {
    const Graph graph = constrained_graph(range.first);
    if (!fault_in_child(graph, draw_options(graph, range.first)).empty()) report_fault(range.first, kinds);
    return;
  }
  Totals& totals = shared_totals();
  const std::uint64_t graphs = range.last;
  for (std::uint64_t seed = 0; seed < graphs && kinds.size() < most_kinds;) {
    const std::uint64_t last = std::min(seed + kAtATime, graphs);
    const std::uint64_t wrong = first_fault(seed, last, totals);
    if (wrong < last) {
      report_fault(wrong, kinds);
    }
    seed = wrong < last ? wrong + 1 : last;
  }
  std::cout << totals.planned << " graphs planned, verified and run: " << totals.ops << " ops run, " << totals.copies
            << " copies planned, " << totals.copies_made << " made, " << totals.clears << " clears, " << totals.bindings
            << " bindings, " << totals.hosted << " tensors in callers' buffers, " << totals.edges << " edges, "
            << totals.fixed << " tensors at fixed addresses, " << totals.in_bodies << " in bodies, " << totals.regions
            << " more regions, " << totals.notes << " notes\n";
  for (const auto& [kind, times] : kinds) std::cout << times << " × " << kind << "\n";
  if (!kinds.empty()) return;
  EXPECT_EQ(totals.planned, graphs);
  const std::uint64_t least = graphs / 50;
  for (const std::uint64_t each : {totals.copies, totals.copies_made, totals.clears, totals.bindings, totals.hosted,
                                   totals.edges, totals.fixed, totals.in_bodies, totals.regions, totals.notes})
    EXPECT_GT(each, least) << "something is hardly ever planned";
}

}  // namespace
}  // namespace stowage::testing
