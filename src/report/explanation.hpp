#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stowage/report/explain.hpp"

/// The details of an `Explanation`. Users read them as text, as JSON or in a page.
namespace stowage {

/// What occupies bytes at a peak: a storage with its tensors, or a workspace.
struct Holder {
  std::string name;    ///< Its largest tensor, the first of several; "op (workspace 0)". The same at every step.
  std::string kind;    ///< The kind of the op that wrote that tensor; "input" if the caller did.
  std::string scope;   ///< The layer of that op, or the scope within the name ("*-3" of "ffn_gate-3"); may be empty.
  std::string family;  ///< The name with numbers replaced by *: "ffn_gate-*".
  Bytes bytes;         ///< Needed at that step.
  Interval life;       ///< From its first step to its last.
  Bytes offset;        ///< In its arena, with the regions one after the other.
  /// Bytes at fixed distances that move with it: the rest of a contiguous group.
  std::size_t beside = 0;
  std::vector<TensorId> tensors;  ///< All tensors that share its bytes, needed at that step or not.
  std::optional<WorkspaceId> workspace = {};
  std::optional<Bytes> gain = {};  ///< The gain without this holder alone. Absent: not tried.
};

/// The bytes of all holders with a word in common.
struct Share {
  std::string word;
  Bytes bytes;
  std::size_t holders = 0;
};

/// Steps at which (nearly) the most bytes are live, with (nearly) the same holders.
struct Peak {
  Interval steps;
  Step at;             ///< The fullest of them.
  std::string op;      ///< The op at that step.
  std::string kind;    ///< Of that op.
  std::string layer;   ///< Of that op; may be empty, as may the next.
  std::string source;  ///< The line of the program that it comes from.
  Bytes live;
  std::size_t holder_count = 0;
  std::vector<Holder> holders;  ///< The largest first; all of them if the arena is `concurrent`.
  std::vector<Share> by_kind;   ///< Largest first.
  std::vector<Share> by_scope;  ///< Largest first.
};

/// An arena that counts towards the peak.
struct ArenaStory {
  std::string name;
  std::string memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes size;
  Bytes lower_bound;
  /// The most bytes live at one step, or needed by one set of ops that may run concurrently.
  Bytes live;
  bool concurrent = false;  ///< On several streams: the peak is such a set, and no other is searched for.
  std::size_t peak_count = 0;
  std::vector<Peak> peaks;               ///< In order of steps: the first `top` of them, and the fullest.
  std::size_t fullest = 0;               ///< Index in `peaks`.
  std::vector<std::string> map_at_peak;  ///< 80 columns: the layout at the fullest step.
  std::vector<std::string> map_of_time;  ///< 80 columns: addresses upwards, steps to the right.
};

/// The result of a re-plan without some holders.
struct Gain {
  std::vector<Holder> holders;  ///< Largest first.
  /// Everything that was shrunk to size 0: the holders' tensors and those that must have the same
  /// size.
  std::vector<TensorId> tensors;
  std::vector<WorkspaceId> workspaces;  ///< The same.
  Bytes peak;
  Bytes gain;             ///< Of all of them together. Negative if the plan with them happened to be better.
  bool proven = false;    ///< Both plans are proven optimal, so the gain holds for any planner.
  std::string then;       ///< The op at the fullest step of that plan, which determines its peak. May be empty.
  bool smallest = false;  ///< Whether leaving out any one of them reduces the gain. False: not tried, for lack of time.
  std::vector<std::optional<Bytes>> alone;  ///< The gain of each holder alone. Absent: not tried.
};

/// What a constraint of the graph or an option costs: the peak minus the peak of a re-plan without
/// it.
struct Cost {
  std::string constraint;
  std::string without;        ///< What was planned instead.
  std::optional<Bytes> peak;  ///< Of the re-plan. Absent: no time was left, or there is no plan without it.
  std::optional<Bytes> cost;  ///< Negative: it saves memory.
  bool proven = false;
};

/// What should suffice in each memory. At least one of them is given.
struct Budget {
  std::optional<Bytes> peak = {};
  std::optional<Bytes> total = {};  ///< For weights and peak together.
};

/// How to fit a budget.
struct BudgetAnswer {
  Budget asked;
  Bytes budget;                          ///< What is left for the peak where it is least; not below 0.
  Bytes most;                            ///< The same where it is most.
  bool fits = false;                     ///< Without changes.
  std::vector<std::string> constraints;  ///< Dropping any one of these suffices.
  /// None suffices alone, but dropping all of these does. Empty: that does not suffice either.
  std::vector<std::string> together;
  std::optional<Bytes> together_peak;  ///< The peak of that re-plan.
  std::optional<Gain> shrink;          ///< Holders without which it fits. Absent: none were found; `reason` says why.
  std::string reason;
};

/// The op that needs most by itself: its inputs, outputs and workspaces.
struct LargestOp {
  std::string name;
  std::string kind;
  Step step;
  Bytes bytes;
};

struct ExplanationDetails {
  Graph graph;  ///< Whose ids these are.
  double within = 0;
  std::vector<ArenaStory> arenas = {};  ///< Those that count towards the peak, largest first.
  std::optional<LargestOp> largest_op = {};
  std::vector<Gain> gains = {};  ///< Largest first.
  std::vector<Cost> costs = {};  ///< Largest first, untried ones last.
  std::optional<BudgetAnswer> budget = {};
};

}  // namespace stowage
