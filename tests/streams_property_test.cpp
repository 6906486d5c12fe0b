#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "lower/interface/lower.hpp"
#include "stowage/pack.hpp"
#include "support/environment.hpp"
#include "support/generators/random_graph.hpp"

/// What may share bytes on several streams: exactly what happens-before permits, and never less than under GE's rules
/// (docs/ge.md, "Streams").
namespace stowage {
namespace {

/// Which task ops happen before which: every edge, then the transitive closure. Kept simple so that it is obviously
/// correct.
class Reachability {
 public:
  explicit Reachability(const Graph& graph) : graph_(graph), reaches_(graph.ops().size()) {
    const std::size_t count = graph.ops().size();
    for (std::vector<char>& row : reaches_) row.assign(count, 0);
    for (std::size_t k = 0; k < count; ++k) {
      if (!graph.ops()[k].no_task) add_edges_to(k);
    }
    for (std::size_t via = 0; via < count; ++via) {
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) {
          if (before(a, via) && before(via, b)) reaches_[a][b] = 1;
        }
      }
    }
  }

  [[nodiscard]] bool before(std::size_t a, std::size_t b) const { return reaches_[a][b] != 0; }

 private:
  void add_edges_to(std::size_t op) {
    for (std::size_t earlier = 0; earlier < op; ++earlier) {
      const Op& other = graph_.ops()[earlier];
      const std::vector<OpId>& after = graph_.ops()[op].after;
      const bool named = std::find(after.begin(), after.end(), OpId(earlier)) != after.end();
      if (!other.no_task && (named || other.stream == graph_.ops()[op].stream)) reaches_[earlier][op] = 1;
    }
    for (const std::optional<TensorId>& input : graph_.ops()[op].inputs) {
      if (input) add_writers_of(*input, op);
    }
  }

  /// The ops that last wrote, before `op`, the bytes of `tensor`.
  void add_writers_of(TensorId tensor, std::size_t op) {
    if (const std::optional<ViewOf>& view = graph_.tensor(tensor).view_of) add_writers_of(view->tensor, op);
    for (std::size_t k = op; k-- > 0;) {
      const Op& writer = graph_.ops()[k];
      if (std::find(writer.outputs.begin(), writer.outputs.end(), tensor) == writer.outputs.end()) continue;
      if (!writer.no_task) reaches_[k][op] = 1;
      for (const Alias& alias : writer.aliases) {
        if (writer.no_task && writer.outputs[alias.output] == tensor) add_writers_of(*writer.inputs[alias.input], op);
      }
      return;
    }
  }

  const Graph& graph_;
  std::vector<std::vector<char>> reaches_;
};

/// All ops that access an item, and whether the caller accesses it before the first or after the last op.
struct OccupantAccesses {
  std::vector<std::size_t> ops;  ///< Ascending.
  bool from_start = false;
  bool never_over = false;
};

class AllAccesses {
 public:
  AllAccesses(const Graph& graph, const Layout& layout) : graph_(graph), layout_(layout) {}

  [[nodiscard]] OccupantAccesses of(const Occupant& occupant) const {
    OccupantAccesses found;
    if (const auto* workspace = std::get_if<WorkspaceId>(&occupant)) {
      const Op& op = graph_.op(workspace->op);
      found.ops = {workspace->op.index()};
      found.from_start = found.never_over = op.no_reuse || op.workspaces[workspace->index].no_reuse;
      return found;
    }
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const ClassId id = layout_.class_of(TensorId(t));
      const bool shared = layout_.residences[id] == Residence::shared;
      if (shared && layout_.positions[id].storage == std::get<StorageId>(occupant)) add(TensorId(t), found);
    }
    if (found.ops.empty()) found.ops = {first_task()};  // an input that nobody reads
    std::sort(found.ops.begin(), found.ops.end());
    return found;
  }

 private:
  void add(TensorId tensor, OccupantAccesses& found) const {
    const TensorFlags flags = graph_.tensor(tensor).flags;
    found.from_start |= flags.any_of(TensorFlags(TensorFlag::input) | TensorFlag::no_reuse);
    found.never_over |= flags.any_of(TensorFlags(TensorFlag::output) | TensorFlag::no_reuse);
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      const bool writes = std::find(op.outputs.begin(), op.outputs.end(), tensor) != op.outputs.end();
      const bool reads = std::find(op.inputs.begin(), op.inputs.end(), std::optional(tensor)) != op.inputs.end();
      if (!op.no_task && (writes || reads)) found.ops.push_back(k);
      if (op.no_reuse && writes) found.from_start = found.never_over = true;
    }
  }

  [[nodiscard]] std::size_t first_task() const {
    const auto task = std::find_if(graph_.ops().begin(), graph_.ops().end(), [](const Op& op) { return !op.no_task; });
    return static_cast<std::size_t>(task - graph_.ops().begin());
  }

  const Graph& graph_;
  const Layout& layout_;
};

/// A graph with the facts that the tests need.
struct Case {
  Graph graph;
  Analysis analysis;
  Lowering lowering;
  Reachability reachability;

  explicit Case(Graph of)
      : graph(std::move(of)), analysis(analyze(graph)), lowering(lower(graph, analysis)), reachability(graph) {}

  [[nodiscard]] std::vector<OccupantAccesses> accesses(const ArenaProblem& arena) const {
    const AllAccesses all(graph, analysis.layout);
    std::vector<OccupantAccesses> accesses;
    for (const Occupant& occupant : arena.occupants) accesses.push_back(all.of(occupant));
    return accesses;
  }

  /// Every access of one before every access of the other.
  [[nodiscard]] bool before(const OccupantAccesses& a, const OccupantAccesses& b) const {
    if (a.never_over || b.from_start) return false;
    return std::all_of(a.ops.begin(), a.ops.end(), [&](std::size_t x) {
      return std::all_of(b.ops.begin(), b.ops.end(), [&](std::size_t y) { return reachability.before(x, y); });
    });
  }

  /// GE's rule: every op that accessed one item is ordered before the op that first writes the other, and every access
  /// on
  /// another stream than the item's own is followed by an op of its own stream. Otherwise the memory is never free
  /// again.
  [[nodiscard]] bool ge_before(const OccupantAccesses& a, const OccupantAccesses& b) const {
    if (a.never_over || b.from_start) return false;
    return std::all_of(a.ops.begin(), a.ops.end(), [&](std::size_t x) {
      return reachability.before(x, b.ops.front()) && comes_back(x, graph.ops()[a.ops.front()].stream);
    });
  }

 private:
  [[nodiscard]] bool comes_back(std::size_t op, StreamId owner) const {
    if (graph.ops()[op].stream == owner) return true;
    for (std::size_t k = op + 1; k < graph.ops().size(); ++k) {
      if (!graph.ops()[k].no_task && graph.ops()[k].stream == owner && reachability.before(op, k)) return true;
    }
    return false;
  }
};

/// Calls `judge(case, arena)` for every arena of random graphs whose items are used by several streams, until a
/// failure.
template <class Judge>
void for_each_arena(std::uint64_t graphs, const testing::RandomGraphOptions& options, Judge judge) {
  const testing::SeedRange seeds = testing::seeds(graphs);
  for (std::uint64_t seed = seeds.first; seed < seeds.last && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Case c(testing::random_graph(seed, options));
    for (const ArenaProblem& arena : c.lowering.arenas) {
      if (!arena.problem.order.empty()) judge(c, arena);
    }
  }
}

/// Calls `judge(a, b)` for every two different items.
template <class Judge>
void for_each_pair(std::size_t items, Judge judge) {
  for (std::size_t a = 0; a < items; ++a) {
    for (std::size_t b = 0; b < items; ++b) {
      if (a != b) judge(a, b);
    }
  }
}

TEST(StreamsProperty, ConflictsAreThoseOfReachabilityOverAllAccesses) {
  std::size_t pairs = 0;
  std::size_t conflicts = 0;
  for_each_arena(4'000, {.max_ops = 30, .max_streams = 5}, [&](const Case& c, const ArenaProblem& arena) {
    const std::vector<OccupantAccesses> accesses = c.accesses(arena);
    for_each_pair(accesses.size(), [&](std::size_t a, std::size_t b) {
      ASSERT_EQ(arena.problem.order.before(a, b), c.before(accesses[a], accesses[b]))
          << "arena '" << arena.name << "' items " << a << " and " << b;
      ++pairs;
      conflicts += !arena.problem.order.before(a, b) && !arena.problem.order.before(b, a);
    });
  });
  std::cout << pairs << " pairs of items, " << 100 * conflicts / pairs << "% in conflict\n";
  if (!testing::seeds(2).is_many()) return;
  EXPECT_GT(pairs, 10'000U);
  EXPECT_GT(conflicts, pairs / 10);
  EXPECT_LT(conflicts, pairs * 9 / 10);
}

/// The same items under GE's rule. Each item gets its own stream, so that any partial order can be expressed.
Problem under_ges_rule(const Case& c, const ArenaProblem& arena) {
  Problem problem = arena.problem;
  const std::vector<OccupantAccesses> accesses = c.accesses(arena);
  const std::size_t count = accesses.size();
  problem.order = {.streams = count, .threshold = {}, .first = {}};
  problem.order.threshold.assign(count * count, kNever);
  problem.order.first.assign(count * count, kNever);
  for (std::size_t a = 0; a < count; ++a) {
    problem.order.first[a * count + a] = problem.items[a].life().lower;
    for (std::size_t b = 0; b < count; ++b) {
      if (a != b && c.ge_before(accesses[a], accesses[b]))
        problem.order.threshold[a * count + b] = problem.items[a].life().upper;
    }
  }
  std::erase_if(problem.joins, [&](const Join& join) { return !is_possible(problem, join); });
  return problem;
}

TEST(StreamsProperty, WhateverGesRuleLetsShareMayShare) {
  std::size_t theirs = 0;
  std::size_t ours = 0;
  for_each_arena(4'000, {.max_ops = 30, .max_streams = 5}, [&](const Case& c, const ArenaProblem& arena) {
    const Problem ge = under_ges_rule(c, arena);
    ASSERT_TRUE(check_problem(ge));
    for_each_pair(ge.items.size(), [&](std::size_t a, std::size_t b) {
      ASSERT_TRUE(!ge.order.before(a, b) || arena.problem.order.before(a, b)) << "items " << a << ", " << b;
      theirs += ge.order.before(a, b);
      ours += arena.problem.order.before(a, b);
    });
  });
  std::cout << "pairs that may share: " << ours << ", under GE's rule " << theirs << "\n";
  if (!testing::seeds(2).is_many()) return;
  EXPECT_GT(theirs, 10'000U);
  EXPECT_GT(ours, theirs);
}

TEST(StreamsProperty, ThePeakIsNeverAboveThatOfGesRule) {
  std::size_t compared = 0;
  std::size_t below = 0;
  double sum = 0;
  for_each_arena(
      3'000, {.max_ops = 16, .max_streams = 3, .max_memories = 1}, [&](const Case& c, const ArenaProblem& arena) {
        const SolveOptions options{.solver = "auto", .node_budget = 20'000};
        const SolveOutcome ours = *solve(arena.problem, options);
        const SolveOutcome theirs = *solve(under_ges_rule(c, arena), options);
        if (ours.status != SolveStatus::optimal || theirs.status != SolveStatus::optimal || theirs.peak == Bytes(0))
          return;
        ASSERT_LE(ours.peak, theirs.peak);
        ++compared;
        below += ours.peak < theirs.peak;
        sum += static_cast<double>(ours.peak.value()) / static_cast<double>(theirs.peak.value());
      });
  std::cout << compared << " arenas, both proven optimal: below GE's rule in " << below << ", "
            << sum / static_cast<double>(compared) << " of its peak on average\n";
  if (!testing::seeds(2).is_many()) return;
  EXPECT_GT(compared, 1'000U);
  EXPECT_GT(below, compared / 50);
}

}  // namespace
}  // namespace stowage
