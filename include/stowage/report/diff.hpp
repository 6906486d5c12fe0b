#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "stowage/plan/plan_file.hpp"
#include "stowage/report/explain.hpp"

/// What changed between two plans.
namespace stowage {

/// A plan with the graph that it is of, made here or not; or a plan file without, where tensors
/// have numbers and no names. Refers to what it is made of; nothing of it is kept after the call.
struct DiffSide {
  /// Precondition: it has a plan.
  DiffSide(const Planned& made_here)
      : graph(&made_here.graph), plan(&*made_here.plan), planned(&made_here) {}  // NOLINT
  DiffSide(const Graph& its_graph, const Plan& its_plan) : graph(&its_graph), plan(&its_plan) {}
  DiffSide(const PlanFile& its_file) : file(&its_file) {}  // NOLINT: implicit by intent

  const Graph* graph = nullptr;  ///< Either these two,
  const Plan* plan = nullptr;
  const Planned* planned = nullptr;  ///< Null: it comes from elsewhere.
  const PlanFile* file = nullptr;    ///< or this.
};

/// A tensor or workspace of one or both plans. Matched by name, those of equal names in their
/// order; by number where a side has no names.
struct DiffEntry {
  enum class Change : std::uint8_t { grew, shrank, appeared, vanished, moved };
  Change change;
  std::string name;
  std::optional<Bytes> before;    ///< Bytes in A.
  std::optional<Bytes> after;     ///< Bytes in B.
  std::string arena_before = {};  ///< Its name; empty where it is not there.
  std::string arena_after = {};
  std::optional<Bytes> offset_before = {};
  std::optional<Bytes> offset_after = {};
};

[[nodiscard]] std::string_view to_string(DiffEntry::Change change);

struct ArenaChange {
  std::string name;
  ArenaKind kind = ArenaKind::shared;
  std::optional<Bytes> before;
  std::optional<Bytes> after;
};

struct PlanDiff {
  std::string graph_before;
  std::string graph_after;
  bool by_number = false;  ///< A side has no names.
  Bytes peak_before;
  Bytes peak_after;
  Bytes bound_before;
  Bytes bound_after;
  std::vector<ArenaChange> arenas;  ///< Those of A in their order, then what only B has.
  std::vector<DiffEntry>
      entries;  ///< By kind of change, largest change (for moved: largest) first.
  std::size_t unchanged = 0;

  [[nodiscard]] Bytes growth() const { return peak_after - peak_before; }
  [[nodiscard]] bool same_graph() const { return graph_before == graph_after; }
};

/// Cannot fail. O(n log n). Thread-safe. Precondition: the graph of a plan has every tensor and op
/// that the plan names.
[[nodiscard]] PlanDiff diff(const DiffSide& before, const DiffSide& after);

struct DiffTextOptions {
  SizeStyle sizes = SizeStyle::bytes;
  std::size_t top = 10;  ///< Entries of each kind of change.
};

/// No line is longer than 100 columns. Thread-safe, as is the next.
[[nodiscard]] std::string diff_to_text(const PlanDiff& difference, const DiffTextOptions& options);
/// `stowage.diff/1`, with all entries.
[[nodiscard]] std::string diff_to_json(const PlanDiff& difference);

}  // namespace stowage
