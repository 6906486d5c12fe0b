#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stowage/io.hpp"
#include "stowage/planner.hpp"
#include "stowage/verify.hpp"
#include "support/data.hpp"
#include "support/environment.hpp"
#include "support/generators/random_graph.hpp"
#include "support/judges/oracle/oracle.hpp"
#include "support/rule_tally.hpp"

/// Mutates correct plans; the verifier must refuse exactly those mutants that the oracle refuses.
namespace stowage {
namespace {

class Saboteur {
 public:
  Saboteur(const Graph& graph, const oracle::Oracle& oracle, std::uint64_t seed)
      : graph_(graph), oracle_(oracle), random_(seed) {}

  // Each returns false if the mutation does not apply to the plan.

  /// Moves a value, with all its members, by a few multiples of its alignment.
  bool shift_aligned(Plan& plan) {
    if (plan.placements.empty()) return false;
    const TensorId chosen = pick(plan.placements).tensor;
    const Bytes alignment = graph_.alignment(graph_.root(chosen).tensor);
    const std::int64_t steps = some() * (below(2) == 0 ? 1 : static_cast<std::int64_t>(1 + below(1000)));
    move_value(plan, chosen, Bytes(alignment.value() * steps));
    return true;
  }
  bool shift_bytes(Plan& plan) { return !plan.placements.empty() && add(pick(plan.placements).offset, some()); }
  bool shift_workspace(Plan& plan) {
    return !plan.workspaces.empty() && add(pick(plan.workspaces).offset, some() * (below(2) == 0 ? 1 : 32));
  }
  bool swap_values(Plan& plan) {
    Placement a;
    Placement b;
    if (!pick_two(plan, a, b)) return false;
    move_value(plan, a.tensor, b.offset - a.offset);
    move_value(plan, b.tensor, a.offset - b.offset);
    return true;
  }
  bool move_onto_another(Plan& plan) {
    Placement a;
    Placement b;
    if (!pick_two(plan, a, b)) return false;
    move_value(plan, a.tensor, b.offset - a.offset);
    return true;
  }
  /// Moves the value of one of two tensors that are kept apart onto the other.
  bool bring_together(Plan& plan) {
    if (graph_.apart().empty()) return false;
    const auto [a, b] = graph_.apart()[below(graph_.apart().size())];
    const auto find = [&](TensorId id) {
      return std::find_if(plan.placements.begin(), plan.placements.end(),
                          [&](const Placement& each) { return each.tensor == id; });
    };
    const auto one = find(a);
    const auto other = find(b);
    if (one == plan.placements.end() || other == plan.placements.end() || one->arena != other->arena ||
        one->region != other->region)
      return false;
    move_value(plan, b, one->offset - other->offset);
    return true;
  }
  bool break_view(Plan& plan) {
    for (int attempt = 0; attempt < 50 && !plan.placements.empty(); ++attempt) {
      Placement& chosen = pick(plan.placements);
      if (graph_.tensor(chosen.tensor).view_of) return add(chosen.offset, some() * 32);
    }
    return false;
  }
  bool drop_tensor(Plan& plan) { return drop(plan.placements); }
  bool drop_workspace(Plan& plan) { return drop(plan.workspaces); }
  bool repeat_tensor(Plan& plan) {
    if (plan.placements.empty()) return false;
    const Placement again = pick(plan.placements);
    plan.placements.push_back(again);
    return true;
  }
  /// Adjusts size and claims too, so that only the overlapped tensors are wrong.
  bool shrink_region(Plan& plan) {
    if (plan.arenas.empty()) return false;
    Arena& arena = pick(plan.arenas);
    const Bytes amount(few());
    pick(arena.regions) -= amount;
    arena.size -= amount;
    arena.lower_bound = std::min(arena.lower_bound, arena.size);
    arena.proven_optimal = arena.lower_bound == arena.size;
    return true;
  }
  bool shrink_arena(Plan& plan) { return !plan.arenas.empty() && add(pick(plan.arenas).size, -few()); }
  bool change_size(Plan& plan) { return !plan.placements.empty() && add(pick(plan.placements).size, some()); }
  bool change_arena(Plan& plan) {
    if (plan.placements.empty()) return false;
    pick(plan.placements).arena = ArenaId(below(plan.arenas.size() + 1));
    return true;
  }
  bool change_claim(Plan& plan) {
    if (plan.arenas.empty()) return false;
    Arena& arena = pick(plan.arenas);
    if (below(2) == 0) return add(arena.lower_bound, some());
    arena.proven_optimal = !arena.proven_optimal;
    return true;
  }

 private:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  std::int64_t few() { return static_cast<std::int64_t>(1 + below(4)); }
  std::int64_t some() { return below(2) == 0 ? few() : -few(); }

  template <class T>
  T& pick(std::vector<T>& list) {
    return list[below(list.size())];
  }

  static bool add(Bytes& number, std::int64_t amount) {
    number += Bytes(amount);
    return true;
  }

  template <class List>
  bool drop(List& list) {
    if (list.empty()) return false;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(below(list.size())));
    return true;
  }

  void move_value(Plan& plan, TensorId member, Bytes distance) {
    for (Placement& placement : plan.placements) {
      if (oracle_.class_of(placement.tensor) == oracle_.class_of(member)) placement.offset += distance;
    }
  }

  /// Two placements of one region that belong to different values.
  bool pick_two(const Plan& plan, Placement& a, Placement& b) {
    for (int attempt = 0; attempt < 20 && !plan.placements.empty(); ++attempt) {
      a = plan.placements[below(plan.placements.size())];
      b = plan.placements[below(plan.placements.size())];
      const bool apart = oracle_.class_of(a.tensor) != oracle_.class_of(b.tensor);
      if (apart && a.arena == b.arena && a.region == b.region && a.offset != b.offset) return true;
    }
    return false;
  }

  const Graph& graph_;
  const oracle::Oracle& oracle_;
  std::mt19937_64 random_;
};

struct Corruption {
  const char* name;
  bool (Saboteur::*apply)(Plan&);
};

constexpr std::array kCorruptions = {
    Corruption{"shift aligned", &Saboteur::shift_aligned},     Corruption{"shift bytes", &Saboteur::shift_bytes},
    Corruption{"shift workspace", &Saboteur::shift_workspace}, Corruption{"swap values", &Saboteur::swap_values},
    Corruption{"onto another", &Saboteur::move_onto_another},  Corruption{"break view", &Saboteur::break_view},
    Corruption{"drop tensor", &Saboteur::drop_tensor},         Corruption{"drop workspace", &Saboteur::drop_workspace},
    Corruption{"repeat tensor", &Saboteur::repeat_tensor},     Corruption{"shrink region", &Saboteur::shrink_region},
    Corruption{"bring together", &Saboteur::bring_together},   Corruption{"shrink arena", &Saboteur::shrink_arena},
    Corruption{"change size", &Saboteur::change_size},         Corruption{"change arena", &Saboteur::change_arena},
    Corruption{"change claim", &Saboteur::change_claim},
};

struct Tally {
  std::size_t done = 0;
  std::size_t broken = 0;
  std::size_t found = 0;
};

class VerifyMutation : public ::testing::Test {
 protected:
  /// Plans the graph, checks the plan, then mutates it `rounds` times in each way.
  void examine(const Graph& graph, const std::string& name, std::size_t rounds, std::uint64_t seed) {
    if (!graph.needs_addresses_only())
      return;  // constraint_mutation_test.cpp covers the rules that this oracle does not know
    const Result<Planned> planned = plan(graph, {.time_limit = std::nullopt, .node_budget = 2'000});
    ASSERT_TRUE(planned && planned->plan) << name;
    const oracle::Oracle oracle(graph);
    ASSERT_EQ(oracle.judge(*planned->plan).fault, std::nullopt) << name;
    const std::vector<Finding> findings = verify(graph, *planned->plan);
    ASSERT_TRUE(findings.empty()) << name << ": " << findings.front().message;
    ++plans_;

    Saboteur saboteur(graph, oracle, seed);
    for (std::size_t round = 0; round < rounds; ++round) {
      for (const Corruption& corruption : kCorruptions) {
        Plan spoilt = *planned->plan;
        const bool applies = (saboteur.*corruption.apply)(spoilt);
        if (applies) judge(graph, oracle, {spoilt, raises_bound(*planned->plan, spoilt)}, name, corruption.name);
        if (HasFatalFailure()) return;
      }
    }
  }

  struct Spoilt {
    const Plan& plan;
    bool raises_bound;
  };

  /// Whether a bound that the planner has proven became larger. It then needs another proof, but none can be checked.
  static bool raises_bound(const Plan& plan, const Plan& spoilt) {
    for (std::size_t a = 0; a < plan.arenas.size(); ++a) {
      const BoundProof::Argument argument = plan.arenas[a].proof.argument;
      const bool checked = argument != BoundProof::Argument::search && argument != BoundProof::Argument::choices;
      if (checked && spoilt.arenas[a].lower_bound > plan.arenas[a].lower_bound) return true;
    }
    return false;
  }

  void judge(const Graph& graph, const oracle::Oracle& oracle, const Spoilt& spoilt, const std::string& name,
             const char* word) {
    std::optional<std::string> broken = oracle.judge(spoilt.plan).fault;
    if (spoilt.raises_bound) broken = "a false bound";
    const std::vector<Finding> findings = verify(graph, spoilt.plan);
    Tally& tally = tallies_[word];
    ++tally.done;
    if (broken) ++tally.broken;
    if (!findings.empty()) ++tally.found;
    rules_.add(findings);
    ASSERT_EQ(broken.has_value(), !findings.empty())
        << name << ", " << word << ": the oracle says " << broken.value_or("right") << ", the verifier "
        << (findings.empty() ? "right" : findings.front().message);
  }

  /// Prints what was done, and returns how much.
  std::size_t report() const {
    std::size_t total = 0;
    for (const auto& [word, tally] : tallies_) {
      std::printf("  %-16s %6zu done  %6zu broken  %6zu found\n", word.c_str(), tally.done, tally.broken, tally.found);
      total += tally.done;
    }
    std::printf("  %zu corruptions of %zu plans\n", total, plans_);
    rules_.print();
    return total;
  }

  testing::RuleTally rules_;

 private:
  std::map<std::string, Tally> tallies_;
  std::size_t plans_ = 0;
};

/// The graphs among the examples in the repository; it is not an error if there are none.
std::vector<std::filesystem::path> example_files() {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::path(STOWAGE_SOURCE_DIR) / "examples";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failure)) {
    const Result<std::string> text =
        entry.path().string().find(".json") == std::string::npos ? Error{} : read_file(entry.path().string());
    if (text && text->find("\"stowage.graph/1\"") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST_F(VerifyMutation, RealGraphs) {
  std::vector<std::filesystem::path> files = testing::graph_files();
  if (files.empty()) GTEST_SKIP() << "SKIPPED: no graphs. Set STOWAGE_DATA to the data folder.";
  for (const std::filesystem::path& example : example_files()) files.push_back(example);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Result<std::string> text = read_file(files[i].string());
    ASSERT_TRUE(text) << to_string(text.error());
    const Result<Graph> graph = parse_graph(*text, files[i].string());
    ASSERT_TRUE(graph) << to_string(graph.error());
    examine(*graph, files[i].filename().string(), 20, i);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(report(), 1000U);
}

TEST_F(VerifyMutation, RandomGraphs) {
  const testing::SeedRange seeds = testing::seeds(1000);
  for (std::uint64_t seed = seeds.first; seed < seeds.last; ++seed) {
    examine(testing::random_graph(seed), "seed " + std::to_string(seed), 2, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(report(), seeds.is_many() ? 1000U : 0U);
  if (!seeds.is_many()) return;
  for (const Rule rule : {Rule::reference, Rule::missing, Rule::size, Rule::bounds, Rule::alignment, Rule::padding,
                          Rule::arena, Rule::layout, Rule::overlap, Rule::claim, Rule::apart})
    EXPECT_GE(rules_[rule], 10U) << to_string(rule);
}

}  // namespace
}  // namespace stowage
