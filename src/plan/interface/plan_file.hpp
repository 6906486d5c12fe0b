#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan/plan.hpp"
#include "stowage/plan/plan_file.hpp"

/// What a plan file (`stowage.plan/1`) says, in its own numbering, and the way from there to a `Plan` and back.
namespace stowage {

/// An entry of a plan file: its ids count in the lists of `body`, the way down from the root.
template <class Entry>
struct InBody {
  Entry entry;
  BodyPath body = {};

  friend bool operator==(const InBody&, const InBody&) = default;
};

/// Only the graph can number through what a file numbers body by body: `resolve` does, `localise`
/// is the way back.
struct PlanFile {
  std::string graph;  ///< The graph's name.
  std::vector<Arena> arenas;
  std::vector<InBody<Placement>> placements;
  std::vector<InBody<WorkspacePlacement>> workspaces;
  std::vector<InBody<Clear>> clears = {};
  std::vector<Binding> bindings = {};  ///< Of the root, as are edges.
  /// Before the op that would follow the last one of a body means: at the end of that body.
  std::vector<InBody<Copy>> copies = {};
  std::vector<Edge> edges = {};
  std::vector<InBody<Note>> notes;

  /// As of a `Plan`.
  [[nodiscard]] Bytes peak() const;
  [[nodiscard]] Bytes lower_bound() const;
  [[nodiscard]] bool proven_optimal() const { return peak() == lower_bound(); }
  friend bool operator==(const PlanFile&, const PlanFile&) = default;
};

/// A plan file in the ids of a graph.
struct ResolvedPlan {
  Plan plan;  ///< Without the entries that `unknown` is about.
  /// One sentence per entry that names a body, tensor, op or workspace that the graph does not
  /// have.
  std::vector<std::string> unknown = {};
};

/// Cannot fail: what does not fit is said. Whether the plan is right `verify` judges. O(entries ×
/// log(bodies)). Thread-safe, as is the next.
[[nodiscard]] ResolvedPlan resolve(const Graph& graph, const PlanFile& file);

/// The plan as its file says it. Precondition: the graph has every tensor and op that the plan
/// names.
[[nodiscard]] PlanFile localise(const Graph& graph, const Plan& plan);

/// As `parse_plan_file`, by value.
Result<PlanFile> parse_plan(std::string_view text, const std::string& file);
/// The file that reads back as an equal plan, one entry per line. Thread-safe.
[[nodiscard]] std::string plan_to_json(const PlanFile& plan);

}  // namespace stowage
