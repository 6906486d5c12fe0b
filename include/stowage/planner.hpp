#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/pack.hpp"
#include "stowage/plan.hpp"

/// The orchestra: a graph goes in, a verified plan comes out. lower → pack → raise → verify.
namespace stowage {

/// How to plan. The defaults are those of the command line.
struct PlanOptions {
  bool in_place = true;      ///< Use the ops' in-place pairs.
  bool keep_inputs = false;  ///< Inputs live to the end of the run.
  bool no_reuse = false;     ///< Every tensor has bytes of its own.
  std::vector<std::string> no_reuse_names =
      {};  ///< So do the tensors, and what the ops write and use, of these names.
  FillPolicy zero_fill = FillPolicy::central;  ///< When memory that must hold a value is filled.
  AddressBase base =
      AddressBase::fixed;  ///< Refreshable: a fixed arena for what needs one address for ever.
  BatchStart batch_start =
      BatchStart::free;  ///< Whether the groups of all batches start at the same offsets.
  std::optional<Bytes> region_limit =
      {};  ///< No region is larger than this, unless for something that is so itself.
  Bytes fuse_inputs_up_to =
      {};  ///< Zero-copy inputs no larger than this are placed next to each other instead.
  std::optional<Bytes> capacity = {};  ///< Of the peak, in each memory.
  std::string solver = "auto";
  std::optional<std::chrono::nanoseconds> time_limit =
      std::chrono::seconds(1);  ///< For solving; absent: none.
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> node_budget = {};
  /// Try the solver `blocks` with these knobs too, and take the better plan. Where it is the solver
  /// named above: these are its.
  std::optional<ReuseKnobs> reuse = {};
  /// Try everything that GE's MemoryPriority mode tries, and in-place pairs left alone, and take
  /// the best plan.
  bool memory_priority = false;
  /// A plan of an earlier version of the graph, in the ids of this one (`known_part` of its file).
  /// What it places outside of bodies stays where it is, as long as the peak exceeds the bound by
  /// no more than it did, plus 0.5%. The rest is placed anew.
  std::optional<Plan> previous = {};
  /// Everything that `previous` places must stay there. Planning fails where that is impossible.
  bool keep_offsets = false;
  /// The same for these tensors only. Those that `previous` does not place are not restricted.
  std::vector<TensorId> keep = {};
  /// Judge the plan by `verify` before it is returned. Without it a bug of ours goes unseen, and
  /// about a quarter of the time is saved where solving is quick.
  bool verify = true;
};

/// One way of planning a graph: what is solved, and by whom.
struct Strategy {
  std::string
      name;  ///< For people: "auto", "auto, not in place", "blocks, range, ascending, last".
  std::string solver;
  ReuseKnobs reuse = {};
  bool in_place = true;
  std::optional<Bytes> peak = {};  ///< Of its plan, once tried; absent: no answer.

  friend bool operator==(const Strategy&, const Strategy&) = default;
};

/// What planning finds out on its way, for reports and for `shortage_text`; not for users.
struct PlanningRecord;

/// What came of planning one graph. Copies share the graph and the record.
struct Planned {
  Graph graph;
  SolveStatus status = SolveStatus::timed_out;
  /// Verified, unless the options say otherwise. Present without an answer too when it only exceeds
  /// the capacity.
  std::optional<Plan> plan = {};
  Bytes lower_bound = {};   ///< Of the peak.
  Bytes naive = {};         ///< The peak without any reuse.
  std::size_t items = 0;    ///< In all arenas that count towards the peak.
  std::string solver = {};  ///< Who found the plan of the largest arena; "previous" where the
                            ///< previous plan was repaired.
  std::size_t moved = 0;    ///< Items, in all arenas, that lie elsewhere than in the previous plan.
  std::string strategy = {};              ///< The name of the one whose plan it is.
  std::vector<Strategy> candidates = {};  ///< All that were tried, in the order of `strategies`.
  PlanOptions options = {};               ///< Those that the winning strategy planned with.
  std::shared_ptr<const PlanningRecord> record = {};

  [[nodiscard]] bool has_answer() const {
    return status == SolveStatus::optimal || status == SolveStatus::feasible;
  }
};

/// What `plan` tries, best guess first: the solver named in the options, alone unless they ask for
/// more.
[[nodiscard]] STOWAGE_EXPORT std::vector<Strategy> strategies(const PlanOptions& options);

/// Plans the memory of `graph`. Fails when the options name a solver, an op or a tensor that does
/// not exist, when the region limit is not positive, when something must stay where it cannot, and
/// when ops of different streams touch the same bytes in no order (`find_race`). That nothing fits
/// the capacity is no failure but a status. A plan that our own verifier refuses is a bug of ours
/// and aborts (see `PlanOptions::verify`). Thread-safe: any number of threads may plan one graph.
///
/// With several strategies each plans the whole graph, up to `threads` of them at a time, with the
/// seed and the node budget of the options. Those that search share the time limit; the others end
/// by themselves. The least peak wins, of equals the first in the order of `strategies`; one that
/// fails or finds no answer is only one candidate less, and when none has an answer the first one's
/// outcome is the whole's. Without a time limit the plan does not depend on the number of threads.
STOWAGE_EXPORT Result<Planned> plan(const Graph& graph, const PlanOptions& options = {});

/// Whose bytes an item of a Problem are: the first of the tensors that share them, or a workspace.
using ItemOwner = std::variant<TensorId, WorkspaceId>;

/// What solvers see of the memory that tensors share. `owners` has one entry per item.
struct SharedProblem {
  MemoryId memory;
  Problem problem;
  std::vector<ItemOwner> owners;
};

/// The Problems of the shared arenas of `graph`, memory by memory; none for a memory that nothing
/// needs. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT std::vector<SharedProblem> shared_problems(
    const Graph& graph, const PlanOptions& options = {});

/// Which memories have too little with `capacity` in each, for people: what each needs at least
/// (without proof: what the best answer takes), by how much that is more, and the arenas of a
/// memory that has several. Empty where none is known to have too little.
[[nodiscard]] STOWAGE_EXPORT std::string shortage_text(const Planned& planned, Bytes capacity);

/// The figures of a plan: what `stowage plan --json` prints (`stowage.summary/1`).
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
  bool proven_optimal = false;
  std::string status;
  std::string solver;
  std::string strategy;        ///< Whose plan it is, where there were several.
  std::size_t strategies = 1;  ///< That were tried.
  double solve_ms = 0;
  std::vector<ArenaLine> arenas;
};

/// Cannot fail; without a plan there are no arenas and the peak is 0. Thread-safe.
[[nodiscard]] STOWAGE_EXPORT Summary summarize(const Planned& planned);
/// `stowage.summary/1` (docs/formats.md), one object on one line.
[[nodiscard]] STOWAGE_EXPORT std::string summary_to_json(const Summary& summary);

}  // namespace stowage
