#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/pack.hpp"
#include "stowage/plan.hpp"
#include "stowage/plan/program_cost.hpp"

/// Planning: a graph goes in, a verified plan comes out.
namespace stowage {

/// How far planning has got.
struct PlanProgress {
  std::string_view arena;  ///< The name of the arena that is being packed.
  Bytes peak;              ///< Its best size so far.
  Bytes lower_bound;
};

/// How to plan. The defaults are those of the command line.
struct PlanOptions {
  bool in_place = true;      ///< Use the ops' in-place pairs.
  bool keep_inputs = false;  ///< Inputs live to the end of the run.
  /// Also copy members of contiguous groups that could lie where their op needs them, if the plan
  /// is smaller for it: the op does not need their own memory then. Not with `previous`, which says
  /// what is copied, with regions of limited size, nor if groups of batches are to start alike.
  bool extra_copies = true;
  bool no_reuse = false;  ///< Tensors never share bytes.
  /// The same for tensors with these names, and for the outputs and workspaces of ops with these
  /// names.
  std::vector<std::string> no_reuse_names = {};
  FillPolicy zero_fill = FillPolicy::central;  ///< When to fill memory that must hold a value.
  /// If refreshable, tensors that need a permanent address get a fixed arena.
  AddressBase base = AddressBase::fixed;
  /// Whether the contiguous groups of all batches start at the same offsets.
  BatchStart batch_start = BatchStart::free;
  /// Whether sizes are rounded up to alignments.
  Padding padding = Padding::own;
  /// The largest size of a region, except for a single item that is larger.
  std::optional<Bytes> region_limit = {};
  /// Zero-copy inputs up to this size are placed next to each other instead of being bound.
  Bytes fuse_inputs_up_to = {};
  std::optional<Bytes> capacity = {};  ///< The largest acceptable peak, in each memory.
  /// The same for the peak and the weights together: all arenas except for the caller's buffers.
  std::optional<Bytes> capacity_total = {};
  std::string solver = "auto";
  /// For solving; absent: no limit.
  std::optional<std::chrono::nanoseconds> time_limit = std::chrono::seconds(1);
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> node_budget = {};
  /// Also try the solver `blocks` with these options, and take the better plan. If `solver` is
  /// `blocks` itself, these are its options.
  std::optional<ReuseKnobs> reuse = {};
  /// Also try everything that GE's MemoryPriority mode tries, and planning without in-place pairs,
  /// and take the best plan.
  bool memory_priority = false;
  /// A plan of an earlier version of the graph, in the ids of this one (`known_part` of its file).
  /// What it places outside of bodies stays where it is, as long as the peak exceeds the bound by
  /// no more than it did, plus 0.5%. The rest is placed anew.
  std::optional<Plan> previous = {};
  /// Everything that `previous` places must stay there. Planning fails where that is impossible.
  bool keep_offsets = false;
  /// The same for these tensors only. Those that `previous` does not place are not restricted.
  std::vector<TensorId> keep = {};
  /// Check the plan with `verify` before returning it. Skipping this saves about a quarter of the
  /// time when solving is quick, but bugs of the planner go unnoticed.
  bool verify = true;
  // Both are absent from `Planned::options`.
  std::stop_token stop = {};  ///< When requested, the best plan so far is returned.
  /// Called with each better answer for an arena, on the thread that called `plan`. Not with
  /// several strategies.
  std::function<void(const PlanProgress&)> on_better = {};
};

/// One way of planning a graph.
struct Strategy {
  /// Informative: "auto", "auto, not in place", "blocks, range, ascending, last".
  std::string name;
  std::string solver;
  ReuseKnobs reuse = {};
  bool in_place = true;
  std::optional<Bytes> peak = {};  ///< Of its plan, once tried; absent: no answer.

  friend bool operator==(const Strategy&, const Strategy&) = default;
};

/// Intermediate results, for reports and `shortage_text`; not for users.
struct PlanningRecord;

/// The result of planning a graph. Copies share the graph and the record.
struct Planned {
  Graph graph;
  SolveStatus status = SolveStatus::timed_out;
  /// Verified, unless the options say otherwise. Also present without an answer if it merely
  /// exceeds the capacity.
  std::optional<Plan> plan = {};
  Bytes lower_bound = {};  ///< Of the peak.
  Bytes naive = {};        ///< The peak without any reuse.
  std::size_t items = 0;   ///< The number of items in all arenas that count towards the peak.
  /// The solver that found the plan of the largest arena; "previous" if the previous plan was
  /// repaired.
  std::string solver = {};
  std::size_t moved = 0;  ///< Items, in all arenas, whose position differs from the previous plan.
  std::string strategy = {};              ///< The name of the one whose plan it is.
  std::vector<Strategy> candidates = {};  ///< All that were tried, in the order of `strategies`.
  PlanOptions options = {};               ///< Those that the winning strategy planned with.
  std::shared_ptr<const PlanningRecord> record = {};

  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// The strategies that `plan` tries, best guess first: only the solver named in the options, unless
/// they ask for more.
[[nodiscard]] STOWAGE_EXPORT std::vector<Strategy> strategies(const PlanOptions& options);

/// Plans the memory of `graph`. Fails when the options name a solver, an op or a tensor that does
/// not exist, when the region limit is not positive, when something must keep an impossible
/// position, and when ops of different streams access the same bytes without an order between them.
/// Exceeding the capacity is not a failure but a status. A plan that does not pass `verify` is a
/// bug of this library and aborts (see `PlanOptions::verify`). Thread-safe: any number of threads
/// may plan one graph.
///
/// With several strategies, each plans the whole graph, up to `threads` of them at a time, with the
/// seed and the node budget of the options. Those that search share the time limit. The lowest peak
/// wins, among equals the first in the order of `strategies`. A strategy that fails or finds no
/// answer is ignored; if none has an answer, the outcome is that of the first. Without a time limit
/// the plan does not depend on the number of threads.
STOWAGE_EXPORT Result<Planned> plan(const Graph& graph, const PlanOptions& options = {});

/// What an item of a Problem stands for: the first of the tensors that share its bytes, or a
/// workspace.
using ItemOwner = std::variant<TensorId, WorkspaceId>;

/// The packing problem of a shared arena, with those in-place pairs put together that save most at
/// each step. `owners` has one entry per item.
struct SharedProblem {
  MemoryId memory;
  Problem problem;
  std::vector<ItemOwner> owners;
};

/// The packing problems of the shared arenas of `graph`, memory by memory; none for an unused
/// memory. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT std::vector<SharedProblem> shared_problems(
    const Graph& graph, const PlanOptions& options = {});

/// Says which memories are too small with `capacity` bytes each: what each needs at least (without
/// a proof: what the best answer takes), by how much that exceeds the capacity, and the arenas of a
/// memory with several. Empty if no memory is known to be too small.
[[nodiscard]] STOWAGE_EXPORT std::string shortage_text(const Planned& planned, Bytes capacity);
/// The same for the capacity and the total capacity in the options of `planned`.
[[nodiscard]] STOWAGE_EXPORT std::string shortage_text(const Planned& planned);

/// The figures of a plan, as `stowage plan` prints them. The JSON (`stowage.summary/1`) has all
/// except `strategy` and `strategies`.
struct Summary {
  struct ArenaLine {
    std::string name;
    std::string memory;
    std::string kind;
    Bytes size;
    Bytes lower_bound;
    bool proven_optimal = false;
  };
  std::string name;
  std::size_t ops = 0;
  std::size_t tensors = 0;
  std::size_t items = 0;
  Bytes peak;
  Bytes lower_bound;
  Bytes naive;
  Bytes weights;  ///< The persistent arenas: constants and variables, each at its own address.
  /// The part of the weights that ops without a task compute from others, once, before the first
  /// run. The padding up to their alignments is included where it is theirs.
  Bytes folded;
  Bytes total;  ///< Weights and peak.
  bool proven_optimal = false;
  /// Whether other options might allow less than the bound: those that forbid in-place pairs or
  /// reuse, or that have memory filled at the start of the run.
  bool bound_rests_on_options = false;
  Padding padding = Padding::own;  ///< The rule that the figures follow.
  std::string status;
  std::string solver;
  std::string strategy;        ///< The one whose plan it is, if several were tried.
  std::size_t strategies = 1;  ///< How many were tried.
  double solve_ms = 0;
  ProgramCost cost = {};  ///< Of a run of the plan.
  std::vector<ArenaLine> arenas;
};

/// Cannot fail. Without a plan there are no arenas and the peak is 0. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT Summary summarize(const Planned& planned);
/// `stowage.summary/1` (docs/formats.md), one object on one line.
[[nodiscard]] STOWAGE_EXPORT std::string summary_to_json(const Summary& summary);

}  // namespace stowage
