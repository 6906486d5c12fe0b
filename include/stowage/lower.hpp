#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/liveness.hpp"
#include "stowage/plan.hpp"

/// The one clever translation: every constraint of a graph becomes geometry, and positions become a plan again.
namespace stowage {

/// Workspace `index` of an op.
struct WorkspaceRef {
  OpId op;
  std::uint32_t index;

  friend bool operator==(const WorkspaceRef&, const WorkspaceRef&) = default;
};

/// What an item of a Problem stands for.
using Occupant = std::variant<StorageId, WorkspaceRef>;

/// The Problem of one arena. `occupants` has one entry an item.
struct ArenaProblem {
  std::string name;
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;
  Problem problem;
  std::vector<Occupant> occupants;
};

/// All Problems of a graph, in the order of memories, shared before persistent; only those that have items.
struct Lowering {
  std::vector<ArenaProblem> arenas;
  Bytes naive;  ///< The peak of all but persistent arenas if nothing shared bytes with anything else.
};

/// How a Problem was answered.
struct ArenaSolution {
  std::vector<Position> positions;
  Bytes lower_bound;
};

/// Cannot fail. Every Problem passes `check_problem`. O(classes + accesses × streams). Thread-safe.
///
/// `capacity` limits the peak of the shared arena of each memory.
[[nodiscard]] Lowering lower(const Graph& graph, const Liveness& liveness, std::optional<Bytes> capacity = {});

/// The plan that the positions mean. Precondition: one solution an arena, each a valid answer to its Problem.
[[nodiscard]] Plan raise(const Graph& graph, const Liveness& liveness, const Lowering& lowering,
                         std::span<const ArenaSolution> solutions);

}  // namespace stowage
