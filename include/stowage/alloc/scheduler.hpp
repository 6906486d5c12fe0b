#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/alloc/partition.hpp"
#include "stowage/base.hpp"

namespace stowage {

struct SchedulerOptions {
  PartitionOptions partition = {};
  /// Adapts pins and homes to a graph, for graphs with different ids; may be empty. Must be
  /// deterministic for each graph and not change the number of input sets.
  std::function<void(const Graph&, PartitionOptions&)> adapt = {};
  GraphAllocatorOptions allocator = {};
  /// Host-visible memory for copies between devices whose memory the host cannot access. Null: the
  /// CPU's.
  BufferType* staging = nullptr;
};

/// The address of a constant, variable or external tensor, in the memory of its home backend.
/// Applies to everything that shares its memory, so one entry is enough. Not null, unless the
/// tensor has size 0.
struct BoundTensor {
  TensorId tensor;
  std::byte* address;
};

struct SchedulerCounters {
  /// Graphs partitioned; as many are cached as plans are.
  std::uint64_t partitions = 0;
  std::uint64_t copies = 0;  ///< Values copied between memories.
  Bytes copied;
  std::uint64_t staged = 0;            ///< Copies that went through staging memory.
  std::uint64_t synchronizations = 0;  ///< Times that the host waited for a stream.
  /// Times that a stream was made to wait for another of its device.
  std::uint64_t event_waits = 0;
};

/// Runs graphs over several backends: partitions them, allocates each backend's memory, and, split
/// by split, makes the copies and calls back for the work. The equivalent of ggml_backend_sched.
/// One evaluation is
///
///     scheduler.allocate(graph, weights);   // nothing to do when it is the same graph as before
///     scheduler.begin();                    // the inputs of the next set may be written
///     … write inputs at scheduler.address(tensor) …
///     scheduler.run([&](std::size_t split) { … submit the split's ops to its backend's stream …
///     }); scheduler.synchronize();              // outputs may be read
///
/// Order: all work of a backend is on its one stream, so its splits and copies are in order.
/// Between backends, the scheduler tracks which work uses which memory: each split and each batch
/// of copies ends with an event, and the next user of that memory waits for it, on the device if it
/// is the same one, otherwise on the host and only if the event is not complete.
///
/// Input sets (`PartitionOptions::input_sets`): evaluation k uses set k mod n, and `begin` waits
/// only for the previous evaluation with this set. With two or more, the inputs of the next
/// evaluation can be written, and its first splits submitted, while the devices still work on this
/// one. Read the outputs of an evaluation before the next `begin`: afterwards inputs and other
/// values may overwrite them, and an output that shares memory with an input belongs to another
/// set.
///
/// Not thread-safe. Backends and what they refer to must outlive it.
class STOWAGE_EXPORT Scheduler {
 public:
  /// Precondition: at least one backend; each has a memory and a device.
  explicit Scheduler(std::vector<Backend> backends, SchedulerOptions options = {});
  /// Waits for all work; if a device fails, for that of the others.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Partitions and plans the graph and makes all buffers large enough, after waiting for work that
  /// uses them. Afterwards `allocate` of it allocates no memory. The current graph must be
  /// allocated again, unless this fails. Fails as `partition` and `GraphAllocator::reserve` do, and
  /// with `invalid` for a graph that needs more than addresses: the error names op, tensor and
  /// constraint, and says what to use instead.
  Status reserve(const Graph& graph);

  /// The bytes that the graph alone needs, by backend, without staging; 0 for a memory that an
  /// earlier backend has. Allocates nothing.
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph);

  /// Gives every tensor its address, reserving the graph if needed. Waits for all work if the graph
  /// differs from the current one. Fails as `reserve` does, and with `invalid` when the address of
  /// a constant, variable or external tensor that must be copied is not in `bound`, or when `bound`
  /// has an unknown tensor, a null address, or two addresses for one memory; the current graph can
  /// then still be run.
  Status allocate(const Graph& graph, std::span<const BoundTensor> bound = {});

  /// Switches to the next input set and waits until it is unused. Fails if a device does; calling
  /// again continues. Precondition here and below: a graph is allocated.
  Status begin();

  /// Runs one evaluation. `work` submits the ops of `partition().splits[i]`, except for its copies,
  /// to the backend's stream, or executes them. Returns when everything is submitted. Fails if a
  /// device or `work` does; for a copy the error names tensor, bytes and buffer types. After a
  /// failure the inputs may be overwritten, submitted work may still be running, and variables may
  /// be partly written. To continue, call `begin` (or `synchronize`, to stay in the set), write the
  /// inputs, and `run` again; without that, `run` fails with `invalid`.
  Status run(const std::function<Status(std::size_t split)>& work);

  /// Waits for all work. If a device fails, waits for the others; calling again continues.
  Status synchronize();

  /// The address of a tensor of `partition().graph` in the current set; null if it has none
  /// (unused, not bound, or of size 0).
  [[nodiscard]] std::byte* address(TensorId tensor) const;
  [[nodiscard]] std::byte* workspace(OpId op, std::size_t index) const;
  [[nodiscard]] const Partition& partition() const;
  /// The plan of `served_graph`, with which it passes `verify`.
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] Result<Graph> served_graph() const;
  [[nodiscard]] std::size_t input_set() const;

  /// The size of all buffers of the backend's memory; shared memory counts for the first backend.
  [[nodiscard]] Bytes buffer_size(std::size_t backend) const;
  [[nodiscard]] Bytes staging_size() const;
  [[nodiscard]] const SchedulerCounters& counters() const;

 private:
  class STOWAGE_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
