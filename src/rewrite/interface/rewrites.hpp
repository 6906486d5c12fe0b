#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rewrite/interface/editor.hpp"
#include "rewrite/interface/origins.hpp"
#include "stowage/graph.hpp"

/// All rewrites that depend on nothing but the graph, one source file each. Most take a graph and return a new one with
/// its origins; they fail if the new graph breaks a rule of `Graph::build`. `relax` edits, so that several constraints
/// can be relaxed at once. Thread-safe.
///
/// To add a rewrite: a source file that uses `Editor`, its test and its declaration here.
namespace stowage::rewrite {

/// Sets `field` to `value`; returns whether that changed it.
template <class Field>
bool set(Field& field, Field value) {
  if (field == value) return false;
  field = std::move(value);
  return true;
}

/// Sets the alignment of every memory. (with_alignment.cpp)
Result<Rewritten> with_alignment(const Graph& graph, Bytes alignment);

/// Replaces the memories of the graph by `into`; memory i becomes memory `target[i]`. The new memory gets the stricter
/// of both alignments, of both largest buffer sizes and of both bandwidths, and, if `into` gives no kind, the kind of
/// the first old memory. In an alias class only the lowest tensor gets the new alignment: the offsets of the others
/// from it are given, so they keep the alignment that they had. Precondition: `target` has one entry per memory of the
/// graph, each below the size of `into`. (merge_memories.cpp)
Result<Rewritten> merge_memories(const Graph& graph, std::vector<Memory> into, std::span<const std::size_t> target);

/// Whether an op may be folded; null: any.
using FoldFilter = bool (*)(const Op& op);

/// Makes constants of what is computed from constants alone: it is computed once, before the first run. These ops lose
/// their task, and their outputs are constant, at addresses of their own. Constants that only such ops read become
/// external, because no run needs them. Ids do not change; folding twice changes nothing more.
///
/// An op stays as it is if it must not be repeated (`Op::recompute`), reads nothing, has bodies, a batch, aliases,
/// fills, a ring, a fixed address or an order (`after`), or if one of its outputs is a view, an output of the graph, or
/// memory of which something else is asked (groups, aliases, kept apart, zero copy, leaving a body, entering a loop).
/// A constant that is also an input is not read as one: the caller may replace it. O(graph). (fold_constants.cpp)
Result<Rewritten> fold_constants(const Graph& graph, FoldFilter filter = nullptr);

/// Tensors and workspaces to be ignored (planned with size 0), by the graph's ids, ascending.
struct Dropped {
  std::vector<TensorId> tensors;
  std::vector<WorkspaceId> workspaces;
};

/// The closure of `dropped`: adds the tensors that must have the same size as a dropped one, or are its parts or its
/// whole. These are the inner and outer ends of body pairs, carried pairs, packed groups, and all tensors at fixed
/// distances from one of them. (drop_tensors.cpp)
[[nodiscard]] Dropped closed(const Graph& graph, Dropped dropped);

/// Sets the size of everything dropped to 0, and the offsets of its views and aliases to 0; what was to be kept apart
/// from a dropped tensor no longer is. Precondition: `dropped` is
/// closed. (drop_tensors.cpp)
Result<Rewritten> drop_tensors(const Graph& graph, const Dropped& dropped);

/// A constraint of a graph that `relax` can remove, other than a flag. Each comment says what holds without it.
enum class Constraint : std::uint8_t {
  padded_groups,       ///< Members may lie anywhere.
  packed_groups,       ///< These ops copy.
  kept_outputs,        ///< Outputs live until their last use, except for zero-copy outputs.
  no_reuse,            ///< Tensors, ops and workspaces with this flag share memory like any other.
  alignments,          ///< All alignments are 1.
  streams,             ///< All ops are on stream 0.
  largest_buffers,     ///< Memories have no largest buffer.
  batches,             ///< All ops run, whatever their batch was.
  rings,               ///< Prefetched tensors are placed like any other.
  session_workspaces,  ///< These workspaces live only during their op.
  apart,               ///< Tensors that were kept apart may share bytes.
};

/// Removes all constraints of one kind; returns whether there were any. Call it once per kind, then `Editor::build`.
/// (relax.cpp)
bool relax(Editor& editor, Constraint constraint);
/// The same for a constraint that is one bool of ops, or flags of tensors. (relax.cpp)
bool relax(Editor& editor, bool Op::* flag);
bool relax(Editor& editor, TensorFlags flags);

}  // namespace stowage::rewrite
