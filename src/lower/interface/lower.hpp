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

/// Translates every constraint of a graph into geometry (`lower`), and positions back into a plan (`raise`).
namespace stowage {

/// A tensor in its own caller's buffer, which it occupies during its life.
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
  /// The tensors whose callers' buffers may be reused. These buffers are the last regions, which are not paid.
  std::vector<TensorId> hosts = {};
  std::optional<Bytes> size = {};  ///< Of a ring: its whole size, whether used or not.
  /// Whether the Problem admits every plan that is legal for the graph. If not, its bounds are not bounds of the graph:
  /// another layout could join what this one copies, or copy what it joins; and steps only approximate which bodies and
  /// batches exclude each other.
  bool covers_graph = true;
  /// The largest size of each region. The Problem omits it if all items fit next to each other.
  std::optional<Bytes> limit = {};
};

/// All Problems of a graph, memory by memory: rings (kind `pool`), session, fixed, shared, persistent. Except for
/// rings, only those that have items.
struct Lowering {
  std::vector<ArenaProblem> arenas;
  Bytes naive;  ///< The peak of all paid arenas without any reuse.
};

struct LowerOptions {
  std::optional<Bytes> capacity = {};      ///< Of all paid arenas of a memory together, for each memory.
  std::optional<Bytes> region_limit = {};  ///< The largest size of a region, in addition to the limit of its memory.
};

/// The answer to a Problem.
struct ArenaSolution {
  std::vector<Position> positions;
  Certificate bound;
  BoundProof proof = {};  ///< What `bound` says, in terms of the graph (`proof_of`).
};

/// Cannot fail. Every Problem passes `check_problem`. O(classes + accesses × streams). Thread-safe.
///
/// Each Problem has the whole capacity of its memory. A caller that solves them one after another must subtract what
/// the earlier ones use.
[[nodiscard]] Lowering lower(const Graph& graph, const Analysis& analysis, const LowerOptions& options = {});

/// What a certificate of the arena's Problem says of steps and items, said of ops and tensors.
[[nodiscard]] BoundProof proof_of(const Analysis& analysis, const ArenaProblem& arena, const Certificate& certificate);

/// Translates positions into a plan. Cannot fail. Thread-safe. Precondition: one solution per arena, each a valid
/// answer to its Problem.
[[nodiscard]] Plan raise(const Graph& graph, const Analysis& analysis, const Lowering& lowering,
                         std::span<const ArenaSolution> solutions);

}  // namespace stowage
