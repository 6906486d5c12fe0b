#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stowage/graph.hpp"

namespace stowage::testing {

/// Whether a graph may be unrealistic.
enum class Conduct : std::uint8_t {
  orderly,  ///< Free of races.
  unruly,  ///< Whatever `Graph::build` takes: races, writes to what groups share, values that some batch does not have.
};

/// How often each feature occurs. Percentages are of ops unless stated otherwise; 0 omits a feature.
struct ConstrainedGraphOptions {
  std::size_t max_ops = 14;  ///< In the root, without the readers of what is prefetched; at most 30.
  std::size_t max_body_ops = 5;
  std::size_t max_depth = 2;  ///< Of bodies in bodies.
  std::size_t max_streams = 4;
  std::size_t max_memories = 3;
  Conduct conduct = Conduct::orderly;
  std::int64_t size_unit = 0;  ///< The alignment of memories; sizes and offsets are small multiples. 0: anything.
  std::size_t reshapes = 10;
  std::size_t groups = 35;
  std::size_t bodies = 14;
  std::size_t prefetches = 40;     ///< Where the graph has rings.
  std::size_t fills = 15;          ///< Of ops with outputs or workspaces of their own.
  std::size_t workspaces = 25;     ///< Of ops.
  std::size_t fixed_address = 10;  ///< Of ops.
  std::size_t no_reuse = 3;        ///< Of ops.
  std::size_t lonely = 4;          ///< Of results: TensorFlag::no_reuse.
  std::size_t shape_data = 8;      ///< Of inputs.
  std::size_t zero_copy = 40;      ///< Of inputs and outputs.
  std::size_t own_alignment = 15;  ///< Of tensors that may have one.
  std::size_t in_place = 40;       ///< Of pairs of an output and an input.
  std::size_t after = 15;          ///< Of ops: an edge that is not needed.
  std::size_t idle_ops = 0;        ///< Of tasks: they have none, and neither view nor alias.
  std::size_t session = 25;        ///< Of workspaces.
  std::size_t externals = 15;      ///< Of graphs and bodies; 0: results of ops neither.
  std::size_t zero_sizes = 3;      ///< Of tensors.
  std::size_t memory_limits = 10;  ///< Of memories.
  std::size_t apart = 20;          ///< Of graphs: with tensors that are to be kept apart.
  std::size_t graphs_with_batches = 35;
  std::size_t graphs_with_rings = 30;
};

/// A constraint that is one bool of an op. A line in `kOpConstraints` suffices to generate, count and reduce it.
struct OpConstraint {
  bool Op::* field;
  std::size_t ConstrainedGraphOptions::* percent;
  const char* feature;  ///< In `graph_features`.
};
inline constexpr std::array kOpConstraints = {
    OpConstraint{&Op::fixed_address, &ConstrainedGraphOptions::fixed_address, "fixed address"},
    OpConstraint{&Op::no_reuse, &ConstrainedGraphOptions::no_reuse, "op without reuse"}};

/// The same for a flag of a tensor that needs nothing else.
struct TensorConstraint {
  TensorFlag flag;
  enum class Where : std::uint8_t { inputs, results } where;
  std::size_t ConstrainedGraphOptions::* percent;
  const char* feature;
};
inline constexpr std::array kTensorConstraints = {
    TensorConstraint{TensorFlag::no_reuse, TensorConstraint::Where::results, &ConstrainedGraphOptions::lonely,
                     "tensor without reuse"},
    TensorConstraint{TensorFlag::shape_data, TensorConstraint::Where::inputs, &ConstrainedGraphOptions::shape_data,
                     "shape data"}};

/// For the judges of plans, which examine every byte: few ops and few, small sizes, so that random plans are sometimes
/// correct.
[[nodiscard]] ConstrainedGraphOptions tiny_graphs();              ///< That ask for addresses only.
[[nodiscard]] ConstrainedGraphOptions tiny_constrained_graphs();  ///< In one memory; without rings.

/// A small graph that combines all features of graphs: those of `random_graph`, and padded and packed groups of inputs
/// and outputs, chained and in conflict, fills, zero-copy and reusable tensors, ops with fixed addresses, batch labels
/// with merges, session workspaces, prefetch rings, and nested branches, loops and calls, with values passed through,
/// carried in every way, and written from inside.
///
/// Unless it may be unruly, it is free of races of its own in every run: accesses to bytes that views, aliases or body
/// inputs share, of which one is a write, are ordered by ops that run. What a packed group shares may be written again,
/// in any order with ops that read it through another value. What `Graph::build` refuses is its answer: rare, see the
/// tests. Equal seeds and options give equal graphs.
/// Never generated, because the rules do not define them: a specified alignment of a tensor passed into or out of a
/// body; two results of a body, or two carried values, in one family; a fill of what was written before; a concat into
/// a variable, a split of an external tensor; an alias that reaches beyond the end of a contiguous output, of what a
/// body passes in or out, or of a packed member.
[[nodiscard]] Result<Graph> draw_constrained_graph(std::uint64_t seed, const ConstrainedGraphOptions& options = {});

/// Draws until a graph can be built.
[[nodiscard]] Graph constrained_graph(std::uint64_t seed, const ConstrainedGraphOptions& options = {});

}  // namespace stowage::testing
