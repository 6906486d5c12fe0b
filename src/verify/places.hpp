#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "verify/findings.hpp"

namespace stowage::verification {

/// Where the plan puts something. Nothing in it is validated, except that arena and region exist if `cell` is set.
struct Place {
  ArenaId arena;
  std::uint32_t region = 0;
  Bytes offset;
  Bytes size;  ///< As given in the plan.
  /// The number of the region among those of all arenas; absent if the region does not exist.
  std::optional<std::size_t> cell;
};

/// `a + b`, or nothing if that cannot be represented.
[[nodiscard]] std::optional<Bytes> checked_sum(Bytes a, Bytes b);

/// The `size` bytes from `offset` on; nothing if their end cannot be represented.
[[nodiscard]] std::optional<ByteRange> range_at(Bytes offset, Bytes size);

/// Whether `at` is `distance` bytes after `base`, in the same region of the same arena.
[[nodiscard]] bool lies_at(const Place& at, const Place& base, Bytes distance);

/// "at 64 of region 0 of arena 'cpu' (0)".
[[nodiscard]] std::string describe(const Plan& plan, const Place& place);

/// A number for every region of every arena.
class Cells {
 public:
  explicit Cells(const Plan& plan);

  /// Nothing if the arena or region does not exist.
  [[nodiscard]] std::optional<std::size_t> find(const Plan& plan, ArenaId arena, std::uint32_t region) const;
  /// Sets the cell of a place. An arena or region that does not exist is a finding.
  void resolve(const Plan& plan, const std::string& who, Place& place, Findings& findings) const;
  [[nodiscard]] std::size_t first(ArenaId arena) const { return first_[arena.index()]; }
  /// The number of regions in all arenas.
  [[nodiscard]] std::size_t count() const { return first_.back(); }

 private:
  std::vector<std::size_t> first_;  ///< By arena, and the end: its first cell.
};

/// The placements of the plan by tensor and by workspace. The constructor reports every reference to something that
/// does not exist, and every second placement of the same tensor or workspace, which is then ignored.
class Places {
 public:
  Places(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings);

  /// Null if the plan does not place it.
  [[nodiscard]] const Place* of(TensorId tensor) const { return find(tensors_[tensor.index()]); }
  [[nodiscard]] const Place* of(WorkspaceId workspace) const {
    return find(workspaces_[first_workspace_[workspace.op.index()] + workspace.index]);
  }
  /// Null if the plan does not place it in a region that exists.
  [[nodiscard]] const Place* valid(TensorId tensor) const {
    const Place* const place = of(tensor);
    return place && place->cell ? place : nullptr;
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  [[nodiscard]] const Place* find(std::uint32_t at) const { return at == kAbsent ? nullptr : &places_[at]; }
  void number_workspaces(const Graph& graph);
  void read_tensors(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings);
  void read_workspaces(const Graph& graph, const Plan& plan, const Cells& cells, Findings& findings);
  /// Returns false, and reports a finding, if there is a placement already.
  bool enter(const Place& place, std::uint32_t& index, const std::string& who, Findings& findings);

  std::vector<Place> places_;
  std::vector<std::uint32_t> tensors_;        ///< By tensor, into places_.
  std::vector<std::uint32_t> workspaces_;     ///< By workspace, into places_.
  std::vector<std::size_t> first_workspace_;  ///< By op, into workspaces_.
};

}  // namespace stowage::verification
