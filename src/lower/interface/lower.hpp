#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "layout/interface/analysis.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// The one clever translation: every constraint of a graph becomes geometry, and positions become a plan again.
namespace stowage {

/// A tensor in the caller's buffer, while it uses that itself.
struct HostTensor {
  TensorId tensor;

  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

/// What an item of a Problem stands for.
using Occupant = std::variant<StorageId, WorkspaceId, HostTensor>;

/// The Problem of one arena. `occupants` has one entry per item.
struct ArenaProblem {
  std::string name;
  MemoryId memory;
  ArenaKind kind = ArenaKind::shared;
  Problem problem;
  std::vector<Occupant> occupants;
  std::vector<TensorId> hosts =
      {};  ///< Its last regions: the caller's buffers that may be reused, which are not paid for.
  std::optional<Bytes> size = {};   ///< For the ring of a pool: what it has, used or not.
  std::optional<Bytes> limit = {};  ///< Of each region. The Problem leaves it out where everything fits side by side.
};

/// All Problems of a graph, memory by memory: pools, session, fixed, shared, persistent; only those that have items.
struct Lowering {
  std::vector<ArenaProblem> arenas;
  Bytes naive;  ///< The peak of all paid arenas if nothing shared bytes with anything else.
};

struct LowerOptions {
  std::optional<Bytes> capacity = {};      ///< Of the paid arenas of each memory together.
  std::optional<Bytes> region_limit = {};  ///< No region is larger than this, besides what its memory says.
};

/// How a Problem was answered.
struct ArenaSolution {
  std::vector<Position> positions;
  Bytes lower_bound;
};

/// Cannot fail. Every Problem passes `check_problem`. O(classes + accesses × streams). Thread-safe.
///
/// Each Problem has the whole capacity of its memory; whoever solves them one after the other takes off what is spent.
[[nodiscard]] Lowering lower(const Graph& graph, const Analysis& analysis, const LowerOptions& options = {});

/// The plan that the positions mean. Cannot fail. Thread-safe. Precondition: one solution per arena, each a valid
/// answer to its Problem.
[[nodiscard]] Plan raise(const Graph& graph, const Analysis& analysis, const Lowering& lowering,
                         std::span<const ArenaSolution> solutions);

}  // namespace stowage
