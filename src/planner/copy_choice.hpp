#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "planner/attempt.hpp"

namespace stowage {

/// Plans a graph with one strategy, and chooses which members of contiguous groups are copied although they could lie
/// where the op needs them. Once it is copied, a member's own memory is free, even during the op.
///
/// The copies are not a part of the Problem. Instead, the graph is planned again with other members copied:
///
/// 1. As usual: only what cannot lie in its group is copied, and its memory is needed until the op is over.
/// 2. Unless that is proven: the same copies, but their sources are free during the op.
/// 3. With at most `kAllSubsets` members every set of them; with more each of the largest at the fullest step, each
///    group, and all.
/// 4. Then one member more or less than in the best set so far.
///
/// There are at most `kMostTries` plans of `kTryNodes` nodes each; what cannot be better, by the bound of its Problems,
/// is not packed. The smallest peak wins; among equals the fewest bytes copied, times how often the copies are made. A
/// set is taken only if it is known that each of its copies saves memory, given the others. Of the time limit the usual
/// plan gets three quarters, and each other at most a quarter of what is left.
class CopyChoice {
 public:
  /// All must outlive it.
  CopyChoice(const Graph& graph, const PlanOptions& options, const Search& search);

  /// Whether copies are a question at all: if not, the graph is planned as usual.
  [[nodiscard]] static bool arises(const Graph& graph, const PlanOptions& options, const Search& search);
  [[nodiscard]] Result<Planned> run();

 private:
  static constexpr std::size_t kAllSubsets = 5;
  static constexpr std::size_t kMostTries = 48;
  static constexpr std::size_t kMostSingles = 12;
  static constexpr std::size_t kMostGroups = 8;
  static constexpr std::uint64_t kTryNodes = 20'000;

  /// Which of `members_` are copied.
  using Chosen = std::set<std::size_t>;
  /// A plan with some members copied.
  struct Try {
    Chosen chosen;
    Planned planned;
    std::shared_ptr<PlanningRecord> record;
    double work = 0;     ///< Bytes copied, times how often.
    bool usual = false;  ///< Only what cannot lie in its group is copied, and is needed until the op is over.
  };

  [[nodiscard]] Result<Try> plan_usually();
  [[nodiscard]] CopiedMembers copied_before(const PlanningRecord& record) const;
  void find_members(const PlanningRecord& record);
  void search_sets();
  [[nodiscard]] std::vector<Chosen> first_sets() const;
  void change_single_members();
  [[nodiscard]] bool may_try() const;
  /// Takes the plan with these members copied if it is better than the best so far.
  void consider(const Chosen& chosen);
  /// Leaves out members until each that is left is needed. Returns false if there were not enough tries for that.
  [[nodiscard]] bool reduce(Try& attempt);
  /// None if it cannot be better than `than`, or has no plan.
  [[nodiscard]] std::optional<Try> make(const Chosen& chosen, const Try& than);
  void search_longer();
  [[nodiscard]] CopiedMembers copied(const Chosen& chosen) const;
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> share(std::int64_t parts, std::int64_t of) const;

  const Graph& graph_;
  const PlanOptions& options_;
  const Search& search_;
  PlanOptions try_options_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  CopiedMembers always_;   ///< Copied in any case, because they have their own addresses.
  CopiedMembers members_;  ///< The others, those that take most memory at the fullest step first.
  Chosen forced_;          ///< Of `members_`: what the usual plan copies.
  std::optional<Try> best_;
  std::set<Chosen> tried_;
  StageTimes spent_;  ///< On plans that were not taken.
};

}  // namespace stowage
