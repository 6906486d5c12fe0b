#pragma once

#include <span>
#include <vector>

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Whether a plan that was made for one graph can serve another.
///
/// The other graph keeps every tensor that is not a view at its planned offset, and every view where its base puts it.
/// The claim is: if `verify` has no findings for the plan with the planned graph, and the match succeeds, then it has
/// none for the plan with the other graph.
/// 1. Equal structure and flags give equal alias classes (called values here), needed during the same steps and ordered
///    in the same way. A value needs the bytes of those of its tensors that are not views.
/// 2. Sizes that are not larger need no byte that was not already theirs. So two values overlap only where they
///    overlapped before. There, either one ended before the other began, which depends on steps only; or the later one
///    took over the bytes of the earlier one in place, which depends on sizes and on the offsets of the op's inputs and
///    outputs.
/// 3. These takeovers are known from the plan and are checked one by one: the output, with everything that shares its
///    bytes, still fits into the input, and the tensors of that op that lie in one of the two values have not moved.
/// 4. Aliases keep their distances, so that their rule still holds; views are always where their bases put them.
///
/// 5. Tensors that are to be kept apart are the same ones, and lie in the same places except that they may be smaller.
///
/// All this is about graphs that need only addresses; plans of others serve only equal graphs (`difference`).
///
/// Only rule 3 is conservative: a moved tensor of the op may be harmless. That costs an unneeded plan, never
/// correctness.
namespace stowage::alloc {

/// An output that takes over the bytes of an input in place.
struct TakeOver {
  OpId op;
  TensorId output;
  TensorId input;
  std::vector<TensorId> guests;   ///< The tensors of the output's value that are not views.
  std::vector<TensorId> watched;  ///< Inputs and outputs of the op that lie in one of the two values.
};

/// The size of a tensor, and its offset in its root (0 if it is not a view).
struct Extent {
  Bytes size;
  Bytes offset;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// A planned graph, and what the plan relies on.
struct Pattern {
  Graph graph;
  std::vector<Bytes> offsets;  ///< By tensor: its offset in the plan; 0 where it has none.
  std::vector<TakeOver> take_overs;
};

/// Precondition: `plan` passes `verify` for `served`, which equals `graph` except for memories and alignments.
[[nodiscard]] Pattern make_pattern(const Graph& graph, const Graph& served, const Plan& plan);

/// The extents of all tensors, followed by those of all workspaces in op order, at offset 0.
[[nodiscard]] std::vector<Extent> extents_of(const Graph& graph);

struct Match {
  Replan misfit = {};     ///< Reason `none`: the plan fits.
  bool unchanged = true;  ///< If it fits: every size and every view is as last served.
  Bytes total = {};       ///< If it fits: the sizes of all tensors of the graph.
};

[[nodiscard]] Bytes total_size(const Graph& graph);

/// One pass over both graphs; allocates nothing. `last` holds the extents of a graph that fitted.
[[nodiscard]] Match match(const Pattern& pattern, const Graph& graph, std::span<const Extent> last);

}  // namespace stowage::alloc
