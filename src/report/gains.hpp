#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/explanation.hpp"
#include "report/peaks.hpp"
#include "report/trials.hpp"

/// What has to shrink to lower the peak.
///
/// A peak falls only when every binding peak falls, so a set of holders must hit each of them. The search starts with
/// one family of holders (the ffn_gate of all layers), adds the holders that cover most of the remaining peaks, plans
/// again, looks at what binds then, and so on until a plan is better. Then it prunes the set: it drops each holder that
/// is not needed, one at a time, each time with a re-plan. Rejected: reading gains off the curve of live bytes, which
/// is wrong wherever the plan is above it, and the exact smallest set (hitting set, NP-hard), which would need far more
/// re-plans.
namespace stowage::report {

/// Whether a re-plan is good enough.
using Goal = std::function<bool(const Outcome&)>;

/// A set that reaches a goal.
struct Found {
  Subset subset;
  bool smallest = false;  ///< No holder can be left out.
};

class GainSearch {
 public:
  /// All arguments must outlive this object. `scene` is that of the original plan.
  GainSearch(const Scene& scene, const Stock& stock, Trials& trials, const ExplainOptions& options);

  /// The sets that lower the peak, largest gain first; at most one per family of holders at the binding peaks.
  std::vector<Gain> gains();
  /// Holders without which every memory fits the budget.
  std::optional<Found> fit(const Budget& budget);

  /// Describes the outcome of the re-plan without a set. Precondition: it was planned.
  Gain describe(const Found& found);
  /// The gain of removing one item of the original plan; none if it was not tried.
  std::optional<Bytes> gain_alone(const PlacedItem& item);

 private:
  /// Whether a search must end because time has run out.
  [[nodiscard]] std::function<bool()> stop() const;
  struct Family {
    Subset members;            ///< Holders at the peaks considered.
    std::set<std::size_t> at;  ///< The peaks at which they are.
    Bytes bytes;               ///< Over all of these peaks.
  };
  using Families = std::map<std::string, Family>;

  [[nodiscard]] Families families_at(const Scene& scene, const PlacedArena& arena,
                                     const std::vector<BindingPeak>& peaks) const;
  Subset cover(const Scene& scene, const PlacedArena& arena, const std::vector<BindingPeak>& peaks);
  Subset next_for_goal(const Scene& scene, MemoryId memory, ArenaKind kind);
  Subset next_for_budget(const Scene& scene, const Outcome& outcome, const Budget& budget);
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
};

}  // namespace stowage::report
