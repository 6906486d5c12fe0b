#include "graph/interface/dependencies.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/interface/relations.hpp"
#include "support/builders/sketch.hpp"
#include "support/environment.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/generators/random_graph.hpp"

namespace stowage {

void PrintTo(const Dependency& each, std::ostream* out) {
  *out << each.to.index() << " after " << each.from.index() << " (" << to_string(each.kind) << ", batch " << each.batch
       << ")";
}

namespace {

using ::testing::ElementsAre;
using testing::Sketch;
using Kind = DependencyKind;

std::vector<Dependency> of(const Graph& graph, OpId op) {
  const Dependencies dependencies = find_dependencies(graph);
  const std::span<const Dependency> list = dependencies.of(op);
  return {list.begin(), list.end()};
}

// ---------------------------------------------------------------------------------------------------------- each kind

TEST(Dependencies, AnOpFollowsTheTaskBeforeItOnItsStream) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  s.on(1, {}, {});
  s.op({.name = "idle", .kind = "X", .no_task = true});
  const OpId b = s.on(0, {}, {});
  const OpId c = s.on(0, {}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, b), ElementsAre(Dependency{b, a, Kind::stream}));
  EXPECT_THAT(of(graph, c), ElementsAre(Dependency{c, b, Kind::stream}));
}

TEST(Dependencies, AfterCountsBetweenTasksAndElseOnlyOrdersTheList) {
  Sketch s;
  const OpId a = s.on(0, {}, {});
  const OpId idle = s.op({.name = "idle", .kind = "X", .no_task = true, .after = {a}});
  const OpId b = s.on(1, {}, {}, {a, idle});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, idle), ElementsAre(Dependency{idle, a, Kind::definition}));
  EXPECT_THAT(of(graph, b), ElementsAre(Dependency{b, a, Kind::after}, Dependency{b, idle, Kind::definition}));
}

TEST(Dependencies, DataComesFromTheProducerThroughViewsAndOpsWithoutATask) {
  Sketch s;
  const TensorId x = s.tensor("x", 8);
  const TensorId part = s.view("part", 4, x, 4);
  const OpId write = s.on(0, {}, {x});
  const OpId view = s.op({.name = "view", .kind = "X", .inputs = {x}, .outputs = {part}, .no_task = true});
  const OpId read = s.on(1, {part}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, read),
              ElementsAre(Dependency{read, write, Kind::data}, Dependency{read, view, Kind::definition}));
}

TEST(Dependencies, AReadOfBytesWrittenByAnotherNameIsKeptAndNotWaitedFor) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::variable);
  const TensorId front = s.view("front", 4, x, 0);
  const TensorId back = s.view("back", 4, x, 4);
  const OpId write = s.on(0, {}, {front});
  const OpId whole = s.on(1, {x}, {});
  const OpId other = s.on(2, {back}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, whole), ElementsAre(Dependency{whole, write, Kind::read_after_write}));
  EXPECT_FALSE(is_waited_for(Kind::read_after_write));
  // `write` wrote none of these bytes, but it is the first op that gives x a value.
  EXPECT_THAT(of(graph, other), ElementsAre(Dependency{other, write, Kind::definition}));
}

TEST(Dependencies, AWriteThroughAnAliasComesAfterReadsOfTheseBytes) {
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const TensorId y = s.tensor("y", 4);
  const OpId read = s.on(0, {x}, {});
  const OpId write = s.op({.name = "write",
                           .kind = "X",
                           .inputs = {x},
                           .outputs = {y},
                           .aliases = {{0, 0, Bytes(4)}},
                           .stream = StreamId(1)});
  const OpId again = s.on(2, {x}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, write), ElementsAre(Dependency{write, read, Kind::write_after_read}));
  EXPECT_THAT(of(graph, again), ElementsAre(Dependency{again, write, Kind::read_after_write}));
}

TEST(Dependencies, WritesOfAVariableFollowEachOtherAndTheReadsBetween) {
  Sketch s;
  const TensorId v = s.tensor("v", 8, TensorFlag::variable);
  const OpId first = s.on(0, {}, {v});
  const OpId read = s.on(1, {v}, {});
  const OpId second = s.on(2, {}, {v});
  const OpId last = s.on(3, {v}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, read), ElementsAre(Dependency{read, first, Kind::data}));
  EXPECT_THAT(of(graph, second), ElementsAre(Dependency{second, first, Kind::write_after_write},
                                             Dependency{second, read, Kind::write_after_read}));
  EXPECT_THAT(of(graph, last),
              ElementsAre(Dependency{last, first, Kind::definition}, Dependency{last, second, Kind::data}));
}

TEST(Dependencies, AWriteThatCoversAnotherStandsForIt) {
  Sketch s;
  const TensorId v = s.tensor("v", 8, TensorFlag::variable);
  const TensorId front = s.view("front", 4, v, 0);
  const OpId part = s.on(0, {}, {front});
  const OpId whole = s.on(1, {}, {v});
  const OpId again = s.on(2, {}, {front});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, whole), ElementsAre(Dependency{whole, part, Kind::write_after_write}));
  EXPECT_THAT(of(graph, again), ElementsAre(Dependency{again, whole, Kind::write_after_write}));
}

// ------------------------------------------------------------------------------------------------- bodies and batches

TEST(Dependencies, AnOpWithBodiesTouchesWhatTheyTouchOfTheMemoryAroundIt) {
  Body body;
  body.tensors = {{.name = "in", .size = Bytes(8)}, {.name = "changed", .size = Bytes(8)}};
  body.ops = {
      {.name = "change", .kind = "X", .inputs = {TensorId(0)}, .outputs = {TensorId(1)}, .aliases = {{0, 0, Bytes(0)}}},
      {.name = "look", .kind = "X", .inputs = {TensorId(1)}, .stream = StreamId(1)}};
  body.inputs = {{TensorId(0), TensorId(0)}};
  Sketch s;
  const TensorId x = s.tensor("x", 8, TensorFlag::input);
  const OpId read = s.on(0, {x}, {});
  const OpId call = s.op(
      {.name = "call", .kind = "X", .inputs = {x}, .stream = StreamId(1), .control = Control::call, .bodies = {body}});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, call), ElementsAre(Dependency{call, read, Kind::write_after_read}));
  EXPECT_TRUE(of(graph, OpId(2)).empty()) << "dependencies on values from outside belong to the op with the body";
  EXPECT_THAT(of(graph, OpId(3)), ElementsAre(Dependency{OpId(3), OpId(2), Kind::data}));
}

TEST(Dependencies, WhoseValueOfAVariableIsReadMayBeAMatterOfTheBatch) {
  Sketch s;
  const TensorId v = s.tensor("v", 8, TensorFlag::variable);
  const OpId always = s.on(0, {}, {v});
  const OpId one = s.op({.name = "one", .kind = "X", .outputs = {v}, .stream = StreamId(1), .batch = "one"});
  const OpId two = s.op({.name = "two", .kind = "X", .stream = StreamId(1), .batch = "two"});
  const OpId read = s.on(2, {v}, {});
  const Graph graph = s.build();
  EXPECT_THAT(of(graph, one), ElementsAre(Dependency{one, always, Kind::write_after_write}));
  EXPECT_TRUE(of(graph, two).empty()) << "they never run together";
  EXPECT_THAT(of(graph, read),
              ElementsAre(Dependency{read, always, Kind::data, 2}, Dependency{read, always, Kind::definition},
                          Dependency{read, one, Kind::data}));
  const Dependencies in_one = find_dependencies(graph, WantedDependencies::waited_for).in_run(graph, 1);
  EXPECT_THAT(in_one.of(read), ElementsAre(Dependency{read, one, Kind::data}));
}

// ------------------------------------------------------------------------------------------------ against brute force

struct Touch {
  TensorId representative;
  ByteRange bytes;
  bool writes;
};

void touches_of(const Graph& graph, OpId id, std::vector<Touch>& list) {
  const Op& op = graph.op(id);
  if (op.no_task) return;
  const auto add = [&](TensorId tensor, bool writes) {
    const AliasPlace& place = graph.relations().place(tensor);
    list.push_back({place.representative, {place.offset, place.offset + graph.tensor(tensor).size}, writes});
  };
  for (const std::optional<TensorId>& input : op.inputs) {
    if (input) add(*input, false);
  }
  for (const TensorId output : op.outputs) add(output, true);
  for (const ScopeId body : graph.bodies(id)) {
    for (std::size_t k = 0; k < graph.scope(body).op_count; ++k)
      touches_of(graph, OpId(graph.scope(body).first_op.index() + k), list);
  }
}

/// Whether an access of `a` and one of `b` overlap, where each is a write or a read as given.
bool meet(const std::vector<Touch>& a, bool a_writes, const std::vector<Touch>& b, bool b_writes) {
  for (const Touch& x : a) {
    for (const Touch& y : b) {
      const bool same = x.writes == a_writes && y.writes == b_writes && x.representative == y.representative;
      if (same && x.bytes.overlaps(y.bytes)) return true;
    }
  }
  return false;
}

/// The batch label of an op, or of the root op that contains it.
const std::string& label_of(const Graph& graph, OpId op) {
  while (graph.scope_of(op).index() != 0) op = graph.scope(graph.scope_of(op)).op;
  return graph.op(op).batch;
}

bool runs_in(const Graph& graph, OpId op, std::uint32_t batch) {
  const std::string& label = label_of(graph, op);
  return label.empty() || label == graph.batches()[batch - 1];
}

class BruteForce {
 public:
  explicit BruteForce(const Graph& graph) : graph_(graph), touches_(graph.ops().size()) {
    for (std::size_t k = 0; k < touches_.size(); ++k) touches_of(graph, OpId(k), touches_[k]);
  }

  /// Whether a listed dependency is true according to its kind.
  [[nodiscard]] bool is_true(const Dependency& each) const {
    const Op& from = graph_.op(each.from);
    const Op& to = graph_.op(each.to);
    if (each.from >= each.to || graph_.scope_of(each.from) != graph_.scope_of(each.to)) return false;
    if (each.kind != Kind::definition && (from.no_task || to.no_task)) return false;
    const std::string& a = label_of(graph_, each.from);
    const std::string& b = label_of(graph_, each.to);
    if (each.kind != Kind::definition && !a.empty() && !b.empty() && a != b) return false;
    switch (each.kind) {
      case Kind::stream:
        return from.stream == to.stream;
      case Kind::after:
        return std::find(to.after.begin(), to.after.end(), each.from) != to.after.end();
      case Kind::data:
        return !from.outputs.empty() && !to.inputs.empty();
      case Kind::read_after_write:
        return meet(touches_[each.from.index()], true, touches_[each.to.index()], false);
      case Kind::write_after_read:
        return meet(touches_[each.from.index()], false, touches_[each.to.index()], true);
      case Kind::write_after_write:
        return meet(touches_[each.from.index()], true, touches_[each.to.index()], true);
      case Kind::definition:
        return true;
    }
    return false;
  }

  /// Every pair of ops of one run that must not be swapped is linked by listed dependencies.
  /// `batch` 0: there are no batches.
  void expect_complete(const Dependencies& all, std::uint32_t batch) const {
    const Dependencies run = batch == 0 ? all : all.in_run(graph_, batch);
    for (const Scope& scope : graph_.scopes()) {
      std::vector<std::vector<bool>> before(scope.op_count, std::vector<bool>(scope.op_count));
      for (std::size_t j = 0; j < scope.op_count; ++j) {
        const OpId to(scope.first_op.index() + j);
        for (const Dependency& each : run.of(to)) {
          if (each.kind == Kind::stream || each.kind == Kind::after || each.kind == Kind::definition) continue;
          const std::size_t i = each.from.index() - scope.first_op.index();
          before[j][i] = true;
          for (std::size_t k = 0; k < i; ++k) before[j][k] = before[j][k] || before[i][k];
        }
        for (std::size_t i = 0; i < j; ++i) expect_linked(OpId(scope.first_op.index() + i), to, batch, before[j][i]);
      }
    }
  }

 private:
  void expect_linked(OpId from, OpId to, std::uint32_t batch, bool linked) const {
    if (batch != 0 && (!runs_in(graph_, from, batch) || !runs_in(graph_, to, batch))) return;
    const std::vector<Touch>& a = touches_[from.index()];
    const std::vector<Touch>& b = touches_[to.index()];
    const bool conflict = meet(a, true, b, false) || meet(a, false, b, true) || meet(a, true, b, true);
    EXPECT_TRUE(linked || !conflict) << from.index() << " before " << to.index() << " in batch " << batch;
  }

  const Graph& graph_;
  std::vector<std::vector<Touch>> touches_;  ///< By op.
};

/// The root's ops in another order that preserves all dependencies except for streams.
GraphDescription reordered(const Graph& graph, const Dependencies& all, std::mt19937_64& random) {
  const GraphDescription& before = graph.description();
  GraphDescription after = before;
  after.ops.clear();
  std::vector<OpId> new_id(before.ops.size());
  std::vector<bool> placed(before.ops.size());
  while (after.ops.size() < before.ops.size()) {
    std::vector<std::size_t> ready;
    for (std::size_t k = 0; k < before.ops.size(); ++k) {
      const std::span<const Dependency> list = all.of(OpId(k));
      const bool waits = std::any_of(list.begin(), list.end(), [&](const Dependency& each) {
        return each.kind != Kind::stream && !placed[each.from.index()];
      });
      if (!placed[k] && !waits) ready.push_back(k);
    }
    const std::size_t next = ready[std::uniform_int_distribution<std::size_t>(0, ready.size() - 1)(random)];
    placed[next] = true;
    new_id[next] = OpId(after.ops.size());
    after.ops.push_back(before.ops[next]);
    for (OpId& each : after.ops.back().after) each = new_id[each.index()];
  }
  return after;
}

void expect_right(const Graph& graph, std::mt19937_64& random) {
  const Dependencies all = find_dependencies(graph);
  const BruteForce truth(graph);
  for (const Dependency& each : all.all()) EXPECT_TRUE(truth.is_true(each)) << ::testing::PrintToString(each);
  EXPECT_TRUE(std::is_sorted(all.all().begin(), all.all().end()));
  truth.expect_complete(all, 0 == graph.batches().size() ? 0 : 1);
  for (std::uint32_t batch = 2; batch <= graph.batches().size(); ++batch) truth.expect_complete(all, batch);
  if (!graph.rings().empty()) return;  // rings assign their ranges in the order of the ops
  const Result<Graph> other = Graph::build(reordered(graph, all, random));
  EXPECT_TRUE(other.has_value()) << other.error().message;
}

TEST(DependenciesProperty, RandomGraphsHaveExactlyWhatBruteForceFinds) {
  std::mt19937_64 random(1);
  const testing::SeedRange seeds = testing::seeds(400);
  for (std::uint64_t seed = seeds.first; seed < seeds.last && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_right(testing::random_graph(seed), random);
  }
}

TEST(DependenciesProperty, GraphsWithBodiesAndBatchesToo) {
  std::mt19937_64 random(2);
  const testing::SeedRange seeds = testing::seeds(4000);
  for (std::uint64_t seed = seeds.first; seed < seeds.last && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_right(testing::constrained_graph(seed), random);
  }
}

TEST(DependenciesProperty, WhatIsWaitedForIsAPartOfAll) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = testing::constrained_graph(seed);
    const Dependencies all = find_dependencies(graph);
    const Dependencies waited = find_dependencies(graph, WantedDependencies::waited_for);
    std::vector<Dependency> expected;
    std::copy_if(all.all().begin(), all.all().end(), std::back_inserter(expected),
                 [](const Dependency& each) { return is_waited_for(each.kind); });
    EXPECT_TRUE(std::equal(waited.all().begin(), waited.all().end(), expected.begin(), expected.end())) << seed;
  }
}

}  // namespace
}  // namespace stowage
