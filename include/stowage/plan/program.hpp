#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stowage/base.hpp"
#include "stowage/graph/ids.hpp"

/// What a run of a planned graph does, in order.
namespace stowage {

/// One step of a `Program`. The host performs the steps one after another; `op`, `fill`, `copy`,
/// `record` and `wait` submit work to the stream, `bind` is done by the host.
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

/// Everything that a run does, in an order in which a host can submit it. The steps of the bodies
/// of an op follow the op, body by body; an executor performs those of the body that it chooses, as
/// often as it needs to, and goes on after all of them.
///
/// Submitting the steps in this order to streams that each execute in order, with the events, is
/// all the synchronisation that a run needs. The last run must be complete before the first step.
/// Ops without a task have no step. Events are numbered from 0 in the order of their `record`; each
/// is recorded before it is waited for, in the same scope, and anew in each iteration of a loop.
struct Program {
  std::vector<ProgramStep> steps;

  friend bool operator==(const Program&, const Program&) = default;
};

}  // namespace stowage
