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
  /// Changes pins and homes to those of one graph, where graphs differ in their ids; empty: they do
  /// not. Must give the same answer for the same graph. The number of input sets stays.
  std::function<void(const Graph&, PartitionOptions&)> adapt = {};
  GraphAllocatorOptions allocator = {};
  /// Host-visible memory for copies between two devices whose memory the host cannot see. Null: the
  /// CPU's.
  BufferType* staging = nullptr;
};

/// Where a tensor with an address of its own (constant, variable, external) lies: in the memory of
/// its home backend. Holds for all that shares memory with it, so that one entry says enough. Never
/// null, unless the tensor is of size 0.
struct BoundTensor {
  TensorId tensor;
  std::byte* address;
};

struct SchedulerCounters {
  std::uint64_t partitions =
      0;  ///< Graphs that were partitioned; as many are remembered as plans are kept.
  std::uint64_t copies = 0;  ///< Values brought from memory to memory.
  Bytes copied;
  std::uint64_t staged = 0;            ///< Those of them that went through staging memory.
  std::uint64_t synchronizations = 0;  ///< How often the host waited for a stream.
  std::uint64_t event_waits =
      0;  ///< How often a stream was told to wait for another of its device.
};

/// Runs graphs over several backends: partitions them, gives every backend its memory, and split by
/// split makes the copies and calls back for the work. The equivalent of ggml_backend_sched; one
/// evaluation is
///
///     scheduler.allocate(graph, weights);   // nothing to do when it is the same graph as before
///     scheduler.begin();                    // the inputs of the next set may be written
///     … write inputs at scheduler.address(tensor) …
///     scheduler.run([&](std::size_t split) { … submit the split's ops to its backend's stream …
///     }); scheduler.synchronize();              // outputs may be read
///
/// Order. All work on a backend is on the one stream that it names, so that its splits and copies
/// follow each other. Between backends the scheduler knows which work uses which memory: each split
/// and each batch of copies ends with an event, and whoever comes to that memory next waits, on the
/// device where it is the same one, else on the host and only if the event is not complete.
///
/// Input sets (`PartitionOptions::input_sets`): evaluation k uses set k mod n, and `begin` waits
/// only for the evaluation that used this set before. With two or more, inputs of the next
/// evaluation can be written, and its first splits submitted, while the devices still work on this
/// one. Outputs belong to their evaluation: read them before the next `begin`. What is written from
/// there on, inputs too, may lie where they do, and one that shares memory with an input is another
/// set's then.
///
/// Not thread-safe. Backends and what they name outlive it.
class STOWAGE_EXPORT Scheduler {
 public:
  /// Precondition: at least one backend; each has a memory and a device.
  explicit Scheduler(std::vector<Backend> backends, SchedulerOptions options = {});
  /// Waits for all work; where a device fails, for that of the others.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Partitions and plans the graph and makes all buffers large enough; waits for work that uses
  /// them. Afterwards `allocate` of it allocates nothing. What was allocated before must be
  /// allocated again. Fails as `partition` and `GraphAllocator::reserve` do; what was allocated
  /// before can then still be run.
  Status reserve(const Graph& graph);

  /// The bytes that the graph alone needs, by backend, without staging; 0 for a memory that an
  /// earlier backend has. Allocates nothing.
  Result<std::vector<Bytes>> reserve_sizes(const Graph& graph);

  /// Gives every tensor its address, after `reserve` where that is needed. Waits for all work when
  /// the graph is another than before. Fails as `reserve` does, and with `invalid` when a tensor
  /// that has to be copied has an address of its own that is not in `bound`, or when `bound` names
  /// a tensor that does not exist, no address, or two for one memory; what was allocated before can
  /// then still be run.
  Status allocate(const Graph& graph, std::span<const BoundTensor> bound = {});

  /// Turns to the next input set and waits until nothing uses it. Fails where a device does;
  /// another call goes on. Precondition here and below: something is allocated.
  Status begin();

  /// One evaluation. `work` submits the ops of a split, `partition().splits[i]` except for its
  /// copies, to the backend's stream, or does them. Returns when all is submitted. Fails where a
  /// device or `work` does, at a copy naming tensor, bytes and buffer types. Other values may lie
  /// where the inputs did by then, work that was submitted may still be at it, and variables may
  /// have been written in part: `begin` (or `synchronize`, to stay in the set), write the inputs,
  /// then `run`. Without the former it fails with `invalid`.
  Status run(const std::function<Status(std::size_t split)>& work);

  /// The caller waits for all work. When a device fails, for that of the others; another call goes
  /// on.
  Status synchronize();

  /// Of a tensor of `partition().graph`, in the current set; null for what has none (unused, not
  /// bound, or of size 0 there).
  [[nodiscard]] std::byte* address(TensorId tensor) const;
  [[nodiscard]] std::byte* workspace(OpId op, std::size_t index) const;
  [[nodiscard]] const Partition& partition() const;
  /// By which the memory is shared out; passes `verify` with `served_graph`.
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] Result<Graph> served_graph() const;
  [[nodiscard]] std::size_t input_set() const;

  /// Of all buffers of the backend's memory; a memory that several share counts for the first.
  [[nodiscard]] Bytes buffer_size(std::size_t backend) const;
  [[nodiscard]] Bytes staging_size() const;
  [[nodiscard]] const SchedulerCounters& counters() const;

 private:
  class STOWAGE_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage
