#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "stowage/alloc/graph_allocator.hpp"
#include "stowage/base.hpp"
#include "stowage/graph.hpp"
#include "stowage/memory.hpp"

/// Runs a graph at the addresses of a `GraphAllocator`: makes the plan's fills and copies, orders
/// the streams with events, and calls back for the work of the ops.
namespace stowage {

/// An op that a run has come to, and where it finds its operands. Addresses are by position in the
/// op's lists; null for an omitted input, an operand of size 0, and constants, variables and
/// external tensors that are not bound. Valid during the call.
struct OpCall {
  OpId op;
  StreamId stream;  ///< Where its work is to be submitted.
  std::span<std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::span<std::byte* const> workspaces;
};

class AnswerSources;

/// A question about an op with bodies. Nothing that the op reads need be complete: `wait` and
/// `read` see to that, if the answer depends on it.
class STOWAGE_EXPORT Decision {
 public:
  /// The op. Its inputs are those of the next iteration: what a loop carries lies where the last
  /// iteration left it. (If a tensor is several inputs, the nth goes into the body by its nth
  /// pair.)
  [[nodiscard]] const OpCall& call() const { return call_; }
  /// Loops: how many iterations were made so far.
  [[nodiscard]] std::uint64_t iteration() const { return iteration_; }

  /// Blocks until the ops and copies that wrote the op's inputs are complete, and waits for nothing
  /// else: not for what came later on their streams, nor for other work of the op's own stream. At
  /// once if all inputs were there before the run.
  Status wait();
  /// Waits, and then reads bytes from the start of an input. Precondition: the input has that size.
  Status read(std::size_t input, std::span<std::byte> to);

 private:
  friend class RunState;
  Decision(const OpCall& call, std::uint64_t iteration, Device& device, StreamId side,
           AnswerSources& sources)
      : call_(call), iteration_(iteration), device_(device), side_(side), sources_(sources) {}

  const OpCall& call_;
  std::uint64_t iteration_;
  Device& device_;
  StreamId side_;
  AnswerSources& sources_;
  bool complete_ = false;
};

/// The caller's part of a run. An error that one of these returns ends the run.
struct RunOps {
  /// Submits the work of an op without bodies to its stream, or does it if the device executes work
  /// at once, as the CPU does. A packed concat or split has nothing to do: the bytes are in place.
  std::function<Status(const OpCall&)> run;
  /// Which body of a branch runs. Not called for branches with one body. May be empty without
  /// branches.
  std::function<Result<std::size_t>(Decision&)> choose = {};
  /// Whether a loop makes another iteration; called before each one. May be empty without loops.
  std::function<Result<bool>(Decision&)> repeat = {};
};

struct RunOptions {
  std::string batch = {};  ///< One of `Graph::batches`; empty for a graph without.
  /// A stream that the graph does not use, and nobody else either while the run goes on: for
  /// waiting for single values. Absent: the one after the graph's last.
  std::optional<StreamId> side_stream = {};
};

/// Runs a graph once. Everything is submitted to the device's streams in the order of
/// `allocation.plan.program`; the host waits only where `Decision::wait` is called, and at the end.
///
/// Preconditions: `allocation` is that of `graph`, with a program; earlier runs and what wrote the
/// inputs are complete; nobody else uses the streams meanwhile. The device can access all memory of
/// the graph.
///
/// Before anything is submitted, fails with `invalid` if the batch does not exist, or is missing,
/// or a tensor that the plan binds has no memory, or a copy needs a constant, variable or external
/// tensor that is not bound; the error names the tensor. Then fails when a device does, when an op
/// does (with its error), or when an answer names a body that does not exist. After a failure all
/// streams are idle, unless the device cannot synchronize them; addresses and bindings are as
/// before, variables may be partly written, and the next run is right.
///
/// O(steps that are done), without heap allocation per step. Thread-safe if the device is and runs
/// do not share memory or streams.
STOWAGE_EXPORT Status run(const Graph& graph, const Allocation& allocation, Device& device,
                          const RunOps& ops, const RunOptions& options = {});

}  // namespace stowage
