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

/// A graph over several backends: who runs which op, what has to be copied from memory to memory,
/// and when. The equivalent of what ggml_backend_sched decides. docs/partition.md tells how;
/// alloc/scheduler.hpp serves and runs what comes out.
namespace stowage {

/// Something that runs ops, and the memory that its ops use.
struct Backend {
  std::string name;
  BufferType* memory = nullptr;  ///< Never null; outlives everything made with it.
  Device* device =
      nullptr;  ///< Submits copies; never null for a `Scheduler`, not looked at by `partition`.
  StreamId stream = {};  ///< Of the device: what the backend's work is submitted to.
  /// Whether it can run an op; empty: every one. Asked once for each task op, with the graph that
  /// is partitioned.
  std::function<bool(const Graph&, OpId)> supports = {};
  /// Positions of other backends whose memory its ops read and write directly (the host's, say): no
  /// copy is made then. Backends with the same `memory` need not name each other: it is one memory,
  /// and who uses it from one of them does from all.
  std::vector<std::size_t> uses = {};
};

/// An op that must run on one backend. Of an op without a task, which runs nowhere, it says
/// nothing.
struct OpPin {
  OpId op;
  std::size_t backend;
};

/// A tensor that lives in the memory of one backend: weights that are there already, a result that
/// is wanted there. Holds for all that shares memory with the tensor by views and aliases.
struct TensorHome {
  TensorId tensor;
  std::size_t backend;
};

struct PartitionOptions {
  std::vector<OpPin> pins = {};
  std::vector<TensorHome> homes = {};
  SizeInBuffer size_of = {};
  std::size_t input_sets =
      1;  ///< How many evaluations may have their inputs in memory at a time; at least 1.
  bool improve = true;  ///< Whether ops move between neighbouring splits after the first passes.
};

/// A maximal run of ops, in execution order, on one backend, with the copies that it needs before
/// it starts.
struct Split {
  std::size_t backend = 0;
  OpId begin = {};  ///< Of the result: ops [begin, end). The copies come first, except for ops
                    ///< without a task before them.
  OpId end = {};
  std::size_t first_copy = 0;  ///< Copies [first_copy, last_copy) of the list.
  std::size_t last_copy = 0;

  friend bool operator==(const Split&, const Split&) = default;
};

/// A value, or a part of one, brought from one memory to another for one split and those behind it.
struct PartitionCopy {
  OpId op;  ///< Of the result, of kind "COPY".
  TensorId from;
  TensorId to;
  Bytes bytes;

  friend bool operator==(const PartitionCopy&, const PartitionCopy&) = default;
};

/// Where an input lies in the evaluations that do not use input set 0: what shares memory with
/// `tensor` is found at the same distance from the set's tensor as from `tensor`, which starts
/// lowest.
struct InputSets {
  TensorId tensor;
  std::vector<TensorId> others;  ///< Of input set i + 1.

  friend bool operator==(const InputSets&, const InputSets&) = default;
};

/// A graph that says where everything happens.
///
/// In `graph`, memory i is that of backend i, and tensor t < (tensors of the original) is the
/// original's, in its home memory. Behind them come what copies write, views of that, and further
/// input sets. Ops read whichever of them their backend can use. Task ops are in the original's
/// order, each on its stream. Plan, verify and run it like any other graph.
struct STOWAGE_EXPORT Partition {
  Graph graph;
  std::vector<std::size_t>
      backends;  ///< By op of the result; of an op without a task, that of what it views.
  std::vector<std::optional<OpId>>
      origins;            ///< By op of the result: the original op; absent: a copy.
  std::vector<OpId> ops;  ///< By original op.
  std::vector<Split> splits;
  std::vector<PartitionCopy> copies;
  std::vector<InputSets> input_sets;  ///< Empty for one set.

  [[nodiscard]] Bytes copied_bytes() const;
};

/// Assigns every op of `graph` to a backend and inserts the copies between them, each value once
/// for each memory that needs it, and again only when it was overwritten in between. Backends come
/// in the order of preference; the last is the fallback (the CPU).
///
/// What goes where: pinned ops where they are pinned; ops that write what has a home where that
/// home is; ops that read constants, variables or external tensors with a home where the largest of
/// these lives; the others where their neighbours are, so that splits are few. A tensor without a
/// home goes to its writer's backend (an input too, where an op writes it through an alias or a
/// view), else an input to the last and any other to its first reader's.
///
/// Ops that write the same memory (a tensor, through views and aliases) go to one backend together.
///
/// Fails with `unsupported`, naming op and kind, when no backend supports an op, or the one it is
/// pinned to does not, or none supports all ops that write the same memory and can use the home
/// that this has; with `invalid` when there are no backends, a name (of a backend, an op, a tensor)
/// does not exist, a tensor has two homes, or a size is below the tensor's; also where the graph
/// needs more than addresses (`Graph::needs_addresses_only`).
///
/// O(accesses × backends) for the passes. Improving adds a few sweeps of about the same, except
/// that an op costs all accesses of the tensors it touches that are read through several views or
/// written behind a read. Thread-safe as far as `supports` is.
STOWAGE_EXPORT Result<Partition> partition(const Graph& graph, std::span<const Backend> backends,
                                           const PartitionOptions& options = {});

}  // namespace stowage
