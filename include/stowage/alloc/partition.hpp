#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowage/alloc/address.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/memory.hpp"

/// Distributes a graph over several backends: which backend runs each op, and what must be copied
/// between memories, and when. The equivalent of the decisions of ggml_backend_sched.
/// docs/partition.md explains the algorithm; alloc/scheduler.hpp runs the result.
namespace stowage {

/// Something that runs ops, with the memory that they use.
struct Backend {
  std::string name;
  BufferType* memory = nullptr;  ///< Never null; must outlive everything made with it.
  /// Executes copies. Never null for a `Scheduler`; ignored by `partition`.
  Device* device = nullptr;
  StreamId stream = {};  ///< The stream of the device that the backend's work is submitted to.
  /// Whether it can run an op; empty: it can run all. Called once per task op, with the graph to be
  /// partitioned.
  std::function<bool(const Graph&, OpId)> supports = {};
  /// Indices of other backends whose memory, such as the host's, its ops can access directly,
  /// without copies. Backends with the same `memory` need not list each other, and listing one of
  /// them is enough.
  std::vector<std::size_t> uses = {};
};

/// An op that must run on one backend. Has no effect for an op without a task, which does not run.
struct OpPin {
  OpId op;
  std::size_t backend;
};

/// A tensor that must live in the memory of one backend, such as weights that are already there or
/// a result that is needed there. Applies to everything that shares its memory through views and
/// aliases.
struct TensorHome {
  TensorId tensor;
  std::size_t backend;
};

struct PartitionOptions {
  std::vector<OpPin> pins = {};
  std::vector<TensorHome> homes = {};
  SizeInBuffer size_of = {};
  /// How many evaluations may have their inputs in memory at the same time; at least 1.
  std::size_t input_sets = 1;
  bool improve = true;  ///< Whether to move ops between neighbouring splits after the first passes.
};

/// A maximal sequence of consecutive ops on one backend, with the copies that it needs before it
/// starts.
struct Split {
  std::size_t backend = 0;
  /// Ops [begin, end) of the resulting graph. Its copies come first, except for ops without a task.
  OpId begin = {};
  OpId end = {};
  std::size_t first_copy = 0;  ///< Its copies are [first_copy, last_copy) of the list.
  std::size_t last_copy = 0;

  friend bool operator==(const Split&, const Split&) = default;
};

/// A value, or a part of one, copied between memories for a split and later ones.
struct PartitionCopy {
  OpId op;  ///< The op of kind "COPY" in the resulting graph.
  TensorId from;
  TensorId to;
  Bytes bytes;

  friend bool operator==(const PartitionCopy&, const PartitionCopy&) = default;
};

/// Where an input lies in evaluations with another input set than 0. Tensors that share memory with
/// `tensor`, the lowest of them, have the same distance from the set's tensor as from `tensor`.
struct InputSets {
  TensorId tensor;
  std::vector<TensorId> others;  ///< Entry i belongs to input set i + 1.

  friend bool operator==(const InputSets&, const InputSets&) = default;
};

/// A graph distributed over backends.
///
/// Memory i of `graph` is that of backend i. The original's tensors come first, with the same ids,
/// each in its home memory; then the targets of copies, views of these, and further input sets. Ops
/// read those that their backend can access. Task ops keep the original order, each on its
/// backend's stream. Plan, verify and run it like any other graph.
struct STOWAGE_EXPORT Partition {
  Graph graph;
  /// By op of `graph`; for an op without a task, the backend of what it views.
  std::vector<std::size_t> backends;
  /// By op of `graph`: the original op; absent for a copy.
  std::vector<std::optional<OpId>> origins;
  std::vector<OpId> ops;  ///< By original op: the op of `graph`.
  std::vector<Split> splits;
  std::vector<PartitionCopy> copies;
  std::vector<InputSets> input_sets;  ///< Empty with one input set.

  [[nodiscard]] Bytes copied_bytes() const;
};

/// Assigns every op of `graph` to a backend and inserts copies: each value once per memory that
/// needs it, and again only if it was overwritten in between. Backends are in order of preference;
/// the last is the fallback (the CPU).
///
/// Pinned ops go where they are pinned; ops that write a tensor with a home, to that home; ops that
/// read constants, variables or external tensors with a home, to that of the largest; other ops to
/// where their neighbours are, so that there are few splits. A tensor without a home goes to its
/// writer's backend, even an input if an op writes it through an alias or a view. Otherwise an
/// input goes to the last backend and any other tensor to its first reader's.
///
/// All ops that write the same memory, through views and aliases, go to the same backend.
///
/// Fails with `unsupported`, naming op and kind, when no backend supports an op, when the one that
/// it is pinned to does not, or when none supports all ops that write the same memory and can
/// access its home; with `invalid` when there are no backends, an option refers to a backend, op or
/// tensor that does not exist, a tensor has two homes, or `size_of` is below a tensor's size.
///
/// Constraints are kept: an op with a contiguous group, a fill, a fixed address or a batch has it
/// on its backend, with copies of what comes from elsewhere; a zero-copy tensor is bound in its
/// home. A graph with bodies or rings stays whole, on the first backend that supports all of it; if
/// there is none, fails with `unsupported` and names the op and what stands in the way. Where a
/// constraint cannot hold after the division (the members of a group that an alias ties to another
/// memory), fails as `Graph::build` does, naming op and tensor. Run such a partition with `run`,
/// where one device can access all memories; a `Scheduler` serves only graphs that need no more
/// than addresses.
///
/// O(accesses × backends). Improving adds a few sweeps of about the same cost, except that an op
/// also costs all accesses of those of its tensors that are read through several views or written
/// after a read. Thread-safe if `supports` is.
STOWAGE_EXPORT Result<Partition> partition(const Graph& graph, std::span<const Backend> backends,
                                           const PartitionOptions& options = {});

}  // namespace stowage
