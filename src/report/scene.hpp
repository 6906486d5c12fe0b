#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lower/interface/lower.hpp"
#include "stowage/graph.hpp"
#include "stowage/planner.hpp"

/// The common input of all reports: which item holds which bytes when. The plan says where items lie, the analysis says
/// when they live; a scene combines both.
namespace stowage::report {

/// An item of an arena, with its place in the plan.
struct PlacedItem {
  Occupant occupant;
  Interval life;
  Bytes size;
  Bytes offset;  ///< Of its lowest byte, counted from the start of the arena: regions follow each other.
  std::uint32_t region = 0;
  /// The rectangles that it occupies, with offsets in the arena. With a stream order: all its bytes for its whole life.
  std::vector<Piece> blocks;
};

/// An arena of the plan with the Problem that it answers.
struct PlacedArena {
  ArenaId number;  ///< In the plan.
  const ArenaProblem* problem = nullptr;
  std::vector<PlacedItem> items;  ///< Of positive size, without those in callers' buffers.

  [[nodiscard]] bool concurrent() const { return !problem->problem.order.empty(); }
  /// The step at which to look at an item. None with a stream order: an item then has all its bytes for its whole life.
  [[nodiscard]] std::optional<Step> look_at(Step step) const {
    return concurrent() ? std::nullopt : std::optional(step);
  }
};

/// Whether something is needed at a step; without a step, whether it is ever needed.
[[nodiscard]] bool is_needed(const Life& life, std::optional<Step> step);

/// A planned graph as items in arenas. Refers to the `Planned`, which must outlive it.
class Scene {
 public:
  /// Precondition: `planned` has an answer and is what `plan` returned.
  explicit Scene(const Planned& planned);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Analysis& analysis() const { return analysis_; }
  [[nodiscard]] const Liveness& liveness() const { return analysis_.liveness; }
  [[nodiscard]] const Layout& layout() const { return analysis_.layout; }
  /// All arenas, paid or not, in the order of the plan, except for callers' buffers.
  [[nodiscard]] const std::vector<PlacedArena>& arenas() const { return arenas_; }
  /// Callers' buffers that host other tensors, in the order of the plan: the guests, and the caller's own tensor. The
  /// Problem is that of the arena in which the guests would otherwise be.
  [[nodiscard]] const std::vector<PlacedArena>& user_buffers() const { return user_buffers_; }

  /// The tensors of a class, ascending.
  [[nodiscard]] const std::vector<TensorId>& tensors(ClassId id) const { return tensors_[id.index()]; }
  /// The first op that writes the tensor.
  [[nodiscard]] std::optional<OpId> producer(TensorId id) const { return producers_[id.index()]; }

 private:
  void place_arena(std::size_t number);
  void place_guests(const ArenaProblem& problem);
  void place_storages();
  void place_workspaces();
  [[nodiscard]] PlacedItem placed(const ArenaProblem& problem, std::size_t item, const Position& at, Bytes base) const;

  struct PlacedAt {
    ArenaId arena;
    Position position;
  };
  /// Where an occupant lies. A caller's own tensor lies at the start of its buffer, if that is an arena.
  [[nodiscard]] std::optional<PlacedAt> at(const Occupant& occupant) const;

  const Graph& graph_;
  const Plan& plan_;
  const Analysis& analysis_;
  const Lowering& lowering_;
  std::vector<std::optional<PlacedAt>> storages_;
  std::vector<std::vector<std::optional<PlacedAt>>> workspaces_;  ///< By op and index.
  std::vector<PlacedArena> arenas_;
  std::vector<PlacedArena> user_buffers_;
  std::vector<std::vector<TensorId>> tensors_;  ///< By class.
  std::vector<std::optional<OpId>> producers_;  ///< By tensor.
};

}  // namespace stowage::report
