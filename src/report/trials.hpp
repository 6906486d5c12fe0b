#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/explanation.hpp"
#include "report/scene.hpp"
#include "rewrite/interface/rewrites.hpp"
#include "stowage/report/explain.hpp"

namespace stowage::report {

/// The figures of a plan.
struct Outcome {
  Bytes peak;
  std::vector<Bytes> by_memory;  ///< The peak of each memory.
  std::vector<Bytes> weights;    ///< Of each memory: its persistent arenas.
  bool proven = false;

  /// The most that the peak of a memory may be; below 0 if its weights alone are too much.
  [[nodiscard]] Bytes allowed(const Budget& budget, std::size_t memory) const;
  /// Whether no memory needs more than the budget.
  [[nodiscard]] bool fits(const Budget& budget) const;
};

/// The figures together with the plan.
struct Trial {
  Outcome outcome;
  Planned planned;
};

/// A set of holders, by their numbers in a `Stock`.
using Subset = std::set<std::size_t>;

/// Everything that holds memory in the original plan, numbered, so that the same holders can be found in other plans of
/// the graph.
class Stock {
 public:
  explicit Stock(const Scene& scene);

  /// The holders that an item of a scene with the same tensors and ops is made of: those of the tensors for which it is
  /// needed at the step, or, without a step, ever.
  [[nodiscard]] Subset find(const Scene& scene, const PlacedItem& item, std::optional<Step> step) const;
  [[nodiscard]] rewrite::Dropped dropped(const Subset& subset) const;
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// The holder's item in the scene of the original plan.
  [[nodiscard]] const PlacedItem& item(std::size_t number) const { return *items_[number]; }

 private:
  std::vector<const PlacedItem*> items_;   ///< Point into the scene, which must outlive the stock.
  std::vector<rewrite::Dropped> members_;  ///< By number.
  std::map<TensorId, std::size_t> of_tensor_;
  std::map<std::pair<OpId, std::uint32_t>, std::size_t> of_workspace_;
};

/// Plans again, until time runs out. Caches the outcomes.
class Trials {
 public:
  /// `base` is the original plan, with an answer. The time limit for all re-plans starts now. A re-plan is expected to
  /// take as long as `base` took before and after solving, and is left out where that is more than what remains.
  Trials(const Planned& base, const ExplainOptions& options);

  /// The figures of the original plan.
  [[nodiscard]] const Outcome& base() const { return base_; }
  /// Plans any graph with any options. None if time has run out, `graph` is an error, or there is no plan.
  std::optional<Trial> plan(Result<Graph> graph, const PlanOptions& options, const std::string& what);
  /// Plans the graph without some holders of the stock. None in the same cases.
  std::optional<Trial> replan(const Stock& stock, const Subset& subset);
  /// The same, but returns figures only: each subset is planned at most once.
  std::optional<Outcome> without(const Stock& stock, const Subset& subset);

  /// Whether there is no time for another plan.
  [[nodiscard]] bool time_is_out() const { return left() <= std::chrono::nanoseconds(0); }
  [[nodiscard]] std::size_t replans() const { return replans_; }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  /// How long one more plan may be solved.
  [[nodiscard]] std::chrono::nanoseconds left() const;
  /// The options with the time limit of one more plan; none if time has run out.
  std::optional<PlanOptions> limited(PlanOptions options);

  const Graph& graph_;
  const ExplainOptions& options_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::chrono::nanoseconds before_and_after_{};  ///< What the stages other than solving take.
  Outcome base_;
  std::map<Subset, std::optional<Outcome>> tried_;
  std::size_t replans_ = 0;
  std::size_t skipped_ = 0;
};

/// The options of every plan of an explanation.
[[nodiscard]] PlanOptions plan_options(const ExplainOptions& options);

}  // namespace stowage::report
