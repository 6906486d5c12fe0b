#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"
#include "support/generators/all_answers.hpp"

namespace stowage::testing {

/// Entries of a plan that lie at fixed distances from each other: indices into the plan's lists.
struct RigidPart {
  ArenaId arena;
  std::vector<std::size_t> placements = {};
  std::vector<std::size_t> workspaces = {};
  std::vector<std::size_t> copies = {};
  std::vector<std::size_t> clears = {};
};

/// Makes plans without a planner: everything in separate bytes, groups and pairs of bodies joined or copied at random,
/// then some of it moved onto other bytes. Without moves most plans are correct. If a graph needs more than addresses,
/// only rules about what happens in a run are ever violated; the graph must then have one memory, sizes that are
/// multiples of its alignment, and no rings.
class CarelessPlan {
 public:
  /// One for each memory; arenas of callers' buffers come behind.
  enum Arenas : std::size_t { kShared, kPersistent, kSession, kFixed, kArenasPerMemory };

  struct Options {
    std::uint64_t seed = 0;
    std::size_t moves = 0;
    /// What is joined, bound and filled centrally, instead of dice. Needs to be without moves.
    AllAnswers* answers = nullptr;
  };

  CarelessPlan(const Graph& graph, const Options& options);

  /// None if the groups of the graph contradict each other in a way that no copy resolves.
  [[nodiscard]] std::optional<Plan> make();
  /// What the plan consists of, once it is made.
  [[nodiscard]] const std::vector<RigidPart>& parts() const { return parts_; }

 private:
  struct NodePlace {
    std::size_t root;
    std::int64_t offset;
  };
  /// A set of tensors and copies at fixed distances.
  struct Unit {
    std::size_t arena = kShared;
    std::uint32_t region = 0;
    std::int64_t lower = 0;  ///< Relative to the representative.
    std::int64_t upper = 0;
    std::int64_t offset = 0;  ///< Of the representative.
    bool movable = true;
    bool guest = true;                                                ///< It may lie in a caller's buffer.
    std::vector<std::pair<std::int64_t, std::int64_t>> members = {};  ///< Offsets and alignments.
  };
  /// Tensors that are one value.
  struct ValueFacts {
    TensorFlags flags;
    bool fixed = false;
    bool filled = false;
    bool grouped = false;
    bool passed = false;
    std::size_t zero_copy = 0;
    std::size_t outputs = 0;
  };
  struct WaitingCopy {
    Copy copy;
    std::size_t node;  ///< Whose place it goes to.
  };
  struct Scratch {
    OpId op;
    std::uint32_t index;
    Unit unit;
  };

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  bool chance(std::size_t percent) { return options_.answers ? options_.answers->answer() : below(100) < percent; }

  // ------------------------------------------------------------------------------------- what lies at fixed distances
  [[nodiscard]] NodePlace find(std::size_t node) const;
  std::size_t add_node(MemoryId memory);
  bool join(std::size_t inner, std::size_t outer, std::int64_t offset);
  bool join(TensorId inner, TensorId outer) { return join(inner.index(), outer.index(), 0); }
  void join_values();
  void look_at_values();
  [[nodiscard]] ValueFacts& value(TensorId tensor) { return values_[value_of_[tensor.index()]]; }
  [[nodiscard]] bool is_persistent(TensorId tensor) {
    return value(tensor).flags.any_of({TensorFlag::constant, TensorFlag::variable});
  }
  [[nodiscard]] bool is_elsewhere(std::size_t node);

  // ------------------------------------------------------------------------------------------------ groups and bodies
  void bind();
  void copy(TensorId tensor, CopyMoment when, std::size_t node);
  bool try_join(TensorId part, std::size_t node, std::int64_t offset);
  bool join_inputs(OpId id);
  bool join_outputs(OpId id);
  void hand_over(TensorId from, TensorId to, CopyMoment when);
  void join_body(ScopeId id);

  // ----------------------------------------------------------------------------------------------------------- places
  void place_units();
  void add_to_unit(std::size_t node);
  void place_workspaces();
  void stack(Unit& unit);
  [[nodiscard]] Bytes end_of(const Unit& unit) const;
  [[nodiscard]] Unit& pick_unit();
  void move();
  bool move_to_caller(Unit& unit);
  void move_in_place(TensorId out, TensorId in);
  void grow(const Unit& unit);

  // --------------------------------------------------------------------------------------------------------- the plan
  [[nodiscard]] bool in_loop(OpId op) const;
  void write();
  [[nodiscard]] RigidPart& part_of(std::size_t root);
  void write_copies();
  void write_clears(OpId id);
  void write_clear(RigidPart& part, const Unit& unit, Clear clear);

  const Graph& graph_;
  Options options_;
  std::mt19937_64 random_;
  std::size_t tensors_;
  std::size_t first_user_;            ///< Arena.
  std::vector<std::size_t> parent_;   ///< By node: tensors, then what copies make.
  std::vector<std::int64_t> offset_;  ///< In the parent.
  std::vector<MemoryId> memory_;
  std::vector<std::size_t> value_of_;          ///< By tensor.
  std::map<std::size_t, ValueFacts> values_;   ///< By the node that stands for it.
  std::map<std::size_t, std::int64_t> sizes_;  ///< Of what copies make.
  std::set<std::size_t> bound_;                ///< Values.
  std::set<std::size_t> pinned_;               ///< Nodes that need a fixed address.
  std::map<std::size_t, Unit> units_;
  std::vector<Scratch> scratch_;
  std::vector<WaitingCopy> waiting_;
  Plan plan_{};
  std::vector<RigidPart> parts_;  ///< Workspaces first, in the order of `scratch_`.
  std::map<std::size_t, std::size_t> part_of_root_;
};

}  // namespace stowage::testing
