#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/plan/program_cost.hpp"
#include "stowage/report/explain.hpp"

/// What changed between two plans.
namespace stowage {

/// One of the two plans: with its graph, planned by this process or not, or as a plan file without
/// its graph, where tensors have the names that the file states, or numbers if it states none.
/// Refers to its parts, which must outlive the call that it is passed to. The label says what users
/// call the plan; only pages show it.
struct DiffSide {
  /// Precondition: `its_planned` has a plan.
  DiffSide(const Planned& its_planned, std::string its_label = {})  // NOLINT: implicit by intent
      : graph(&its_planned.graph),
        plan(&*its_planned.plan),
        planned(&its_planned),
        label(std::move(its_label)) {}
  DiffSide(const Graph& its_graph, const Plan& its_plan, std::string its_label = {})
      : graph(&its_graph), plan(&its_plan), label(std::move(its_label)) {}
  DiffSide(const PlanFile& its_file, std::string its_label = {})  // NOLINT: implicit by intent
      : file(&its_file), label(std::move(its_label)) {}

  const Graph* graph = nullptr;  ///< Null exactly when `plan` is.
  const Plan* plan = nullptr;
  const Planned* planned = nullptr;  ///< Null for a plan from elsewhere.
  const PlanFile* file = nullptr;    ///< Null unless `graph` and `plan` are.
  std::string label;
};

/// What became of each arena, tensor and workspace. Opaque; `diff_to_text` and `diff_to_json` show
/// all of it.
struct DiffDetails;

/// The figures of two plans. Copies share the details.
struct PlanDiff {
  std::string graph_before;
  std::string graph_after;
  bool by_number = false;  ///< Matched by number, because a side has no names.
  Bytes peak_before;
  Bytes peak_after;
  Bytes bound_before;
  Bytes bound_after;
  std::size_t unchanged = 0;  ///< Tensors and workspaces.
  /// What a run costs. Unknown of a plan file that has no program, without its graph.
  std::optional<ProgramCost> cost_before = {};
  std::optional<ProgramCost> cost_after = {};
  std::shared_ptr<const DiffDetails> details = {};

  [[nodiscard]] Bytes growth() const { return peak_after - peak_before; }
  [[nodiscard]] bool same_graph() const { return graph_before == graph_after; }
};

/// Compares two plans. Tensors and workspaces are matched by name, those with equal names in their
/// order; by number if a side has no names. Cannot fail. O(n log n). Thread-safe. Precondition: the
/// graph of a plan has every tensor and op that the plan names.
[[nodiscard]] STOWAGE_EXPORT PlanDiff diff(const DiffSide& before, const DiffSide& after);

/// The `top` largest entries of each kind of change, in lines of at most 100 columns. Thread-safe,
/// as is the next.
[[nodiscard]] STOWAGE_EXPORT std::string diff_to_text(const PlanDiff& difference, SizeStyle sizes,
                                                      std::size_t top = 10);
/// `stowage.diff/1`, with all entries.
[[nodiscard]] STOWAGE_EXPORT std::string diff_to_json(const PlanDiff& difference);

}  // namespace stowage
