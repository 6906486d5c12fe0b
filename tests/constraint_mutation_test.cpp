#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/verify.hpp"
#include "support/environment.hpp"
#include "support/generators/careless_plan.hpp"
#include "support/generators/constrained_graph.hpp"
#include "support/judges/oracle/oracle.hpp"
#include "support/rule_tally.hpp"

/// Mutates correct plans of graphs with every constraint. Mutations that are always wrong must be found, with the right
/// rule; for the others, the verifier must agree with the oracle, which runs the graph in every way.
namespace stowage {
namespace {

/// One group of an op, as in the graph.
struct Member {
  OpId op;
  TensorId tensor;
  bool of_inputs;
};

class Saboteur {
 public:
  Saboteur(const Graph& graph, const oracle::Oracle& oracle, std::uint64_t seed)
      : graph_(graph), oracle_(oracle), random_(seed) {}

  // Each returns false if the mutation does not apply to the plan.

  bool shift_padded_input(Plan& plan) { return shift_member(plan, true, Contiguity::padded); }
  bool shift_packed_input(Plan& plan) { return shift_member(plan, true, Contiguity::packed); }
  bool shift_padded_output(Plan& plan) { return shift_member(plan, false, Contiguity::padded); }
  bool shift_packed_output(Plan& plan) { return shift_member(plan, false, Contiguity::packed); }

  bool drop_copy(Plan& plan) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < plan.copies.size(); ++i) {
      if (plan.copies[i].size > Bytes(0)) candidates.push_back(i);
    }
    if (candidates.empty()) return false;
    plan.copies.erase(plan.copies.begin() + static_cast<std::ptrdiff_t>(pick(candidates)));
    return true;
  }
  bool add_copy(Plan& plan) {
    if (plan.placements.empty() || graph_.scopes().front().op_count == 0) return false;
    const Placement& any = pick(plan.placements);
    const Scope& scope = graph_.scope(graph_.scope_of(any.tensor));
    if (scope.op_count == 0) return false;
    plan.copies.push_back({.tensor = any.tensor,
                           .when = CopyMoment::before(scope.first_op),
                           .arena = any.arena,
                           .offset = any.offset,
                           .size = any.size,
                           .reason = "none"});
    return true;
  }
  bool drop_reason(Plan& plan) {
    if (plan.copies.empty()) return false;
    pick(plan.copies).reason.clear();
    return true;
  }
  bool share_session(Plan& plan) {
    for (WorkspacePlacement& workspace : plan.workspaces) {
      if (plan.arenas[workspace.arena.index()].kind != ArenaKind::session) continue;
      workspace.arena = ArenaId(testing::CarelessPlan::kShared);
      grow(plan, workspace.arena, workspace.offset + workspace.size);
      return true;
    }
    return false;
  }
  bool move_fixed(Plan& plan) {
    for (const Op& op : graph_.ops()) {
      if (!op.fixed_address || op.no_task || op.outputs.empty()) continue;
      Placement* const place = find(plan, op.outputs.front());
      if (!place || plan.arenas[place->arena.index()].kind != ArenaKind::fixed) continue;
      place->arena = ArenaId(testing::CarelessPlan::kShared);
      grow(plan, place->arena, place->offset + place->size);
      return true;
    }
    return false;
  }
  bool bind_any(Plan& plan) {
    for (std::size_t i = 0; i < plan.placements.size(); ++i) {
      const Placement place = plan.placements[i];
      if (!graph_.scopes().front().contains(place.tensor) ||
          graph_.tensor(place.tensor).flags.has(TensorFlag::zero_copy) || below(3) > 0)
        continue;
      plan.bindings.push_back({place.tensor, place.size, Bytes(8)});
      plan.placements.erase(plan.placements.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  bool shrink_binding(Plan& plan) {
    if (plan.bindings.empty()) return false;
    pick(plan.bindings).size -= Bytes(1);
    return true;
  }
  bool orphan_buffer(Plan& plan) {
    for (Arena& arena : plan.arenas) {
      if (arena.kind != ArenaKind::user) continue;
      arena.tensor.reset();
      return true;
    }
    return false;
  }
  /// Of two tensors that are kept apart, puts one where the other is.
  bool bring_together(Plan& plan) {
    for (const auto& [a, b] : graph_.apart()) {
      const Placement* const one = find(plan, a);
      Placement* const other = find(plan, b);
      if (!one || !other || one->size == Bytes(0) || other->size == Bytes(0)) continue;
      other->arena = one->arena;
      other->region = one->region;
      other->offset = one->offset;
      return true;
    }
    return false;
  }
  bool lose_tensor(Plan& plan) {
    if (plan.placements.empty()) return false;
    pick(plan.placements).tensor = TensorId(graph_.tensors().size());
    return true;
  }
  bool turn_edge(Plan& plan) {
    if (graph_.scopes().front().op_count < 2) return false;
    plan.edges.push_back({OpId(1), OpId(0)});
    return true;
  }

  /// Streams order their ops already, and ops of different batches never run together.
  bool add_needless_edge(Plan& plan) {
    std::vector<Edge> candidates;
    for (std::size_t to = 1; to < graph_.scopes().front().op_count; ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        const Op& a = graph_.ops()[from];
        const Op& b = graph_.ops()[to];
        const bool apart = !a.batch.empty() && !b.batch.empty() && a.batch != b.batch;
        if (!a.no_task && !b.no_task && (a.stream == b.stream || apart)) candidates.push_back({OpId(from), OpId(to)});
      }
    }
    if (candidates.empty()) return false;
    plan.edges.push_back(pick(candidates));
    return true;
  }
  bool repeat_clear(Plan& plan) {
    if (plan.clears.empty()) return false;
    plan.clears.push_back(Clear(pick(plan.clears)));
    return true;
  }

  bool drop_clear(Plan& plan) {
    if (plan.clears.empty()) return false;
    plan.clears.erase(plan.clears.begin() + static_cast<std::ptrdiff_t>(below(plan.clears.size())));
    return true;
  }
  bool shrink_clear(Plan& plan) {
    if (plan.clears.empty()) return false;
    pick(plan.clears).size -= Bytes(1);
    return true;
  }
  bool shift_clear(Plan& plan) {
    if (plan.clears.empty()) return false;
    Clear& clear = pick(plan.clears);
    if (clear.offset < Bytes(1)) return false;
    clear.offset -= Bytes(1);
    return true;
  }
  bool change_value(Plan& plan) {
    if (plan.clears.empty()) return false;
    pick(plan.clears).value = static_cast<std::uint8_t>(below(2) == 0 ? 0 : 7);
    return true;
  }
  bool reorder_clear(Plan& plan) {
    if (plan.clears.empty()) return false;
    Clear& clear = pick(plan.clears);
    const Scope& scope = graph_.scope(graph_.scope_of(clear.before));
    clear.before = OpId(scope.first_op.index() + below(scope.op_count));
    return clear.before == OpId(0) || !graph_.op(clear.before).no_task;
  }
  bool reorder_copies(Plan& plan) {
    if (plan.copies.size() < 2) return false;
    std::swap(pick(plan.copies), pick(plan.copies));
    return true;
  }
  bool drop_edge(Plan& plan) {
    if (plan.edges.empty()) return false;
    plan.edges.erase(plan.edges.begin() + static_cast<std::ptrdiff_t>(below(plan.edges.size())));
    return true;
  }
  bool add_edge(Plan& plan) {
    const std::size_t count = graph_.scopes().front().op_count;
    if (count < 2) return false;
    const std::size_t to = 1 + below(count - 1);
    const std::size_t from = below(to);
    if (graph_.ops()[from].no_task || graph_.ops()[to].no_task) return false;
    plan.edges.push_back({OpId(from), OpId(to)});
    return true;
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  template <class T>
  T& pick(std::vector<T>& list) {
    return list[below(list.size())];
  }

  static void grow(Plan& plan, ArenaId id, Bytes top) {
    Arena& arena = plan.arenas[id.index()];
    arena.regions.front() = std::max(arena.regions.front(), top);
    arena.size = arena.regions.front();
    arena.proven_optimal = arena.size == arena.lower_bound;
  }

  static Placement* find(Plan& plan, TensorId id) {
    for (Placement& place : plan.placements) {
      if (place.tensor == id) return &place;
    }
    return nullptr;
  }

  /// Whether no other tensor is at a fixed distance.
  [[nodiscard]] bool is_alone(TensorId tensor) const {
    std::size_t members = 0;
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t)
      members += oracle_.class_of(TensorId(t)) == oracle_.class_of(tensor);
    return members == 1;
  }

  /// Moves a member of such a group other than the first, or its copy, by one byte.
  bool shift_member(Plan& plan, bool of_inputs, Contiguity kind) {
    std::vector<Member> members;
    for (std::size_t k = 0; k < graph_.ops().size(); ++k) {
      const Op& op = graph_.ops()[k];
      if ((of_inputs ? op.contiguous_inputs : op.contiguous_outputs) != kind) continue;
      std::vector<TensorId> group;
      for (const auto& input : op.inputs) {
        if (of_inputs && input) group.push_back(*input);
      }
      if (!of_inputs) group = op.outputs;
      for (std::size_t i = 1; i < group.size(); ++i) members.push_back({OpId(k), group[i], of_inputs});
    }
    if (members.empty()) return false;
    const Member member = pick(members);
    for (Copy& copy : plan.copies) {
      if (copy.tensor != member.tensor || !copy.when.is_before(member.op)) continue;
      copy.offset += Bytes(1);
      return true;
    }
    Placement* const place = find(plan, member.tensor);
    if (!place || !is_alone(member.tensor)) return false;
    place->offset += Bytes(1);
    return true;
  }

  const Graph& graph_;
  const oracle::Oracle& oracle_;
  std::mt19937_64 random_;
};

struct Corruption {
  const char* name;
  bool (Saboteur::*apply)(Plan&);
  std::optional<Rule> rule;  ///< The rule that must be violated; none: it depends on the plan.
};

constexpr std::array kCorruptions = {
    Corruption{"shift padded input", &Saboteur::shift_padded_input, Rule::group},
    Corruption{"shift packed input", &Saboteur::shift_packed_input, Rule::group},
    Corruption{"shift padded output", &Saboteur::shift_padded_output, Rule::group},
    Corruption{"shift packed output", &Saboteur::shift_packed_output, Rule::group},
    Corruption{"add copy", &Saboteur::add_copy, Rule::copy},
    Corruption{"drop reason", &Saboteur::drop_reason, Rule::copy},
    Corruption{"share session", &Saboteur::share_session, Rule::arena},
    Corruption{"move fixed", &Saboteur::move_fixed, Rule::arena},
    Corruption{"bind any", &Saboteur::bind_any, Rule::binding},
    Corruption{"shrink binding", &Saboteur::shrink_binding, Rule::size},
    Corruption{"orphan buffer", &Saboteur::orphan_buffer, Rule::reference},
    Corruption{"lose tensor", &Saboteur::lose_tensor, Rule::reference},
    Corruption{"bring together", &Saboteur::bring_together, Rule::apart},
    Corruption{"turn edge", &Saboteur::turn_edge, Rule::edge},
    Corruption{"needless edge", &Saboteur::add_needless_edge, Rule::edge},
    Corruption{"repeat clear", &Saboteur::repeat_clear, Rule::fill},
    Corruption{"drop clear", &Saboteur::drop_clear, std::nullopt},
    Corruption{"shrink clear", &Saboteur::shrink_clear, std::nullopt},
    Corruption{"shift clear", &Saboteur::shift_clear, std::nullopt},
    Corruption{"change value", &Saboteur::change_value, std::nullopt},
    Corruption{"reorder clear", &Saboteur::reorder_clear, std::nullopt},
    Corruption{"reorder copies", &Saboteur::reorder_copies, std::nullopt},
    Corruption{"add edge", &Saboteur::add_edge, std::nullopt},
};

struct Tally {
  std::size_t done = 0;
  std::size_t found = 0;
};

class ConstraintMutation : public ::testing::Test {
 protected:
  static std::vector<Finding> check(const Graph& graph, const Plan& plan) {
    return verify(graph, plan, {.base = AddressBase::refreshable});
  }

  void examine(const Graph& graph, std::uint64_t seed) {
    const std::optional<Plan> plan = testing::CarelessPlan(graph, {.seed = seed}).make();
    if (!plan || !check(graph, *plan).empty()) return;
    const oracle::Oracle oracle(graph);
    const oracle::Verdict verdict = oracle.judge(*plan);
    if (verdict.fault || verdict.gave_up) return;
    ++plans_;
    Saboteur saboteur(graph, oracle, seed);
    for (const Corruption& corruption : kCorruptions) {
      Plan spoilt = *plan;
      if ((saboteur.*corruption.apply)(spoilt)) judge(graph, spoilt, corruption, seed);
      if (HasFatalFailure()) return;
    }
    Plan spoilt = *plan;
    if (saboteur.drop_copy(spoilt)) {
      ++tallies_["drop copy"].done;
      ASSERT_FALSE(check(graph, spoilt).empty()) << "seed " << seed << ", drop copy";
      ++tallies_["drop copy"].found;
    }
    if (graph.stream_count() > 1) drop_edges(graph, seed, saboteur);
  }

  /// Plans that share more than the graph's own order allows, which edges make correct; then without one of the edges.
  void drop_edges(const Graph& graph, std::uint64_t seed, Saboteur& saboteur) {
    for (std::uint64_t variant = 1; variant < 8; ++variant) {
      std::optional<Plan> plan = testing::CarelessPlan(graph, {.seed = seed * 10 + variant, .moves = variant}).make();
      for (int i = 0; plan && i < 6; ++i) add_needed_edge(graph, saboteur, *plan);
      if (!plan || !check(graph, *plan).empty()) continue;
      while (!plan->edges.empty() && !HasFatalFailure()) {
        saboteur.drop_edge(*plan);
        judge(graph, *plan, {"drop edge", nullptr, std::nullopt}, seed);
        if (!check(graph, *plan).empty()) break;
      }
    }
  }

  /// An edge that orders nothing would be wrong by itself.
  static void add_needed_edge(const Graph& graph, Saboteur& saboteur, Plan& plan) {
    Plan longer = plan;
    if (!saboteur.add_edge(longer)) return;
    const std::vector<Finding> findings =
        verify(graph, longer, {.max_findings = 10'000, .base = AddressBase::refreshable});
    if (std::none_of(findings.begin(), findings.end(), [](const Finding& each) { return each.rule == Rule::edge; }))
      plan = std::move(longer);
  }

  void judge(const Graph& graph, const Plan& spoilt, const Corruption& corruption, std::uint64_t seed) {
    const std::vector<Finding> findings = check(graph, spoilt);
    Tally& tally = tallies_[corruption.name];
    ++tally.done;
    if (!findings.empty()) ++tally.found;
    rules_.add(findings);
    if (corruption.rule) {
      const bool named =
          std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.rule == *corruption.rule; });
      ASSERT_TRUE(named) << "seed " << seed << ", " << corruption.name << ": "
                         << (findings.empty() ? "right" : findings.front().message);
      return;
    }
    const auto [fault, gave_up] = oracle::Oracle(graph).judge(spoilt);
    if (gave_up) return;
    ASSERT_EQ(fault.has_value(), !findings.empty())
        << "seed " << seed << ", " << corruption.name << ": the oracle says " << fault.value_or("right")
        << ", the verifier " << (findings.empty() ? "right" : findings.front().message);
  }

  std::map<std::string, Tally> tallies_;
  testing::RuleTally rules_;
  std::size_t plans_ = 0;
};

TEST_F(ConstraintMutation, RandomGraphs) {
  const testing::SeedRange seeds = testing::seeds(1500);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    if (const Result<Graph> graph = testing::draw_constrained_graph(seed, testing::tiny_constrained_graphs()))
      examine(*graph, seed);
    if (HasFatalFailure()) return;
  }
  for (const auto& [word, tally] : tallies_)
    std::printf("  %-20s %6zu done  %6zu found\n", word.c_str(), tally.done, tally.found);
  std::printf("  %zu plans\n", plans_);
  rules_.print();
  if (!seeds.is_many()) return;
  EXPECT_EQ(tallies_.size(), kCorruptions.size() + 2) << "each was possible at least once";
  EXPECT_GT(tallies_["drop edge"].found, 10U);
  for (const Rule rule : {Rule::group, Rule::fill, Rule::copy, Rule::binding, Rule::edge, Rule::apart, Rule::arena})
    EXPECT_GE(rules_[rule], 10U) << to_string(rule);
}

}  // namespace
}  // namespace stowage
