#pragma once

#include <span>
#include <vector>

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

/// Whether a plan that was made for one graph serves another.
///
/// What is to be shown is that `verify` finds nothing wrong with the plan for the other graph, given that it finds
/// nothing wrong for the planned one, when every tensor that is no view stays where it is and every view lies where its
/// base says:
///  1. Equal structure and flags give equal values (tensors that share bytes for good), needed during the same steps,
///  ordered in
///     the same way. What a value needs of memory is the bytes of its tensors that are no views.
///  2. Sizes that are not larger need no byte that was not theirs. So two values meet only where they met before; and
///  there one
///     was over before the other began, which is a matter of steps, or the later took the place of the earlier: a
///     matter of sizes and of the places of inputs and outputs of one op.
///  3. Those takeovers are known from the plan and looked at one by one: the output, with all that shares its bytes,
///  still fits
///     into the input, and the tensors of that op which lie in one of the two values are where they were.
///  4. Aliases are at the same distances, so that their rule still holds; views always are where their bases say.
/// Only 3 is not exact: that some tensor of the op moved may be harmless. It then costs a plan, never correctness.
namespace stowage::alloc {

/// An output in the place of an input.
struct TakeOver {
  OpId op;
  TensorId output;
  TensorId input;
  std::vector<TensorId> guests;   ///< The output's value: its tensors that are no views.
  std::vector<TensorId> watched;  ///< Inputs and outputs of the op that lie in one of the two values.
};

/// The size of a tensor, and where in the tensor that it is, in the end, a view of.
struct Extent {
  Bytes size;
  Bytes offset;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// A graph that was planned, and what the plan relies on.
struct Pattern {
  Graph graph;
  std::vector<Bytes> offsets;  ///< By tensor: where the plan puts it; 0 where it does not.
  std::vector<TakeOver> take_overs;
};

/// Precondition: `plan` passes `verify` for `served`, which is `graph` up to memories and alignments.
[[nodiscard]] Pattern make_pattern(const Graph& graph, const Graph& served, const Plan& plan);

/// What was last served: by tensor, then the workspaces of all ops, one after the other, at offset 0.
[[nodiscard]] std::vector<Extent> extents_of(const Graph& graph);

struct Match {
  Replan misfit = {};     ///< Reason `none`: the plan fits.
  bool unchanged = true;  ///< If it fits: every size and every view is as it was last.
  Bytes total = {};       ///< If it fits: the sizes of all tensors of the graph.
};

/// The sizes of all tensors.
[[nodiscard]] Bytes total_size(const Graph& graph);

/// One walk over both graphs; allocates nothing. `last` is the extents of some graph that fitted.
[[nodiscard]] Match match(const Pattern& pattern, const Graph& graph, std::span<const Extent> last);

}  // namespace stowage::alloc
