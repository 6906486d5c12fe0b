#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stowage/report/explain.hpp"

/// What an explanation consists of. Users read it as text, as JSON or in a page.
namespace stowage {

/// A tensor or a workspace, by numbers as in its scope (`Placement`).
struct TensorRef {
  TensorId tensor;
  BodyPath body = {};

  friend auto operator<=>(const TensorRef&, const TensorRef&) = default;
};
struct WorkspaceNumber {
  OpId op;
  std::uint32_t index = 0;
  BodyPath body = {};

  friend auto operator<=>(const WorkspaceNumber&, const WorkspaceNumber&) = default;
};

/// What holds bytes at a peak: a storage with the tensors in it, or a workspace.
struct Holder {
  std::string name;                ///< Of the tensor that needs it there; "op (workspace 0)".
  std::string kind;                ///< Of the op that wrote that tensor; "input" where the caller did.
  std::string scope;               ///< Of the name: "layers/3/attn" of "layers/3/attn/q", "*-3" of "ffn_gate-3";
                                   ///< may be empty.
  std::string family;              ///< The name with its numbers as *: "ffn_gate-*".
  Bytes bytes;                     ///< That it needs there.
  Interval life;                   ///< From its first step to its last.
  Bytes offset;                    ///< In its arena, whose regions follow each other.
  std::size_t beside = 0;          ///< What lies beside it at fixed distances and moves with it: the rest
                                   ///< of a contiguous group.
  std::vector<TensorRef> tensors;  ///< All that share its bytes, needed there or not.
  std::optional<WorkspaceNumber> workspace = {};
  std::optional<Bytes> gain = {};  ///< Of it alone. Absent: not tried.
};

/// The bytes of all holders that have a word in common.
struct Share {
  std::string word;
  Bytes bytes;
  std::size_t holders = 0;
};

/// Steps at which (nearly) as much is needed as ever, by (nearly) the same holders.
struct Peak {
  Interval steps;
  Step at;           ///< The fullest of them.
  std::string op;    ///< That runs then.
  std::string kind;  ///< Of that op.
  Bytes live;
  std::size_t holder_count = 0;
  std::vector<Holder> holders;  ///< The largest, in that order; all of them where the arena is `concurrent`.
  std::vector<Share> by_kind;   ///< Largest first.
  std::vector<Share> by_scope;  ///< Largest first.
};

/// One arena that counts.
struct ArenaStory {
  std::string name;
  std::string memory;
  ArenaKind kind = ArenaKind::shared;
  Bytes size;
  Bytes lower_bound;
  Bytes live;               ///< The most bytes that are needed at one step, or by one set of ops that may run at
                            ///< the same time.
  bool concurrent = false;  ///< On several streams: the peak is such a set, and no other is looked for.
  std::size_t peak_count = 0;
  std::vector<Peak> peaks;               ///< In the order of steps. The first `top` of them, and the fullest.
  std::size_t fullest = 0;               ///< In `peaks`.
  std::vector<std::string> map_at_peak;  ///< 80 columns: who lies where at the fullest step.
  std::vector<std::string> map_of_time;  ///< 80 columns: addresses upwards, steps to the right.
};

/// What a re-plan without some holders came to.
struct Gain {
  std::vector<Holder> holders;              ///< Largest first.
  std::vector<TensorRef> tensors;           ///< Everything that was shrunk to size 0: theirs, and those that
                                            ///< must be of their size.
  std::vector<WorkspaceNumber> workspaces;  ///< The same.
  Bytes peak;
  Bytes gain;             ///< Of all of them. Below 0 where the planner was luckier with more.
  bool proven = false;    ///< Both plans are the least possible, hence the gain is what it is for any planner.
  std::string then;       ///< The op at the fullest step of that plan: what binds next. May be empty.
  bool smallest = false;  ///< Less any one of them, the rest gains less. False: not tried, for lack of time.
  std::vector<std::optional<Bytes>> alone;  ///< The gain of each holder by itself. Absent: not tried.
};

/// What a constraint of the graph or an option costs: peak less the peak of a re-plan without it.
struct Cost {
  std::string constraint;
  std::string without;        ///< What was planned instead.
  std::optional<Bytes> peak;  ///< Of the re-plan. Absent: no time was left, or there is no plan without it.
  std::optional<Bytes> cost;  ///< Below 0: it saves.
  bool proven = false;
};

/// How to fit a budget.
struct BudgetAnswer {
  Bytes budget;
  bool fits = false;                     ///< As it is.
  std::vector<std::string> constraints;  ///< Each of which suffices when dropped.
  std::vector<std::string> together;     ///< None does alone, but all of these together do. Empty: they do not either.
  std::optional<Bytes> together_peak;    ///< Of that re-plan.
  std::optional<Gain> shrink;            ///< Holders without which it fits. Absent: none were found, `reason` says why.
  std::string reason;
};

/// The op that needs most by itself: what it reads, writes and works with.
struct LargestOp {
  std::string name;
  std::string kind;
  Step step;
  Bytes bytes;
};

struct ExplanationDetails {
  double within = 0;
  std::vector<ArenaStory> arenas;  ///< That count, largest first.
  std::optional<LargestOp> largest_op;
  std::vector<Gain> gains;  ///< Largest first.
  std::vector<Cost> costs;  ///< Largest first, untried ones last.
  std::optional<BudgetAnswer> budget;
};

}  // namespace stowage
