#pragma once

#include "stowage/graph.hpp"
#include "stowage/plan.hpp"

namespace stowage {

/// What a run of `graph` with `plan` does, in order (`Program`); `plan.program` is not looked at. Everything that the
/// graph orders is ordered, by the streams and by as few waits as that takes: of each stream and batch, only what
/// neither the stream's own order nor an earlier wait implies is waited for, whatever bodies run. An event is recorded
/// only where something waits, and one record serves all that wait for it. What is not done in every batch is done in
/// those that need it.
///
/// Precondition: `plan` is a plan for `graph`, one that `verify` finds nothing in. For any other whose ids exist the
/// result is some program. Thread-safe. O((accesses + ops × streams) × batches), plus sorting; with one stream and no
/// batches O(ops).
[[nodiscard]] Program make_program(const Graph& graph, const Plan& plan);

}  // namespace stowage
