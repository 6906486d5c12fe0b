#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/ids.hpp"

/// What a run of a planned graph does, in order.
namespace stowage {

/// One step of a `Program`. `op`, `fill`, `copy`, `record` and `wait` are submitted to the stream;
/// `bind` is done by the host.
struct ProgramStep {
  enum class Kind : std::uint8_t {
    bind,    ///< Check the caller's buffer for `Plan::bindings[index]`.
    fill,    ///< Set the bytes of `Plan::clears[index]`.
    copy,    ///< Make `Plan::copies[index]`.
    op,      ///< Run op `index`: its work, or the steps of one of its bodies.
    record,  ///< Event `index` completes when all work that the stream has now is complete.
    wait,    ///< Work submitted to the stream from now on waits for event `index`.
  };
  Kind kind = Kind::op;
  std::uint32_t index = 0;
  StreamId stream = {};     ///< Of everything except `bind`.
  ScopeId scope = {};       ///< The body that it is part of; the root by default.
  std::uint32_t batch = 0;  ///< 1 + the batch (`Graph::batches`) in whose runs it is done; 0: all.

  friend bool operator==(const ProgramStep&, const ProgramStep&) = default;
};

/// Everything that a run does, in an order in which a host can submit it: first the bindings, then
/// the fills at the start, then op by op its waits, fills, copies, the op itself, the record. A
/// run of a batch skips the steps of the other batches.
///
/// Submitting the steps in this order to streams that each execute in order, with the events, is
/// all the synchronisation that a run needs. The last run must be complete before the first step,
/// and the run is complete when all streams are. Ops without a task have no step.
///
/// **Bodies.** The steps of the bodies of an op follow the op, body by body; each body ends with
/// its copies at the end or at the back edge, on the stream of the op. A host that reaches the op
/// performs the steps of the body that it chooses, as often as it needs to, and goes on after all
/// of them. An op with bodies is ordered like any other: everything in a body comes after what the
/// op comes after, the next iteration after all of the one before, and what comes after the op
/// after everything in the body that ran. Events see to that where the streams do not; there is no
/// wait for what streams have waited for already, however the ops before that have gone.
///
/// **Events** are numbered from 0 in the order of their one `record`. All waits for an event come
/// after the record, in the same scope, and an iteration of a loop records it anew before it waits.
/// In the run of a batch, an event that is waited for is recorded.
struct Program {
  std::vector<ProgramStep> steps;

  friend bool operator==(const Program&, const Program&) = default;
};

}  // namespace stowage
