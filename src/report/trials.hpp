#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/scene.hpp"
#include "rewrite/interface/rewrites.hpp"
#include "stowage/report/explain.hpp"

namespace stowage::report {

/// What a plan came to.
struct Outcome {
  Bytes peak;
  std::vector<Bytes> by_memory;  ///< The peak's parts.
  bool proven = false;

  /// Whether every memory takes no more than that.
  [[nodiscard]] bool fits(Bytes budget) const;
};

/// The same with all that was planned.
struct Trial {
  Outcome outcome;
  Planned planned;
};

/// Some of the things that hold memory, by number (`Stock`).
using Subset = std::set<std::size_t>;

/// Everything that holds memory in the plan as it is, numbered, so that the same thing can be found in other plans of
/// the graph.
class Stock {
 public:
  explicit Stock(const Scene& scene);

  /// Which of them an item of a scene of the same tensors and ops is at a step: those of the tensors that it is needed
  /// for then, or without a step ever.
  [[nodiscard]] Subset find(const Scene& scene, const PlacedItem& item, std::optional<Step> step) const;
  [[nodiscard]] rewrite::Dropped dropped(const Subset& subset) const;
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  /// Its item in the scene of the plan as it is.
  [[nodiscard]] const PlacedItem& item(std::size_t number) const { return *items_[number]; }

 private:
  std::vector<const PlacedItem*> items_;   ///< Of the scene, which outlives the stock.
  std::vector<rewrite::Dropped> members_;  ///< By number.
  std::map<TensorId, std::size_t> of_tensor_;
  std::map<std::pair<OpId, std::uint32_t>, std::size_t> of_workspace_;
};

/// Re-plans, as long as there is time. Remembers what it has tried.
class Trials {
 public:
  /// `base` is the plan as it is, with an answer. The time for all re-plans begins now.
  Trials(const Planned& base, const ExplainOptions& options);

  /// What the plan as it is came to.
  [[nodiscard]] const Outcome& base() const { return base_; }
  /// Any graph with any options. Nothing when there is no time, no such graph, or no plan of it.
  std::optional<Trial> plan(Result<Graph> graph, const PlanOptions& options, const std::string& what);
  /// The graph without some holders, as the stock numbers them; nothing as above.
  std::optional<Trial> replan(const Stock& stock, const Subset& subset);
  /// The same where the figures are enough: planned at most once.
  std::optional<Outcome> without(const Stock& stock, const Subset& subset);

  [[nodiscard]] std::size_t replans() const { return replans_; }
  [[nodiscard]] std::size_t skipped() const { return skipped_; }

 private:
  /// The time limit of one more plan; nothing when all is spent.
  std::optional<PlanOptions> limited(PlanOptions options);

  const Graph& graph_;
  const ExplainOptions& options_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  Outcome base_;
  std::map<Subset, std::optional<Outcome>> tried_;
  std::size_t replans_ = 0;
  std::size_t skipped_ = 0;
};

/// The options of every plan of an explanation.
[[nodiscard]] PlanOptions plan_options(const ExplainOptions& options);

}  // namespace stowage::report
