#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// Where the plan puts something. Nothing about it can be trusted but that arena and region exist where `cell` says so.
struct Place {
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;                       ///< As the plan says.
  std::optional<std::size_t> cell;  ///< A number for the region among those of all arenas; absent: there is no such region.
};

/// `a + b`, or nothing when that cannot be represented.
[[nodiscard]] std::optional<Bytes> checked_sum(Bytes a, Bytes b);

/// The plan by tensor and by workspace. Building it reports every reference to something that does not exist, and every second
/// placement of the same thing, which then counts for nothing.
class Places {
 public:
  Places(const Graph& graph, const Plan& plan, Findings& findings);

  /// Null: the plan does not place it.
  [[nodiscard]] const Place* of(TensorId tensor) const { return find(tensors_[tensor.index()]); }
  [[nodiscard]] const Place* of(WorkspaceId workspace) const {
    return find(workspaces_[first_workspace_[workspace.op.index()] + workspace.index]);
  }
  /// The number of regions in all arenas.
  [[nodiscard]] std::size_t cells() const { return first_cell_.back(); }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  [[nodiscard]] const Place* find(std::uint32_t at) const { return at == kAbsent ? nullptr : &places_[at]; }
  void number_workspaces(const Graph& graph);
  void number_cells(const Graph& graph, const Plan& plan, Findings& findings);
  void read_tensors(const Graph& graph, const Plan& plan, Findings& findings);
  void read_workspaces(const Graph& graph, const Plan& plan, Findings& findings);
  void enter(const Graph& graph, const Plan& plan, const Subject& subject, Place place, std::uint32_t& slot, Findings& findings);

  std::vector<Place> places_;
  std::vector<std::uint32_t> tensors_;        ///< By tensor, into places_.
  std::vector<std::uint32_t> workspaces_;     ///< By workspace, into places_.
  std::vector<std::size_t> first_workspace_;  ///< By op, into workspaces_.
  std::vector<std::size_t> first_cell_;       ///< By arena, plus one.
};

}  // namespace stowage::verification
