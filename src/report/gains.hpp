#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/peaks.hpp"
#include "report/trials.hpp"

/// What has to shrink to lower the peak.
///
/// A peak falls only when every binding peak does. So a set of holders must hit each of them: the search starts with
/// one family of holders (the ffn_gate of all layers), adds what covers most of the peaks that are left, plans again,
/// looks at what binds then, and so on until a plan is better. Then whatever is not needed for that is taken out again,
/// one at a time, each time with a re-plan. Rejected: reading gains off the live curve, which is wrong wherever the
/// plan is above it, and the exact smallest set (hitting set, NP-hard), which would need far more re-plans.
namespace stowage::report {

/// Whether a re-plan is good enough.
using Goal = std::function<bool(const Outcome&)>;

/// A set that reaches a goal.
struct Found {
  Subset subset;
  bool smallest = false;  ///< Less any one of them, it does not.
};

class GainSearch {
 public:
  /// All of them must outlive it. `scene` is of the plan as it is.
  GainSearch(const Scene& scene, const Stock& stock, Trials& trials, const ExplainOptions& options);

  /// The sets that lower the peak, largest gain first, one for each family of holders at the binding peaks at most.
  std::vector<Gain> gains();
  /// Holders without which every memory fits the budget.
  std::optional<Found> fit(Bytes budget);

  /// What the re-plan without a set came to, in words. Precondition: there is one.
  Gain describe(const Found& found);
  /// Of one item of the plan as it is. Nothing where it was not tried.
  std::optional<Bytes> gain_alone(const PlacedItem& item);

 private:
  struct Family {
    Subset members;            ///< At the peaks that count.
    std::set<std::size_t> at;  ///< Which of these peaks.
    Bytes bytes;               ///< Over all of these peaks.
  };
  using Families = std::map<std::string, Family>;

  Families families_at(const Scene& scene, const PlacedArena& arena, const std::vector<BindingPeak>& peaks);
  Subset cover(const Scene& scene, const PlacedArena& arena, const std::vector<BindingPeak>& peaks);
  Subset next_for_goal(const Scene& scene, MemoryId memory, ArenaKind kind);
  Subset next_for_budget(const Scene& scene, const Outcome& outcome, Bytes budget);
  std::optional<Subset> grow(Subset subset, const Goal& goal,
                             const std::function<Subset(const Scene&, const Outcome&)>& next);
  std::optional<Found> lower(const Subset& from, Bytes below, const PlacedArena& arena);
  [[nodiscard]] std::vector<const Family*> seeds_of(const Families& families) const;
  std::string op_that_binds(const Subset& subset);
  Found prune(Subset subset, const Goal& goal);
  bool drop_one(Subset& subset, const Goal& goal, bool& complete);
  std::optional<Subset> smaller(const Subset& subset, const Goal& goal, bool& complete);
  [[nodiscard]] std::vector<std::size_t> by_size(const Subset& subset) const;

  const Scene& scene_;
  const Stock& stock_;
  Trials& trials_;
  const ExplainOptions& options_;
  Outcome base_;
  std::map<std::size_t, std::optional<Step>>
      seen_at_;  ///< A peak at which a holder was found: its name there is what it is known by.
};

}  // namespace stowage::report
